// Whether nothing is left to search for: an order is serial but for reads that are told already.
// Whoever looks for further kinds of anomalies after some were found asks this first: the answer
// takes no time where each fault is one of single reads, and a search takes its full course to find
// nothing. Main functions: isSerialRest, of an order at hand; runsWithout, by a run.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { KnownOrder } from '../evidence/findings.ts'
import { leaveOut } from '../reads/leave-out.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated } from '../reads/unrepeated.ts'
import { findSerialOrder } from './serial-order.ts'

/**
 * True if ser and all that it implies hold of what is left without the reads that offend (which no
 * order knows), those that were not repeated, and whatever is blamed.
 * @param blamed transactions to do without
 */
export function isSerialRest(
  history: History,
  reads: ReadCheck,
  { component, stale }: KnownOrder,
  blamed: ReadonlySet<number>,
): boolean {
  if (component !== null) return false
  const { opTxn, opKey } = history
  const isUnrepeated = findUnrepeated(history, reads)
  return stale.read.every((read) => {
    const txn = opTxn[read]!
    return blamed.has(txn) || isUnrepeated(txn, opKey[read]!)
  })
}

/** The same of some order that a run comes to; false if it gets stuck, which may say nothing. */
export function runsWithout(
  history: History,
  reads: ReadCheck,
  blamed: ReadonlySet<number>,
  deadline: Deadline,
): boolean {
  const left = leaveOut(history, reads, blamed)
  const isUnrepeated = findUnrepeated(history, reads)
  const opSource = left.reads.opSource.map((source, op) =>
    isUnrepeated(history.opTxn[op]!, history.opKey[op]!) ? NONE : source,
  )
  return findSerialOrder(left.history, { ...left.reads, opSource }, false, deadline) !== null
}
