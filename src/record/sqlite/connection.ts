// A session's connection to a file of SQLite. Statements run in this process and hold it up, so
// each lets the other sessions come in first. Where another connection is writing, a statement
// waits, by coming back later. Errors become the transaction's fate by codes.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import { TransactionFailure } from '../database.ts'
import {
  type Answer,
  type Dialect,
  lostBefore,
  type Phase,
  RegisterConnection,
} from '../registers.ts'
import { onConflict } from '../rows.ts'
import { fateOf, isBusy, isHopeless } from './codes.ts'
import { query, type SqliteClient, type SqliteError } from './driver.ts'

export const SQLITE_LEVELS = offeredBy('sqlite')

const DIALECT: Dialect = {
  upsert: 'ON CONFLICT (k) DO UPDATE SET v = excluded.v',
  same: 'IS',
  concat: (one, other) => `${one} || ${other}`,
  forUpdate: null,
  seeing: 'rows',
  upsertRow: onConflict,
}

/** How long a statement waits for another connection to end its writing. */
const BUSY_PATIENCE_MS = 200

export class SqliteConnection extends RegisterConnection {
  readonly localPort = 0
  isLost = false
  /** A statement has found another connection writing, and comes back until it has ended. */
  isWaiting = false

  constructor(
    private readonly client: SqliteClient,
    keyCount: () => number,
  ) {
    super(DIALECT, keyCount)
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

  /** There is one level, and statements outside of transactions have it, too. */
  protected async setLevelAlone(): Promise<void> {}

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
