// Reads that are stale in an order: not of the latest version when the transactions run one after
// another. For each, the transactions that wrote a newer version before the reader ran; only those
// can be ordered against the order by a level. A first replay only looks for keys with stale reads,
// few or none where the order is that of the commits; a second one follows all versions of those,
// or of all keys if there are many. O(n + newer versions). Main functions: findStaleReads,
// findStaleAgain, findMovedReads.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { APPEND, type History, INITIAL, NONE, WRITE, writeMask } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** An order of the transactions, and what it gets wrong at most. */
export interface BaseOrder {
  order: Int32Array // position -> txn, only transactions that count
  position: Int32Array // txn -> position, NONE if it does not count
  /** txn -> component; null if each is a single transaction. */
  component: Int32Array | null
  /** position -> end of the component that starts there; null as above. */
  groupEnd: Int32Array | null
  stale: StaleReads
}

export interface StaleReads {
  readonly read: Int32Array // stale read -> op, by position of its transaction
  readonly newerStart: Int32Array // stale read -> first entry in `newer`; one more at the end
  readonly newer: Int32Array // transactions that wrote newer versions, latest first
  /** stale read -> 1 if `newer` is not complete: too many, or the reader is on a cycle. */
  readonly isOpen: Uint8Array
}

/** Beyond so many newer versions, one look at each session is cheaper than at each version. */
const MANY_VERSIONS = 64

export const NO_STALE_READS: StaleReads = {
  read: new Int32Array(0),
  newerStart: new Int32Array(1),
  newer: new Int32Array(0),
  isOpen: new Uint8Array(0),
}

/** A read inside a cycle, or from one, always counts as stale. */
export function findStaleReads(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  deadline: Deadline = Deadline.none(),
): StaleReads {
  deadline.check()
  const cyclic = base.component === null ? null : findCyclic(base)
  if (cyclic === null) {
    const isStale = findStaleKeys(history, reads, base.order, deadline)
    if (isStale !== null && !isStale.includes(1)) return NO_STALE_READS
    if (isStale !== null) return replayKeys(history, reads, base, isStale, deadline)
  }
  return replayAll(history, reads, base, cyclic, deadline)
}

/** @param cyclic txn -> 1 if it is on a cycle; null if there is none */
function replayAll(
  history: History,
  reads: ReadCheck,
  { order }: BaseOrder,
  cyclic: Uint8Array | null,
  deadline: Deadline,
): StaleReads {
  const versions = new VersionReplay(history, reads, cyclic)
  for (let p = 0; p < order.length; p++) {
    deadline.step(4)
    versions.run(order[p]!)
  }
  return versions.finish()
}

/**
 * The reads that can be stale in a new way after the transactions of some stretches changed places
 * within their stretch: two writers have changed sides only if both are of one stretch. So only
 * reads from such writers count, and only newer versions by such writers.
 * @param moved txn -> 1 if it is in a stretch
 * @param first position before which nothing moved
 */
export function findMovedReads(
  history: History,
  reads: ReadCheck,
  { order }: BaseOrder,
  moved: Uint8Array,
  first: number,
  deadline: Deadline,
): StaleReads {
  const versions = new VersionReplay(history, reads, null)
  for (let p = first; p < order.length; p++) {
    const txn = order[p]!
    deadline.step(2)
    if (moved[txn]) versions.run(txn, moved)
    else versions.runReads(txn, moved)
  }
  return versions.finish()
}

/** Beyond this share of the keys, all of them are replayed. */
const MANY_KEYS = 0.5

/**
 * The stale reads of an order without cycles that differs from another one by where some
 * transactions stand: what reads of keys see that none of these uses is as it was.
 * @param before the stale reads of the other one
 */
export function findStaleAgain(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  before: StaleReads,
  moved: readonly number[],
  deadline: Deadline,
): StaleReads {
  const { opTxn, opKey } = history
  const isUsed = findKeys(history, moved)
  if (isUsed === null) return replayAll(history, reads, base, null, deadline)
  const fresh = replayKeys(history, reads, base, isUsed, deadline)
  const both = new StaleColumns()
  const isBefore = (read: number, other: number) =>
    opTxn[read] === opTxn[other]
      ? read < other
      : base.position[opTxn[read]!]! < base.position[opTxn[other]!]!
  let next = 0
  for (let i = 0; i < before.read.length; i++) {
    // A reader of others has not moved, or all its keys would be among these: they come in order.
    const read = before.read[i]!
    if (isUsed[opKey[read]!] === 1) continue
    while (next < fresh.read.length && isBefore(fresh.read[next]!, read)) both.take(fresh, next++)
    both.take(before, i)
  }
  while (next < fresh.read.length) both.take(fresh, next++)
  return both.finish()
}

