// Decides a level of a history on disk (docs/beyond-memory.md). An order is tried, the file's own
// at first; what is forced against it is added and put right, until nothing is, or until a cycle
// shows that there is no order. Main function: decideOnDisk.

import { assert, BudgetExceeded } from '../../base/errors.ts'
import { NONE } from '../../history/history.ts'
import { type CommitOrder, FILE_ORDER, orderOf } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { type BackEdge, confirmStale } from './confirm.ts'
import { decideStrong } from './decide-strong.ts'
import type { DecideTools, Decision } from './decision.ts'
import { isStrong, type SpilledLevel, type WeakSpilledLevel } from './levels.ts'
import { mend } from './mend.ts'
import { mergeSessions } from './merge-sessions.ts'
import { sweepBuckets } from './sweep.ts'

/** How often an order is put right before it is given up. */
const ROUNDS = 64

export function decideOnDisk(
  spilled: SpilledHistory,
  level: SpilledLevel,
  tools: DecideTools,
): Decision {
  try {
    return isStrong(level) ? decideStrong(spilled, level, tools) : decideWeak(spilled, level, tools)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return { verdict: 'unknown', reason: error.message }
  }
}

function decideWeak(
  spilled: SpilledHistory,
  level: WeakSpilledLevel,
  tools: DecideTools,
): Decision {
  let order = tools.first
  let known: BackEdge[] = [] // transactions, not positions
  for (let round = 0; round < ROUNDS; round++) {
    const onBucket = (bucket: number) => tools.onStep('matching', bucket, spilled.sizes.buckets)
    const sweep = sweepBuckets(spilled, order, level, { scratch: tools.scratch, onBucket })
    const { records, offences } = sweep
    try {
      if (offences.length > 0) return { verdict: 'violated', offences, txns: new Set() }
      if (records === null) return { verdict: 'satisfied', order, stale: null }
      const onOrder = (done: number, all: number) => tools.onStep('ordering', done, all)
      if (sweep.isLate) {
        assert(order === FILE_ORDER, 'only in the order of the file a read may be late')
        const { txnAt, cycle } = mergeSessions(spilled, records, tools.scratch, onOrder)
        if (txnAt === null) return { verdict: 'violated', offences, txns: cycle }
        order = orderOf(txnAt)
        continue
      }
      const onRange = (range: number) => tools.onStep('comparing', range, records.rangeCount)
      const found = confirmStale(spilled, order, level, records, onRange)
      if (found.length === 0) return { verdict: 'satisfied', order, stale: null }
      const edges = known.map((edge) => toPositions(edge, order)).concat(found)
      const mended = mend({ spilled, order, level, records }, edges, onOrder)
      if (mended.cycle !== null) return { verdict: 'violated', offences, txns: mended.cycle }
      known = edges.map((edge) => toTxns(edge, order))
      order = mended.order
    } finally {
      records?.close()
    }
  }
  throw new BudgetExceeded('no order that was tried was right')
}

function toPositions({ from, to, reader }: BackEdge, { position }: CommitOrder): BackEdge {
  if (position === null) return { from, to, reader }
  return {
    from: position[from]!,
    to: to === NONE ? NONE : position[to]!,
    reader: position[reader]!,
  }
}

function toTxns({ from, to, reader }: BackEdge, { txnAt }: CommitOrder): BackEdge {
  if (txnAt === null) return { from, to, reader }
  return { from: txnAt[from]!, to: to === NONE ? NONE : txnAt[to]!, reader: txnAt[reader]! }
}
