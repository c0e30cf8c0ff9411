// Adya's and Jepsen's names of an anomaly: what a cycle is by its edges alone, with `-realtime` if
// it needs real time and `-process` if it needs session order. Anomalies of weak levels show one
// anti-dependency each: somebody who had to see a version missed it. Main function: adyaNames.

import { ABORTED, type History, NONE, READ_LIST } from '../history/history.ts'
import { findAnomaly } from '../levels/anomalies.ts'

import { classOfCycle } from './anomaly-rules.ts'
import { type Anomaly, type Edge, findEdges, INITIAL_TXN } from './verdict.ts'

/** The names, the usual one first; empty if Adya has none. */
export function adyaNames(history: History, anomaly: Anomaly): string[] {
  const kind = findAnomaly(anomaly.name)?.adya ?? null
  if (anomaly.name === 'AbortedRead') {
    return isDirtyUpdate(history, anomaly.ops[0] ?? NONE) ? ['G1a', 'dirty-update'] : ['G1a']
  }
  if (anomaly.edges.length === 0 && anomaly.cases.length === 0) return kind === null ? [] : [kind]
  // A stale read needs real time by its name.
  const plain = classOf(history, anomaly) ?? kind?.replace(/-realtime$/, '')
  const name = `${plain}${formOf(anomaly)}`
  return anomaly.name === 'LostUpdate' ? [name, 'lost-update'] : [name]
}

/** Adya's class of a plain cycle; null where forced orders or cases are involved. */
function classOf(history: History, { edges, cases }: Anomaly): string | null {
  if (cases.length > 0 || edges.some((edge) => edge.kind === 'CO')) return null
  const name = classOfCycle(history, edges)
  // A row that was passed over was missed by its predicate, not as an item.
  const byPredicate = edges.some((edge) => edge.premises[0]?.event !== undefined)
  return byPredicate && name === 'G2-item' ? 'G2' : name
}

/** What a cycle needs besides dependencies. */
function formOf({ edges, cases }: Anomaly): string {
  // A forced order stands for the path that makes its first version visible.
  const steps = (edge: Edge) => (edge.kind === 'CO' ? edge.premises.slice(1) : edge)
  const needed = cases.length > 0 ? [...findEdges(edges, cases)] : edges.flatMap(steps)
  if (needed.some((edge) => edge.kind === 'RT')) return '-realtime'
  const sessions = needed.some((edge) => edge.kind === 'SO' && edge.from !== INITIAL_TXN)
  return sessions ? '-process' : ''
}

/** Whether a list shows a committed append on top of an aborted one. */
function isDirtyUpdate(history: History, read: number): boolean {
  if (read < 0 || history.opKind[read] !== READ_LIST) return false
  const { listStart, listFrom, opValue, opTxn, txnStatus } = history
  let dirty = false
  for (let i = listStart[opValue[read]!]!; i < listStart[opValue[read]! + 1]!; i++) {
    const append = listFrom[i]!
    if (append === NONE) continue
    if (txnStatus[opTxn[append]!] === ABORTED) dirty = true
    else if (dirty) return true
  }
  return false
}
