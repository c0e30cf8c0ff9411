// A store in which the transactions of a problem run once more, a moment at a time, and every step
// of which can be taken back. It holds one version of every key; a snapshot is taken when all that
// was read is held, and of every row passed over a version that fails the predicate; a version is
// overwritten when nobody needs it any more: it is pinned by those who are still to read it, and by
// those who passed the row over and have no other version left that they may have seen. Everybody
// takes part, and is at pc, si or ser. Known edges are kept as well.
//
// What changes is written down, old values on a trail. A hash stands for what has run and what is
// held. Main class: ReplayState.

import { IntColumn } from '../../base/grow.ts'
import { Random } from '../../base/random.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { NONE } from '../../history/history.ts'
import { SI } from '../problem/levels.ts'
import type { Conflicts } from './conflicts.ts'
import type { KnownEdges } from './known-edges.ts'
import { findVersion } from './of-rows.ts'
import type { Pairs } from './pairs.ts'

// What a trail entry is about, and the place in `columns` of what it changes.
const HEAD = 0
const WAITING = 1
const HELD = 2
const LEFT = 3
const PINS = 4
const IS_OVER = 5
const HAS_READ = 6
const IS_CLAIMED = 7

export class ReplayState {
  readonly head: Int32Array // chain -> its next node
  readonly held: Int32Array // key -> version held; versionCount + key for the initial one
  readonly pins: Int32Array // version -> who still needs it
  readonly order = new IntColumn(64) // transactions, as they commit
  /** Version, initial ones behind the others -> slots of `loose` of which it is a candidate. */
  readonly wantedBy: Csr
  readonly hasRead: Int32Array // slot of `loose` -> 1 once its reader has its snapshot
  readonly left: Int32Array // slot of `loose` -> candidates that are not overwritten
  readonly versionCount: number
  private readonly waiting: Int32Array // node -> known edges into it that are still to come
  private readonly isOver: Int32Array // version -> 1 once it is overwritten
  private readonly isClaimed: Int32Array // si: key -> 1 while one that writes it is open
  private readonly columns: readonly Int32Array[]
  private readonly trail = new IntColumn(1024) // column, index, old value
  private readonly wantedStart: Int32Array // slot of `loose` -> its first candidate
  private readonly wanted: Int32Array // candidate -> version
  private readonly random: { readonly a: Int32Array; readonly b: Int32Array } // of nodes, versions
  private hashA = 0
  private hashB = 0
  private readonly pairs: Pairs

  constructor(
    private readonly known: KnownEdges,
    conflicts: Conflicts,
  ) {
    const { problem, graph } = known
    const { keyCount, readerStart, initialStart, versionTxn } = problem
    this.pairs = problem.pairs!
    this.versionCount = versionTxn.length
    const allVersions = this.versionCount + keyCount
    this.head = graph.chainStart.slice(0, graph.chainCount)
    this.waiting = new Int32Array(graph.nodeCount)
    for (let e = 0; e < graph.edgeCount; e++) this.waiting[graph.to.data[e]!]!++
    this.held = new Int32Array(keyCount).map((_, key) => this.versionCount + key)
    this.isOver = new Int32Array(allVersions)
    this.isClaimed = new Int32Array(keyCount)
    this.pins = new Int32Array(allVersions).map((_, v) => {
      const key = v - this.versionCount
      if (key >= 0) return initialStart[key + 1]! - initialStart[key]!
      return readerStart[v + 1]! - readerStart[v]!
    })
    const wanted = listWanted(known, conflicts)
    this.wantedStart = wanted.start
    this.wanted = wanted.version
    this.wantedBy = buildCsr(allVersions, wanted.version, wanted.slot)
    this.left = this.pairs.loose.map((_, slot) => wanted.start[slot + 1]! - wanted.start[slot]!)
    this.hasRead = new Int32Array(this.left.length)
    for (let slot = 0; slot < this.left.length; slot++) {
      if (this.left[slot] === 1) this.pins[this.wanted[this.wantedStart[slot]!]!]!++
    }
    const { head, waiting, held, left, pins, isOver, hasRead, isClaimed } = this
    this.columns = [head, waiting, held, left, pins, isOver, hasRead, isClaimed]
    const random = new Random(1)
    const draw = () => new Int32Array(graph.nodeCount + allVersions).map(() => random.uint32())
    this.random = { a: draw(), b: draw() }
  }

