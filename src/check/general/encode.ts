// What is left open, for the solver of acyclic graphs. Variables: for two writers of a key which
// comes first ("a before b", for all keys they share: both ways round is a cycle), for each
// conflict and candidate whether it wrote what was seen, and whether a transaction that may take
// part does. The order of two writers brings its edges: the version order itself and, for each
// reader of the earlier version, an anti-dependency into the later writer. At ser and pc a pair
// whose versions nobody read is left out, since any order will do.
//
// In the run of a session, the writers known to be before are a prefix and those known to be after
// a suffix, so the open ones are a window, and all are listed in O(versions · runs · log + pairs ·
// readers). Where there are too many, they are added as orders turn out to need them. Axioms about
// reads that are not beyond doubt always come in only when a solution breaks them (row-axioms.ts).
// Main class: Encoder.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { PairIndex } from '../../graph/pair-index.ts'
import { positionsOf } from '../../graph/toposort.ts'
import { NONE } from '../../history/history.ts'
import { AcyclicSolver } from '../../solver/solver.ts'
import { SI } from '../problem/levels.ts'
import { ALWAYS } from './causes.ts'
import type { KnownEdges } from './known-edges.ts'
import type { Origins } from './origins.ts'
import { firstLater } from './version-order.ts'

/** From so many open pairs on, they are decided in turn at first. */
const LARGE = 20_000

export const NEVER = -2 // the literal of what cannot be

/** What a variable says; `a` and `b` are transactions unless told otherwise. */
export const PRESENT = 0 // a takes part
export const READS = 1 // conflict a reads from b
export const ORDER = 2 // a comes before b

type VisitCommon = (ofA: number, ofB: number, key: number) => void

export class Encoder {
  readonly solver: AcyclicSolver
  readonly meaning = { kind: new IntColumn(64), a: new IntColumn(64), b: new IntColumn(64) }
  private readonly orders = new PairIndex(16) // writers (a, b), a < b
  private readonly orderLiteral = new IntColumn(64) // number of a pair -> literal: a before b

  constructor(
    readonly known: KnownEdges,
    readonly deadline: Deadline,
    readonly origins: Origins | null = null,
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

  /** How many orders of two writers there are to choose. */
  get orderCount(): number {
    return this.orders.count
  }

  /** The order of nodes from which the solver starts. */
  startFrom(nodes: Int32Array): void {
    this.solver.setInitialOrder(positionsOf(nodes))
  }

  newLiteral(kind: number, a: number, b: number): number {
    this.meaning.kind.push(kind)
    this.meaning.a.push(a)
    this.meaning.b.push(b)
    return 2 * this.solver.newVariable()
  }

  /** How many pairs of writers are open, a pair counting for each key it shares. */
  countOpen(): number {
    let count = 0
    this.forEachWindow((_, first, end) => {
      count += end - first
    })
    return count
  }

  /**
   * Adds every open pair whose order matters; where there are many, in the order in which they come
   * up, which the solver then follows.
   * @param count how many pairs are open
   */
  addAll(count: number): void {
    const { versionTxn } = this.known.problem
    const pairs = { one: new Int32Array(count), other: new Int32Array(count) }
    let at = 0
    this.forEachWindow((txn, first, end) => {
      for (let version = first; version < end; version++) {
        pairs.one[at] = txn
        pairs.other[at++] = versionTxn[version]!
      }
    })
    const isLarge = count >= LARGE
    const turn = isLarge ? this.inOrder(pairs.one, pairs.other) : null
    for (let i = 0; i < count; i++) {
      this.deadline.step(32)
      const pair = turn === null ? i : turn[i]!
      this.addOpen(pairs.one[pair]!, pairs.other[pair]!)
    }
    if (isLarge) this.solver.takeInTurn(count >> 1)
  }

  /** Pairs by the place of the later one in the order of what is known. */
  private inOrder(one: Int32Array, other: Int32Array): Uint32Array {
    const { graph, commit } = this.known
    const place = (txn: number) => graph.position[commit[txn]!]!
    const later = one.map((txn, i) => Math.max(place(txn), place(other[i]!)))
    return Uint32Array.from(later, (_, i) => i).sort((a, b) => later[a]! - later[b]! || a - b)
  }

  /** Visits, for every version, the versions of later runs that are open against it. */
  private forEachWindow(visit: (txn: number, first: number, end: number) => void): void {
    const { known, deadline } = this
    const { graph, versionCommit, versionClaim, runChain } = known
    const { keyCount, keyStart, versionTxn, runStart, runFirst } = known.problem
    for (let key = 0; key < keyCount; key++) {
      for (let version = keyStart[key]!; version < keyStart[key + 1]!; version++) {
        const txn = versionTxn[version]!
        const commit = versionCommit[version]!
        for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
          if (runFirst[run]! <= version) continue
          const end = runFirst[run + 1]!
          // Those before this one are known to precede it.
          const limit = graph.firstNotReaching(runChain[run]!, commit)
          const first = lowerBound(versionClaim, limit, runFirst[run]!, end)
          const after = firstLater(known, first, end, version)
          if (after > first) visit(txn, first, after)
        }
        deadline.step(1 + 4 * (runStart[key + 1]! - runStart[key]!))
      }
    }
  }

