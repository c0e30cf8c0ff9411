// Shows a cycle with the strongest edges that are known. A reader precedes whoever replaced the
// version it read; if the two also write a common key, then (from si on) that is an order of
// versions, which is more: a cycle of anti-dependencies that are really version orders would be
// taken for one that snapshot isolation allows. One anti-dependency is left, so that the cycle
// still tells what was missed, and lost updates stay what they are. Main function: strengthen.

import { ABORTED, APPEND, type History, NONE, WRITE } from '../../history/history.ts'
import { isLostUpdate } from '../../verdict/anomaly-rules.ts'
import type { Edge } from '../../verdict/verdict.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Argument } from './fold.ts'

/**
 * @param ordersCommits whether a transaction that missed another's write of a key it writes itself
 *   commits before it
 */
export function strengthen(
  history: History,
  reads: Pick<ReadCheck, 'versions'> | null,
  ordersCommits: (txn: number) => boolean,
  { edges, cases }: Argument,
): Argument {
  const shape = (cycle: Edge[]) => strengthenCycle(history, reads, ordersCommits, cycle)
  return {
    edges: shape(edges),
    cases: cases.map(({ assumptions, cycle }) => ({ assumptions, cycle: shape(cycle) })),
  }
}

function strengthenCycle(
  history: History,
  reads: Pick<ReadCheck, 'versions'> | null,
  ordersCommits: (txn: number) => boolean,
  cycle: Edge[],
): Edge[] {
  let left = cycle.filter(({ kind }) => kind === 'RW').length
  if (left < 2 || isLostUpdate(history, cycle)) return cycle
  return cycle.map((edge) => {
    if (left < 2 || edge.kind !== 'RW' || !ordersCommits(edge.from)) return edge
    const key = sharedKey(history, edge)
    const order = key === NONE ? null : versionOrder(history, reads, edge, key)
    if (order === null) return edge
    left--
    return order
  })
}

/** A key that both ends of an anti-dependency write, its own if possible; NONE if there is none. */
function sharedKey(history: History, { from, to, key }: Edge): number {
  if (lastWrite(history, from, key) !== NONE) return key
  const { txnOpStart, opKey } = history
  for (let op = txnOpStart[from]!; op < txnOpStart[from + 1]!; op++) {
    const both = [from, to].every((txn) => lastWrite(history, txn, opKey[op]!) !== NONE)
    if (both) return opKey[op]!
  }
  return NONE
}

/** As a list shows it, or versions, or because of the anti-dependency; null if it is the opposite. */
function versionOrder(
  history: History,
  reads: Pick<ReadCheck, 'versions'> | null,
  edge: Edge,
  key: number,
): Edge | null {
  const { from, to } = edge
  const ops = [from, to].map((txn) => lastWrite(history, txn, key))
  const order = { from, to, kind: 'WW' as const, key, ops, premises: [edge] }
  const [one, other] = ops.map((op) => history.versions?.opVersion[op] ?? Number.NaN)
  if (one! > other!) return null
  if (one! < other!) return { ...order, premises: [] }
  const shown = reads?.versions?.orderRead[key] ?? NONE
  if (shown === NONE) return order
  const [first, second] = [from, to].map((txn) => placeIn(history, shown, txn))
  if (second! < first!) return null
  return first === Number.POSITIVE_INFINITY
    ? order
    : { ...order, ops: [...ops, shown], premises: [] }
}

/** Where a list read shows what another transaction appended; what it does not show comes last. */
function placeIn(history: History, read: number, txn: number): number {
  const { listStart, listFrom, opValue, opTxn } = history
  if (opTxn[read] === txn) return Number.POSITIVE_INFINITY
  const list = opValue[read]!
  const shown = listFrom.subarray(listStart[list]!, listStart[list + 1]!)
  const place = shown.findIndex((append) => opTxn[append] === txn)
  return place < 0 ? Number.POSITIVE_INFINITY : place
}

/** NONE if it leaves nothing of the key, as whoever rolled back does. */
function lastWrite(history: History, txn: number, key: number): number {
  const { txnOpStart, opKind, opKey, txnStatus } = history
  if (txnStatus[txn] === ABORTED) return NONE
  for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
    if (opKey[op] === key && (opKind[op] === WRITE || opKind[op] === APPEND)) return op
  }
  return NONE
}
