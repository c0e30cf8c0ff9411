// The shape of a history: which special forms it has, and how big its parts are. A history is
// `mini` if every transaction that counts has one or two reads, at most two writes, each write
// preceded by a read of its key (MTC); `rmw` if only the last holds; `lists` if it appends; `sql` if
// it has tables; else `general`.

import {
  APPEND,
  type History,
  hasLists,
  hasTimes,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from './history.ts'
import { type SqlEvents, STATEMENT_NAMES, type StatementName } from './sql-events.ts'
import { toldOps } from './told-ops.ts'

/** The special form that a history has, if any. */
export type ShapeName = 'mini' | 'rmw' | 'lists' | 'sql' | 'general'

/** How large the parts of a history are. */
export interface Spread {
  min: number
  median: number
  max: number
}

/** What a history is made of. */
export interface HistoryShape {
  shape: ShapeName
  reads: number
  writes: number
  appends: number
  /** How many SQL statements of each kind; null if the history has no tables. */
  statements: { [kind in StatementName]: number } | null
  opsPerTxn: Spread
  txnsPerSession: Spread
  timed: boolean
  hotKeys: { key: number; count: number }[]
}

export function describeShape(history: History): HistoryShape {
  const told = toldOps(history)
  const kinds = [0, 0, 0, 0, 0]
  for (const kind of told.opKind) kinds[kind]!++
  return {
    shape: shapeOf(history),
    reads: kinds[READ]! + kinds[READ_LIST]! + kinds[READ_ROWS]!,
    writes: kinds[WRITE]!,
    appends: kinds[APPEND]!,
    statements: history.sql && countStatements(history.sql),
    opsPerTxn: spreadOf(gaps(told.txnOpStart)),
    txnsPerSession: spreadOf(gaps(history.sessionTxnStart)),
    timed: hasTimes(history) && history.txnCount > 0,
    hotKeys: hottest(history.keyCount, told.opKey, 3),
  }
}

function countStatements({ eventKind }: SqlEvents): { [kind in StatementName]: number } {
  const counts = { select: 0, insert: 0, update: 0, delete: 0, refused: 0 }
  for (const kind of eventKind) counts[STATEMENT_NAMES[kind]!]++
  return counts
}

function shapeOf(history: History): ShapeName {
  const { txnCount, txnCounts, txnOpStart, opKind, opKey } = history
  const readBy = new Int32Array(history.keyCount).fill(NONE) // key -> last transaction to read it
  let mini = true
  if (history.sql) return 'sql'
  if (hasLists(history)) return 'lists'
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue
    let reads = 0
    let writes = 0
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === READ || opKind[op] === READ_ROWS) {
        reads++
        readBy[opKey[op]!] = txn
      } else {
        writes++
        if (readBy[opKey[op]!] !== txn) return 'general'
      }
    }
    if (reads < 1 || reads > 2 || writes > 2) mini = false
  }
  return mini ? 'mini' : 'rmw'
}

function gaps(starts: Int32Array): Int32Array {
  const sizes = new Int32Array(Math.max(0, starts.length - 1))
  for (let i = 0; i < sizes.length; i++) sizes[i] = starts[i + 1]! - starts[i]!
  return sizes
}

function spreadOf(sizes: Int32Array): Spread {
  if (sizes.length === 0) return { min: 0, median: 0, max: 0 }
  const sorted = sizes.slice().sort()
  return { min: sorted[0]!, median: sorted[sorted.length >> 1]!, max: sorted[sorted.length - 1]! }
}

function hottest(keyCount: number, opKey: Int32Array, most: number) {
  const counts = new Int32Array(keyCount)
  for (const key of opKey) if (key !== NONE) counts[key]!++
  const best: { key: number; count: number }[] = []
  for (let key = 0; key < counts.length; key++) {
    const count = counts[key]!
    if (count === 0) continue
    if (best.length === most && count <= best[most - 1]!.count) continue
    best.push({ key, count })
    best.sort((a, b) => b.count - a.count || a.key - b.key)
    if (best.length > most) best.pop()
  }
  return best
}
