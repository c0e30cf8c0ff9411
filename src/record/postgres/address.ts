// Where a PostgreSQL server is and how to get in. Passwords come from the address, the environment
// (PGPASSWORD, PGPASSFILE) or a file; they are handed to the driver and shown to nobody.

import { UsageError } from '../../base/errors.ts'

export interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  readonly ssl: boolean | { rejectUnauthorized: boolean }
}

const SSL: Record<string, PostgresAddress['ssl']> = {
  disable: false,
  require: { rejectUnauthorized: false },
  'verify-ca': true,
  'verify-full': true,
}

/** Parses postgres://user:password@host:port/database?sslmode=require&host=/socket/directory. */
export function parsePostgresAddress(
  text: string,
  environment: Record<string, string | undefined>,
  passwordFromFile?: string,
): PostgresAddress {
  const url = parseUrl(text)
  const parameters = url.searchParams
  for (const name of parameters.keys()) {
    if (name === 'sslmode' || name === 'host') continue
    if (!/^\w+$/.test(name)) throw misunderstood()
    const hint = 'sslmode and host are; other settings go into the environment (PGUSER, …)'
    throw new UsageError(`"${name}" is not understood in the address of a server`, hint)
  }
  const mode = parameters.get('sslmode') ?? environment['PGSSLMODE'] ?? 'disable'
  const ssl = SSL[mode]
  if (ssl === undefined) {
    throw new UsageError(
      `unknown sslmode "${mode}"`,
      `there are ${Object.keys(SSL).join(', ')}; say whether the connection is to be encrypted`,
    )
  }
  const host = parameters.get('host') ?? decode(url.hostname.replace(/^\[|\]$/g, ''))
  return {
    host: host || environment['PGHOST'] || 'localhost',
    port: Number(url.port || environment['PGPORT'] || 5432),
    user: decode(url.username) || environment['PGUSER'],
    password: passwordFromFile ?? (decode(url.password) || environment['PGPASSWORD']),
    database: decode(url.pathname.slice(1)) || environment['PGDATABASE'],
    ssl,
  }
}

function parseUrl(text: string): URL {
  try {
    // URL leaves the host of schemes it does not know alone, but refuses a port without a host.
    const url = new URL(text)
    // A password with a bare / ? or # ends early: its rest would be taken for something to show.
    const isWhole = !/@|%40/i.test(url.pathname) && url.hash === ''
    if (isWhole && /^postgres(ql)?:\/\//.test(text)) return url
  } catch {
    // As below.
  }
  throw misunderstood()
}

/** The text is not repeated: it may contain a password. */
function misunderstood(): UsageError {
  return new UsageError(
    'the address of the server cannot be understood',
    'write it as postgres://user@host:5432/database; in a password, / ? # @ as %2F %3F %23 %40',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address without the password. */
export function showAddress(address: PostgresAddress): string {
  const user = address.user ? `${address.user}@` : ''
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `postgres://${user}${host}:${address.port}/${address.database ?? ''}`
}