  /** Where the trail ends; `undoTo` takes back what comes later. */
  get mark(): number {
    return this.trail.length
  }

  /** A number of 53 bits for what has run and what is held. */
  get hash(): number {
    return (this.hashA >>> 0) * 2 ** 21 + (this.hashB >>> 11)
  }

  undoTo(mark: number): void {
    const { trail, columns, known } = this
    while (trail.length > mark) {
      trail.length -= 3
      const column = trail.data[trail.length]!
      const index = trail.data[trail.length + 1]!
      const old = trail.data[trail.length + 2]!
      const values = columns[column]!
      this.mix(column, values[index]!)
      values[index] = old
      this.mix(column, old)
      if (column === HEAD && known.commit[known.txnOf(old)] === old) this.order.length--
    }
  }

  /** Visits keys whose version changed, or came to be needed or no more, since a mark. */
  forEachChanged(mark: number, visit: (key: number) => void): void {
    const { trail, versionCount } = this
    const { keyOfVersion } = this.known.problem.access
    for (let i = mark; i < trail.length; i += 3) {
      const column = trail.data[i]!
      const index = trail.data[i + 1]!
      if (column === HELD) visit(index)
      if (column === PINS) visit(index < versionCount ? keyOfVersion[index]! : index - versionCount)
    }
  }

  /** Whether a node takes nothing from anybody: then it may as well run as soon as it can. */
  isFree(node: number): boolean {
    const { begin, commit, problem } = this.known
    const txn = this.known.txnOf(node)
    if (txn < 0) return true // an instant
    const { writeStart } = problem.access
    if (writeStart[txn] === writeStart[txn + 1]) return true
    return node === begin[txn] && node !== commit[txn] && problem.level[txn] !== SI
  }

  /** Whether the next node of a chain can run now. */
  mayRun(node: number): boolean {
    if (this.waiting[node]! > 0) return false
    const { begin, commit, problem } = this.known
    const txn = this.known.txnOf(node)
    if (txn < 0) return true
    const isSi = problem.level[txn] === SI
    const reads = node === begin[txn]
    const commits = node === commit[txn]
    if (reads && !this.mayRead(txn)) return false
    if ((isSi ? reads : commits) && problem.hasSi && this.meetsClaim(txn)) return false
    return !commits || this.mayWrite(txn, reads)
  }

  /** Runs the next node of a chain. */
  run(chain: number): void {
    const { known } = this
    const node = this.head[chain]!
    const txn = known.txnOf(node)
    this.set(HEAD, chain, node + 1)
    if (txn >= 0) {
      if (node === known.begin[txn]) this.read(txn)
      if (node === known.commit[txn]) this.write(txn)
    }
    known.graph.forEachSuccessor(node, this.arrive)
  }

  private readonly arrive = (node: number): void => {
    this.set(WAITING, node, this.waiting[node]! - 1)
  }

  private set(column: number, index: number, value: number): void {
    const values = this.columns[column]!
    this.trail.push(column)
    this.trail.push(index)
    this.trail.push(values[index]!)
    this.mix(column, values[index]!)
    values[index] = value
    this.mix(column, value)
  }

  /** Puts a value into the hash, or takes it out. */
  private mix(column: number, value: number): void {
    if (column > HELD || column === WAITING) return
    const { a, b } = this.random
    // The end of the last chain has no node.
    const nodeCount = this.waiting.length
    if (column === HEAD && value === nodeCount) return
    const at = column === HEAD ? value : nodeCount + value
    this.hashA ^= a[at]!
    this.hashB ^= b[at]!
  }

  /** The version that a read saw, as `held` has it. */
  private seenBy(read: number): number {
    const version = this.known.problem.access.readVersion[read]!
    return version >= 0 ? version : this.versionCount + ~version
  }

