// What went wrong with a server, in terms of its address and with a way out; messages never contain
// the password. Main function: asDatabaseError.

import { DatabaseError } from '../../base/errors.ts'
import { type PostgresAddress, showAddress } from './address.ts'

const PASSWORD = 'set PGPASSWORD, use --password-file, or write it into ~/.pgpass (mode 0600)'
export const POOLER =
  'connect to the server itself, or let the pooler keep sessions together (pgbouncer: pool_mode=session)'

const HINTS: Readonly<Record<string, string>> = {
  '08P01': POOLER,
  '26000': POOLER,
  '28P01': PASSWORD,
  '28000':
    'the server does not let this user in from here, or only encrypted: add ?sslmode=require',
  '3D000': 'create it, or name another: postgres://user@host/database',
  '42501': 'the user must be allowed to create a table; grant it, or name another database',
  '42P05': POOLER,
  '53300': 'ask for fewer --sessions, or raise max_connections or the limit of the role',
  '57014': 'the server gives statements too little time: raise statement_timeout for this user',
  '25006': 'name the primary, not a standby; or default_transaction_read_only is on',
  ECONNREFUSED: 'is it running, and is the port right?',
  ENOENT: 'is it running, and is this the directory of its socket?',
  ENOTFOUND: 'is the host spelled right?',
  ETIMEDOUT: 'is it the right port? --patience waits longer',
  EAI_AGAIN: 'is the host spelled right?',
}

/** What an error says that has no code. */
const WORDS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/asks for a password/, PASSWORD],
  [/no space left on device|disk full/i, 'make room on the disk of the server'],
  [/does not support SSL/i, 'it takes no encrypted connections: add ?sslmode=disable'],
  [
    /certificate|self.signed|altnames/i,
    'name its authority with ?sslrootcert=FILE, and the host as its certificate has it',
  ],
]

/** What the driver says of its own types where there is no password to send. */
const NO_PASSWORD = /password must be a (non-empty )?string|no password supplied/i

interface Failure {
  readonly code?: string
  readonly message: string
  readonly errors?: readonly Error[]
}

export function asDatabaseError(error: unknown, address: PostgresAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message, errors } = error as Failure
  // Several addresses of one host were tried: an AggregateError without a message of its own.
  const said = message || errors?.map((each) => each.message).join('; ') || 'no answer'
  const why = NO_PASSWORD.test(said) ? 'the server asks for a password, and none is given' : said
  const hint = HINTS[code ?? ''] ?? WORDS.find(([pattern]) => pattern.test(why))?.[1] ?? null
  return new DatabaseError(`${showAddress(address)}: ${why}`, hint)
}

/** True if the server itself said so, and is well. */
export function isAnswer(error: unknown): boolean {
  return (error as { severity?: string }).severity === 'ERROR'
}
