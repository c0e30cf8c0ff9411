// Linearizability of lightweight transactions (MTC, Algorithm 2): each transaction is one operation
// on one key, a read or a read and a write of it (compare-and-set, insert). Keys do not influence
// one another (Herlihy and Wing's locality), so each is judged by itself: its versions must form
// one chain from the initial state, in which whoever read a version stands between its writer and
// its successor, and nothing may stand after something that started only when it had finished.
// Walking the chains takes O(n); readers of one version are sorted by their start where the input
// does not do so. Session order plays no part: at equal instants two operations of a session may
// overlap. Main function: findLinearOrder.

import { UsageError } from '../../base/errors.ts'
import { type History, hasTimes, INITIAL, NONE } from '../../history/history.ts'
import { LEVELS, type LevelId } from '../../levels/levels.ts'
import { isLight } from '../../verdict/certify-lin.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Successors } from './successors.ts'
import { isTimely } from './time-gate.ts'

/** Throws UsageError where a transaction says of itself that it does not take effect at once. */
export function expectAtomic(history: History): void {
  const { txnCount, txnCounts, txnOpStart, txnLevel } = history
  for (let txn = 0; txnLevel && txn < txnCount; txn++) {
    const level = LEVELS[txnLevel[txn]!]?.id
    if (!txnCounts[txn] || level === undefined || ATOMIC.has(level)) continue
    if (txnOpStart[txn + 1]! - txnOpStart[txn]! < 2 || isLight(history, txn)) continue
    throw new UsageError(
      `level lin is for transactions that take effect at once, and ${history.txnName(txn)} says that it ran at ${level}`,
      'ask for sser, which does not care for what transactions say of themselves',
    )
  }
}

const ATOMIC: ReadonlySet<LevelId> = new Set(['ser', 'ser+lin', 'sser', 'lin'])

/**
 * The transactions that count, key by key, each key's in an order that its operations can have taken
 * effect in; null if some key has none. All reads must be sound, and no version replaced twice.
 * Without times the chains alone are judged.
 */
export function findLinearOrder(
  history: History,
  reads: ReadCheck,
  successors: Successors,
): Int32Array | null {
  return new ChainWalk(history, reads, successors).run()
}

class ChainWalk {
  private readonly firstReader: Int32Array // write op, or opCount + key -> who only read it
  private readonly nextReader: Int32Array // txn -> the next one that only read the same version
  private readonly order: Int32Array
  private length = 0
  private readonly expected: number
  private readonly starts: History['txnStartTime'] // null unless all times are known

  constructor(
    private readonly history: History,
    reads: ReadCheck,
    private readonly successors: Successors,
  ) {
    const { txnCount, txnCounts, txnOpStart, opCount, keyCount, opKey, readFrom } = history
    this.starts = hasTimes(history) ? history.txnStartTime : null
    this.firstReader = new Int32Array(opCount + keyCount).fill(NONE)
    this.nextReader = new Int32Array(txnCount).fill(NONE)
    this.order = new Int32Array(txnCount)
    let expected = 0
    // From the last to the first, so that readers come in the order of the input.
    for (let txn = txnCount - 1; txn >= 0; txn--) {
      if (!txnCounts[txn]) continue
      expected++
      const read = txnOpStart[txn]!
      if (txnOpStart[txn + 1]! - read === 2 || reads.opSource[read] === NONE) continue
      const version = readFrom[read]! === INITIAL ? opCount + opKey[read]! : readFrom[read]!
      this.nextReader[txn] = this.firstReader[version]!
      this.firstReader[version] = txn
    }
    this.expected = expected
  }

  run(): Int32Array | null {
    const { opCount, keyCount, opTxn } = this.history
    const { successor, initialSuccessor } = this.successors
    for (let key = 0; key < keyCount; key++) {
      const begin = this.length
      this.addReaders(opCount + key)
      for (let next = initialSuccessor[key]!; next !== NONE; ) {
        const write = next + 1 // a write follows its read
        this.order[this.length++] = opTxn[next]!
        this.addReaders(write)
        next = successor[write]!
      }
      if (this.starts && !isTimely(this.history, this.order, begin, this.length)) return null
    }
    // What no chain reaches reads from a circle of versions.
    return this.length === this.expected ? this.order.subarray(0, this.length) : null
  }

  /** Those who only read the version, by their start. */
  private addReaders(version: number): void {
    const { starts } = this
    const begin = this.length
    let sorted = true
    for (let txn = this.firstReader[version]!; txn !== NONE; txn = this.nextReader[txn]!) {
      if (starts && this.length > begin)
        sorted &&= starts[this.order[this.length - 1]!]! <= starts[txn]!
      this.order[this.length++] = txn
    }
    if (!sorted) this.order.subarray(begin, this.length).sort((a, b) => starts![a]! - starts![b]!)
  }
}
