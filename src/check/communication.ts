// What makes a history hard to decide, by the measures of the papers: its width, the most
// transactions that session order leaves unordered, which is the number of sessions, or at most
// that if transactions come after others beyond their sessions; its
// communication graph, whose nodes are sessions, joined when both access a key that somebody
// writes, and the biconnected components of that graph, which can be decided one by one (Biswas &
// Enea, sections 4 and 5). O(operations + accesses of keys by sessions · sessions / 32). Main
// function: describeCommunication.

import { afterAsReads } from '../history/after-as-reads.ts'
import type { History } from '../history/history.ts'
import { findParts, isShared } from './general/parts.ts'
import { checkReads } from './reads/read-consistency.ts'

export interface Communication {
  /** Sessions in which a transaction counts. */
  width: number
  /** False if some come after others beyond their sessions, so that it may be less. */
  isExact: boolean
  graph: {
    /** Pairs of sessions that access a common key; null if there are too many sessions to count. */
    edges: number | null
    /** Connected components. */
    components: number
    /** Biconnected components. */
    blocks: number
    /** Sessions of the largest of those. */
    largestBlock: number
  }
}

const MAX_SESSIONS = 8192 // 8 MB of bits

export function describeCommunication(recorded: History): Communication {
  // What comes after another session communicates with it.
  const history = recorded.after === null ? recorded : afterAsReads(recorded, false).history
  const reads = checkReads(history)
  const active = new Set<number>()
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (history.txnCounts[txn]) active.add(history.txnSession[txn]!)
  }
  const of = (biconnected: boolean) =>
    findParts(history, reads, biconnected).filter((part) => part.some((each) => active.has(each)))
  const blocks = of(true)
  return {
    width: active.size,
    isExact: recorded.after === null,
    graph: {
      edges: countEdges(history, isShared(history, reads)),
      components: of(false).length,
      blocks: blocks.length,
      largestBlock: blocks.reduce((most, block) => Math.max(most, block.length), 0),
    },
  }
}

/** @param isAccess whether an operation joins its session to others that access the key */
function countEdges(history: History, isAccess: (op: number) => boolean): number | null {
  const { sessionCount, keyCount, txnSession, opTxn, opKey } = history
  if (sessionCount > MAX_SESSIONS) return null
  const width = (sessionCount + 31) >> 5
  const keySessions: (Set<number> | undefined)[] = new Array(keyCount)
  for (let op = 0; op < history.opCount; op++) {
    if (!isAccess(op)) continue
    const key = opKey[op]!
    keySessions[key] ??= new Set()
    keySessions[key].add(txnSession[opTxn[op]!]!)
  }
  const joined = new Uint32Array(sessionCount * width) // session · width -> bits of its neighbours
  const bits = new Uint32Array(width)
  for (const sessions of keySessions) {
    if (!sessions || sessions.size < 2) continue
    bits.fill(0)
    for (const session of sessions) bits[session >> 5]! |= 1 << (session & 31)
    for (const session of sessions) {
      for (let w = 0; w < width; w++) joined[session * width + w]! |= bits[w]!
    }
  }
  let ends = 0
  joined.forEach((word, at) => {
    let rest = word
    const own = Math.floor(at / width)
    if (at % width === own >> 5) rest &= ~(1 << (own & 31))
    for (; rest !== 0; rest &= rest - 1) ends++
  })
  return ends / 2
}