  /** Adds a pair of writers, unless its order is known or does not matter. */
  addIfMatters(one: number, other: number): void {
    const { known } = this
    if (!known.isOrdered(one, other) && !known.isOrdered(other, one)) this.addOpen(one, other)
  }

  private addOpen(one: number, other: number): void {
    const { level } = this.known.problem
    const a = Math.min(one, other)
    const b = Math.max(one, other)
    if (this.orders.find(a, b) >= 0) return
    if (level[a] !== SI && level[b] !== SI && !this.isRead(a, b)) return
    this.addOrder(a, b)
  }

  /** The literal that says `a` comes before `b`, where both write a key. */
  before(a: number, b: number): number {
    if (this.known.isOrdered(a, b)) return ALWAYS
    if (this.known.isOrdered(b, a)) return NEVER
    const [first, second] = a < b ? [a, b] : [b, a]
    const id = this.orders.find(first, second)
    const literal = id >= 0 ? this.orderLiteral.data[id]! : this.addOrder(first, second)
    return a < b ? literal : literal ^ 1
  }

  private addOrder(a: number, b: number): number {
    const literal = this.newLiteral(ORDER, a, b)
    assert(this.orders.add(a, b) === this.orderLiteral.length, 'every pair has one literal')
    this.orderLiteral.push(literal)
    this.addSide(literal, a, b)
    this.addSide(literal ^ 1, b, a)
    return literal
  }

  /** True if somebody read what one of them wrote of a common key. */
  private isRead(a: number, b: number): boolean {
    const { readerStart } = this.known.problem
    const isRead = (version: number) => readerStart[version] !== readerStart[version + 1]
    let found = false
    this.forEachCommon(a, b, (version, later) => {
      if (isRead(version) || isRead(later)) found = true
    })
    return found
  }

  private addSide(literal: number, from: number, to: number): void {
    const { known, origins } = this
    const { begin, commit, claim } = known
    const { readerStart, reader } = known.problem
    this.addLiteralEdge(literal, commit[from]!, claim[to]!)
    origins?.addEdge([literal], commit[from]!, claim[to]!, { rule: 'order', from, to })
    this.forEachCommon(from, to, (version, _, key) => {
      for (let i = readerStart[version]!; i < readerStart[version + 1]!; i++) {
        if (reader[i] === to) continue
        this.addLiteralEdge(literal, begin[reader[i]!]!, commit[to]!)
        if (origins === null) continue
        const read = { reader: reader[i]!, key, pair: NONE, source: from, by: to }
        const origin = { rule: 'overwritten', ...read } as const
        origins.addEdge([literal], begin[reader[i]!]!, commit[to]!, origin)
      }
    })
  }

  private addLiteralEdge(literal: number, from: number, to: number): void {
    if (!this.known.graph.reaches(from, to)) this.solver.addLiteralEdge(literal, from, to)
  }

  /** Visits the versions of every key that both write. */
  private forEachCommon(a: number, b: number, visit: VisitCommon): void {
    const { writeStart, writeKey, writeVersion } = this.known.problem.access
    for (let i = writeStart[a]!; i < writeStart[a + 1]!; i++) {
      for (let j = writeStart[b]!; j < writeStart[b + 1]!; j++) {
        if (writeKey[i] === writeKey[j]) visit(writeVersion[i]!, writeVersion[j]!, writeKey[i]!)
      }
    }
  }
}

/** Positions to start from: the topological order, with snapshots moved up to their commits. */
function shortTransactions({ graph, problem, commit }: KnownEdges): Int32Array {
  const { position } = graph
  const { txnAt } = problem.moments
  return position.map((_, node) => {
    const end = txnAt[node]! < 0 ? node : commit[txnAt[node]!]!
    return 2 * position[end]! + (end === node ? 1 : 0)
  })
}
