// A workload that is aimed at one anomaly (aims.ts): its roles, played by all sessions on a few
// groups of keys, so that at any time some play different roles on the same keys. Half of the
// transactions rest where their role lets them: those that do are overtaken by those that do not.
// Main function: planAimed.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { findAim } from './aims.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder, UPDATE } from './plan.ts'

/** Share of the transactions that rest. */
const RESTING = 0.5

interface RoleOp {
  readonly kind: number
  readonly key: number // of the group
  readonly rests: boolean // before it
}

export function planAimed(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, keys, ops } = parameters
  const random = new Random(parameters.seed)
  const roles = findAim(parameters.aim!).roles.map(parseRole)
  const groupSize = 1 + Math.max(...roles.flat().map(({ key }) => key))
  const groupCount = Math.max(1, Math.floor(keys / groupSize))
  const builder = new PlanBuilder(transactions, transactions * ops)
  for (let txn = 0; txn < transactions; txn++) {
    builder.beginTxn(txn % sessions)
    const firstKey = random.below(groupCount) * groupSize
    const mayRest = random.chance(RESTING)
    for (const { kind, key, rests } of random.pick(roles)) {
      builder.addOp(kind, firstKey + key, UPDATE, rests && mayRest)
    }
  }
  const keyCount = groupCount * groupSize
  return builder.finish({ sessionCount: sessions, keyCount, readsBeforeWrites: true })
}

/** `r x r y . w x` */
function parseRole(text: string): RoleOp[] {
  return [...text.matchAll(/(\. )?([rw]) ([xy])/g)].map(([, rest, verb, key]) => ({
    kind: verb === 'r' ? READ : WRITE,
    key: key === 'x' ? 0 : 1,
    rests: rest !== undefined,
  }))
}
