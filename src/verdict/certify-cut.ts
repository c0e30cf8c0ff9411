// Verifies cut isolation, which needs no order: every read is sound, reads of one list are prefixes
// of one another, and no transaction reads one key from two others. One pass over the operations,
// O(n) for registers. Main function: certifyCut.

import { ABORTED, type History, INITIAL, NONE, READ, READ_LIST } from '../history/history.ts'
import { isWrite, offenceOf, splitList } from './certify-reads.ts'

const MAX_PROBLEMS = 5

export function certifyCut(history: History): string[] {
  const problems: string[] = []
  const readerOf = new Int32Array(history.keyCount).fill(NONE) // key -> last reader
  const sourceOf = new Int32Array(history.keyCount) // key -> what it read from
  const longest = new Map<number, readonly number[]>() // key -> the most that was shown of a list
  const own = new OwnWrites(history)
  const { opTxn, opKind, opKey, txnCounts } = history
  for (let op = 0; op < history.opCount; op++) {
    const txn = opTxn[op]!
    const kind = opKind[op]
    if (isWrite(history, op)) own.write(op)
    if (!txnCounts[txn] || (kind !== READ && kind !== READ_LIST)) continue
    let version: number
    if (kind === READ) {
      if (!own.isSound(op)) problems.push(`read ${op} is ${offenceOf(history, op, true)}`)
      version = history.readFrom[op]!
    } else {
      const { foreign, sound } = splitList(history, op)
      if (!sound) problems.push(`list read ${op} is not sound`)
      const other = longest.get(opKey[op]!) ?? []
      const isPrefix = foreign.every((append, i) => append === (other[i] ?? append))
      if (!isPrefix) problems.push(`list read ${op} contradicts another one`)
      if (foreign.length > other.length) longest.set(opKey[op]!, foreign)
      version = foreign.length === 0 ? INITIAL : foreign[foreign.length - 1]!
    }
    const source = version < 0 ? version : opTxn[version]!
    if (source === txn) continue
    const key = opKey[op]!
    if (readerOf[key] === txn && sourceOf[key] !== source)
      problems.push(`read ${op} is not repeatable`)
    readerOf[key] = txn
    sourceOf[key] = source
    if (problems.length >= MAX_PROBLEMS) break
  }
  return problems
}

/** What transactions wrote themselves, for a pass over all operations in their order. */
class OwnWrites {
  private readonly latest: Int32Array // key -> its last write in the pass, or NONE
  private readonly rewritten: Uint8Array // write op -> 1 if its transaction writes the key again

  constructor(private readonly history: History) {
    const { opCount, opTxn, opKey, keyCount } = history
    this.latest = new Int32Array(keyCount).fill(NONE)
    this.rewritten = new Uint8Array(opCount)
    for (let op = 0; op < opCount; op++) {
      if (!isWrite(history, op)) continue
      const before = this.latest[opKey[op]!]!
      if (before !== NONE && opTxn[before] === opTxn[op]) this.rewritten[before] = 1
      this.latest[opKey[op]!] = op
    }
    this.latest.fill(NONE)
  }

  write(op: number): void {
    this.latest[this.history.opKey[op]!] = op
  }

  /** Whether a read of a register, which the pass has come to, breaks no rule by itself. */
  isSound(read: number): boolean {
    const { opTxn, opKey, readFrom, txnStatus } = this.history
    const txn = opTxn[read]!
    const before = this.latest[opKey[read]!]!
    const version = readFrom[read]!
    if (before !== NONE && opTxn[before] === txn) return version === before
    if (version < 0) return version === INITIAL
    const writer = opTxn[version]!
    return writer !== txn && txnStatus[writer] !== ABORTED && !this.rewritten[version]
  }
}
