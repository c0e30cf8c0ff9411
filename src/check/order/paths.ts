// Shortest chains of reasons between two transactions, for evidence: a breadth-first search
// backwards over session order (any earlier transaction of the session is one step away),
// reads-from, known version order, and, where given, forced edges. Typed arrays with stamps, so
// that a thousand searches on one history cost what they visit. Main class: PathFinder.

import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { ForcedEdge } from './components.ts'

export type Step =
  | { kind: 'SO'; from: number; to: number }
  | { kind: 'WR'; from: number; to: number; read: number }
  | { kind: 'WW'; from: number; to: number; append: number }
  | { kind: 'CO'; from: number; to: number; edge: ForcedEdge }

export interface PathOptions {
  /** Transactions the chain may pass through. */
  allowed: (txn: number) => boolean
  /** Forced edges by their target; null for none. */
  forced: Map<number, ForcedEdge[]> | null
  /** Whether known version order (lists) may be used. */
  versions: boolean
  /** Whether reads may be used; true unless told. */
  reads?: boolean
}

const SO = 0
const WR = 1
const WW = 2
const CO = 3

export class PathFinder {
  private readonly stamp: Int32Array // txn -> search that reached it
  private readonly next: Int32Array // txn -> the transaction it leads to
  private readonly kind: Uint8Array // txn -> kind of that step
  private readonly reason: Int32Array // txn -> read, append or index of the forced edge
  private readonly covered: Int32Array // session -> how many transactions were reached by SO
  private readonly coveredStamp: Int32Array
  private readonly queue: number[] = []
  private search = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    this.stamp = new Int32Array(history.txnCount)
    this.next = new Int32Array(history.txnCount)
    this.kind = new Uint8Array(history.txnCount)
    this.reason = new Int32Array(history.txnCount)
    this.covered = new Int32Array(history.sessionCount)
    this.coveredStamp = new Int32Array(history.sessionCount)
  }

  /** The shortest chain from `from` to `to`, null if there is none. */
  find(from: number, to: number, options: PathOptions): Step[] | null {
    this.search++
    const queue = this.queue
    queue.length = 0
    queue.push(to)
    for (let i = 0; i < queue.length; i++) {
      this.expand(queue[i]!, options)
      if (this.stamp[from] === this.search) return this.unwind(from, to, options)
    }
    return null
  }

  private expand(txn: number, options: PathOptions): void {
    this.expandKnown(txn, options)
    const forced = options.forced?.get(txn) ?? []
    for (let i = 0; i < forced.length; i++) this.reach(forced[i]!.from, txn, CO, i, options)
  }

  private expandKnown(txn: number, options: PathOptions): void {
    const { txnOpStart, txnSession, txnIndex, txnCounts, sessionTxns, sessionTxnStart } =
      this.history
    const { opSource, versions } = this.reads
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opSource[op]! >= 0 && options.reads !== false)
        this.reach(opSource[op]!, txn, WR, op, options)
    }
    const session = txnSession[txn]!
    const start = sessionTxnStart[session]!
    const done = this.coveredStamp[session] === this.search ? this.covered[session]! : 0
    for (let index = txnIndex[txn]! - 1; index >= done; index--) {
      const earlier = sessionTxns[start + index]!
      if (!txnCounts[earlier]) continue
      if (!options.allowed(earlier)) break
      this.reach(earlier, txn, SO, NONE, options)
    }
    if (txnIndex[txn]! > done) {
      this.coveredStamp[session] = this.search
      this.covered[session] = txnIndex[txn]!
    }
    if (options.versions && versions) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (versions.writeAfter[op]! >= 0)
          this.reach(versions.writeAfter[op]!, txn, WW, op, options)
      }
    }
  }

  private reach(txn: number, next: number, kind: number, reason: number, o: PathOptions): void {
    if (this.stamp[txn] === this.search || !o.allowed(txn)) return
    this.stamp[txn] = this.search
    this.next[txn] = next
    this.kind[txn] = kind
    this.reason[txn] = reason
    this.queue.push(txn)
  }

  private unwind(from: number, to: number, options: PathOptions): Step[] {
    const steps: Step[] = []
    let at = from
    do {
      const next = this.next[at]!
      const reason = this.reason[at]!
      if (this.kind[at] === SO) steps.push({ kind: 'SO', from: at, to: next })
      else if (this.kind[at] === WR) steps.push({ kind: 'WR', from: at, to: next, read: reason })
      else if (this.kind[at] === WW) steps.push({ kind: 'WW', from: at, to: next, append: reason })
      else {
        steps.push({ kind: 'CO', from: at, to: next, edge: options.forced!.get(next)![reason]! })
      }
      at = next
    } while (at !== to)
    return steps
  }
}
