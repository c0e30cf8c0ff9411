// A session's connection to DuckDB. Errors become the transaction's fate by kinds.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import { TransactionFailure } from '../database.ts'
import { FileConnection } from '../file-connection.ts'
import { lostBefore, type Phase } from '../registers.ts'
import type { Answer } from '../rows.ts'
import { type DuckClient, kindOf, query } from './driver.ts'
import { fateOf, isHopeless } from './kinds.ts'

export const DUCKDB_LEVELS = offeredBy('duckdb')

const DIALECT = { same: 'IS NOT DISTINCT FROM', seeing: 'returning' } as const

export class DuckConnection extends FileConnection<DuckClient> {
  private isBegun = false

  constructor(client: DuckClient, keyCount: () => number) {
    super(client, DIALECT, keyCount)
  }

  async begin(): Promise<void> {
    await this.execute('work', 'BEGIN TRANSACTION')
    this.isBegun = true
  }

  async commit(): Promise<void> {
    this.isBegun = false
    await this.execute('commit', 'COMMIT')
  }

  async rollback(): Promise<void> {
    if (this.isBegun && !this.isLost) await this.execute('work', 'ROLLBACK')
    this.isBegun = false
  }

  async close(): Promise<void> {
    if (this.isLost) return
    this.isLost = true
    this.client.closeSync()
  }

  /** What is under way is told to end, and closed by whoever waits for it. */
  cut(): void {
    if (this.isLost) return
    this.isLost = true
    this.client.interrupt()
  }

  protected async execute(phase: Phase, statement: string): Promise<Answer> {
    if (this.isLost) throw lostBefore()
    try {
      return await query(this.client, statement)
    } catch (error) {
      const kind = kindOf(error)
      const { message } = error as Error
      if (isHopeless(kind)) {
        throw new DatabaseError(`the database refuses the workload: ${message}`)
      }
      throw new TransactionFailure(fateOf(phase, kind), message, wordsOf(message))
    }
  }
}

/** What failures are counted by: `Conflict on update`. */
function wordsOf(message: string): string {
  const said = message.replace(/^\w+ Error: /, '').replace(/^Failed to commit: /, '')
  return /^[A-Za-z ]+/.exec(said)?.[0]?.trim().slice(0, 40) || 'error'
}
