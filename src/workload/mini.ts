// Mini-transactions (MTC, section III): one or two reads, at most two writes, each write preceded
// by a read of its key. Every shape that fits the definition is drawn with the same probability, so
// that each of the anomalies that mini-transactions can show has transactions able to show it.

import { Random } from '../base/random.ts'
import { READ, WRITE } from '../history/history.ts'
import { chooserOf } from './distributions.ts'
import { ownKey } from './general.ts'
import type { WorkloadParameters } from './parameters.ts'
import { type Plan, PlanBuilder } from './plan.ts'

/** One operation of a shape: on the first key of the transaction (0) or the second (1). */
export interface MiniOp {
  readonly kind: number
  readonly key: 0 | 1
}

/** All shapes, each named after the key it reads first. */
export const MINI_SHAPES: readonly (readonly MiniOp[])[] = enumerateShapes()

function enumerateShapes(): MiniOp[][] {
  const found: MiniOp[][] = []
  const pending: MiniOp[][] = [[{ kind: READ, key: 0 }]]
  for (let shape = pending.pop(); shape; shape = pending.pop()) {
    found.push(shape)
    const isRead = (key: number) => shape.some((op) => op.kind === READ && op.key === key)
    const readCount = shape.filter((op) => op.kind === READ).length
    const writeCount = shape.length - readCount
    for (const key of [0, 1] as const) {
      if (readCount < 2) pending.push([...shape, { kind: READ, key }])
      if (writeCount < 2 && isRead(key)) pending.push([...shape, { kind: WRITE, key }])
    }
  }
  return found
}

export function planMini(parameters: WorkloadParameters): Plan {
  const { sessions, transactions, keys, disjointWrites } = parameters
  const random = new Random(parameters.seed)
  const chooser = chooserOf(parameters.distribution, keys)
  const builder = new PlanBuilder(transactions, transactions * 4)
  for (let txn = 0; txn < transactions; txn++) {
    const session = txn % sessions
    builder.beginTxn(session)
    const shape = MINI_SHAPES[random.below(MINI_SHAPES.length)]!
    const writes = [false, false]
    for (const op of shape) if (op.kind === WRITE) writes[op.key] = true
    let first = chooser.next(random)
    if (disjointWrites && writes[0]) first = ownKey(first, session, parameters)
    let second = first
    // Two different keys where that is possible; a few draws suffice unless there is only one.
    for (let tries = 0; second === first && tries < 32; tries++) {
      second = chooser.next(random)
      if (disjointWrites && writes[1]) second = ownKey(second, session, parameters)
    }
    for (const op of shape) builder.addOp(op.kind, op.key === 0 ? first : second)
  }
  return builder.finish({
    sessionCount: sessions,
    keyCount: keys,
    readsBeforeWrites: true,
    disjointWrites,
  })
}