  private mayRead(txn: number): boolean {
    const { readStart, keyOfVersion } = this.known.problem.access
    const { pairs, held, versionCount } = this
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const seen = this.seenBy(i)
      const key = seen < versionCount ? keyOfVersion[seen]! : seen - versionCount
      if (held[key] !== seen) return false
    }
    for (let slot = pairs.looseStart[txn]!; slot < pairs.looseStart[txn + 1]!; slot++) {
      if (!this.isWanted(slot, held[pairs.key[pairs.loose[slot]!]!]!)) return false
    }
    return true
  }

  private isWanted(slot: number, version: number): boolean {
    for (let i = this.wantedStart[slot]!; i < this.wantedStart[slot + 1]!; i++) {
      if (this.wanted[i] === version) return true
    }
    return false
  }

  private meetsClaim(txn: number): boolean {
    const { writeStart, writeKey } = this.known.problem.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      if (this.isClaimed[writeKey[i]!]) return true
    }
    return false
  }

  /** @param reads whether it takes its snapshot in the same moment */
  private mayWrite(txn: number, reads: boolean): boolean {
    const { writeStart, writeKey } = this.known.problem.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const version = this.held[writeKey[i]!]!
      const pins = this.pins[version]!
      if (pins > 0 && !(reads && pins === this.ownPins(txn, version))) return false
    }
    return true
  }

  private ownPins(txn: number, version: number): number {
    const { readStart } = this.known.problem.access
    const { looseStart } = this.pairs
    let count = 0
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      if (this.seenBy(i) === version) count++
    }
    for (let slot = looseStart[txn]!; slot < looseStart[txn + 1]!; slot++) {
      if (this.left[slot] === 1 && this.lastLeft(slot) === version) count++
    }
    return count
  }

  /** The first candidate that is not overwritten. */
  private lastLeft(slot: number): number {
    let i = this.wantedStart[slot]!
    while (this.isOver[this.wanted[i]!]) i++
    return this.wanted[i]!
  }

  private read(txn: number): void {
    const { problem } = this.known
    const { readStart, writeStart, writeKey } = problem.access
    const { looseStart } = this.pairs
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) this.pin(this.seenBy(i), -1)
    for (let slot = looseStart[txn]!; slot < looseStart[txn + 1]!; slot++) {
      this.set(HAS_READ, slot, 1)
      if (this.left[slot] === 1) this.pin(this.lastLeft(slot), -1)
    }
    if (problem.level[txn] !== SI) return
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      this.set(IS_CLAIMED, writeKey[i]!, 1)
    }
  }

  private write(txn: number): void {
    const { writeStart, writeKey, writeVersion } = this.known.problem.access
    const { wantedBy } = this
    this.order.push(txn)
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      const old = this.held[key]!
      if (this.isClaimed[key]) this.set(IS_CLAIMED, key, 0)
      this.set(IS_OVER, old, 1)
      this.set(HELD, key, writeVersion[i]!)
      for (let at = wantedBy.start[old]!; at < wantedBy.start[old + 1]!; at++) {
        const slot = wantedBy.target[at]!
        if (this.hasRead[slot]) continue
        this.set(LEFT, slot, this.left[slot]! - 1)
        if (this.left[slot] === 1) this.pin(this.lastLeft(slot), 1)
      }
    }
  }

  private pin(version: number, change: number): void {
    this.set(PINS, version, this.pins[version]! + change)
  }
}

/** The versions that each loose pair may have seen, as far as is known. */
function listWanted({ problem, commit }: KnownEdges, { source, alive }: Conflicts) {
  const { loose, key, fixedCount, zeroStart, zero } = problem.pairs!
  const start = new Int32Array(loose.length + 1)
  const version = new IntColumn(64)
  const slots = new IntColumn(64)
  for (let slot = 0; slot < loose.length; slot++) {
    const pair = loose[slot]!
    const its = key[pair]!
    const add = (txn: number) => {
      const isInitial = txn === 0
      const initial = problem.versionTxn.length + its
      version.push(isInitial ? initial : findVersion(problem, commit, its, txn))
      slots.push(slot)
    }
    const open = pair - fixedCount
    if (source[pair] !== NONE) add(source[pair]!)
    else for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) if (alive[i]) add(zero[i]!)
    start[slot + 1] = version.length
  }
  return { start, version: version.view(), slot: slots.view() }
}
