// From a violation in a large history to a set of transactions that show it: those on a cycle, or
// of a row that no version explains, and those on which inferred edges rest, and so on down to the
// definition. The sub-history of these transactions violates the levels by the same argument; where
// candidates were dropped, why is found again among what is known, which is a good guess. Not
// minimal; core.ts cuts it down. Main function: findSuspects.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { findComponents } from '../../graph/scc.ts'
import { NONE } from '../../history/history.ts'
import { findCore } from '../../solver/core.ts'
import { PC } from '../problem/levels.ts'
import { causesOf } from './causes.ts'
import type { Conflicts } from './conflicts.ts'
import { type Encoder, READS } from './encode.ts'
import type { Violation } from './engine.ts'
import {
  type KnownEdges,
  OVERLAP,
  OVERWRITES,
  PASSED_OVER,
  REPLACES_PASSED,
  SEEN_BY_PASSING,
  SEEN_BY_READER,
  VISIBLE,
  type Visible,
} from './known-edges.ts'
import type { Pairs } from './pairs.ts'
import { KnownPaths, type PathStep } from './paths.ts'
import { SNAPSHOT } from './verify.ts'
import { CAUSAL } from './visibility.ts'

/** How many cycles are worked out to find small ones. */
const TRIES = 60
/** How many of them are handed on. */
const KEPT = 6

/** What a violation rests on. */
export interface Suspects {
  readonly txns: ReadonlySet<number>
  readonly pairs: ReadonlySet<number> // of those with several candidates all that it rests on
}

/** Sets of transactions that are likely to violate the levels, the most promising first. */
export function findSuspects(violation: Violation, deadline: Deadline): Suspects[] {
  const { known, conflicts, contradiction } = violation
  const paths = new KnownPaths(known)
  const gather = (begin: (collector: Collector) => void) => {
    const collector = new Collector(violation, paths, deadline)
    begin(collector)
    return collector.run()
  }
  if (contradiction !== null) {
    return [gather((collector) => addContradiction(collector, contradiction, deadline))]
  }
  const { pairs } = known.problem
  const size = ({ pair }: { pair: number }) => (pairs ? candidateCount(pairs, pair) : 0)
  const broken = conflicts?.broken.toSorted((a, b) => size(a) - size(b)).slice(0, KEPT) ?? []
  const { edgeCount } = known.graph
  const sets = broken.map(({ pair, by, via }) =>
    gather((collector) => {
      collector.addPair(pair, edgeCount)
      if (by !== NONE) collector.addVisible(by, { pair, via }, edgeCount)
    }),
  )
  if (sets.length > 0) return sets
  const cycles = findKnownCycles(known, paths, deadline)
  return cycles.map((cycle) => gather((collector) => collector.addSteps(cycle)))
}

/** How many versions a pair may have read. */
export function candidateCount({ fixedCount, zeroStart }: Pairs, pair: number): number {
  return pair < fixedCount ? 1 : zeroStart[pair - fixedCount + 1]! - zeroStart[pair - fixedCount]!
}

/** Cycles of known edges, those that are short and rest on little first. */
export function findKnownCycles(
  known: KnownEdges,
  paths: KnownPaths,
  deadline: Deadline,
): PathStep[][] {
  const { graph, roundStart } = known
  const from = graph.from.data
  const to = graph.to.data
  // Everything before the last round was acyclic, so a cycle goes through an edge of that round.
  const last = roundStart.length > 1 ? roundStart[roundStart.length - 2]! : 0
  const inside = findCyclicEdges(known, deadline).filter((edge) => edge >= last)
  const stride = Math.ceil(inside.length / TRIES)
  const cycles: { steps: PathStep[]; weight: number }[] = []
  for (let i = 0; i < inside.length; i += stride) {
    const edge = inside[i]!
    // One cycle is enough if there is no time to look for better ones.
    if (cycles.length > 0 && deadline.hasRunOut()) break
    const path = paths.find(to[edge]!, from[edge]!, graph.edgeCount)
    if (path === null) continue
    const steps = [{ from: from[edge]!, to: to[edge]!, edge }, ...path]
    cycles.push({ steps, weight: weightOf(known, steps) })
  }
  assert(cycles.length > 0, 'a graph without a topological order has a cycle')
  cycles.sort((a, b) => a.weight - b.weight)
  return cycles.slice(0, KEPT).map(({ steps }) => steps)
}

