// The @duckdb/node-api driver, as far as it is used here. It runs DuckDB in this process, in
// threads of its own.

import { DatabaseError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import type { Answer } from '../rows.ts'

export const DRIVER: Driver = { name: '@duckdb/node-api', version: '1.5.5-r.5', least: '1.3.0' }

export interface DuckInstance {
  connect(): Promise<DuckClient>
  closeSync(): void
}

export interface DuckClient {
  runAndReadAll(text: string): Promise<{ getRows(): unknown[][]; readonly rowsChanged: number }>
  interrupt(): void
  closeSync(): void
}

interface DuckApi {
  readonly DuckDBInstance: { create(path: string): Promise<DuckInstance> }
}

/** Throws DatabaseError. */
export async function openInstance(path: string): Promise<DuckInstance> {
  const { DuckDBInstance } = await loadDriver<DuckApi>(DRIVER)
  try {
    return await DuckDBInstance.create(path)
  } catch (error) {
    throw asDatabaseError(error, path)
  }
}

export async function query(client: DuckClient, text: string): Promise<Answer> {
  const answer = await client.runAndReadAll(text)
  return { rows: answer.getRows(), rowCount: answer.rowsChanged }
}

/** DuckDB has no codes, but messages begin with a kind: `Constraint Error: …`. */
export function kindOf(error: unknown): string | null {
  return /^(\w+) Error:/i.exec((error as Error).message ?? '')?.[1] ?? null
}

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/set lock on file|Conflicting lock/i, 'another program uses it'],
  [/not a valid DuckDB database/i, 'name a database of DuckDB, or a file that is not there yet'],
  [/is a directory/i, 'name a file'],
  [/Cannot open file/i, 'is there such a directory, and may files be made in it?'],
]

export function asDatabaseError(error: unknown, path: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { message } = error as Error
  const hint = HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? null
  return new DatabaseError(`duckdb:${path}: ${message}`, hint)
}
