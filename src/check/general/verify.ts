// Which axioms a commit order, with a choice of writers for rows passed over, breaks. Every read of
// x from t1 by t3 asks that each writer of x visible to t3 commit before t1. At ser, si and pc what
// is visible is all up to some place in the order: t3 itself; or the last of what t3 read, follows
// and, at si, overwrites. So one look at the writer that comes next after t1 suffices. Below pc see
// visibility.ts. O(reads + writes), and O(pairs · log writers) for pairs. Main class: Verifier.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { PC, SER, SI } from '../problem/levels.ts'
import type { Pairs } from './pairs.ts'
import type { Problem } from './problem.ts'
import { Visibility } from './visibility.ts'

/** In place of the pair through which a writer is visible: by its place in the order. */
export const SNAPSHOT = -4
/** The read itself runs against the order, or is from one that does not take part. */
export const BACKWARD = -5

/** Versions between the one read and the last visible that are reported, for each read. */
const MOST_BETWEEN = 16

export class Verifier {
  // What is broken: the pair, NONE for a read listed with its version; the writer read from and one
  // that should commit before it (in some cases: the order of these two matters); and the pair
  // through which that one is visible, or IN_SESSION, CAUSAL, SNAPSHOT, BACKWARD.
  readonly pair = new IntColumn(64)
  readonly from = new IntColumn(64)
  readonly by = new IntColumn(64)
  readonly via = new IntColumn(64)
  /** Txn -> place in the order last set, NONE if it takes no part. */
  readonly position: Int32Array
  private readonly pairs: Pairs | null
  private readonly visibility: Visibility | null
  private readonly sorted: Int32Array // slot of a key -> its versions as the order goes
  private readonly keyEnd: Int32Array // key -> end of its versions in `sorted`
  private readonly slotOf: Int32Array // version -> slot
  private order: Int32Array | null = null // the one set
  private rival = NONE // si: whom the transaction last asked about overwrites, if that is the last

  constructor(
    private readonly problem: Problem,
    private readonly deadline: Deadline = Deadline.none(),
  ) {
    this.position = new Int32Array(problem.txnCount)
    this.sorted = new Int32Array(problem.versionTxn.length)
    this.slotOf = new Int32Array(problem.versionTxn.length)
    this.keyEnd = new Int32Array(problem.keyCount)
    this.pairs = problem.pairs
    this.visibility =
      problem.pairs && new Visibility(problem, (txn) => this.position[txn]! >= 0, deadline)
  }

  /** Whether the order satisfies all axioms; if not, see what is broken. */
  isValid(order: Int32Array, source: Int32Array | null): boolean {
    this.setOrder(order)
    this.verify(order, source)
    return this.via.length === 0
  }

  /** Lays out the writers of every key in an order; the rest asks about that order. */
  setOrder(order: Int32Array): void {
    const { writeStart, writeKey, writeVersion } = this.problem.access
    const { position, sorted, keyEnd, slotOf } = this
    if (order === this.order) return
    this.order = order
    position.fill(NONE)
    keyEnd.set(this.problem.keyStart.subarray(0, keyEnd.length))
    for (let i = 0; i < order.length; i++) {
      const txn = order[i]!
      position[txn] = i
      this.deadline.step(2)
      for (let w = writeStart[txn]!; w < writeStart[txn + 1]!; w++) {
        const slot = keyEnd[writeKey[w]!]!++
        sorted[slot] = writeVersion[w]!
        slotOf[writeVersion[w]!] = slot
      }
    }
  }

  /** Finds all reads that are broken; `source` says whom pairs read from. */
  verify(order: Int32Array, source: Int32Array | null): void {
    const { pairs, problem } = this
    this.pair.length = 0
    this.from.length = 0
    this.by.length = 0
    this.via.length = 0
    if (pairs !== null) this.visibility!.setClocks(order, source!)
    for (let i = 0; i < order.length; i++) {
      const txn = order[i]!
      this.deadline.step(4)
      const inOrder = pairs === null || this.arePairsInOrder(txn, source!)
      if (problem.level[txn]! < PC) {
        if (inOrder) this.findUnseen(txn, source!)
        continue
      }
      const last = this.lastVisible(txn, source)
      this.findReplaced(txn, last)
      if (pairs !== null && inOrder) this.findReplacedPairs(txn, source!, last)
    }
  }

