// General transactions: a fixed number of operations, each a read with the given probability, over
// keys of the chosen distribution (the generators of PolySI and Plume). With a mix, Cobra's three
// kinds instead: read-only, write-only, read-modify-write.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { chooserOf } from './distributions.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder } from './plan.ts'

export function planGeneral(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, ops, reads, keys, mix, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const chooser = chooserOf(parameters.distribution, keys)
  const builder = new PlanBuilder(transactions, transactions * ops)
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    builder.beginTxn(session)
    const readShare = mix ? readShareOf(mix, random) : reads
    let pair = -1 // key that the second half of a read-modify-write is due to write
    for (let i = 0; i < ops; i++) {
      if (pair >= 0) {
        builder.addOp(WRITE, pair)
        pair = -1
        continue
      }
      const key = chooser.next(random)
      if (readShare === PAIRS) {
        // An odd operation at the end has no room for its write and stays a read.
        const own = disjointWrites ? ownKey(key, session, parameters) : key
        builder.addOp(READ, own)
        if (i + 1 < ops) pair = own
      } else if (random.chance(readShare)) {
        builder.addOp(READ, key)
      } else {
        builder.addOp(WRITE, disjointWrites ? ownKey(key, session, parameters) : key)
      }
    }
  }
  return builder.finish({ sessionCount: sessions, keyCount: keys, disjointWrites })
}

const PAIRS = -1

function readShareOf(mix: readonly [number, number, number], random: Random): number {
  const at = random.unit() * (mix[0] + mix[1] + mix[2])
  if (at < mix[0]) return 1
  return at < mix[0] + mix[1] ? 0 : PAIRS
}

/** The session's own key next to the given one: sessions own the keys of their residue class. */
export function ownKey(
  key: number,
  session: number,
  about: { readonly sessions: number; readonly keys: number },
): number {
  const own = key - (key % about.sessions) + session
  return own < about.keys ? own : own - about.sessions
}
