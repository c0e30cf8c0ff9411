// What saturation leaves open: pairs of transactions that write a common key, neither known to
// come first. Each is one Boolean for the solver ("a before b", for all keys they share: both ways
// round is a cycle), and brings its edges: the version order itself and, for each reader of the
// earlier version, an anti-dependency into the later writer. At ser and pc a pair whose versions
// nobody read is left out, since any order will do.
//
// In the run of a session, the writers known to be before are a prefix and those known to be after
// a suffix, so the open ones are a window, and all pairs are listed in O(versions · runs · log +
// pairs · readers). Where there are too many, they are added as orders turn out to need them
// (clashes.ts). Main class: OpenPairs.

import type { Deadline } from '../../base/deadline.ts'
import { PairIndex } from '../../graph/pair-index.ts'
import { AcyclicSolver } from '../../solver/solver.ts'
import type { Access } from '../problem/access.ts'
import type { KnownEdges } from './known-edges.ts'
import { firstReached } from './saturate.ts'

export class OpenPairs {
  readonly pairs = new PairIndex(16) // variable -> local txns (a, b), a < b; true: a before b
  readonly solver: AcyclicSolver

  constructor(
    private readonly known: KnownEdges,
    private readonly access: Access,
    deadline: Deadline,
  ) {
    const { graph } = known
    this.solver = new AcyclicSolver(graph.nodeCount)
    for (let chain = 0; chain < graph.chainCount; chain++) {
      for (let node = graph.chainStart[chain]! + 1; node < graph.chainStart[chain + 1]!; node++) {
        deadline.step()
        this.solver.addKnownEdge(node - 1, node)
      }
    }
    for (let e = 0; e < graph.edgeCount; e++) {
      deadline.step()
      this.solver.addKnownEdge(graph.from.data[e]!, graph.to.data[e]!)
    }
    this.solver.setInitialOrder(shortTransactions(known))
  }

  /** How many pairs are open, a pair counting for each key it shares. */
  count(deadline: Deadline): number {
    let count = 0
    this.forEachWindow(deadline, (_, first, end) => {
      count += end - first
    })
    return count
  }

  addAll(deadline: Deadline): void {
    const { versionTxn } = this.known.problem
    this.forEachWindow(deadline, (txn, first, end) => {
      deadline.step(32 * (end - first))
      for (let other = first; other < end; other++) this.add(txn, versionTxn[other]!)
    })
  }

  /** Visits, for every version, the versions of larger transactions that are open against it. */
  private forEachWindow(
    deadline: Deadline,
    visit: (txn: number, first: number, end: number) => void,
  ): void {
    const { keyCount, keyStart, versionTxn, runStart, runFirst } = this.known.problem
    const { width, orderFrom } = this.known.shape
    for (let key = 0; key < keyCount; key++) {
      for (let version = keyStart[key]!; version < keyStart[key + 1]!; version++) {
        const txn = versionTxn[version]!
        for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
          if (runFirst[run]! <= version) continue
          const end = runFirst[run + 1]!
          const first = firstUnordered(this.known, runFirst[run]!, end, txn)
          const after = firstReached(this.known, first, end, width * txn + orderFrom)
          if (after > first) visit(txn, first, after)
        }
        deadline.step(1 + 4 * (runStart[key + 1]! - runStart[key]!))
      }
    }
  }

  /** Adds those of the pairs (first, second, first, second, ...) that are open. */
  addEach(pairs: Int32Array, deadline: Deadline): void {
    for (let i = 0; i < pairs.length; i += 2) {
      deadline.step(16)
      const a = pairs[i]!
      const b = pairs[i + 1]!
      if (!this.isKnown(a, b) && !this.isKnown(b, a)) this.add(a, b)
    }
  }

  private isKnown(from: number, to: number): boolean {
    const { width, orderFrom } = this.known.shape
    return this.known.graph.reaches(width * from + orderFrom, this.known.commit(to))
  }

  /** Adds a pair that is open, unless it is there already or any order will do. */
  private add(one: number, other: number): void {
    const a = Math.min(one, other)
    const b = Math.max(one, other)
    if (this.pairs.find(a, b) >= 0) return
    if (this.known.shape.level !== 'si' && !this.matters(a, b)) return
    const variable = this.pairs.add(a, b)
    this.solver.newVariable()
    this.addSide(2 * variable, a, b)
    this.addSide(2 * variable + 1, b, a)
  }

  /** True if somebody read what one of them wrote of a common key. */
  private matters(a: number, b: number): boolean {
    const { readerStart } = this.known.problem
    const isRead = (version: number) => readerStart[version] !== readerStart[version + 1]
    let found = false
    this.forEachCommon(a, b, (version, later) => {
      if (isRead(version) || isRead(later)) found = true
    })
    return found
  }

  private addSide(literal: number, from: number, to: number): void {
    const { known } = this
    const { readerStart, reader } = known.problem
    const { width, versionTo } = known.shape
    this.addEdge(literal, known.commit(from), width * to + versionTo)
    this.forEachCommon(from, to, (version) => {
      for (let i = readerStart[version]!; i < readerStart[version + 1]!; i++) {
        if (reader[i] !== to) this.addEdge(literal, known.begin(reader[i]!), known.commit(to))
      }
    })
  }

  private addEdge(literal: number, from: number, to: number): void {
    if (!this.known.graph.reaches(from, to)) this.solver.addLiteralEdge(literal, from, to)
  }

  /** Visits the versions of every key that both write. */
  private forEachCommon(a: number, b: number, visit: (ofA: number, ofB: number) => void): void {
    const { writeStart, writeKey, writeVersion } = this.access
    for (let i = writeStart[a]!; i < writeStart[a + 1]!; i++) {
      for (let j = writeStart[b]!; j < writeStart[b + 1]!; j++) {
        if (writeKey[i] === writeKey[j]) visit(writeVersion[i]!, writeVersion[j]!)
      }
    }
  }
}

/** Positions to start from: the topological order, with snapshots moved up to their commits. */
function shortTransactions(known: KnownEdges): Int32Array {
  const { position } = known.graph
  if (known.shape.width === 1) return position
  return position.map((_, node) => 2 * position[node | 1]! + (node & 1))
}

/** The first version of the run that is not known to precede the transaction. */
function firstUnordered(known: KnownEdges, first: number, end: number, txn: number): number {
  const { versionTxn } = known.problem
  const { width, orderFrom } = known.shape
  const { graph } = known
  const chain = graph.chainOf[known.begin(versionTxn[first]!)]!
  const limit = graph.firstNotReaching(chain, known.commit(txn))
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (width * versionTxn[mid]! + orderFrom < limit) low = mid + 1
    else high = mid
  }
  return low
}
