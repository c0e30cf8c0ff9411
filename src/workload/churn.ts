// Rows that come and go, under transactions of three kinds: what finds the most faults in the least
// time (bench/strength.md).
//
// - Pairs read two keys, and most write one of them: what skews, forks and loses updates.
// - Insistent ones read a key, write it, and most write or read it again: what forgets its own
//   writes, or lets others see one that is replaced.
// - Wandering ones have 2 operations up to `ops` on any keys, short ones more often.
//
// A write is always one of a key that was read before, so that the order of versions is known and
// strong levels are decided without search. Some pairs only read: were there none, few would commit
// on so few keys. Most pairs stay among very few hot keys, where conflicts are common; most others
// among a few more, so that they commit; the rest range over all of them. Keys retire
// (key-pools.ts), so that there is always a row that does not exist yet, and a write finds its way
// into the table by one of three ways: UPDATE or INSERT, by what the transaction saw;
// INSERT … ON CONFLICT; or DELETE and INSERT.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { KeyPools } from './key-pools.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder, PUT, REPLACE, UPSERT, type Way } from './plan.ts'

/** Half of the keys retire within 32 writes, some stay for a thousand. */
const MOST_WRITES = 2 ** 10
/** Share of the keys that pairs and that others prefer, and of the transactions that do. */
const HOT_KEYS = 0.05
const WARM_KEYS = 0.1
const PREFERRING = 0.98
/** Shares of the kinds where half of the operations are to be reads; the others wander. */
const PAIRS = 0.7
const INSISTENT = 0.25
/** Of pairs: share of those that write. Of the insistent: that write again, that read again. */
const PAIR_WRITES = 0.8
const WRITES_AGAIN = 0.6
const READS_AGAIN = 0.8
/** Of what wanders: share of the reads that look at a key again. */
const LOOKS_AGAIN = 0.2
const WAYS: readonly Way[] = [PUT, PUT, UPSERT, REPLACE]

export function planChurn(parameters: WorkloadParameters): Plan {
  return new Churn(parameters).plan()
}

class Churn {
  private readonly random: Random
  private readonly builder: PlanBuilder
  private readonly pools: KeyPools
  private session = 0
  private range = 0 // slots that the transaction draws from
  private left = 0 // operations that it may still have
  private readonly slots: number[] = [] // slots whose keys the transaction has read and may write
  private readonly seen: number[] = [] // the keys, which may have retired meanwhile

  constructor(private readonly parameters: WorkloadParameters) {
    const { seed, sessions, transactions, keys, ops, disjointWrites } = parameters
    this.random = new Random(seed)
    this.builder = new PlanBuilder(transactions, transactions * Math.min(ops, 4))
    this.pools = new KeyPools(keys, disjointWrites ? sessions : 1, MOST_WRITES, this.random)
  }

  plan(): Plan {
    const { random, builder, parameters } = this
    const { sessions, transactions, keys, ops, reads, disjointWrites } = parameters
    const insistent = 2 * INSISTENT * (1 - reads)
    const someOf = (share: number) => Math.min(keys, Math.max(2, Math.round(keys * share)))
    const [hot, warm] = [someOf(HOT_KEYS), someOf(WARM_KEYS)]
    for (let txn = 0; txn < transactions; txn++) {
      this.session = txn % sessions
      this.left = ops
      this.slots.length = 0
      this.seen.length = 0
      builder.beginTxn(this.session)
      const kind = random.unit()
      const isPair = kind < PAIRS
      this.range = !random.chance(PREFERRING) ? keys : isPair ? hot : warm
      if (isPair) this.pair()
      else if (kind < PAIRS + insistent) this.insist()
      else this.wander()
    }
    return builder.finish({
      sessionCount: sessions,
      keyCount: this.pools.keyCount,
      readsBeforeWrites: true,
      keysRetire: true,
      rowCount: 0,
      disjointWrites,
    })
  }

  private pair(): void {
    const { random, parameters } = this
    const writes = random.chance(Math.min(1, 2 * PAIR_WRITES * (1 - parameters.reads)))
    const isEarly = random.chance(0.5) // what is written then stays open for longer
    this.look(true)
    if (writes && isEarly) this.write()
    this.look(false)
    if (writes && !isEarly) this.write()
  }

  private insist(): void {
    const again = this.random.unit()
    this.look(true)
    this.write()
    if (again < WRITES_AGAIN) this.write()
    if (again < READS_AGAIN) this.lookAgain()
  }

  private wander(): void {
    const { random, seen } = this
    const { reads, ops } = this.parameters
    for (this.left = lengthOf(ops, random); this.left > 0; ) {
      if (seen.length > 0 && !random.chance(reads)) this.write()
      else if (seen.length > 0 && random.chance(LOOKS_AGAIN)) this.lookAgain()
      else this.look(false)
    }
  }

  /** Reads a key that it has not read yet, if a few draws find one; its own where it must be. */
  private look(own: boolean): void {
    const { random, pools, parameters, seen } = this
    const { sessions, disjointWrites } = parameters
    const pool = !disjointWrites ? 0 : own ? this.session : random.below(sessions)
    let slot = random.below(this.range)
    for (let tries = 0; tries < 8 && seen.includes(pools.keyAt(pool, slot)); tries++) {
      slot = random.below(this.range)
    }
    const key = pools.keyAt(pool, slot)
    if (!this.add(READ, key) || seen.includes(key)) return
    if (disjointWrites && pool !== this.session) return
    this.slots.push(slot)
    seen.push(key)
  }

  private lookAgain(): void {
    this.add(READ, this.random.pick(this.seen))
  }

  private write(): void {
    const { random, pools, seen, slots } = this
    const at = random.below(seen.length)
    if (!this.add(WRITE, seen[at]!, random.pick(WAYS))) return
    pools.age(this.parameters.disjointWrites ? this.session : 0, slots[at]!, seen[at]!, random)
  }

  /** False if the transaction is long enough already. */
  private add(kind: number, key: number, way?: Way): boolean {
    if (this.left === 0) return false
    this.left--
    this.builder.addOp(kind, key, way)
    return true
  }
}

/** 2 … most, half of them below 4. */
function lengthOf(most: number, random: Random): number {
  return most <= 2 ? most : 2 + Math.floor(random.unit() * random.unit() * (most - 1))
}
