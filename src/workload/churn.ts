// Rows that come and go, under transactions of every length: what finds the most faults in the
// least time. Each transaction has 2 operations up to `ops`, short ones more
// often; it reads keys, reads some of them again, and writes only what it has read, so that the
// order of versions is known and strong levels are decided without search. Most transactions
// stay among few hot keys, where conflicts are common; the others range over all of them. Keys
// retire (key-pools.ts), so that there is always a row that does not exist yet, and a write finds
// its way into the table by one of three ways: UPDATE or INSERT, by what the transaction saw;
// INSERT … ON CONFLICT; or DELETE and INSERT.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { KeyPools } from './key-pools.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder, PUT, REPLACE, UPSERT, type Way } from './plan.ts'

/** Half of the keys retire within 110 writes, some stay. */
const MOST_WRITES = 20_000
/** Share of the keys that are hot, and of the transactions that stay among them. */
const HOT_KEYS = 0.15
const HOT_TRANSACTIONS = 0.95
/** Share of the reads that look at a key again. */
const AGAIN = 0.3
const WAYS: readonly Way[] = [PUT, PUT, UPSERT, REPLACE]

export function planChurn(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, keys, ops, reads, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const builder = new PlanBuilder(transactions, transactions * ops)
  const pools = new KeyPools(keys, disjointWrites ? sessions : 1, MOST_WRITES, random)
  const hotCount = Math.min(keys, Math.max(2, Math.round(keys * HOT_KEYS)))
  const slots: number[] = [] // slots whose keys the transaction has read and may write
  const seen: number[] = [] // the keys, which may have retired meanwhile
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    const range = random.chance(HOT_TRANSACTIONS) ? hotCount : keys
    builder.beginTxn(session)
    slots.length = 0
    seen.length = 0
    for (let left = lengthOf(ops, random); left > 0; left--) {
      if (seen.length > 0 && !random.chance(reads)) {
        const at = random.below(seen.length)
        builder.addOp(WRITE, seen[at]!, random.pick(WAYS))
        pools.age(disjointWrites ? session : 0, slots[at]!, seen[at]!, random)
        continue
      }
      if (seen.length > 0 && random.chance(AGAIN)) {
        builder.addOp(READ, random.pick(seen))
        continue
      }
      const pool = disjointWrites ? random.below(sessions) : 0
      const slot = random.below(range)
      const key = pools.keyAt(pool, slot)
      builder.addOp(READ, key)
      if (seen.includes(key) || (disjointWrites && pool !== session)) continue
      slots.push(slot)
      seen.push(key)
    }
  }
  return builder.finish({
    sessionCount: sessions,
    keyCount: pools.keyCount,
    readsBeforeWrites: true,
    keysRetire: true,
    rowCount: 0,
    disjointWrites,
  })
}

/** 2 … most, half of them below 4. */
function lengthOf(most: number, random: Random): number {
  return most <= 2 ? most : 2 + Math.floor(random.unit() * random.unit() * (most - 1))
}
