// The simulated store as a database to be tested: a store of known level and known faults, in this
// process. Operations of sessions interleave in an order drawn from the seed: the same seed and
// settings give the same history, but for the times.

import { setImmediate as immediately } from 'node:timers/promises'
import { UsageError } from '../../base/errors.ts'
import { Random } from '../../base/random.ts'
import type { Value } from '../../history/values.ts'
import { CHAIN, type LevelId, levelName } from '../../levels/levels.ts'
import { type LiveOptions, LiveStore } from '../../sim/live.ts'
import { type Connection, type Database, noLocks, TransactionFailure } from '../database.ts'

/** How many other turns an operation lets pass, at most, before it takes effect. */
const MOST_TURNS = 4

/** It gives its own level, whatever weaker one is asked of it. */
export function offeredLevels(level: LevelId): ReadonlyMap<LevelId, string> {
  const offered = CHAIN.slice(0, CHAIN.indexOf(level) + 1)
  return new Map(offered.map((id) => [id, levelName(level)]))
}

export class SimDatabase implements Database {
  readonly name = 'simulated store'
  readonly place: string
  readonly levels: ReadonlyMap<LevelId, string>
  /** At weak levels a new connection may see an old state. */
  readonly script = null
  readonly isAudited = false
  readonly gone = null
  private readonly store: LiveStore
  private readonly random: Random
  private readonly freeSlots: number[]

  constructor(private readonly options: LiveOptions) {
    const { level, faults } = options
    this.place = `sim:${[level, ...faults.map((fault) => fault.name)].join('+')}`
    this.levels = offeredLevels(level)
    this.random = new Random(options.seed).fork(7)
    this.store = new LiveStore(options)
    this.freeSlots = Array.from({ length: options.sessionCount }, (_, i) => i).reverse()
  }

  async addKeys(): Promise<void> {
    // Every key is there from the beginning.
  }

  async addTables(): Promise<void> {
    const instead =
      'isobar generate --shape tpcc makes such histories; isobar run embedded runs them'
    throw new UsageError('this simulated store runs no SQL statements', `${instead} for real`)
  }

  async grantedLevel(): Promise<string> {
    return levelName(this.options.level)
  }

  async open(): Promise<Connection> {
    const slot = this.freeSlots.pop()!
    return new SimConnection(this.store, slot, this.random, () => this.freeSlots.push(slot))
  }

  async close(): Promise<void> {}
}

class SimConnection implements Connection {
  readonly localPort = 0
  isLost = false

  constructor(
    private readonly store: LiveStore,
    private readonly slot: number,
    private readonly random: Random,
    private readonly release: () => void,
  ) {}

  async begin(): Promise<void> {
    await this.turn()
    this.store.begin(this.slot)
  }

  async read(key: number): Promise<Value[]> {
    await this.turn()
    return [this.store.read(this.slot, key) ?? null]
  }

  async readList(key: number): Promise<Value[][]> {
    await this.turn()
    return [this.store.readList(this.slot, key)]
  }

  async readAll(): Promise<never> {
    throw new UsageError('a simulated store is not audited')
  }

  async write(key: number, value: number): Promise<number> {
    await this.turn()
    this.store.write(this.slot, key, value)
    return 1
  }

  async append(key: number, value: number): Promise<number> {
    return this.write(key, value)
  }

  async lock(): Promise<never> {
    throw noLocks()
  }

  async run(): Promise<never> {
    throw new UsageError('this simulated store runs no SQL statements')
  }

  async get(key: number): Promise<Value[]> {
    await this.begin()
    const value = this.store.read(this.slot, key) ?? null
    this.settle()
    return [value]
  }

  async cas(key: number, old: Value, value: number): Promise<number> {
    await this.begin()
    const isOld = (this.store.read(this.slot, key) ?? null) === old
    if (isOld) this.store.write(this.slot, key, value)
    this.settle()
    return isOld ? 1 : 0
  }

  async rest(): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns++) await this.turn()
  }

  async commit(): Promise<void> {
    await this.turn()
    this.settle()
  }

  async rollback(): Promise<void> {
    await this.turn()
    this.store.rollback(this.slot)
  }

  async close(): Promise<void> {
    if (!this.isLost) this.release()
    this.isLost = true
  }

  cut(): void {
    if (this.isLost) return
    this.isLost = true
    this.store.rollback(this.slot)
    this.release()
  }

  private settle(): void {
    if (this.store.commit(this.slot)) return
    throw new TransactionFailure('aborted', 'the level does not let it commit', 'conflict')
  }

  /** Lets the other sessions come in between. */
  private async turn(): Promise<void> {
    for (let turns = this.random.below(MOST_TURNS); turns >= 0; turns--) await immediately()
  }
}
