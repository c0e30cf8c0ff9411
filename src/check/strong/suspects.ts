// From a violation in a large history to a set of transactions that show it: those on a cycle, and
// those on which its inferred edges rest, and so on down to the definition. The sub-history of
// these transactions violates the level by the same argument. Not minimal; core.ts cuts it down.
// Main function: findSuspects.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { findComponents } from '../../graph/scc.ts'
import { findCore } from '../../solver/core.ts'
import type { Violation } from './engine.ts'
import { type KnownEdges, OVERLAP, OVERWRITES, SEEN_BY_READER } from './known-edges.ts'
import type { OpenPairs } from './open-pairs.ts'
import { KnownPaths, type Step } from './paths.ts'

/** How many cycles are worked out to find small ones. */
const TRIES = 60
/** How many of them are handed on. */
const KEPT = 6

/** Sets of local transactions whose sub-histories violate the level, the most promising first. */
export function findSuspects(decision: Violation, deadline: Deadline): Set<number>[] {
  const { known, contradiction } = decision
  const paths = new KnownPaths(known)
  if (contradiction !== null) {
    const collector = new Collector(known, paths, deadline)
    addContradiction(collector, contradiction, deadline)
    return [collector.run()]
  }
  return findKnownCycles(known, paths, deadline).map((cycle) => {
    const collector = new Collector(known, paths, deadline)
    collector.addSteps(cycle)
    return collector.run()
  })
}

/** Cycles of known edges, those that are short and rest on little first. */
export function findKnownCycles(
  known: KnownEdges,
  paths: KnownPaths,
  deadline: Deadline,
): Step[][] {
  const { graph, roundStart } = known
  const from = graph.from.data
  const to = graph.to.data
  // Everything before the last round was acyclic, so a cycle goes through an edge of that round.
  const last = roundStart.length > 1 ? roundStart[roundStart.length - 2]! : 0
  const inside = findCyclicEdges(known, deadline).filter((edge) => edge >= last)
  const stride = Math.ceil(inside.length / TRIES)
  const cycles: { steps: Step[]; weight: number }[] = []
  for (let i = 0; i < inside.length; i += stride) {
    const edge = inside[i]!
    deadline.check()
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

function weightOf(known: KnownEdges, steps: readonly Step[]): number {
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

function addContradiction(
  collector: Collector,
  { pairs, solver }: OpenPairs,
  deadline: Deadline,
): void {
  const { reasons } = findCore(solver, deadline, deadline.toTheEnd())
  for (const reason of reasons) {
    if (reason.kind !== 'cycle') continue
    for (const literal of reason.literals) {
      collector.addTxn(pairs.firstOf(literal >> 1))
      collector.addTxn(pairs.secondOf(literal >> 1))
    }
    for (const { from, to, literals } of reason.edges) {
      collector.addNode(from)
      collector.addNode(to)
      if (literals.length === 0) collector.addKnown(from, to)
    }
  }
}

/** Gathers transactions, and the edges whose reasons are still to be gathered. */
class Collector {
  private readonly txns = new Set<number>()
  private readonly edges = new Set<number>() // in order of arrival, also the queue

  constructor(
    private readonly known: KnownEdges,
    private readonly paths: KnownPaths,
    private readonly deadline: Deadline,
  ) {}

  addTxn(txn: number): void {
    if (txn >= 0) this.txns.add(txn)
  }

  addNode(node: number): void {
    this.addTxn(this.known.txnOf(node))
  }

  addSteps(steps: readonly Step[]): void {
    for (const { from, to, edge } of steps) {
      this.addNode(from)
      this.addNode(to)
      if (edge >= 0) this.edges.add(edge)
    }
  }

  /** A known edge between these nodes, unless the chain itself is meant. */
  addKnown(from: number, to: number): void {
    const edge = this.known.graph.findEdge(from, to)
    if (edge >= 0) this.edges.add(edge)
  }

  run(): Set<number> {
    for (const edge of this.edges) {
      this.deadline.check()
      this.addReasons(edge)
    }
    return this.txns
  }

  private addReasons(edge: number): void {
    const { known, paths } = this
    const { shape, graph } = known
    const rule = known.rule.data[edge]!
    const witness = known.witness.data[edge]!
    const limit = known.basisOf(edge)
    const from = known.txnOf(graph.from.data[edge]!)
    const to = known.txnOf(graph.to.data[edge]!)
    if (rule === SEEN_BY_READER || rule === OVERWRITES) this.txns.add(witness)
    let path: Step[] | null = null
    if (rule === SEEN_BY_READER) {
      path = paths.find(known.commit(from), known.begin(witness), limit)
    } else if (rule === OVERWRITES) {
      path = paths.find(shape.width * witness + shape.orderFrom, known.commit(to), limit)
    } else if (rule === OVERLAP) {
      path = paths.find(known.begin(from), known.commit(to), limit)
    } else {
      return
    }
    assert(path !== null, 'an inferred edge rests on a path of older ones')
    this.addSteps(path)
  }
}
