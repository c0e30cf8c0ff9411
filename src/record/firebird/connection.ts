// A session's connection to Firebird. Errors become the transaction's fate by codes.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import type { LevelId } from '../../levels/levels.ts'
import { TransactionFailure } from '../database.ts'
import { type Dialect, lostBefore, type Phase, RegisterConnection } from '../registers.ts'
import type { Answer } from '../rows.ts'
import type { FirebirdAddress } from './address.ts'
import {
  execute,
  type FirebirdClient,
  type FirebirdTransaction,
  hangUp,
  READ_COMMITTED,
  type ServerError,
  SNAPSHOT,
  TABLE_STABILITY,
  type TransactionOptions,
} from './client.ts'
import { fateOf, isHopeless, isLastWord } from './codes.ts'
import { ownClause, upsertRows } from './row-statements.ts'

export const FIREBIRD_LEVELS = offeredBy('firebird')

const ISOLATIONS: ReadonlyMap<LevelId, readonly number[]> = new Map([
  ['rc', READ_COMMITTED],
  ['si', SNAPSHOT],
  ['ser', TABLE_STABILITY],
])

const DIALECT: Dialect = {
  upsert: (insert) => `UPDATE OR ${insert} MATCHING (k)`,
  same: 'IS NOT DISTINCT FROM',
  concat: (one, other) => `${one} || ${other}`,
  forUpdate: 'WITH LOCK',
  seeing: 'rows',
  upsertRows,
  clause: ownClause,
}

const USUAL_WAIT_S = 2

/**
 * What a transaction is begun with. Where whole tables are locked, whoever reads and then writes
 * waits for all other readers, which do the same: there it is usual not to wait.
 */
export function askFor({ waitS }: FirebirdAddress, level: LevelId): TransactionOptions {
  const seconds = waitS ?? (level === 'ser' ? 0 : USUAL_WAIT_S)
  return { isolation: ISOLATIONS.get(level)!, wait: seconds > 0, waitTimeout: seconds }
}

export class FirebirdConnection extends RegisterConnection {
  private transaction: FirebirdTransaction | null = null
  private levelAlone: LevelId = 'rc'
  private lost = false

  /** @param id by which the server knows it */
  constructor(
    private readonly client: FirebirdClient,
    private readonly address: FirebirdAddress,
    readonly id: number,
    keyCount: () => number,
  ) {
    super(DIALECT, keyCount)
    client.connection._socket.once('close', () => {
      this.lost = true
    })
  }

  get localPort(): number {
    return this.client.connection._socket.localPort ?? 0
  }

  get isLost(): boolean {
    return this.lost
  }

  async begin(level: LevelId): Promise<void> {
    this.transaction = await this.attempt('work', () => this.start(level))
  }

  async commit(): Promise<void> {
    const { transaction } = this
    this.transaction = null
    await this.attempt('commit', () => transaction!.commitAsync())
  }

  async rollback(): Promise<void> {
    const { transaction } = this
    this.transaction = null
    if (transaction !== null && !this.lost) {
      await this.attempt('work', () => transaction.rollbackAsync())
    }
  }

  async close(): Promise<void> {
    this.cut()
  }

  cut(): void {
    this.lost = true
    hangUp(this.client)
  }

  protected async setLevelAlone(level: LevelId): Promise<void> {
    this.levelAlone = level
  }

  protected async execute(phase: Phase, statement: string): Promise<Answer> {
    if (phase !== 'alone') return this.attempt(phase, () => execute(this.transaction!, statement))
    await this.begin(this.levelAlone)
    try {
      const answer = await this.execute('work', statement)
      await this.commit()
      return answer
    } catch (error) {
      await this.rollback().catch(() => this.cut())
      throw error
    }
  }

  private start(level: LevelId): Promise<FirebirdTransaction> {
    return this.client.transactionAsync(askFor(this.address, level))
  }

  private async attempt<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    if (this.lost) throw lostBefore()
    try {
      return await work()
    } catch (error) {
      throw this.failure(phase, error as ServerError)
    }
  }

  private failure(phase: Phase, { message, gdscode }: ServerError): Error {
    const code = gdscode ?? null
    if (isLastWord(code)) this.cut()
    if (isHopeless(code)) {
      return new DatabaseError(`the database refuses the workload: ${message} (${code})`)
    }
    return new TransactionFailure(fateOf(phase), message, code === null ? null : String(code))
  }
}
