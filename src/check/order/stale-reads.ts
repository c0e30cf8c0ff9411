// Reads that are stale in an order: not of the latest version when the transactions run one after
// another. For each, the transactions that wrote a newer version before the reader ran; only those
// can be ordered against the order by a level. A first replay only looks whether there is a stale
// read at all, the usual question where the order is that of the commits; if so, a second one
// follows all versions. O(n + newer versions). Main functions: findStaleReads, findMovedReads.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { APPEND, type History, INITIAL, NONE, WRITE } from '../../history/history.ts'
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
  if (cyclic === null && isSerial(history, reads, base.order)) return NO_STALE_READS
  const versions = new VersionReplay(history, reads, cyclic)
  for (const txn of base.order) {
    deadline.step(4)
    versions.run(txn)
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

/** Whether the order has no stale read. */
function isSerial(history: History, reads: ReadCheck, order: Int32Array): boolean {
  const { txnOpStart, opKind, opKey } = history
  const { opSource } = reads
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> txn that wrote it last
  for (let p = 0; p < order.length; p++) {
    const txn = order[p]!
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      if (kind === WRITE || kind === APPEND) latest[opKey[op]!] = txn
      else if (opSource[op] !== NONE && latest[opKey[op]!] !== opSource[op]) return false
    }
  }
  return true
}

/** Runs transactions one after another, keeps all versions of all keys, and notes stale reads. */
export class VersionReplay {
  private readonly latest: Int32Array // key -> its latest write, INITIAL at first
  private readonly older: Int32Array // write -> the version it replaced
  private readonly stale = new IntColumn(64)
  private readonly newerStart = new IntColumn(64)
  private readonly newer = new IntColumn(64)
  private readonly open: number[] = [] // stale reads whose newer versions are not all there

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
      const kind = opKind[op]!
      const key = opKey[op]!
      if (kind === WRITE || kind === APPEND) {
        older[op] = latest[key]!
        latest[key] = op
        continue
      }
      const source = opSource[op]!
      if (source === NONE) continue
      // What was read lies beside the read; the writer's number would be one more look afar.
      if (latest[key] === readFrom[op] && cyclic === null) continue
      if (from === null || (source >= 0 && from[source])) this.judge(txn, op, source)
    }
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
    return this.stale.length
  }

  /** The latest version's writer at the time of the i-th stale read. */
  latestOf(i: number): number {
    const at = this.newerStart.data[i]!
    return at < this.newer.length ? this.newer.data[at]! : NONE
  }

  sourceOf(i: number): number {
    return this.reads.opSource[this.stale.data[i]!]!
  }

  finish(): StaleReads {
    const isOpen = new Uint8Array(this.stale.length)
    for (const i of this.open) isOpen[i] = 1
    this.newerStart.push(this.newer.length)
    return {
      read: this.stale.view(),
      newerStart: this.newerStart.view(),
      newer: this.newer.view(),
      isOpen,
    }
  }

  private judge(txn: number, read: number, source: number): void {
    const { opTxn, opKey } = this.history
    const { newer, older, cyclic } = this
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
    if (!isComplete || cyclic?.[txn]) this.open.push(this.stale.length)
    this.stale.push(read)
    this.newerStart.push(start)
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
