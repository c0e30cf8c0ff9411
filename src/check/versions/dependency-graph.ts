// The dependency graph of a history whose order of versions is known, to find out what went wrong
// in it: so, wr, ww and rw edges, for si and pc between snapshots and commits (2 nodes a
// transaction), for sser with real time as a chain of instants, one for each finish, in place of n²
// edges: T → its finish → … → the last finish before S started → S; for ser+lin each key has a
// chain of those who use it. Where all versions are known, only part of it (time-windows.ts).
//
// In read-modify-write histories the versions are known from the reads (ww is part of wr). Where
// they diverge only the first successor is followed: every edge is true, the pair is reported by
// itself. Lists show their order, versions are one (ordered-graph.ts). O(n), with time O(n log n).
// Main function: buildDependencies.

import { FloatColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { COMMITTED, type History, INITIAL, NONE, type TimeScope } from '../../history/history.ts'
import { usersOfKeys } from '../../history/key-uses.ts'
import { countingTxns } from '../../history/real-time.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Successors } from './successors.ts'

/** Kinds of edges; INSIDE leads from a snapshot to its commit, the last three are real time. */
export const INSIDE = 0
export const SO = 1
const WR = 2
export const RW = 3
export const TO_TIME = 4
export const TIME = 5
export const FROM_TIME = 6
export const WW = 7

export interface DependencyGraph {
  readonly width: 1 | 2 // nodes per transaction: snapshot and commit, or one for both
  readonly txnCount: number
  readonly nodeCount: number // of transactions, then instants
  readonly edgeCount: number
  readonly from: Int32Array // edge -> node
  readonly to: Int32Array // edge -> node
  readonly kind: Uint8Array // edge -> kind
  readonly op: Int32Array // edge -> read of WR and RW, later write of WW
}

export interface DependencyOptions {
  readonly width: 1 | 2
  readonly sessions: boolean // whether session order counts
  readonly realTime: TimeScope | null
}

export function buildDependencies(
  history: History,
  reads: ReadCheck,
  successors: Successors,
  options: DependencyOptions,
): DependencyGraph {
  const builder = new DependencyBuilder(history, options, 2 * history.opCount)
  builder.addReads(reads)
  builder.addSuccessors(reads, successors)
  return builder
}

/** Edges as they are added, with room for real time among some groups of transactions. */
export class EdgeColumns implements DependencyGraph {
  readonly txnCount: number
  nodeCount: number
  edgeCount = 0
  readonly from: Int32Array
  readonly to: Int32Array
  readonly kind: Uint8Array
  readonly op: Int32Array

  /** @param otherCount edges that there is to be room for, but for real time */
  constructor(
    protected readonly history: History,
    readonly width: 1 | 2,
    inTime: readonly Int32Array[],
    otherCount: number,
  ) {
    const capacity = inTime.reduce((sum, txns) => sum + 3 * txns.length, otherCount)
    this.txnCount = history.txnCount
    this.nodeCount = width * history.txnCount
    this.from = new Int32Array(capacity)
    this.to = new Int32Array(capacity)
    this.kind = new Uint8Array(capacity)
    this.op = new Int32Array(capacity)
  }

  add(from: number, to: number, kind: number, op: number): void {
    const edge = this.edgeCount++
    this.from[edge] = from
    this.to[edge] = to
    this.kind[edge] = kind
    this.op[edge] = op
  }

  snapshot(txn: number): number {
    return this.width * txn
  }

  commit(txn: number): number {
    return this.width * txn + this.width - 1
  }

  /** Who of these was over when another one started. */
  addTimes(txns: Int32Array): void {
    const { txnStatus, txnStartTime, txnFinishTime } = this.history
    const finishes = new FloatColumn(txns.length)
    for (const txn of txns) {
      if (txnStatus[txn] === COMMITTED) finishes.push(txnFinishTime![txn]!)
    }
    const sorted = finishes.view().sort()
    const instants = sorted.filter((time, i) => i === 0 || time !== sorted[i - 1])
    const first = this.nodeCount
    this.nodeCount += instants.length
    for (let i = 1; i < instants.length; i++) this.add(first + i - 1, first + i, TIME, NONE)
    for (const txn of txns) {
      if (txnStatus[txn] === COMMITTED) {
        const instant = first + lowerBound(instants, txnFinishTime![txn]!)
        this.add(this.commit(txn), instant, TO_TIME, NONE)
      }
      const before = lowerBound(instants, txnStartTime![txn]!) - 1
      if (before >= 0) this.add(first + before, this.snapshot(txn), FROM_TIME, NONE)
    }
  }
}

export class DependencyBuilder extends EdgeColumns {
  /** @param dependencyCount edges of reads and versions that there is to be room for */
  constructor(
    history: History,
    { width, sessions, realTime }: DependencyOptions,
    dependencyCount: number,
  ) {
    const inTime = realTime === null ? [] : groupsInTime(history, realTime)
    super(history, width, inTime, 2 * history.txnCount + dependencyCount)
    this.addInside()
    if (sessions) this.addSessions()
    for (const txns of inTime) this.addTimes(txns)
  }

  private addInside(): void {
    if (this.width === 1) return
    for (let txn = 0; txn < this.history.txnCount; txn++)
      this.add(2 * txn, 2 * txn + 1, INSIDE, NONE)
  }

  private addSessions(): void {
    const { sessionTxns, txnSession, txnCounts } = this.history
    let last: number = NONE
    for (const txn of sessionTxns) {
      if (!txnCounts[txn]) continue
      if (last !== NONE && txnSession[last] === txnSession[txn]) {
        this.add(this.commit(last), this.snapshot(txn), SO, NONE)
      }
      last = txn
    }
  }

  addReads(reads: ReadCheck): void {
    const { opCount, opTxn } = this.history
    for (let op = 0; op < opCount; op++) {
      const source = reads.opSource[op]!
      if (source >= 0) this.add(this.commit(source), this.snapshot(opTxn[op]!), WR, op)
    }
  }

  /** The reader of a version precedes who replaced it. */
  addSuccessors(reads: ReadCheck, { successor, initialSuccessor }: Successors): void {
    const { opCount, opTxn, opKey, readFrom } = this.history
    for (let op = 0; op < opCount; op++) {
      const source = reads.opSource[op]!
      if (source === NONE) continue
      const next = source === INITIAL ? initialSuccessor[opKey[op]!]! : successor[readFrom[op]!]!
      if (next === NONE || opTxn[next] === opTxn[op]) continue
      this.add(this.snapshot(opTxn[op]!), this.commit(opTxn[next]!), RW, op)
    }
  }
}

/** Those whom real time puts in order: all that count, or the users of each key. */
export function groupsInTime(history: History, scope: TimeScope): readonly Int32Array[] {
  return scope === 'by-key' ? usersOfKeys(history) : [countingTxns(history)]
}
