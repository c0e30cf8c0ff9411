// A session's connection to a file of SQLite. Statements run in this process and hold it up, so
// each lets the other sessions come in first. Where another connection is writing, a statement
// waits, by coming back later. Errors become the transaction's fate by codes.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import { TransactionFailure } from '../database.ts'
import { FileConnection } from '../file-connection.ts'
import { lostBefore, type Phase } from '../registers.ts'
import type { Answer } from '../rows.ts'
import { fateOf, isBusy, isHopeless } from './codes.ts'
import { query, type SqliteClient, type SqliteError } from './driver.ts'

export const SQLITE_LEVELS = offeredBy('sqlite')

const DIALECT = { same: 'IS', seeing: 'rows' } as const

/** How long a statement waits for another connection to end its writing. */
const BUSY_PATIENCE_MS = 200

export class SqliteConnection extends FileConnection<SqliteClient> {
  /** A statement has found another connection writing, and comes back until it has ended. */
  isWaiting = false

  constructor(client: SqliteClient, keyCount: () => number) {
    super(client, DIALECT, keyCount)
  }

  async begin(): Promise<void> {
    await this.execute('work', 'BEGIN')
  }

  async commit(): Promise<void> {
    try {
      await this.execute('commit', 'COMMIT')
    } finally {
      this.rollBack()
    }
  }

  async rollback(): Promise<void> {
    this.rollBack()
  }

  async close(): Promise<void> {
    this.cut()
  }

  /** Nothing is ever under way: whoever has the process has ended its statement. */
  cut(): void {
    if (this.isLost) return
    this.rollBack()
    this.isLost = true
    this.client.close()
  }

  protected async execute(phase: Phase, statement: string): Promise<Answer> {
    const endMs = performance.now() + BUSY_PATIENCE_MS
    for (;;) {
      await turn()
      if (this.isLost) throw lostBefore()
      try {
        const answer = query(this.client, statement)
        this.isWaiting = false
        return answer
      } catch (error) {
        const { code = null, message } = error as SqliteError
        this.isWaiting = isBusy(code) && performance.now() < endMs
        if (this.isWaiting) continue
        if (isHopeless(code)) {
          throw new DatabaseError(`the database refuses the workload: ${message} (${code})`)
        }
        throw new TransactionFailure(fateOf(phase, code), message, code)
      }
    }
  }

  private rollBack(): void {
    if (!this.isLost && this.client.inTransaction) query(this.client, 'ROLLBACK')
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
