// List-append transactions, as Jepsen's users write them: appends to lists and reads of whole
// lists. Keys retire (key-pools.ts), so that lists stay short. At the end every key is read once
// more, after everything else.

import { Random } from '../base/random.ts'
import { APPEND, READ_LIST } from '../history/history.ts'
import { chooserOf } from './distributions.ts'
import { KeyPools } from './key-pools.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder } from './plan.ts'

const MAX_APPENDS = 128

export function planAppend(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, ops, reads, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const chooser = chooserOf(parameters.distribution, parameters.keys)
  const builder = new PlanBuilder(transactions, transactions * ops)
  const pools = new KeyPools(parameters.keys, disjointWrites ? sessions : 1, MAX_APPENDS, random)
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    builder.beginTxn(session)
    for (let i = 0; i < ops; i++) {
      const slot = chooser.next(random)
      if (random.chance(reads)) {
        builder.addOp(READ_LIST, pools.keyAt(disjointWrites ? random.below(sessions) : 0, slot))
      } else {
        const pool = disjointWrites ? session : 0
        const key = pools.keyAt(pool, slot)
        builder.addOp(APPEND, key)
        pools.age(pool, slot, key, random)
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
    keyCount: pools.keyCount,
    finalTxn,
    keysRetire: true,
    disjointWrites,
  })
}
