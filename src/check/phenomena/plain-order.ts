// An order for the levels that forbid no more than circles of what must come one after the other:
// versions whose order the store tells, at pl-2 and its kin reads-from, at strong ones session
// order and real time. Whoever finds none, or has lists to look at, decides otherwise
// (dirty-writes.ts, weak/weak-levels.ts). O(n), with real time O(n log n). Main function:
// findPlainOrder.

import type { Deadline } from '../../base/deadline.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { APPEND, type History, READ_LIST } from '../../history/history.ts'
import type { NamedFindings } from '../evidence/findings.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { DependencyBuilder, WW } from '../versions/dependency-graph.ts'

export interface PlainOptions {
  readonly isTimed: boolean // whether real time counts
  readonly isRead: boolean // whether what was read must have been written before
}

/** @param history without sessions where they do not count; null: it takes another decider */
export function findPlainOrder(
  history: History,
  reads: ReadCheck,
  { isTimed, isRead }: PlainOptions,
  deadline: Deadline,
): NamedFindings | null {
  const { versions, opCount, opKind, opTxn, txnCount, txnCounts, after } = history
  const isPlain = after === null && !opKind.includes(APPEND) && !opKind.includes(READ_LIST)
  if (!isPlain || reads.offendingOp.length > 0) return null
  const realTime = isTimed ? 'all' : null
  const room = (isRead ? opCount : 0) + (versions?.order.length ?? 0)
  const graph = new DependencyBuilder(history, { width: 1, sessions: true, realTime }, room)
  if (isRead) graph.addReads(reads)
  for (let i = 1; versions !== null && i < versions.order.length; i++) {
    const [before, write] = [versions.order[i - 1]!, versions.order[i]!]
    if (history.opKey[before] !== history.opKey[write]) continue
    graph.add(opTxn[before]!, opTxn[write]!, WW, write)
  }
  const csr = buildCsr(graph.nodeCount, graph.from, graph.to, graph.edgeCount)
  const found = findTopologicalOrder(csr, undefined, deadline)
  const order = found?.filter((node) => node < txnCount && txnCounts[node] === 1)
  if (order === undefined) return null
  return { anomalies: [], proof: { kind: 'commit-order', order }, algorithm: 'dependencies' }
}
