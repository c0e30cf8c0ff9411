// Where a Firebird server is and how to get in: an address with parameters, or the environment
// (ISC_USER, ISC_PASSWORD), as Firebird's own tools have it. Passwords are handed to the driver and
// shown to nobody. Main function: parseFirebirdAddress.

import { userInfo } from 'node:os'
import { UsageError } from '../../base/errors.ts'
import { parseServerUrl, portOf } from '../server-url.ts'
import type { Given } from '../target.ts'

export interface FirebirdAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  /** An alias, or the path of a file on the server's machine. */
  readonly database: string
  /** How long a statement waits for another transaction, 0 for not at all; null: as is usual. */
  readonly waitS: number | null
}

const PARAMETERS = ['wait']
const FORM = 'firebird://user@host:3050/alias'

export function parseFirebirdAddress(
  text: string,
  { environment, password }: Given,
): FirebirdAddress {
  const url = parseServerUrl(text, FORM, PARAMETERS)
  const database = decodeURIComponent(url.pathname.slice(1))
  if (database === '') {
    throw new UsageError(
      'the address names no database',
      `write it as ${FORM}, or with two slashes before a path: firebird://user@host//data/my.fdb`,
    )
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: portOf(url.port || '3050'),
    user: decodeURIComponent(url.username) || environment['ISC_USER'] || userInfo().username,
    password: password ?? (decodeURIComponent(url.password) || environment['ISC_PASSWORD']),
    database,
    waitS: parseWait(url.searchParams.get('wait')),
  }
}

function parseWait(text: string | null): number | null {
  if (text === null) return null
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new UsageError(
    'how long statements wait for others cannot be understood',
    'write it in seconds, as ?wait=2, or ?wait=0 for not at all',
  )
}

/** The address without the password. */
export function showAddress({ user, host, port, database }: FirebirdAddress): string {
  return `firebird://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}
