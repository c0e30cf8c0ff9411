// A session's connection to etcd. A transaction remembers the revision of all that it read, and
// hands over what it wrote in one etcd transaction that compares them; compare-and-set compares the
// value. Lists are texts, read before they are appended to.
//
// What errors mean (docs/databases.md has the table): a comparison that fails is a refusal; so is
// an error by which etcd turns a request away before it is proposed to the cluster, or before it is
// applied. Without an answer, and after timeouts and changes of the leader, nobody knows.

import type { Value } from '../../history/values.ts'
import { offeredBy } from '../../levels/databases.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Fate, type KeyRows, TransactionFailure } from '../database.ts'
import { changedMeanwhile, type Kept, OptimisticConnection } from '../optimistic.ts'
import { lostBefore, type Phase } from '../registers.ts'
import { type EtcdClient, EtcdError, type Found } from './client.ts'

export const ETCD_LEVELS = offeredBy('etcd')

/** Codes of gRPC by which a request was turned away. */
const REFUSED = new Set([
  3, // invalid argument
  8, // resource exhausted: too many requests, no space
])

/** How a transaction ended that failed with this code (null: without one) in this phase. */
export function fateOf(phase: Phase, code: number | null): Fate {
  if (phase === 'work') return 'aborted'
  return code !== null && REFUSED.has(code) ? 'aborted' : 'indeterminate'
}

export class EtcdConnection extends OptimisticConnection {
  protected readonly appendsByReading = true
  private readonly seen = new Map<string, Found>() // of the current transaction, by name

  /** @param prefix all that a run writes has names that begin with this */
  constructor(
    private readonly client: EtcdClient,
    private readonly prefix: string,
  ) {
    super()
  }

  get localPort(): number {
    return this.client.localPort
  }

  get isLost(): boolean {
    return this.client.isLost
  }

  override async begin(level: LevelId): Promise<void> {
    this.seen.clear()
    await super.begin(level)
  }

  async cas(key: number, old: Value, value: number): Promise<number> {
    const name = this.nameOf(key)
    const compare = old === null ? { key: name, revision: '0' } : { key: name, value: String(old) }
    const put = [name, String(value)] as const
    return (await this.ask('alone', () => this.client.putIf([compare], [put]))) ? 1 : 0
  }

  async get(key: number): Promise<readonly Value[]> {
    return [toValue((await this.ask('work', () => this.client.find(this.nameOf(key)))).value)]
  }

  /** In one request, which shows one moment: a transaction compares no more than 128 keys. */
  override async readAll(keys: readonly number[], areLists: boolean): Promise<readonly KeyRows[]> {
    const found = await this.ask('work', () => this.client.findAll(this.prefix))
    return keys.map((key): KeyRows => {
      if (areLists) return [key, [toList(found.get(this.listOf(key)) ?? null)]]
      return [key, [toValue(found.get(this.nameOf(key)) ?? null)]]
    })
  }

  async close(): Promise<void> {
    this.client.cut()
  }

  cut(): void {
    this.client.cut()
  }

  protected async fetch(key: number): Promise<Value> {
    return toValue((await this.look(this.nameOf(key))).value)
  }

  protected async fetchList(key: number): Promise<Value[]> {
    const { value } = await this.look(this.listOf(key))
    return toList(value)
  }

  protected async settle({ values, appended }: Kept): Promise<void> {
    const puts: [string, string][] = []
    for (const [key, { value }] of values) puts.push([this.nameOf(key), String(value)])
    for (const [key, more] of appended) {
      const before = this.seen.get(this.listOf(key))!.value ?? ''
      puts.push([this.listOf(key), `${before}${more.map((each) => `${each},`).join('')}`])
    }
    const compares = [...this.seen].map(([key, { revision }]) => ({ key, revision }))
    const isGuarded = this.isGuarded && compares.length > 0
    if (puts.length === 0 && !isGuarded) return
    const work = () => this.client.putIf(isGuarded ? compares : [], puts)
    if (!(await this.ask('commit', work))) throw changedMeanwhile()
  }

  protected async release(): Promise<void> {
    // The server knows nothing of what was read.
  }

  /** Reads a key; one that was read before must be what it was. */
  private async look(name: string): Promise<Found> {
    const found = await this.ask('work', () => this.client.find(name))
    const before = this.seen.get(name)
    if (this.isGuarded && before && before.revision !== found.revision) throw changedMeanwhile()
    this.seen.set(name, found)
    return found
  }

  private nameOf(key: number): string {
    return `${this.prefix}key/${key}`
  }

  private listOf(key: number): string {
    return `${this.prefix}list/${key}`
  }

  private async ask<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    if (this.isLost) throw lostBefore()
    try {
      return await work()
    } catch (error) {
      const code = error instanceof EtcdError ? error.code : null
      if (!(error instanceof EtcdError)) this.cut()
      const shown = error instanceof EtcdError ? error.message.slice(0, 60) : null
      throw new TransactionFailure(fateOf(phase, code), (error as Error).message, shown)
    }
  }
}

function toList(text: string | null): Value[] {
  return (text ?? '').split(',').slice(0, -1).map(Number)
}

function toValue(text: string | null): Value {
  return text === null ? null : Number(text)
}