/** Those of the stale reads that need not have been stale before some transactions moved. */
export function findStaleAnew(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  moved: readonly number[],
  deadline: Deadline,
): StaleReads {
  const isUsed = findKeys(history, moved)
  if (isUsed === null) return findStaleReads(history, reads, base, deadline)
  return replayKeys(history, reads, base, isUsed, deadline)
}

/** key -> 1 if one of these transactions uses it; null if most keys are used. */
function findKeys(history: History, txns: readonly number[]): Uint8Array | null {
  const { keyCount, txnOpStart, opKey } = history
  const isUsed = new Uint8Array(keyCount)
  let count = 0
  for (const txn of txns) {
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (isUsed[opKey[op]!] === 1) continue
      isUsed[opKey[op]!] = 1
      if (++count > MANY_KEYS * keyCount) return null
    }
  }
  return isUsed
}

/** Replays operations on some keys only: those that are marked. */
function replayKeys(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  isMarked: Uint8Array,
  deadline: Deadline,
): StaleReads {
  const versions = new VersionReplay(history, reads, null)
  deadline.check()
  const ops = sortOps(history, base, isMarked)
  for (let i = 0; i < ops.length; i++) {
    deadline.step()
    versions.runOp(ops[i]!)
  }
  return versions.finish()
}

/** Operations on marked keys, in the order of their transactions. */
function sortOps(
  history: History,
  { order, position }: BaseOrder,
  isMarked: Uint8Array,
): Int32Array {
  const { opCount, opKey, opTxn } = history
  const found = new IntColumn(4096)
  const place = new IntColumn(4096) // found operation -> position of its transaction
  const next = new Int32Array(order.length + 1) // position -> where its first operation goes
  for (let op = 0; op < opCount; op++) {
    if (isMarked[opKey[op]!] === 0) continue
    const at = position[opTxn[op]!]!
    if (at === NONE) continue
    found.push(op)
    place.push(at)
    next[at + 1]!++
  }
  for (let p = 0; p < order.length; p++) next[p + 1]! += next[p]!
  const sorted = new Int32Array(found.length)
  for (let i = 0; i < sorted.length; i++) sorted[next[place.data[i]!]!++] = found.data[i]!
  return sorted
}

/** With more stale reads than one in so many transactions, most keys have some. */
const TXNS_PER_STALE_READ = 1024

/** key -> 1 if a read of it is stale; null if there are too many to tell quickly. */
function findStaleKeys(
  history: History,
  reads: ReadCheck,
  order: Int32Array,
  deadline: Deadline,
): Uint8Array | null {
  const { txnOpStart, opKind, opKey, opTxn, readFrom } = history
  const { opSource } = reads
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> its latest write
  const isStale = new Uint8Array(history.keyCount)
  let left = 1 + history.txnCount / TXNS_PER_STALE_READ
  for (let p = 0; p < order.length; p++) {
    const txn = order[p]!
    deadline.step(2)
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      const isWrite = writeMask(opKind[op]!)
      const write = latest[key]!
      latest[key] = write ^ ((write ^ op) & isWrite)
      if (((write ^ readFrom[op]!) & ~isWrite) === 0 || opSource[op] === NONE) continue
      if ((write < 0 ? write : opTxn[write]) === opSource[op]) continue
      isStale[key] = 1
      if (--left < 0) return null
    }
  }
  return isStale
}

/** Stale reads in the making. */
class StaleColumns {
  readonly read = new IntColumn(64)
  readonly newerStart = new IntColumn(64)
  readonly newer = new IntColumn(64)
  private readonly open: number[] = [] // stale reads whose newer versions are not all there

  /** @param start where its newer versions begin, which are there already */
  add(read: number, start: number, isOpen: boolean): void {
    if (isOpen) this.open.push(this.read.length)
    this.read.push(read)
    this.newerStart.push(start)
  }

