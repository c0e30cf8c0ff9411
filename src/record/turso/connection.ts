// A session's connection to a file of Turso. Transactions begin by BEGIN CONCURRENT: who meets
// another's write is refused, and nobody waits. Statements run in this process, so each lets the
// other sessions come in first. Errors become the transaction's fate by messages.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import { TransactionFailure } from '../database.ts'
import { FileConnection } from '../file-connection.ts'
import { lostBefore, type Phase } from '../registers.ts'
import type { Answer } from '../rows.ts'
import { query, type TursoClient } from './driver.ts'
import { fateOf, isBusy, isHopeless, wordsOf } from './messages.ts'

export const TURSO_LEVELS = offeredBy('turso')

const DIALECT = { same: 'IS', seeing: 'returning' } as const

/** How long a statement outside of transactions waits for others, which it does not run beside. */
const BUSY_PATIENCE_MS = 200

export class TursoConnection extends FileConnection<TursoClient> {
  private underWay: Promise<unknown> = Promise.resolve()

  constructor(client: TursoClient, keyCount: () => number) {
    super(client, DIALECT, keyCount)
  }

  async begin(): Promise<void> {
    await this.execute('work', 'BEGIN CONCURRENT')
  }

  async commit(): Promise<void> {
    try {
      await this.execute('commit', 'COMMIT')
    } finally {
      await this.rollback()
    }
  }

  async rollback(): Promise<void> {
    if (!this.isLost && this.client.inTransaction) await query(this.client, 'ROLLBACK')
  }

  async close(): Promise<void> {
    if (this.isLost) return
    this.isLost = true
    await this.letGo()
  }

  /** A statement that is under way cannot be told to end: the connection is closed behind it. */
  cut(): void {
    if (this.isLost) return
    this.isLost = true
    this.letGo().catch(() => {})
  }

  protected async execute(phase: Phase, statement: string): Promise<Answer> {
    const endMs = performance.now() + BUSY_PATIENCE_MS
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.isLost) throw lostBefore()
      try {
        const answer = query(this.client, statement)
        this.underWay = answer.catch(() => {})
        return await answer
      } catch (error) {
        const { message } = error as Error
        if (phase === 'alone' && isBusy(message) && performance.now() < endMs) continue
        if (isHopeless(message)) {
          throw new DatabaseError(`the database refuses the workload: ${message}`)
        }
        throw new TransactionFailure(fateOf(phase, message), message, wordsOf(message))
      }
    }
  }

  private async letGo(): Promise<void> {
    await this.underWay
    if (this.client.inTransaction) await query(this.client, 'ROLLBACK')
    await this.client.close()
  }
}