/** Edges that lie on some cycle. */
function findCyclicEdges(known: KnownEdges, deadline: Deadline): number[] {
  const { graph } = known
  const { componentOf } = findComponents(graph.buildCsr(), deadline)
  const inside: number[] = []
  for (let e = 0; e < graph.edgeCount; e++) {
    if (componentOf[graph.from.data[e]!] === componentOf[graph.to.data[e]!]) inside.push(e)
  }
  return inside
}

function weightOf(known: KnownEdges, steps: readonly PathStep[]): number {
  let weight = 0
  for (const { edge } of steps) {
    if (edge < 0) continue
    weight += known.rule.data[edge]! < SEEN_BY_READER ? 1 : 4 + 4 * roundOf(known, edge)
  }
  return weight
}

function roundOf(known: KnownEdges, edge: number): number {
  let round = 0
  while (round < known.roundStart.length && known.roundStart[round]! <= edge) round++
  return round
}

function addContradiction(collector: Collector, encoder: Encoder, deadline: Deadline): void {
  const { reasons } = findCore(encoder.solver, deadline, deadline.toTheEnd())
  for (const reason of reasons) {
    for (const literal of reason.literals) collector.addVariable(encoder, literal >> 1)
    if (reason.kind !== 'cycle') continue
    for (const { from, to, literals } of reason.edges) {
      collector.addNode(from)
      collector.addNode(to)
      if (literals.length === 0) collector.addKnown(from, to)
    }
  }
}

/** Numbers to be looked at once each, with the limit of what they may rest on. */
class Queue {
  readonly met = new Set<number>()
  private readonly items: { item: number; limit: number }[] = []
  private head = 0

  add(item: number, limit: number): void {
    if (this.met.has(item)) return
    this.met.add(item)
    this.items.push({ item, limit })
  }

  take(): { item: number; limit: number } | null {
    return this.head < this.items.length ? this.items[this.head++]! : null
  }
}

/** Gathers transactions, and the edges whose reasons are still to be gathered. */
class Collector {
  private readonly txns = new Set<number>()
  private readonly edges = new Queue()
  private readonly pairs = new Queue()
  private readonly known: KnownEdges
  private readonly conflicts: Conflicts | null
  private readonly source: Int32Array // pair -> txn it reads from

  constructor(
    { known, conflicts }: Violation,
    private readonly paths: KnownPaths,
    private readonly deadline: Deadline,
  ) {
    this.known = known
    this.conflicts = conflicts
    this.source = conflicts?.source ?? new Int32Array(0)
  }

  addTxn(txn: number): void {
    const isInitial = txn === 0 && this.known.problem.pairs !== null
    if (txn >= 0 && !isInitial) this.txns.add(txn)
  }

  addNode(node: number): void {
    this.addTxn(this.known.txnOf(node))
  }

  addSteps(steps: readonly PathStep[]): void {
    for (const { from, to, edge } of steps) {
      this.addNode(from)
      this.addNode(to)
      if (edge >= 0) this.edges.add(edge, edge)
    }
  }

  /** A known edge between these nodes, unless the chain itself is meant. */
  addKnown(from: number, to: number): void {
    const edge = this.known.graph.findEdge(from, to)
    if (edge >= 0) this.edges.add(edge, edge)
  }

  /** Whom a variable of the solver is about. */
  addVariable({ meaning }: Encoder, variable: number): void {
    const { pairs } = this.known.problem
    const [a, b] = [meaning.a.data[variable]!, meaning.b.data[variable]!]
    const isRead = meaning.kind.data[variable] === READS
    this.addTxn(isRead ? pairs!.reader[pairs!.fixedCount + a]! : a)
    this.addTxn(b)
  }

  run(): Suspects {
    while (true) {
      this.deadline.check()
      const next = this.edges.take()
      const pair = next === null ? this.pairs.take() : null
      if (next !== null) this.addReasons(next.item)
      else if (pair !== null) this.addVersions(pair.item, pair.limit)
      else return { txns: this.txns, pairs: this.pairs.met }
    }
  }

