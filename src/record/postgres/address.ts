// Where a PostgreSQL server is and how to get in, as libpq understands it: an address with
// parameters, the environment (PGHOST, PGSSLMODE, …), the password file (~/.pgpass). Passwords are
// handed to the driver and shown to nobody. Main function: parsePostgresAddress.

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../base/errors.ts'
import { hintFor } from '../../base/slips.ts'
import { findPassword } from './password-file.ts'

/** How a connection is encrypted: not at all, or with these options of TLS. Plain data. */
export type Encryption = false | TlsOptions

export interface TlsOptions {
  readonly rejectUnauthorized: boolean
  /** Certificates of authorities in place of those that come with Node. */
  readonly ca?: string
  /** The host that was named, which the server is asked for. */
  readonly servername?: string
  /** The host that the certificate must be for, whatever we connect to; null for any. */
  readonly certifies?: string | null
}

export interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  readonly database: string
  /** Ways to connect, the first that the server accepts is used for all connections. */
  readonly encryptions: readonly Encryption[]
  /** Settings for every session, as in `-c name=value`. */
  readonly options?: string
  readonly connectTimeoutMs: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** Parameter of an address -> variable of the environment that stands in for it. */
const PARAMETERS: Readonly<Record<string, string>> = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  options: 'PGOPTIONS',
  passfile: 'PGPASSFILE',
}
const CONNECT_PATIENCE_S = 10
const SOCKET_DIRECTORIES = ['/var/run/postgresql', '/tmp']

/** Stands where an address has a user or a port but no host, which URL refuses and libpq takes. */
const NO_HOST = 'host-not-given.invalid'
const WITHOUT_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?#]|$)/

/** Parses postgres://user:password@host:port/database?sslmode=require&host=/socket/directory. */
export function parsePostgresAddress(
  text: string,
  environment: Environment,
  passwordFromFile?: string,
): PostgresAddress {
  const url = parseUrl(text)
  for (const name of url.searchParams.keys()) {
    if (Object.hasOwn(PARAMETERS, name)) continue
    const hint = hintFor(name, Object.keys(PARAMETERS))
    throw new UsageError(`"${name}" is not understood in the address of a server`, hint)
  }
  const given = (name: string, fromUrl = ''): string | undefined =>
    url.searchParams.get(name) || decode(fromUrl) || environment[PARAMETERS[name]!] || undefined
  const port = parsePort(given('port', url.port) ?? '5432')
  const named = url.hostname === NO_HOST ? '' : url.hostname.replace(/^\[|\]$/g, '')
  const host = given('host', named) ?? defaultHost(port)
  const user = given('user', url.username) ?? userInfo().username
  const database = given('dbname', url.pathname.slice(1)) ?? user
  const passwordFile = given('passfile') ?? join(homedir(), '.pgpass')
  const options = given('options')
  return {
    host,
    port,
    user,
    database,
    password:
      passwordFromFile ??
      given('password', url.password) ??
      findPassword(passwordFile, { host, port, user, database }),
    encryptions: encryptionsFor(host, given('sslmode') ?? 'prefer', given('sslrootcert')),
    ...(options === undefined ? {} : { options }),
    connectTimeoutMs: parseTimeout(given('connect_timeout')) * 1000,
  }
}

/** What each mode tries, in its order; sockets of this machine are never encrypted. */
function encryptionsFor(host: string, mode: string, rootPath?: string): Encryption[] {
  if (!MODES.includes(mode)) throw new UsageError(`unknown sslmode "${mode}"`, hintFor(mode, MODES))
  if (host.startsWith('/') || mode === 'disable') return [false]
  const isSystem = rootPath === 'system'
  const ownPath = join(homedir(), '.postgresql', 'root.crt')
  const path = rootPath ?? (existsSync(ownPath) ? ownPath : undefined)
  const ca = isSystem || path === undefined ? {} : { ca: readCertificates(path) }
  const name = isIP(host) === 0 ? { servername: host } : {}
  const encrypted: TlsOptions = { rejectUnauthorized: false, ...name }
  // As libpq has it: where there are certificates of authorities, `require` verifies.
  const verified: TlsOptions = { ...encrypted, ...ca, rejectUnauthorized: true }
  const ofAnyHost: TlsOptions = { ...verified, certifies: null }
  if (mode === 'allow') return [false, encrypted]
  if (mode === 'prefer') return [encrypted, false]
  if (mode === 'require') return [ca.ca === undefined ? encrypted : ofAnyHost]
  return [mode === 'verify-ca' ? ofAnyHost : { ...verified, certifies: host }]
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

function readCertificates(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const hint = 'sslrootcert names a file of certificates, or is "system"'
    throw new UsageError(`cannot read sslrootcert: ${(error as Error).message}`, hint)
  }
}

/** As libpq does: the socket of a server on this machine, if there is one. */
function defaultHost(port: number): string {
  const hasSocket = (directory: string) => existsSync(join(directory, `.s.PGSQL.${port}`))
  return SOCKET_DIRECTORIES.find(hasSocket) ?? 'localhost'
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65536) return port
  throw new UsageError('the port of the server is not a number from 1 to 65535')
}

/** In seconds; 0 and less wait for as long as libpq does, which is for ever: here a day. */
function parseTimeout(text: string | undefined): number {
  const seconds = Number(text ?? CONNECT_PATIENCE_S)
  if (!Number.isInteger(seconds)) throw new UsageError('connect_timeout is a number of seconds')
  return seconds <= 0 ? 86_400 : seconds
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text.replace(WITHOUT_HOST, `$1${NO_HOST}`))
    // A / or ? or # in a password ends the host's part too soon: an @ is left behind it.
    const behind = url.pathname + url.search + url.hash
    if (/^postgres(ql)?:\/\//.test(text) && !behind.includes('@')) return url
  } catch {
    // Told below.
  }
  // The text is not repeated: it may contain a password.
  const hint =
    'write it as postgres://user@host:5432/database, with %40 for @, %2F for / in a password'
  throw new UsageError('the address of the server cannot be understood', hint)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address without the password. */
export function showAddress({ user, host, port, database }: PostgresAddress): string {
  const shown = host.includes(':') ? `[${host}]` : encodeURIComponent(host)
  return `postgres://${user}@${shown}:${port}/${database}`
}
