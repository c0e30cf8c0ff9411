// Lightweight transactions: each touches one key, either reading it or replacing what it read, as a
// compare-and-set does. `reads` is the share of those that only look.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { chooserOf } from './distributions.ts'
import { ownKey } from './general.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder } from './plan.ts'

export function planLightweight(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, reads, keys, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const chooser = chooserOf(parameters.distribution, keys)
  const builder = new PlanBuilder(transactions, transactions * 2)
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    builder.beginTxn(session)
    const key = chooser.next(random)
    if (random.chance(reads)) {
      builder.addOp(READ, key)
      continue
    }
    const own = disjointWrites ? ownKey(key, session, parameters) : key
    builder.addOp(READ, own)
    builder.addOp(WRITE, own)
  }
  return builder.finish({
    sessionCount: sessions,
    keyCount: keys,
    readsBeforeWrites: true,
    lightweight: true,
    disjointWrites,
  })
}