  /** Takes the i-th of others. */
  take(from: StaleReads, i: number): void {
    this.add(from.read[i]!, this.newer.length, from.isOpen[i] === 1)
    for (let entry = from.newerStart[i]!; entry < from.newerStart[i + 1]!; entry++) {
      this.newer.push(from.newer[entry]!)
    }
  }

  finish(): StaleReads {
    const isOpen = new Uint8Array(this.read.length)
    for (const i of this.open) isOpen[i] = 1
    this.newerStart.push(this.newer.length)
    return {
      read: this.read.view(),
      newerStart: this.newerStart.view(),
      newer: this.newer.view(),
      isOpen,
    }
  }
}

/** Runs transactions one after another, keeps all versions of all keys, and notes stale reads. */
export class VersionReplay {
  private readonly latest: Int32Array // key -> its latest write, INITIAL at first
  private readonly older: Int32Array // write -> the version it replaced
  private readonly found = new StaleColumns()

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly cyclic: Uint8Array | null, // txn -> 1 if it is on a cycle
  ) {
    this.latest = new Int32Array(history.keyCount).fill(INITIAL)
    this.older = new Int32Array(history.opCount)
  }

  /** @param from txn -> 1 if reads from it matter; null if all do */
  run(txn: number, from: Uint8Array | null = null): void {
    const { txnOpStart, opKind, opKey, readFrom } = this.history
    const { latest, older, cyclic } = this
    const { opSource } = this.reads
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      const isWrite = writeMask(opKind[op]!)
      const write = latest[key]!
      older[op] = write
      latest[key] = write ^ ((write ^ op) & isWrite)
      // What was read lies beside the read; the writer's number would be one more look afar.
      if (((write ^ readFrom[op]!) & ~isWrite) === 0 && cyclic === null) continue
      const source = opSource[op]!
      if (source === NONE) continue // also of writes
      if (from === null || (source >= 0 && from[source])) this.judge(txn, op, source)
    }
  }

  /** As `run`, for one operation. */
  runOp(op: number): void {
    const { opKind, opKey, opTxn, readFrom } = this.history
    const key = opKey[op]!
    const kind = opKind[op]!
    if (kind === WRITE || kind === APPEND) {
      this.older[op] = this.latest[key]!
      this.latest[key] = op
      return
    }
    const source = this.reads.opSource[op]!
    if (source !== NONE && this.latest[key] !== readFrom[op]) this.judge(opTxn[op]!, op, source)
  }

  /** As `run`, for a transaction whose writes do not matter. */
  runReads(txn: number, from: Uint8Array): void {
    const { txnOpStart } = this.history
    const { opSource } = this.reads
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const source = opSource[op]!
      if (source >= 0 && from[source]) this.judge(txn, op, source)
    }
  }

  get staleCount(): number {
    return this.found.read.length
  }

  /** The latest version's writer at the time of the i-th stale read. */
  latestOf(i: number): number {
    const { newerStart, newer } = this.found
    const at = newerStart.data[i]!
    return at < newer.length ? newer.data[at]! : NONE
  }

  sourceOf(i: number): number {
    return this.reads.opSource[this.found.read.data[i]!]!
  }

  finish(): StaleReads {
    return this.found.finish()
  }

  private judge(txn: number, read: number, source: number): void {
    const { opTxn, opKey } = this.history
    const { older, cyclic } = this
    const { newer } = this.found
    let write = this.latest[opKey[read]!]!
    const isCyclic = cyclic !== null && (cyclic[txn] === 1 || (source >= 0 && cyclic[source] === 1))
    if (!isCyclic && (write < 0 ? write : opTxn[write]) === source) return
    const start = newer.length
    while (write >= 0 && opTxn[write] !== source) {
      if (newer.length - start > MANY_VERSIONS) break
      if (opTxn[write] !== txn) newer.push(opTxn[write]!)
      write = older[write]!
    }
    const isComplete = write < 0 ? source === INITIAL : opTxn[write] === source
    this.found.add(read, start, !isComplete || cyclic?.[txn] === 1)
  }
}

/** txn -> 1 if its component has more members. */
function findCyclic(base: BaseOrder): Uint8Array {
  const cyclic = new Uint8Array(base.position.length)
  for (let p = 0; p < base.order.length; p = base.groupEnd![p]!) {
    if (base.groupEnd![p]! === p + 1) continue
    for (let q = p; q < base.groupEnd![p]!; q++) cyclic[base.order[q]!] = 1
  }
  return cyclic
}
