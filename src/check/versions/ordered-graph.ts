// The dependency graph of a history whose order of versions is known. Registers have the versions
// that the store gave them, all of them. The longest read of each list shows the order of its
// versions; appends that nobody saw, its tail, come after that in an order of their own choice. So
// all edges but those inside tails are known:
//   ww  from one writer of the known order to the next, from the last one to each of the tail;
//   rw  from the reader of a version to the next writer, of the last one to each of the tail.
// At si, a reader that appends to the list as well must have committed before the other one begins:
// it did not see that one's append, so it did not come later, and they must not overlap.
// O(total length of the orders + reads), and readers of a last version times its tail. Main
// function: buildOrderedGraph.

import { APPEND, type History, INITIAL, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { VersionReads } from '../reads/version-reads.ts'
import {
  DependencyBuilder,
  type DependencyGraph,
  type DependencyOptions,
  RW,
  WW,
} from './dependency-graph.ts'

export interface OrderedGraphOptions extends DependencyOptions {
  /** Whether the later of two versions needs the earlier one committed when it begins (si). */
  readonly exclusive: boolean
  /** Whether readers precede those who replace what they read; not in pl-2. */
  readonly overwrites: boolean
}

/** Null if readers and tails have so many pairs that another way is better. */
export function buildOrderedGraph(
  history: History,
  reads: ReadCheck,
  successions: Successions,
  options: OrderedGraphOptions,
): DependencyGraph | null {
  const tailReadCount = options.overwrites ? successions.countTailReads(reads) : 0
  if (tailReadCount > 64 * history.opCount + 1_000_000) return null
  // Of a write one edge, of a read two unless it saw the last version before a tail.
  const builder = new DependencyBuilder(history, options, 2 * history.opCount + tailReadCount)
  builder.addReads(reads)
  addReplacements(history, reads.versions!, builder, options.exclusive)
  if (options.overwrites) {
    successions.forEachOverwrite(reads, (read, to) => {
      const reader = history.opTxn[read]!
      const apart = options.exclusive && appends(history, reader, history.opKey[read]!)
      const from = apart ? builder.commit(reader) : builder.snapshot(reader)
      builder.add(from, apart ? builder.snapshot(to) : builder.commit(to), RW, read)
    })
  }
  return builder
}

function addReplacements(
  history: History,
  versions: VersionReads,
  builder: DependencyBuilder,
  exclusive: boolean,
): void {
  const { opTxn, opCount } = history
  for (let op = 0; op < opCount; op++) {
    const before = versions.writeAfter[op]!
    if (before === NONE) continue
    const txn = opTxn[op]!
    const to = exclusive ? builder.snapshot(txn) : builder.commit(txn)
    builder.add(builder.commit(before), to, WW, op)
  }
}

function appends(history: History, txn: number, key: number): boolean {
  const { txnOpStart, opKind, opKey } = history
  for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
    if (opKey[op] === key && opKind[op] === APPEND) return true
  }
  return false
}

/** Who wrote next to what somebody read. */
export class Successions {
  private readonly next: Int32Array // write op -> txn that wrote after its txn, NONE
  private readonly first: Int32Array // key -> txn that wrote first, NONE

  constructor(
    private readonly history: History,
    private readonly versions: VersionReads,
  ) {
    const { keyCount, opCount, opTxn } = history
    const { orderStart, order } = versions
    this.next = new Int32Array(opCount).fill(NONE)
    this.first = new Int32Array(keyCount).fill(NONE)
    for (let key = 0; key < keyCount; key++) {
      let later: number = NONE
      for (let i = orderStart[key + 1]! - 1; i >= orderStart[key]!; i--) {
        const txn = opTxn[order[i]!]!
        if (later !== txn) this.next[order[i]!] = later
        later = txn
      }
      this.first[key] = later
    }
  }

  /** Pairs of a read that saw the last version before a tail and one of that tail. */
  countTailReads(reads: ReadCheck): number {
    const { opCount, opKey } = this.history
    const { tailStart, tail } = this.versions
    let count = 0
    if (tail.length === 0) return count
    for (let op = 0; op < opCount; op++) {
      if (reads.opSource[op] === NONE) continue
      const key = opKey[op]!
      if (this.nextOf(op) === NONE) count += tailStart[key + 1]! - tailStart[key]!
    }
    return count
  }

  /** Calls `visit` with each read and each transaction that replaced what it saw. */
  forEachOverwrite(reads: ReadCheck, visit: (read: number, to: number) => void): void {
    const { opCount, opKey, opTxn } = this.history
    const { tailStart, tail } = this.versions
    for (let op = 0; op < opCount; op++) {
      if (reads.opSource[op] === NONE) continue
      const reader = opTxn[op]!
      const next = this.nextOf(op)
      if (next !== NONE) {
        if (next !== reader) visit(op, next)
        continue
      }
      const key = opKey[op]!
      for (let i = tailStart[key]!; i < tailStart[key + 1]!; i++) {
        const txn = opTxn[tail[i]!]!
        if (txn !== reader) visit(op, txn)
      }
    }
  }

  /** Who wrote next to the version that a sound read saw; NONE: the tail did. */
  private nextOf(read: number): number {
    const version = this.versions.readFrom[read]!
    return version === INITIAL ? this.first[this.history.opKey[read]!]! : this.next[version]!
  }
}
