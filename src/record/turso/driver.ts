// The @tursodatabase/database driver, as far as it is used here. It runs Turso in this process; the
// connections to one file share what is in memory of it.

import { join, parse } from 'node:path'
import { DatabaseError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import type { Answer } from '../rows.ts'

export const DRIVER: Driver = { name: '@tursodatabase/database', version: '0.7.2', least: '0.7' }

export interface TursoClient {
  prepare(statement: string): Promise<TursoStatement>
  readonly inTransaction: boolean
  close(): Promise<void>
}

interface TursoStatement {
  raw(): TursoStatement
  all(): Promise<unknown[][]>
  run(): Promise<{ readonly changes: number }>
  close(): Promise<void>
}

interface TursoApi {
  connect(path: string): Promise<TursoClient>
}

/** Throws DatabaseError. */
export async function openClient(path: string): Promise<TursoClient> {
  const { connect } = await loadDriver<TursoApi>(DRIVER)
  try {
    return await connect(path)
  } catch (error) {
    throw asDatabaseError(error, path)
  }
}

export async function query(client: TursoClient, text: string): Promise<Answer> {
  const statement = await client.prepare(text)
  try {
    const returnsRows = /^(SELECT|PRAGMA)\b|\bRETURNING\b/.test(text)
    if (returnsRows) return { rows: await statement.raw().all(), rowCount: 0 }
    return { rows: [], rowCount: (await statement.run()).changes }
  } finally {
    await statement.close()
  }
}

/** Of the engine, e.g. `0.7.2`. A file would answer by what it says of itself. */
export async function versionOf(): Promise<string> {
  const client = await openClient(':memory:')
  const { rows } = await query(client, 'SELECT turso_version()')
  await client.close()
  return String(rows[0]![0])
}

/**
 * Where the log of a file is: beside it, with another ending. Files whose names differ in their
 * endings alone share one, and lose each other's data (docs/found.md).
 */
export function logOf(path: string): string {
  const { dir, name } = parse(path)
  return join(dir, `${name}.db-log`)
}

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/entity not found/, 'is there such a directory, and may files be made in it?'],
  [
    /Corrupt database|not a database|short read/i,
    'name a database of Turso, or a file that is not there yet',
  ],
  [/read-?only|permission denied/i, 'name a file that can be written to, in such a directory'],
  [/is a directory/i, 'name a file'],
  [/lock/i, 'another program uses it'],
]

export function asDatabaseError(error: unknown, path: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { message } = error as Error
  const hint = HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? null
  return new DatabaseError(`turso:${path}: ${message}`, hint)
}
