// List-append transactions, as Jepsen's users write them: appends to lists and reads of whole
// lists. A fixed number of keys is in use at one time; each lives for a number of appends drawn
// from a zipf distribution, then retires and a new key takes its place, so that lists stay short
// and some keys see many appends, most only a few. At the end every key is read once more, after
// everything else.

import { IntColumn } from '../base/grow.ts'
import { Random } from '../base/random.ts'
import { APPEND, READ_LIST } from '../history/history.ts'
import { AliasTable, chooserOf, zipfWeights } from './distributions.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder } from './plan.ts'

const MAX_APPENDS = 128
const LIFETIME_EXPONENT = 1

export function planAppend(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, ops, reads, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const chooser = chooserOf(parameters.distribution, parameters.keys)
  const lifetimes = new AliasTable(zipfWeights(MAX_APPENDS, LIFETIME_EXPONENT))
  const builder = new PlanBuilder(transactions, transactions * ops)
  const pools = new KeyPools(parameters.keys, disjointWrites ? sessions : 1, lifetimes, random)
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    builder.beginTxn(session)
    for (let i = 0; i < ops; i++) {
      const slot = chooser.next(random)
      if (random.chance(reads)) {
        builder.addOp(READ_LIST, pools.keyAt(disjointWrites ? random.below(sessions) : 0, slot))
      } else {
        builder.addOp(APPEND, pools.append(disjointWrites ? session : 0, slot, random))
      }
    }
  }
  const finalTxn = builder.txnCount
  const used = pools.used.view()
  for (let i = 0; i < used.length; i++) {
    if (i % ops === 0) builder.beginTxn((i / ops) % sessions)
    builder.addOp(READ_LIST, used[i]!)
  }
  return builder.finish({
    sessionCount: sessions,
    keyCount: used.reduce((most, key) => Math.max(most, key + 1), 0),
    finalTxn,
    disjointWrites,
  })
}

/** The keys in use: one pool for all, or one for each session if no key may have two writers. */
class KeyPools {
  readonly used = new IntColumn() // every key there has been, in order of birth
  private readonly slots: Int32Array // pool * slotCount + slot -> key
  private readonly left: Int32Array // pool * slotCount + slot -> appends until the key retires
  private readonly births: Int32Array // pool -> keys it has had so far

  constructor(
    private readonly slotCount: number,
    private readonly poolCount: number,
    private readonly lifetimes: AliasTable,
    random: Random,
  ) {
    this.slots = new Int32Array(slotCount * poolCount)
    this.left = new Int32Array(slotCount * poolCount)
    this.births = new Int32Array(poolCount)
    for (let slot = 0; slot < slotCount; slot++) {
      for (let pool = 0; pool < poolCount; pool++) this.renew(pool, slot, random)
    }
  }

  keyAt(pool: number, slot: number): number {
    return this.slots[pool * this.slotCount + slot]!
  }

  append(pool: number, slot: number, random: Random): number {
    const at = pool * this.slotCount + slot
    const key = this.slots[at]!
    if (--this.left[at]! === 0) this.renew(pool, slot, random)
    return key
  }

  private renew(pool: number, slot: number, random: Random): void {
    const at = pool * this.slotCount + slot
    // The owner of a key is its residue class.
    const key = pool + this.poolCount * this.births[pool]!++
    this.used.push(key)
    this.slots[at] = key
    this.left[at] = this.lifetimes.next(random) + 1
  }
}