  private addReasons(edge: number): void {
    const { known } = this
    const { graph, begin, commit, claim } = known
    const rule = known.rule.data[edge]!
    const witness = known.witness.data[edge]!
    const limit = known.basisOf(edge)
    const from = known.txnOf(graph.from.data[edge]!)
    const to = known.txnOf(graph.to.data[edge]!)
    if (rule === SEEN_BY_READER) {
      this.addTxn(witness)
      this.addPath(commit[from]!, begin[witness]!, limit)
    } else if (rule === OVERWRITES) {
      this.addTxn(witness)
      this.addPath(claim[witness]!, commit[to]!, limit)
    } else if (rule === OVERLAP) this.addPath(claim[from]!, commit[to]!, limit)
    else if (rule === PASSED_OVER) this.addPair(witness, limit)
    else if (rule === SEEN_BY_PASSING) {
      this.addPair(witness, limit)
      this.addPath(commit[from]!, begin[known.problem.pairs!.reader[witness]!]!, limit)
    } else if (rule === REPLACES_PASSED) {
      this.addPair(witness, limit)
      const source = this.source[witness]!
      if (source > 0) this.addPath(claim[source]!, commit[to]!, limit)
    } else if (rule === VISIBLE) this.addVisible(from, known.visible[witness]!, limit)
  }

  addVisible(by: number, { pair, via }: Visible, limit: number): void {
    const { known } = this
    const reader = known.problem.pairs!.reader[pair]!
    this.addPair(pair, limit)
    this.addVia(by, reader, via, limit)
  }

  /** Why a writer was visible to a reader below pc. */
  private addVia(by: number, reader: number, via: number, limit: number): void {
    this.addTxn(by)
    if (via >= 0) this.addPair(via, limit)
    if (via !== CAUSAL) return
    for (const cause of causesOf(this.known.problem, this.source, by, reader)) {
      this.addTxn(cause.from)
      this.addTxn(cause.to)
      if (cause.pair !== NONE) this.addPair(cause.pair, limit)
    }
  }

  /** A read, with what was known when something was inferred from it. */
  addPair(pair: number, limit: number): void {
    this.pairs.add(pair, limit)
  }

  /** The reader, and for a row passed over why none of the other versions was seen. */
  private addVersions(pair: number, limit: number): void {
    const pairs = this.known.problem.pairs!
    this.addTxn(pairs.reader[pair]!)
    if (candidateCount(pairs, pair) === 1) return
    const open = pair - pairs.fixedCount
    for (let i = pairs.zeroStart[open]!; i < pairs.zeroStart[open + 1]!; i++) {
      const candidate = pairs.zero[i]!
      if (candidate !== this.source[pair]) this.addDropped(pair, candidate, limit)
    }
  }

  /** A candidate comes after the reader, or is overwritten by what the reader sees. */
  private addDropped(pair: number, candidate: number, limit: number): void {
    const { known, paths } = this
    const { problem, begin, commit, claim } = known
    const pairs = problem.pairs!
    const reader = pairs.reader[pair]!
    const snapshot = begin[reader]!
    const late = candidate > 0 ? paths.find(snapshot, commit[candidate]!, limit) : null
    if (late !== null) return this.addSteps(late)
    for (const { by, via } of this.visibleTo(pair, snapshot)) {
      if (by === candidate || !known.isOrdered(candidate, by)) continue
      const newer = candidate === 0 ? [] : paths.find(claim[candidate]!, commit[by]!, limit)
      const seen = via === SNAPSHOT ? paths.find(commit[by]!, snapshot, limit) : []
      if (seen === null || newer === null) continue
      this.addSteps(seen)
      this.addSteps(newer)
      this.addVia(by, reader, via, limit)
      return
    }
  }

  /** Who wrote the row of a pair and is visible to its reader, and through what. */
  private visibleTo(pair: number, snapshot: number): { by: number; via: number }[] {
    const { problem, commit, graph } = this.known
    const pairs = problem.pairs!
    const reader = pairs.reader[pair]!
    if (problem.level[reader]! < PC) return this.conflicts!.visibleTo(pair)
    const key = pairs.key[pair]!
    const writers = problem.versionTxn.subarray(problem.keyStart[key]!, problem.keyStart[key + 1]!)
    return [...writers]
      .filter((by) => by !== reader && graph.reaches(commit[by]!, snapshot))
      .map((by) => ({ by, via: SNAPSHOT }))
  }

  /** A path of older edges, if there is one: what rests on candidates dropped may have none. */
  private addPath(from: number, to: number, limit: number): void {
    const path = from === to ? [] : this.paths.find(from, to, limit)
    assert(path !== null || this.known.problem.pairs !== null, 'an inferred edge rests on a path')
    this.addSteps(path ?? [])
  }
}
