// Where a MariaDB or MySQL server is and how to get in: an address with parameters, or the
// environment (MYSQL_PWD, MYSQL_HOST, MYSQL_TCP_PORT). Passwords are handed to the driver and shown
// to nobody. Main function: parseMysqlAddress.

import { userInfo } from 'node:os'
import { UsageError } from '../../base/errors.ts'
import { hintFor } from '../../base/slips.ts'
import { parseServerUrl, portOf } from '../server-url.ts'
import type { Given } from '../target.ts'

export interface MysqlAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  readonly database: string
  /** Not encrypted, encrypted, or encrypted by a certificate that an authority stands for. */
  readonly ssl: 'disable' | 'require' | 'verify'
  /** The level that sessions ask for, by its own name, whatever level is judged; else null. */
  readonly isolation: string | null
  /** START TRANSACTION WITH CONSISTENT SNAPSHOT, in place of a snapshot at the first read. */
  readonly snapshotAtStart: boolean
  /** Variables of every session, as in `name=value`. */
  readonly variables: readonly (readonly [name: string, value: string])[]
}

const PARAMETERS = ['ssl', 'isolation', 'snapshot', 'set']
const SSL = ['disable', 'require', 'verify'] as const
const ISOLATIONS = ['read-uncommitted', 'read-committed', 'repeatable-read', 'serializable']
const FORM = 'mysql://user@host:3306/database'

export function parseMysqlAddress(text: string, { environment, password }: Given): MysqlAddress {
  const url = parseServerUrl(text, FORM, PARAMETERS)
  const parameter = (name: string, known: readonly string[]): string | null => {
    const value = url.searchParams.get(name)
    if (value === null || known.includes(value)) return value
    throw new UsageError(`unknown ${name} "${value}" of a server`, hintFor(value, known))
  }
  const database = decodeURIComponent(url.pathname.slice(1))
  if (database === '') throw new UsageError('the address names no database', `write it as ${FORM}`)
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || environment['MYSQL_HOST'] || '127.0.0.1',
    port: portOf(url.port || environment['MYSQL_TCP_PORT'] || '3306'),
    user: decodeURIComponent(url.username) || userInfo().username,
    password: password ?? (decodeURIComponent(url.password) || environment['MYSQL_PWD']),
    database,
    ssl: (parameter('ssl', SSL) ?? 'disable') as MysqlAddress['ssl'],
    isolation: parameter('isolation', ISOLATIONS)?.toUpperCase().replace('-', ' ') ?? null,
    snapshotAtStart: parameter('snapshot', ['start', 'first-read']) === 'start',
    variables: url.searchParams.getAll('set').map(parseVariable),
  }
}

function parseVariable(text: string): [string, string] {
  const match = /^(\w+)=([\w.+-]+)$/.exec(text)
  if (match) return [match[1]!, match[2]!]
  const hint = 'write it as ?set=innodb_lock_wait_timeout=2, with & and set= again for more'
  throw new UsageError('a variable of the session cannot be understood', hint)
}

/** The address without the password. */
export function showAddress({ user, host, port, database }: MysqlAddress): string {
  return `mysql://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}
