// One history as several that do not communicate, for machines that share nothing. Sessions and
// keys are nodes, joined where a session accesses a key, however that transaction ended; connected
// components are the parts. Everything that a level without real time speaks of (session order,
// reads, versions of a key) lies within one of them, so the whole satisfies such a level iff each
// part does: docs/fleet.md has the proof. Transactions that spell out the initial state join
// nothing; each part has what they say of its keys. O(operations). Main functions: splitHistory,
// isLocal.

import { APPEND, type History, READ, READ_LIST, WRITE } from '../history/history.ts'
import { buildPart } from '../history/sub-history.ts'
import { type LevelRequest, WITHOUT_TIMES } from '../levels/levels.ts'

/** Beyond so many, small ones go together. */
const MOST_PARTS = 64

/** Whether a level holds if it holds in each part. */
export function isLocal({ level, realTime }: LevelRequest): boolean {
  const isTimed = realTime === true || level === 'lin' || WITHOUT_TIMES[level] !== undefined
  return !isTimed && level !== 'mixed'
}

/** Its parts, the largest first; the history itself if it is one, or says more than operations. */
export function splitHistory(history: History): History[] {
  if (!isPlain(history)) return [history]
  const leader = joinKeys(history)
  const sizes = new Map<number, number>() // leader -> operations
  for (const key of history.opKey) sizes.set(leader[key]!, (sizes.get(leader[key]!) ?? 0) + 1)
  if (sizes.size < 2) return [history]
  // The largest first, each to the part that has least: they are of about the same size.
  const partOf = new Map<number, number>()
  const loads = new Float64Array(Math.min(MOST_PARTS, sizes.size))
  for (const [each, size] of [...sizes].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const part = loads.indexOf(Math.min(...loads))
    partOf.set(each, part)
    loads[part]! += size
  }
  const ops = Array.from(loads, (): number[] => [])
  history.opKey.forEach((key, op) => {
    ops[partOf.get(leader[key]!)!]!.push(op)
  })
  return ops.map((kept) => buildPart(history, Int32Array.from(kept)))
}

/** Nothing in it but operations on keys and what sessions say of their order. */
function isPlain({ sql, rows, partial, after, txnAudit, versions, opKind }: History): boolean {
  const isKnown = (kind: number) =>
    kind === READ || kind === WRITE || kind === APPEND || kind === READ_LIST
  const isBare = sql === null && rows === null && partial === null
  return isBare && after === null && txnAudit === null && versions === null && opKind.every(isKnown)
}

/** Key -> a key or session that stands for all that it communicates with. */
function joinKeys(history: History): Int32Array {
  const { keyCount, sessionCount, opCount, opKey, opTxn, txnSession, txnIsInitial } = history
  const leader = Int32Array.from({ length: keyCount + sessionCount }, (_, node) => node)
  const find = (node: number) => {
    let at = node
    while (leader[at] !== at) at = leader[at] = leader[leader[at]!]!
    return at
  }
  for (let op = 0; op < opCount; op++) {
    const txn = opTxn[op]!
    if (!txnIsInitial[txn]) leader[find(keyCount + txnSession[txn]!)] = find(opKey[op]!)
  }
  for (let node = 0; node < leader.length; node++) leader[node] = find(node)
  return leader
}