  /** For each of a valid order without pairs: the place before which its snapshot is, at the last. */
  findSnapshots(order: Int32Array): Int32Array {
    const { versionTxn, access, keyStart } = this.problem
    const { readStart, readVersion, keyOfVersion } = access
    this.setOrder(order)
    return order.map((txn, place) => {
      let at = place
      for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
        const version = readVersion[i]!
        const key = version < 0 ? ~version : keyOfVersion[version]!
        const next = version < 0 ? keyStart[key]! : this.slotOf[version]! + 1
        if (next === this.keyEnd[key]) continue
        // Its own version comes after all that others may see.
        at = Math.min(at, this.position[versionTxn[this.sorted[next]!]!]!)
      }
      return at
    })
  }

  private found(pair: number, from: number, by: number, via: number): void {
    this.pair.push(pair)
    this.from.push(from)
    this.by.push(by)
    this.via.push(via)
  }

  /** Reports versions read that somebody visible replaced. */
  private findReplaced(txn: number, last: number): void {
    const { versionTxn, access, keyStart } = this.problem
    const { readStart, readVersion, keyOfVersion } = access
    const { sorted, slotOf, keyEnd, position } = this
    const before = this.via.length
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      const isInitial = version < 0
      const key = isInitial ? ~version : keyOfVersion[version]!
      const from = isInitial ? NONE : versionTxn[version]!
      if (!isInitial && !(position[from]! >= 0 && position[from]! < position[txn]!)) {
        this.found(NONE, from, txn, BACKWARD)
        continue
      }
      const first = isInitial ? keyStart[key]! : slotOf[version]! + 1
      const end = Math.min(keyEnd[key]!, first + MOST_BETWEEN)
      for (let slot = first; slot < end; slot++) {
        const by = versionTxn[sorted[slot]!]!
        if (position[by]! > last) break
        if (by !== txn) this.found(NONE, from, by, SNAPSHOT)
      }
    }
    if (this.rival !== NONE && this.via.length > before) this.found(NONE, this.rival, txn, SNAPSHOT)
  }

  private findReplacedPairs(txn: number, source: Int32Array, last: number): void {
    const { looseStart, loose, key } = this.pairs!
    for (let i = looseStart[txn]!; i < looseStart[txn + 1]!; i++) {
      const pair = loose[i]!
      const from = source[pair]!
      const next = this.writerAfter(key[pair]!, this.placeOf(from), txn)
      if (next === NONE || this.position[next]! > last) continue
      this.found(pair, from, next, SNAPSHOT)
      if (this.rival !== NONE) this.found(NONE, this.rival, txn, SNAPSHOT)
    }
  }

  /** Reports pairs that are not in the order at all; false if there are any. */
  private arePairsInOrder(txn: number, source: Int32Array): boolean {
    const { looseStart, loose } = this.pairs!
    const { position } = this
    let sound = true
    for (let i = looseStart[txn]!; i < looseStart[txn + 1]!; i++) {
      const from = source[loose[i]!]!
      if (from === 0 || (from > 0 && position[from]! >= 0 && position[from]! < position[txn]!)) {
        continue
      }
      this.found(loose[i]!, from, txn, BACKWARD)
      sound = false
    }
    return sound
  }

  private findUnseen(txn: number, source: Int32Array): void {
    const visibility = this.visibility!
    visibility.find(txn, source)
    for (let i = 0; i < visibility.pair.length; i++) {
      const pair = visibility.pair.data[i]!
      const by = visibility.by.data[i]!
      const from = source[pair]!
      if (this.position[by]! <= this.placeOf(from)) continue
      this.found(pair, from, by, visibility.via.data[i]!)
    }
  }

  /** Place in the order up to which all is visible to a transaction at pc, si or ser. */
  lastVisible(txn: number, source: Int32Array | null): number {
    const { problem, position, pairs } = this
    const { versionTxn, access, keyStart } = problem
    this.rival = NONE
    if (problem.level[txn] === SER) return position[txn]! - 1
    let last = this.placeOfPrevious(txn)
    const { readStart, readVersion, writeStart, writeKey, writeVersion } = access
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      const at = version >= 0 ? position[versionTxn[version]!]! : NONE
      if (at > last) last = at
    }
    if (pairs !== null) {
      for (let i = pairs.looseStart[txn]!; i < pairs.looseStart[txn + 1]!; i++) {
        const from = source![pairs.loose[i]!]!
        if (from > 0 && position[from]! > last) last = position[from]!
      }
    }
    if (problem.level[txn] !== SI) return last
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const slot = this.slotOf[writeVersion[i]!]!
      if (slot === keyStart[writeKey[i]!]) continue
      const other = versionTxn[this.sorted[slot - 1]!]!
      if (position[other]! <= last) continue
      last = position[other]!
      this.rival = other
    }
    return last
  }

  /** The one before a transaction in its session that takes part, else NONE. */
  previousOf(txn: number): number {
    const { before } = this.problem
    let previous = before[txn]!
    while (previous !== NONE && this.position[previous]! < 0) previous = before[previous]!
    return previous
  }

  placeOfPrevious(txn: number): number {
    const previous = this.previousOf(txn)
    return previous === NONE ? NONE : this.position[previous]!
  }

  /** Place of one read from; the initial one comes before all. */
  placeOf(txn: number): number {
    return txn === 0 ? NONE : this.position[txn]!
  }

  /** The first writer of a key after a place in the order, the reader left out; or NONE. */
  writerAfter(key: number, place: number, reader: number): number {
    const { versionTxn } = this.problem
    let slot = this.search(key, place)
    const end = this.keyEnd[key]!
    if (slot < end && versionTxn[this.sorted[slot]!] === reader) slot++
    return slot < end ? versionTxn[this.sorted[slot]!]! : NONE
  }

  /** The last writer of a key up to a place in the order, 0 for the initial one. */
  writerUpTo(key: number, place: number): number {
    const slot = this.search(key, place) - 1
    return slot < this.problem.keyStart[key]! ? 0 : this.problem.versionTxn[this.sorted[slot]!]!
  }

  /** Visits those who write a key of the transaction within so many places of its versions. */
  forEachNear(txn: number, within: number, visit: (other: number) => void): void {
    const { versionTxn, access, keyStart } = this.problem
    const { writeStart, writeKey, writeVersion } = access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      const at = this.slotOf[writeVersion[i]!]!
      const end = Math.min(this.keyEnd[key]!, at + within + 1)
      for (let slot = Math.max(keyStart[key]!, at - within); slot < end; slot++) {
        if (slot !== at) visit(versionTxn[this.sorted[slot]!]!)
      }
    }
  }

  /** Slot of the first writer of a key after a place in the order. */
  private search(key: number, place: number): number {
    const { sorted, position } = this
    const { versionTxn, keyStart } = this.problem
    let low = keyStart[key]!
    let high = this.keyEnd[key]!
    while (low < high) {
      const middle = (low + high) >> 1
      if (position[versionTxn[sorted[middle]!]!]! <= place) low = middle + 1
      else high = middle
    }
    return low
  }
}
