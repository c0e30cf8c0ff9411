// What saturation leaves open: pairs of transactions that write a common key, neither known to come
// first. Each is one Boolean ("a before b", for all keys they share: both ways round is a cycle),
// and brings its edges: the version order itself and, for each reader of the earlier version, an
// anti-dependency into the later writer. Pairs are listed only where open: in the run of a session,
// those known to be before are a prefix and those known to be after a suffix, so the open ones are
// a window. At ser and pc a pair whose versions nobody read is left out, since any order will do.
// Cost O(versions · runs · log + open pairs · readers). Main function: buildResidue.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { PairIndex } from '../../graph/pair-index.ts'
import { AcyclicSolver } from '../../solver/solver.ts'
import type { KnownEdges } from './known-edges.ts'
import { firstReached } from './saturate.ts'

export interface Residue {
  readonly pairs: PairIndex // variable -> local txns (a, b), a < b; true means a before b
  readonly edgeLiteral: Int32Array // candidate edge -> its literal
  readonly edgeFrom: Int32Array // candidate edge -> node
  readonly edgeTo: Int32Array // candidate edge -> node
}

export function buildResidue(known: KnownEdges, deadline: Deadline): Residue {
  const { problem, shape } = known
  const { keyCount, keyStart, versionTxn, runStart, runFirst } = problem
  const builder = new ResidueBuilder(known)
  let work = 0
  for (let key = 0; key < keyCount; key++) {
    const end = keyStart[key + 1]!
    for (let version = keyStart[key]!; version < end; version++) {
      const txn = versionTxn[version]!
      const node = shape.width * txn + shape.orderFrom
      // Pairs are met from their smaller transaction, that is, in later runs.
      for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
        if (runFirst[run]! <= version) continue
        const first = firstUnordered(known, runFirst[run]!, runFirst[run + 1]!, txn)
        const after = firstReached(known, first, runFirst[run + 1]!, node)
        for (let other = first; other < after; other++) builder.addPair(version, other)
      }
      if (++work % 4096 === 0) deadline.check()
    }
  }
  return builder.finish()
}

/** The first version of the run that is not known to precede the transaction. */
function firstUnordered(known: KnownEdges, first: number, end: number, txn: number): number {
  const { versionTxn } = known.problem
  const { width, orderFrom } = known.shape
  const { rows, chainCount, chainOf } = known.graph
  if (first === end) return first
  const row = known.commit(txn) * chainCount
  const limit = rows[row + chainOf[known.begin(versionTxn[first]!)]!]!
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (width * versionTxn[mid]! + orderFrom < limit) low = mid + 1
    else high = mid
  }
  return low
}

class ResidueBuilder {
  private readonly pairs = new PairIndex(16)
  private readonly literal = new IntColumn(64)
  private readonly from = new IntColumn(64)
  private readonly to = new IntColumn(64)

  constructor(private readonly known: KnownEdges) {}

  /** Two versions of one key, the first by the smaller transaction. */
  addPair(a: number, b: number): void {
    const { problem, shape } = this.known
    const { versionTxn, readerStart } = problem
    const unread = readerStart[a] === readerStart[a + 1] && readerStart[b] === readerStart[b + 1]
    if (unread && shape.level !== 'si') return
    const count = this.pairs.count
    const variable = this.pairs.add(versionTxn[a]!, versionTxn[b]!)
    if (variable === count) {
      this.addVersionOrder(2 * variable, versionTxn[a]!, versionTxn[b]!)
      this.addVersionOrder(2 * variable + 1, versionTxn[b]!, versionTxn[a]!)
    }
    this.addReaders(2 * variable, a, versionTxn[b]!)
    this.addReaders(2 * variable + 1, b, versionTxn[a]!)
  }

  private addVersionOrder(literal: number, from: number, to: number): void {
    const { width, versionTo } = this.known.shape
    this.addEdge(literal, this.known.commit(from), width * to + versionTo)
  }

  /** Readers of the earlier version precede the writer of the later one. */
  private addReaders(literal: number, version: number, later: number): void {
    const { readerStart, reader } = this.known.problem
    for (let i = readerStart[version]!; i < readerStart[version + 1]!; i++) {
      const from = reader[i]!
      if (from === later) continue
      this.addEdge(literal, this.known.begin(from), this.known.commit(later))
    }
  }

  private addEdge(literal: number, from: number, to: number): void {
    if (this.known.graph.reaches(from, to)) return
    this.literal.push(literal)
    this.from.push(from)
    this.to.push(to)
  }

  finish(): Residue {
    return {
      pairs: this.pairs,
      edgeLiteral: this.literal.view(),
      edgeFrom: this.from.view(),
      edgeTo: this.to.view(),
    }
  }
}

/** The solver for what is open, on top of the known edges. */
export function buildSolver(known: KnownEdges, residue: Residue): AcyclicSolver {
  const { graph } = known
  const solver = new AcyclicSolver(graph.nodeCount)
  for (let chain = 0; chain < graph.chainCount; chain++) {
    for (let node = graph.chainStart[chain]! + 1; node < graph.chainStart[chain + 1]!; node++) {
      solver.addKnownEdge(node - 1, node)
    }
  }
  for (let e = 0; e < graph.edgeCount; e++) {
    solver.addKnownEdge(graph.from.data[e]!, graph.to.data[e]!)
  }
  for (let v = 0; v < residue.pairs.count; v++) solver.newVariable()
  for (let e = 0; e < residue.edgeLiteral.length; e++) {
    solver.addLiteralEdge(residue.edgeLiteral[e]!, residue.edgeFrom[e]!, residue.edgeTo[e]!)
  }
  return solver
}
