// Transactions of databases that have none in which one reads and then writes: the client reads,
// keeps its writes to itself, and hands them over at the end, on condition that nothing it has read
// was changed meanwhile. What it wrote itself it reads from what it keeps. Without that condition
// there is a weaker level: each transaction's writes appear at once, and that is all. Keys have no
// rows: one that nobody wrote is in its initial state. Main class: OptimisticConnection.

import { addTo } from '../base/maps.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { Way } from '../workload/plan.ts'
import {
  type Connection,
  type KeyRows,
  noLocks,
  noSqlWorkloads,
  TransactionFailure,
} from './database.ts'

/** What a transaction has written. */
export interface Kept {
  readonly values: ReadonlyMap<number, { readonly value: number; readonly way: Way | undefined }>
  readonly appended: ReadonlyMap<number, readonly number[]>
}

export abstract class OptimisticConnection implements Connection {
  abstract readonly localPort: number
  abstract readonly isLost: boolean
  /** Whether what is read may not change until the end. */
  protected isGuarded = false
  private readonly values = new Map<number, { value: number; way: Way | undefined }>()
  private readonly appended = new Map<number, number[]>()

  /** Reads a key, and guards it if the transaction is guarded. */
  protected abstract fetch(key: number): Promise<Value>
  protected abstract fetchList(key: number): Promise<Value[]>
  /** Whether a list must be read, and guarded, before it is appended to. */
  protected abstract readonly appendsByReading: boolean
  /** Hands over what was written. Throws TransactionFailure, DatabaseError. */
  protected abstract settle(kept: Kept): Promise<void>
  /** Forgets what was guarded. */
  protected abstract release(): Promise<void>
  abstract cas(key: number, old: Value, value: number, level: LevelId): Promise<number>
  abstract get(key: number, level: LevelId): Promise<readonly Value[]>
  abstract close(): Promise<void>
  abstract cut(): void

  async begin(level: LevelId): Promise<void> {
    this.forget()
    this.isGuarded = level !== 'rc'
  }

  async read(key: number): Promise<readonly Value[]> {
    return [this.values.get(key)?.value ?? (await this.fetch(key))]
  }

  async readList(key: number): Promise<readonly Value[][]> {
    return [[...(await this.fetchList(key)), ...(this.appended.get(key) ?? [])]]
  }

  async readAll(keys: readonly number[], areLists: boolean): Promise<readonly KeyRows[]> {
    const held: KeyRows[] = []
    for (const key of keys) {
      held.push([key, areLists ? await this.readList(key) : await this.read(key)])
    }
    return held
  }

  async write(key: number, value: number, way?: Way): Promise<number> {
    this.values.set(key, { value, way })
    return 1
  }

  async append(key: number, value: number): Promise<number> {
    if (this.appendsByReading) await this.fetchList(key)
    addTo(this.appended, key, value)
    return 1
  }

  async lock(): Promise<never> {
    throw noLocks()
  }

  async run(): Promise<never> {
    throw noSqlWorkloads('this database')
  }

  async commit(): Promise<void> {
    const { values, appended } = this
    try {
      await this.settle({ values, appended })
    } finally {
      this.forget()
    }
  }

  async rollback(): Promise<void> {
    this.forget()
    if (!this.isLost) await this.release()
  }

  private forget(): void {
    this.values.clear()
    this.appended.clear()
  }
}

/** What the transaction had read was changed by another one. */
export function changedMeanwhile(): TransactionFailure {
  return new TransactionFailure('aborted', 'what it had read was changed meanwhile', 'changed')
}
