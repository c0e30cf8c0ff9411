// Verifies a pattern by the letters of Plume's paper (check/weak/plume-patterns.ts): its cycle
// violates cc, ends with the order t2 → t1 that a read forces, and t2 stands to that read as the
// letter says. Main function: certifyPlume.

import { type History, INITIAL, NONE } from '../history/history.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { certifyCycle } from './certify-cycles.ts'
import { foreignVersion } from './certify-reads.ts'
import { type Anomaly, type Edge, findTxns, INITIAL_TXN } from './verdict.ts'

export function certifyPlume(history: History, { name, edges, txns }: Anomaly): string[] {
  const problems = certifyCycle(history, 'cc', edges)
  if (problems.length > 0) return problems
  if (txns.toSorted((a, b) => a - b).join() !== findTxns(edges, []).join()) {
    return [`${name} names other transactions than its evidence`]
  }
  const problem = letterProblem(history, findAnomaly(name)?.tap ?? '', edges)
  return problem === null ? [] : [`${name}: ${problem}`]
}

function letterProblem(history: History, tap: string, edges: readonly Edge[]): string | null {
  const path = edges.slice(0, -1)
  const { kind, from, premises } = edges.at(-1)!
  const read = premises[0]?.ops.at(-1) ?? NONE
  if (kind !== 'CO' || read === NONE)
    return 'its cycle does not end with an order that a read forces'
  const isCausal = path.every((edge) => edge.kind === 'SO' || edge.kind === 'WR')
  if ('hkm'.includes(tap) && !isCausal) return 't1 does not happen before t2'
  if ('hi'.includes(tap) && !isRead(history, read, from, read)) return 't2 was not read from before'
  const reader = history.opTxn[read]!
  const end = history.txnOpStart[reader + 1]!
  const isDirect = isBefore(history, from, reader) || isRead(history, read, from, end)
  if ('kl'.includes(tap) && !isDirect)
    return 't2 was not read from, nor is it before in the session'
  return 'hiklmn'.includes(tap) && tap !== '' ? null : 'it is none of these patterns'
}

/** Whether the reader read another key than `read` did from t2, before `end`. */
function isRead(history: History, read: number, t2: number, end: number): boolean {
  const { txnOpStart, opTxn, opKey } = history
  for (let op = txnOpStart[opTxn[read]!]!; op < end; op++) {
    if (opKey[op] === opKey[read]) continue
    const version = foreignVersion(history, op)
    const writer = version === INITIAL ? INITIAL_TXN : (opTxn[version] ?? NONE)
    if (version !== NONE && writer === t2) return true
  }
  return false
}

function isBefore({ txnSession, txnIndex }: History, a: number, b: number): boolean {
  return txnSession[a] === txnSession[b] && txnIndex[a]! < txnIndex[b]!
}
