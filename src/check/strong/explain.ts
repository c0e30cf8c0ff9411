// Why a problem violates its level, as evidence: one cycle in which every inferred edge carries its
// reasons, or, where no single cycle is forced, an argument by cases over open pairs, each with
// such a cycle. An inferred version order is either a path, or refutes the opposite order: that
// order, with a path of older edges, would close a cycle. Meant for cores of few transactions. Main
// function: explainViolation.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import type { PairIndex } from '../../graph/pair-index.ts'
import { type CoreCycle, clauseOf, findCore } from '../../solver/core.ts'
import { refute } from '../../solver/refutation.ts'
import { type Case, type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import type { Violation } from './engine.ts'
import {
  type KnownEdges,
  LIST_ORDER,
  OVER_INITIAL,
  OVERLAP,
  OVERWRITES,
  READ_FROM,
  REAL_TIME,
  SEEN_BY_READER,
} from './known-edges.ts'
import type { OpenPairs } from './open-pairs.ts'
import { KnownPaths, type Step } from './paths.ts'
import { findKnownCycles } from './suspects.ts'

export interface Explanation {
  readonly edges: Edge[]
  readonly cases: Case[]
}

export function explainViolation(decision: Violation, deadline: Deadline): Explanation {
  const { known, contradiction } = decision
  const explainer = new Explainer(known)
  if (contradiction !== null) return explainer.explainCases(contradiction, deadline)
  return { edges: explainer.explainCycle(deadline), cases: [] }
}

class Explainer {
  private readonly facts: EdgeFacts
  private readonly paths: KnownPaths
  private readonly made = new Map<number, Edge>() // known edge -> its evidence

  constructor(private readonly known: KnownEdges) {
    this.facts = new EdgeFacts(known.problem.history, known.problem.reads)
    this.paths = new KnownPaths(known)
  }

  explainCycle(deadline: Deadline): Edge[] {
    const [best] = findKnownCycles(this.known, this.paths, deadline)
    return this.cycleOf(best!, new Map())
  }

  explainCases({ pairs, solver }: OpenPairs, deadline: Deadline): Explanation {
    const { reasons } = findCore(solver, deadline, deadline)
    const steps = refute(reasons.map(clauseOf), () => true, deadline)
    const cases = steps.map(({ clause, literals }): Case => {
      const assumptions = literals.map((literal) => this.assumption(literal ^ 1, pairs))
      const reason = reasons[clause]
      assert(reason?.kind !== 'clause', 'open pairs are bound by cycles only')
      return { assumptions, cycle: reason ? this.leafCycle(reason, pairs) : [] }
    })
    return { edges: [], cases }
  }

  private assumption(literal: number, pairs: PairIndex): Edge {
    const [from, to] = this.pairOf(literal, pairs)
    return this.facts.assumedVersions(from, to, this.facts.sharedWrite(from, to))
  }

  private leafCycle(reason: CoreCycle, pairs: PairIndex): Edge[] {
    const { graph } = this.known
    const assumed = new Map<Step, Edge>()
    const steps = reason.edges.map(({ from, to, literals }): Step => {
      if (literals.length === 0) return { from, to, edge: graph.findEdge(from, to) }
      const step = { from, to, edge: graph.edgeCount }
      assumed.set(step, this.assumedEdge(from, to, this.pairOf(literals[0]!, pairs)))
      return step
    })
    return this.cycleOf(steps, assumed)
  }

  /**
   * A closed walk as a cycle of edges. An order that only refutes its opposite is turned around:
   * the rest of the cycle is that opposite, so the refuting cycle stands on its own. What remains
   * are edges of the history itself, which say more about what went wrong.
   */
  private cycleOf(steps: readonly Step[], given: Map<Step, Edge>): Edge[] {
    const { known } = this
    let cycle = rotate(known, steps)
    while (true) {
      const at = cycle.findIndex(
        (step) => !given.has(step) && known.rule.data[step.edge] === SEEN_BY_READER,
      )
      if (at < 0) return this.edgesOf(cycle, given)
      cycle = this.turnAround(cycle[at]!, [...cycle.slice(at + 1), ...cycle.slice(0, at)], given)
    }
  }

  private turnAround(step: Step, rest: readonly Step[], given: Map<Step, Edge>): Step[] {
    const { known, facts } = this
    const from = this.txn(step.from)
    const to = this.txn(step.to)
    const local = known.witness.data[step.edge]!
    const reader = known.problem.txnOf[local]!
    const key = facts.sharedRead(reader, to, from)
    const order = this.orderBy(to, from, key, this.edgesOf(rest, given))
    const back = { from: known.begin(local), to: step.from, edge: known.graph.edgeCount }
    given.set(back, facts.overwrite(facts.readFrom(to, reader, key), order))
    return [back, ...this.stepsOf(step.from, back.from, known.basisOf(step.edge))]
  }

  /** An edge that an open pair, assumed one way, brings along. */
  private assumedEdge(fromNode: number, toNode: number, [from, to]: [number, number]): Edge {
    const { facts } = this
    const reader = this.txn(fromNode)
    if (reader === from) {
      assert(this.txn(toNode) === to, 'the edges of a pair lead into its later transaction')
      return facts.assumedVersions(from, to, facts.sharedWrite(from, to))
    }
    const key = facts.sharedRead(reader, from, to)
    return facts.overwrite(facts.readFrom(from, reader, key), facts.assumedVersions(from, to, key))
  }

  private pairOf(literal: number, pairs: PairIndex): [number, number] {
    const { txnOf } = this.known.problem
    const first = txnOf[pairs.firstOf(literal >> 1)]!
    const second = txnOf[pairs.secondOf(literal >> 1)]!
    return (literal & 1) === 0 ? [first, second] : [second, first]
  }

  /** Steps between nodes as edges between transactions. */
  private edgesOf(steps: readonly Step[], assumed: ReadonlyMap<Step, Edge> | null = null): Edge[] {
    const edges: Edge[] = []
    let finished = INITIAL_TXN // the transaction from whose finish the path runs along instants
    for (const step of steps) {
      const from = this.txn(step.from)
      const to = this.txn(step.to)
      const given = assumed?.get(step)
      if (given) edges.push(given)
      else if (step.edge >= 0 && this.known.rule.data[step.edge] === REAL_TIME) {
        if (from !== INITIAL_TXN) finished = from
        else edges.push(this.facts.realTime(finished, to))
      } else if (step.edge >= 0) edges.push(this.edgeOf(step.edge))
      else if (from !== to) {
        // Steps along one session make one edge.
        const last = edges[edges.length - 1]
        if (last?.kind === 'SO' && last.to === from) last.to = to
        else edges.push(this.facts.session(from, to))
      }
    }
    return edges
  }

  /** Evidence of a known edge. Recursion is as deep as rounds of inference. */
  private edgeOf(edge: number): Edge {
    const known = this.made.get(edge)
    if (known) return known
    const made = this.makeEdge(edge)
    this.made.set(edge, made)
    return made
  }

  private makeEdge(edge: number): Edge {
    const { known, facts } = this
    const { graph } = known
    const from = this.txn(graph.from.data[edge]!)
    const to = this.txn(graph.to.data[edge]!)
    const witness = known.witness.data[edge]!
    switch (known.rule.data[edge]!) {
      case READ_FROM:
        return facts.readFrom(from, to)
      case OVER_INITIAL: {
        const key = facts.sharedRead(from, INITIAL_TXN, to)
        const seen = facts.readFrom(INITIAL_TXN, from, key)
        return facts.overwrite(seen, facts.versions(INITIAL_TXN, to, key))
      }
      case LIST_ORDER:
        return facts.listOrder(from, to, witness)
      case SEEN_BY_READER:
        return this.seenByReader(edge, from, to, known.problem.txnOf[witness]!)
      case OVERWRITES:
        return this.overwrites(edge, from, to, known.problem.txnOf[witness]!)
      default: {
        assert(known.rule.data[edge] === OVERLAP, 'every rule has its evidence')
        return this.ordered(edge, from, to, facts.sharedWrite(from, to), graph.from.data[edge]! - 1)
      }
    }
  }

  /** `from` reaches a reader of `to`'s version; the opposite order would put the reader first. */
  private seenByReader(edge: number, from: number, to: number, reader: number): Edge {
    const { known, facts } = this
    const key = facts.sharedRead(reader, to, from)
    const limit = known.basisOf(edge)
    const begin = known.begin(this.local(reader))
    const path = this.pathOf(known.commit(this.local(from)), begin, limit)
    const back = facts.overwrite(
      facts.readFrom(to, reader, key),
      facts.assumedVersions(to, from, key),
    )
    const premises = [back, ...path]
    return { ...facts.versions(from, to, key), premises, refutes: true }
  }

  /** The reader `from` saw the version of `writer`, which `to` overwrote. */
  private overwrites(edge: number, from: number, to: number, writer: number): Edge {
    const { known, facts } = this
    const key = facts.sharedRead(from, writer, to)
    const { width, orderFrom } = known.shape
    const node = width * this.local(writer) + orderFrom
    const order = facts.replaced(writer, to, key) ?? this.ordered(edge, writer, to, key, node)
    return facts.overwrite(facts.readFrom(writer, from, key), order)
  }

  /** Version order that follows from a path between two nodes of the transactions. */
  private ordered(edge: number, from: number, to: number, key: number, node: number): Edge {
    const limit = this.known.basisOf(edge)
    return this.orderBy(from, to, key, this.pathOf(node, this.known.commit(this.local(to)), limit))
  }

  private orderBy(from: number, to: number, key: number, path: Edge[]): Edge {
    const order = this.facts.versions(from, to, key)
    // A path that leaves from the snapshot says only that the two would overlap the other way
    // round.
    const fromSnapshot = this.known.shape.level === 'si' && path[0]!.kind === 'RW'
    if (!fromSnapshot) return { ...order, premises: path }
    const premises = [this.facts.assumedVersions(to, from, key), ...path]
    return { ...order, premises, refutes: true }
  }

  private pathOf(from: number, to: number, limit: number): Edge[] {
    return this.edgesOf(this.stepsOf(from, to, limit))
  }

  private stepsOf(from: number, to: number, limit: number): Step[] {
    const steps = this.paths.find(from, to, limit)
    assert(steps !== null, 'an inferred edge rests on a path of older ones')
    return steps
  }

  private txn(node: number): number {
    const local = this.known.txnOf(node)
    return local < 0 ? INITIAL_TXN : this.known.problem.txnOf[local]!
  }

  private local(txn: number): number {
    return this.known.problem.txnOf.indexOf(txn)
  }
}

/** Starts a cycle of steps where a proper edge starts, so that walks along a chain stay whole. */
function rotate(known: KnownEdges, steps: readonly Step[]): Step[] {
  const start = steps.findIndex(({ from, edge }) => edge >= 0 && known.txnOf(from) >= 0)
  assert(start >= 0, 'a cycle leaves its chain')
  return [...steps.slice(start), ...steps.slice(0, start)]
}
