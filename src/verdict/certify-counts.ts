// Verifies how often anomalies occur. Reads that offend by themselves, contradict another read of
// their list, or another one of their transaction are counted anew, in one pass: what the examples
// of a name stand for together must be all of them. How many reads force a cycle is not counted
// again here; it is at least one, and no more than there are operations. O(operations and lengths
// of lists). Main function: certifyCounts.

import { obtain } from '../base/maps.ts'
import {
  APPEND,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { isOffence, nameListRead, nameReadGiven, nameRows, splitList } from './certify-reads.ts'
import { LEVEL_RULES } from './level-rules.ts'
import type { Anomaly } from './verdict.ts'

export function certifyCounts(
  history: History,
  level: LevelId,
  anomalies: readonly Anomaly[],
): string[] {
  const told = new Map<string, number>() // name of reads -> how many its examples stand for
  for (const { name, count, edges, cases, given } of anomalies) {
    // What holds for a choice of writers is one case of an argument, not a list of what occurs.
    if (given !== undefined) {
      if (count === 1) continue
      return [`${name} is one case, and counts ${count} times`]
    }
    if (!(count >= 1 && count <= history.opCount)) return [`${name} cannot occur ${count} times`]
    const isOfReads = isOffence(name) || name === 'NonRepeatableRead'
    const isOfCycle = edges.length > 0 || cases.length > 0 // of rows, where statements read
    if (isOfReads && !isOfCycle) told.set(name, (told.get(name) ?? 0) + count)
  }
  if (told.size === 0) return []
  const found = countReads(history, LEVEL_RULES[level].ownWrites)
  return [...told].flatMap(([name, count]) => {
    const expected = found.get(name) ?? 0
    return count === expected ? [] : [`${name} occurs ${expected} times, not ${count}`]
  })
}

/** What was counted, of histories that are still in use: it is the same at most levels. */
const COUNTED = [new WeakMap<History, Counts>(), new WeakMap<History, Counts>()] as const
type Counts = ReadonlyMap<string, number>

function countReads(history: History, ownWrites: boolean): Counts {
  const counted = COUNTED[ownWrites ? 1 : 0]
  return obtain(counted, history, () => new ReadCount(history, ownWrites).run())
}

class ReadCount {
  private readonly found = new Map<string, number>()
  private readonly ownTxn: Int32Array // key -> transaction that wrote it last in this pass
  private readonly ownOp: Int32Array // key -> that write
  private readonly readTxn: Int32Array // key -> transaction that read it last
  private readonly source: Int32Array // key -> whom that one read it from first, itself if its own
  private readonly differs: Uint8Array // key -> 1 once that one read it from somebody else too
  private readonly replaced: Uint8Array // write op -> 1 if its own transaction overwrote it
  private readonly incompatible: ReadonlySet<number> // list reads

  constructor(
    private readonly history: History,
    private readonly ownWrites: boolean,
  ) {
    const { keyCount } = history
    this.ownTxn = new Int32Array(keyCount).fill(NONE)
    this.ownOp = new Int32Array(keyCount)
    this.readTxn = new Int32Array(keyCount).fill(NONE)
    this.source = new Int32Array(keyCount)
    this.differs = new Uint8Array(keyCount)
    this.replaced = findReplaced(history)
    this.incompatible = findIncompatible(history)
  }

  run(): Counts {
    const { history, ownTxn, ownOp } = this
    const { opCount, opKind, opKey, opTxn, txnCounts } = history
    for (let op = 0; op < opCount; op++) {
      const txn = opTxn[op]!
      if (!txnCounts[txn]) continue
      const kind = opKind[op]
      if (kind === READ) this.read(txn, op)
      else if (kind === READ_LIST) this.readList(txn, op)
      else if (kind === READ_ROWS) this.count(nameRows(history, op))
      else if (kind === WRITE || kind === APPEND) {
        ownTxn[opKey[op]!] = txn
        ownOp[opKey[op]!] = op
      }
    }
    return this.found
  }

  private read(txn: number, op: number): void {
    const { history, ownWrites, replaced } = this
    const key = history.opKey[op]!
    const write = history.readFrom[op]!
    const own = ownWrites && this.ownTxn[key] === txn ? this.ownOp[key]! : NONE
    const name = nameReadGiven(history, op, own, write >= 0 && !replaced[write], ownWrites)
    if (name !== null) this.count(name)
    const hasReadOwn = this.readTxn[key] === txn && this.source[key] === txn
    if (name === 'NotMyOwnWrite' && hasReadOwn) this.count('NonRepeatableRead')
    if (name !== null) return
    const source = write === INITIAL ? INITIAL : history.opTxn[write]!
    // Reading one's own write is no contradiction, and begins anew.
    if (source === txn) this.readTxn[key] = NONE
    this.compare(txn, key, source)
  }

  private readList(txn: number, op: number): void {
    const name = nameListRead(this.history, op, this.ownWrites)
    if (name !== null) return this.count(name)
    if (this.incompatible.has(op)) return this.count('IncompatibleOrder')
    const last = splitList(this.history, op, this.ownWrites).foreign.at(-1)
    this.compare(
      txn,
      this.history.opKey[op]!,
      last === undefined ? INITIAL : this.history.opTxn[last]!,
    )
  }

  private compare(txn: number, key: number, source: number): void {
    if (this.readTxn[key] !== txn) {
      this.readTxn[key] = txn
      this.source[key] = source
      this.differs[key] = 0
      return
    }
    if (this.source[key] !== source) this.differs[key] = 1
    if (this.differs[key]) this.count('NonRepeatableRead')
  }

  private count(name: string): void {
    this.found.set(name, (this.found.get(name) ?? 0) + 1)
  }
}

/** Marks writes that their own transaction overwrote. */
function findReplaced({ opKind, opKey, opTxn, opCount, keyCount }: History): Uint8Array {
  const replaced = new Uint8Array(opCount)
  const last = new Int32Array(keyCount).fill(NONE) // key -> the write seen last
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE) continue
    const before = last[opKey[op]!]!
    if (before !== NONE && opTxn[before] === opTxn[op]) replaced[before] = 1
    last[opKey[op]!] = op
  }
  return replaced
}

/** Sound reads of a list that are no prefix of its longest one. */
function findIncompatible(history: History): Set<number> {
  const { opCount, opKind, opKey, opTxn, txnCounts } = history
  const longest = new Map<number, number[]>() // key -> what the longest sound read shows
  const shown = new Map<number, number[]>() // sound read -> what it shows
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_LIST || !txnCounts[opTxn[op]!]) continue
    const { foreign, sound } = splitList(history, op)
    if (!sound) continue
    const key = opKey[op]!
    shown.set(op, foreign)
    if (foreign.length > (longest.get(key)?.length ?? NONE)) longest.set(key, foreign)
  }
  const found = new Set<number>()
  for (const [op, foreign] of shown) {
    const best = longest.get(opKey[op]!)!
    if (foreign.some((append, i) => append !== best[i])) found.add(op)
  }
  return found
}
