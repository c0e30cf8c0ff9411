// The libsql driver, as far as it is used here. It runs SQLite in this process, one statement at a
// time, and needs no compiler to be installed.

import { DatabaseError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import type { Answer } from '../rows.ts'

export const DRIVER: Driver = { name: 'libsql', version: '0.5.29', least: '0.5' }

export interface SqliteClient {
  prepare(statement: string): SqliteStatement
  exec(statements: string): void
  readonly inTransaction: boolean
  close(): void
}

interface SqliteStatement {
  raw(): SqliteStatement
  all(): unknown[][]
}

type Libsql = new (path: string) => SqliteClient

export interface SqliteError extends Error {
  /** E.g. `SQLITE_BUSY_SNAPSHOT`. */
  readonly code?: string
}

/** Throws DatabaseError. */
export async function openClient(path: string): Promise<SqliteClient> {
  const Database = await loadDriver<Libsql>(DRIVER)
  try {
    const client = new Database(path)
    client.prepare('SELECT count(*) FROM sqlite_master').raw().all() // reads the file
    client.exec('PRAGMA case_sensitive_like = ON') // as elsewhere
    return client
  } catch (error) {
    throw asDatabaseError(error, path)
  }
}

/**
 * What returns no rows goes through `exec`: a prepared statement of this driver that was refused
 * stays in progress, and keeps the snapshot of its transaction for those that follow
 * (docs/found.md).
 */
export function query(client: SqliteClient, text: string): Answer {
  const isSelect = /^(SELECT|PRAGMA)\b/.test(text)
  if (isSelect) return { rows: client.prepare(text).raw().all(), rowCount: 0 }
  client.exec(text)
  return { rows: [], rowCount: Number(client.prepare('SELECT changes()').raw().all()[0]![0]) }
}

const HINTS: Readonly<Record<string, string>> = {
  SQLITE_CANTOPEN: 'is there such a directory, and may files be made in it?',
  SQLITE_NOTADB: 'name a database of SQLite, or a file that is not there yet',
  SQLITE_READONLY: 'name a file that can be written to',
  SQLITE_BUSY: 'another program uses it',
}

export function asDatabaseError(error: unknown, path: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message } = error as SqliteError
  // Where it does not get as far as SQLite, the driver shows its own error, and SQLite's code in it.
  const [, unopened] = /^ConnectionFailed\("(.*)"\)$/s.exec(message) ?? []
  const named = unopened === undefined ? code : 'SQLITE_CANTOPEN'
  const hint = Object.entries(HINTS).find(([name]) => named?.startsWith(name))?.[1] ?? null
  return new DatabaseError(`sqlite:${path}: ${unopened ?? message}`, hint)
}
