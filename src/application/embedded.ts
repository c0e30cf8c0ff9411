// `isobar/embedded`: a real PostgreSQL for a test, started from the binaries that npm delivered and
// gone afterwards, however the test ends. Main function: startPostgres.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { MAJORS } from '../record/embedded/binaries.ts'
import { EmbeddedServer } from '../record/embedded/server.ts'

/**
 * Which server is started.
 *
 * @example
 * await startPostgres({ major: 16, settings: { log_statement: 'all' } })
 */
export interface PostgresOptions {
  /** Major version of PostgreSQL, 10 to 18; 18 unless told. */
  readonly major?: number
  /** Settings of the server, as in postgresql.conf: `{ log_statement: 'all' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * A server that runs. It is what `new pg.Pool(server)` takes. End the pools that use it before it is
 * stopped: their connections are lost with it.
 */
export interface PostgresServer extends AsyncDisposable {
  /** Address with user and password: postgres://… */
  readonly url: string
  /** The same as `url`, under the name that clients of `pg` look for. */
  readonly connectionString: string
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Major version of PostgreSQL. */
  readonly major: number
  /** Stops the server and removes its data; again: does nothing. */
  stop(): Promise<void>
}

const OPTIONS = ['major', 'settings']

/**
 * Starts a PostgreSQL on this machine, with an empty database; about two seconds. Nobody else gets
 * in: it listens on loopback, and its password is random.
 *
 * @example
 * await using server = await startPostgres()
 * const pool = new pg.Pool(server)
 *
 * @throws DatabaseError if its binaries are not installed, with the line that installs them.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { major, settings = {} } = expectOptions(options)
  const server = await EmbeddedServer.start({ major, settings })
  const { host, port, user, password, database } = server
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`
  let stopped: Promise<void> | null = null
  const stop = () => {
    stopped ??= server.stop()
    return stopped
  }
  return {
    url,
    connectionString: url,
    ...{ host, port, user, password, database, major: server.major },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function expectOptions(options: PostgresOptions): PostgresOptions {
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue
    throw new UsageError(`startPostgres: unknown option "${name}"`, hintFor(name, OPTIONS))
  }
  const { major } = options
  if (major === undefined || MAJORS.includes(major)) return options
  throw new UsageError(
    `startPostgres: there is no embedded PostgreSQL ${major}`,
    `there are ${MAJORS[0]} to ${MAJORS.at(-1)}`,
  )
}
