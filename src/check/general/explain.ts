// What is known, as evidence: one cycle in which every inferred edge carries its reasons. An
// inferred version order is either a path, or refutes the opposite order: that order, with a path
// of older edges, would close a cycle. Edges rest on older ones, so they are made from the oldest
// on. What rests on candidates that were dropped takes cases (argue.ts). Main class: Explainer.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { addAll } from '../../base/grow.ts'
import { INITIAL, NONE } from '../../history/history.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { SI } from '../problem/levels.ts'
import { IN } from '../problem/mixed-problem.ts'
import { ALWAYS, type Cause, causesOf } from './causes.ts'
import type { Broken, Conflicts } from './conflicts.ts'
import {
  type KnownEdges,
  LIST_ORDER,
  OVER_INITIAL,
  OVERLAP,
  OVERWRITES,
  PASSED_OVER,
  READ_FROM,
  REAL_TIME,
  REPLACES_PASSED,
  SEEN_BY_PASSING,
  SEEN_BY_READER,
  SESSION,
  VISIBLE,
  type Visible,
} from './known-edges.ts'
import { KnownPaths, type PathStep } from './paths.ts'
import type { Problem } from './problem.ts'
import { candidateCount, findKnownCycles } from './suspects.ts'
import { CAUSAL, IN_SESSION } from './visibility.ts'

export class Explainer {
  readonly facts: EdgeFacts
  private readonly problem: Problem
  private readonly paths: KnownPaths
  private readonly made = new Map<number, Edge>() // known edge -> its evidence
  private readonly localOf = new Map<number, number>() // txn of the history -> txn

  constructor(
    private readonly known: KnownEdges,
    private readonly conflicts: Conflicts | null,
  ) {
    this.problem = known.problem
    this.facts = new EdgeFacts(this.problem.history, readsOf(this.problem))
    this.paths = new KnownPaths(known)
    this.problem.txnOf.forEach((txn, local) => {
      this.localOf.set(txn, local)
    })
  }

  /** A cycle of what is known, null if none does without cases. */
  explainKnown(deadline: Deadline): Edge[] | null {
    const broken = this.conflicts?.broken ?? []
    for (const each of broken) {
      deadline.check()
      if (each.by !== NONE && this.isPlainPair(each.pair)) return this.explainBroken(each)
    }
    if (broken.length > 0) return null
    for (const cycle of findKnownCycles(this.known, this.paths, deadline)) {
      deadline.check()
      if (this.isPlain(cycle)) return this.cycleOf(cycle, new Map())
    }
    return null
  }

  /** A reader below pc saw the initial version of what another wrote that was visible to it. */
  private explainBroken({ pair, by, via }: Broken): Edge[] {
    return [this.visibleEdge(by, { pair, via }), this.facts.session(INITIAL_TXN, this.txn(by))]
  }

  /** Whether steps rest on nothing but what cannot be otherwise. */
  private isPlain(steps: readonly PathStep[]): boolean {
    if (this.problem.pairs === null) return true
    for (const edge of this.gather(steps).keys()) {
      const rule = this.known.rule.data[edge]!
      const witness = this.known.witness.data[edge]!
      if (rule === VISIBLE) {
        const { pair, via } = this.known.visible[witness]!
        if (!this.isPlainPair(pair) || (via >= 0 && !this.isPlainPair(via))) return false
        if (via === CAUSAL && !this.isPlainCause(this.known.graph.from.data[edge]!, pair)) {
          return false
        }
      }
      const isPair = rule === PASSED_OVER || rule === SEEN_BY_PASSING || rule === REPLACES_PASSED
      if (isPair && !this.isPlainPair(witness)) return false
    }
    return true
  }

  private isPlainPair(pair: number): boolean {
    return candidateCount(this.problem.pairs!, pair) === 1
  }

  private isPlainCause(from: number, pair: number): boolean {
    const causes = this.causes(this.known.txnOf(from), this.problem.pairs!.reader[pair]!)
    return causes.every((cause) => cause.pair === NONE || this.isPlainPair(cause.pair))
  }

  /**
   * A closed walk as a cycle of edges, of which some are given. An order that only refutes its
   * opposite is turned around: the rest of the cycle is that opposite, so the refuting cycle stands
   * on its own. What remains are edges of the history itself, which say more about what went wrong.
   */
  cycleOf(steps: readonly PathStep[], given: Map<PathStep, Edge>): Edge[] {
    const { rule } = this.known
    let cycle = rotate(this.known, steps)
    while (true) {
      const at = cycle.findIndex((step) => {
        const its = given.has(step) || step.edge < 0 ? NONE : rule.data[step.edge]
        return its === SEEN_BY_READER || its === SEEN_BY_PASSING
      })
      if (at < 0) return this.edgesOf(cycle, given)
      cycle = this.turnAround(cycle[at]!, [...cycle.slice(at + 1), ...cycle.slice(0, at)], given)
    }
  }

  private turnAround(
    step: PathStep,
    rest: readonly PathStep[],
    given: Map<PathStep, Edge>,
  ): PathStep[] {
    const { known } = this
    const from = known.txnOf(step.from)
    const to = known.txnOf(step.to)
    const { reader, seen } = this.readThatSaw(step.edge, from, to)
    const order = this.orderBy(to, from, seen.key, this.edgesOf(rest, given))
    const back = { from: known.begin[reader]!, to: step.from, edge: known.graph.edgeCount }
    given.set(back, this.facts.overwrite(seen, order))
    return [back, ...this.stepsOf(step.from, back.from, known.basisOf(step.edge))]
  }

  /** The read of `to`'s version on which an edge rests that says that `from` wrote earlier. */
  private readThatSaw(edge: number, from: number, to: number) {
    const witness = this.known.witness.data[edge]!
    if (this.known.rule.data[edge] === SEEN_BY_PASSING) {
      const reader = this.problem.pairs!.reader[witness]!
      return { reader, seen: this.readEdge(witness, to) }
    }
    return { reader: witness, seen: this.sharedRead(witness, to, from) }
  }

  /** What the reader read from a writer of a key that the other one writes too. */
  private sharedRead(reader: number, writer: number, other: number): Edge {
    const [to, from] = [this.txn(reader), this.txn(writer)]
    return this.facts.readFrom(from, to, this.facts.sharedRead(to, from, this.txn(other)))
  }

  /** Steps between nodes as edges between transactions. */
  edgesOf(steps: readonly PathStep[], given: ReadonlyMap<PathStep, Edge> | null = null): Edge[] {
    this.makeAll(given === null ? steps : steps.filter((step) => !given.has(step)))
    const edges: Edge[] = []
    let finished = INITIAL_TXN // the transaction from whose finish the path runs along instants
    for (const step of steps) {
      const [from, to] = [this.txnAt(step.from), this.txnAt(step.to)]
      const known = given?.get(step)
      if (known) edges.push(known)
      else if (step.edge >= 0 && this.known.rule.data[step.edge] === REAL_TIME) {
        if (from !== INITIAL_TXN) finished = from
        else edges.push(this.facts.realTime(finished, to))
      } else if (step.edge >= 0) edges.push(this.made.get(step.edge)!)
      else if (from !== to) {
        // Steps along one session make one edge.
        const last = edges[edges.length - 1]
        if (last?.kind === 'SO' && last.to === from) edges[edges.length - 1] = { ...last, to }
        else edges.push(this.facts.session(from, to))
      }
    }
    return edges
  }

  /** Makes the evidence of all edges among the steps and of those that they rest on. */
  private makeAll(steps: readonly PathStep[]): void {
    const needed = this.gather(steps)
    // An edge rests on older ones only.
    for (const edge of [...needed.keys()].sort((a, b) => a - b)) {
      this.made.set(edge, this.makeEdge(edge, this.edgesOfMade(needed.get(edge)!)))
    }
  }

  private edgesOfMade(path: readonly PathStep[] | null): Edge[] {
    return path === null ? [] : this.edgesOf(path)
  }

  /** Known edges that are needed and not made yet -> the path that each rests on, if any. */
  private gather(steps: readonly PathStep[]): Map<number, PathStep[] | null> {
    const needed = new Map<number, PathStep[] | null>()
    const pending = [...steps]
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      const { edge } = step
      if (edge < 0 || this.made.has(edge) || needed.has(edge)) continue
      if (this.known.rule.data[edge] === REAL_TIME) continue
      const path = this.pathOf(edge)
      needed.set(edge, path)
      if (path !== null) addAll(pending, path)
    }
    return needed
  }

  /** The path of older edges that an inferred edge rests on. */
  private pathOf(edge: number): PathStep[] | null {
    const { known, problem } = this
    const { begin, commit, claim, graph } = known
    const witness = known.witness.data[edge]!
    const limit = known.basisOf(edge)
    const from = known.txnOf(graph.from.data[edge]!)
    const to = known.txnOf(graph.to.data[edge]!)
    switch (known.rule.data[edge]!) {
      case SEEN_BY_READER:
        return this.stepsOf(commit[from]!, begin[witness]!, limit)
      case SEEN_BY_PASSING:
        return this.stepsOf(commit[from]!, begin[problem.pairs!.reader[witness]!]!, limit)
      case OVERWRITES:
        return this.isReplaced(from, witness, to)
          ? null
          : this.stepsOf(claim[witness]!, commit[to]!, limit)
      case REPLACES_PASSED: {
        const source = this.conflicts!.source[witness]!
        return source > 0 ? this.stepsOf(claim[source]!, commit[to]!, limit) : null
      }
      case OVERLAP:
        return this.stepsOf(claim[from]!, commit[to]!, limit)
      default:
        return null
    }
  }

  /** Whether the later writer itself read the version that the reader saw, and replaced it. */
  private isReplaced(reader: number, writer: number, later: number): boolean {
    if (this.problem.pairs !== null) return false
    const [a, b, c] = [this.txn(reader), this.txn(writer), this.txn(later)]
    return this.facts.replaced(b, c, this.facts.sharedRead(a, b, c)) !== null
  }

  private makeEdge(edge: number, path: Edge[]): Edge {
    const { known, facts } = this
    const { graph } = known
    const [a, b] = [known.txnOf(graph.from.data[edge]!), known.txnOf(graph.to.data[edge]!)]
    const [from, to] = [this.txn(a), this.txn(b)]
    const witness = known.witness.data[edge]!
    switch (known.rule.data[edge]!) {
      case READ_FROM:
        return facts.readFrom(from, to)
      case SESSION:
        return facts.session(from, to)
      case OVER_INITIAL: {
        const key = facts.sharedRead(from, INITIAL_TXN, to)
        const seen = facts.readFrom(INITIAL_TXN, from, key)
        return facts.overwrite(seen, facts.versions(INITIAL_TXN, to, key))
      }
      case LIST_ORDER:
        return facts.knownOrder(from, to, witness)
      case PASSED_OVER:
        return this.readEdge(witness, a)
      case SEEN_BY_READER:
      case SEEN_BY_PASSING: {
        // `from` reaches a reader of `to`'s version; the opposite order would put the reader first.
        const { seen } = this.readThatSaw(edge, a, b)
        const back = facts.overwrite(seen, facts.assumedVersions(to, from, seen.key))
        const premises = [back, ...path]
        return { ...facts.versions(from, to, seen.key), premises, refutes: true }
      }
      case OVERWRITES: {
        const seen = this.sharedRead(a, witness, b)
        const order =
          path.length === 0
            ? facts.replaced(seen.from, to, seen.key)!
            : this.orderBy(witness, b, seen.key, path)
        return facts.overwrite(seen, order)
      }
      case REPLACES_PASSED: {
        const source = this.conflicts!.source[witness]!
        const seen = this.readEdge(witness, source)
        const order =
          source === 0
            ? facts.versions(INITIAL_TXN, to, seen.key)
            : this.orderBy(source, b, seen.key, path)
        return facts.overwrite(seen, order)
      }
      case VISIBLE:
        return this.visibleEdge(a, known.visible[witness]!)
      default:
        assert(known.rule.data[edge] === OVERLAP, 'every rule has its evidence')
        return this.orderBy(a, b, facts.sharedWrite(from, to), path)
    }
  }

  /** A writer was visible to one that read another version. */
  private visibleEdge(by: number, { pair, via }: Visible): Edge {
    const reader = this.problem.pairs!.reader[pair]!
    const source = this.conflicts!.source[pair]!
    const literal = ALWAYS
    const causes =
      via === CAUSAL
        ? this.causes(by, reader)
        : [{ from: by, to: reader, pair: via === IN_SESSION ? NONE : via, literal }]
    return this.forcedBy(by, this.readEdge(pair, source), causes)
  }

  private causes(by: number, reader: number): Cause[] {
    return causesOf(this.problem, this.conflicts!.source, by, reader)
  }

  forcedBy(by: number, seen: Edge, causes: readonly Cause[]): Edge {
    const edges: Edge[] = []
    for (const { from, to, pair } of causes) {
      const last = edges[edges.length - 1]
      if (pair !== NONE) edges.push(this.readEdge(pair, from))
      else if (last?.kind === 'SO') edges[edges.length - 1] = { ...last, to: this.txn(to) }
      else edges.push(this.facts.session(this.txn(from), this.txn(to)))
    }
    return this.facts.forced(this.txn(by), seen, edges)
  }

  /** What a pair saw; assumed if it is one of several versions, or of an uncertain transaction. */
  readEdge(pair: number, source: number): Edge {
    const { rows, fixedCount, reader: readerOf, read } = this.problem.pairs!
    const { readEvent, fixedOp, openKey, state } = rows
    if (pair < fixedCount) return this.facts.seenBy(fixedOp[pair]!, this.txn(source))
    const reader = readerOf[pair]!
    const event = readEvent[read[pair]!]!
    const key = rows.keyOf[openKey[pair - fixedCount]!]!
    const edge = this.facts.passedOver(this.txn(source), this.txn(reader), key, event)
    const isOnly = this.isPlainPair(pair)
    if (!isOnly || state[source] !== IN || state[reader] !== IN) edge.assumed = true
    return edge
  }

  /** Version order of two writers: by what is known, or assumed. */
  orderEdge(a: number, b: number, key: number): Edge {
    const { known, facts } = this
    if (this.txn(a) === INITIAL_TXN) return facts.versions(INITIAL_TXN, this.txn(b), key)
    if (!known.isOrdered(a, b)) return facts.assumedVersions(this.txn(a), this.txn(b), key)
    const path = this.stepsOf(known.claim[a]!, known.commit[b]!, known.graph.edgeCount)
    return this.orderBy(a, b, key, this.edgesOf(path))
  }

  /** The order of two writers of a key that follows from a path. */
  private orderBy(a: number, b: number, key: number, path: Edge[]): Edge {
    const [from, to] = [this.txn(a), this.txn(b)]
    const order = this.facts.versions(from, to, key)
    // A path that leaves from the snapshot says only that the two would overlap the other way
    // round.
    const fromSnapshot = this.problem.level[a] === SI && path[0]!.kind === 'RW'
    if (!fromSnapshot) return { ...order, premises: path }
    const premises = [this.facts.assumedVersions(to, from, key), ...path]
    return { ...order, premises, refutes: true }
  }

  private stepsOf(from: number, to: number, limit: number): PathStep[] {
    const steps = this.paths.find(from, to, limit)
    assert(steps !== null, 'an inferred edge rests on a path of older ones')
    return steps
  }

  /** The transaction of the history at a node, INITIAL_TXN for an instant. */
  private txnAt(node: number): number {
    const local = this.known.txnOf(node)
    return local < 0 ? INITIAL_TXN : this.txn(local)
  }

  txn(local: number): number {
    return this.problem.txnOf[local]!
  }

  local(txn: number): number {
    return this.localOf.get(txn)!
  }
}

/** The reads that the problem is about: statements may have others, which no level allows. */
export function readsOf({ reads, pairs, history, txnOf }: Problem) {
  if (pairs === null) return reads
  const { fixedOp, fixedNode } = pairs.rows
  const opSource = new Int32Array(history.opCount).fill(NONE)
  fixedOp.forEach((op, pair) => {
    opSource[op] = fixedNode[pair] === 0 ? INITIAL : txnOf[fixedNode[pair]!]!
  })
  return { opSource, versions: reads.versions }
}

/** Starts a cycle of steps where a proper edge starts, so that walks along a chain stay whole. */
function rotate(known: KnownEdges, steps: readonly PathStep[]): PathStep[] {
  const start = steps.findIndex(({ from, edge }) => edge >= 0 && known.txnOf(from) >= 0)
  assert(start >= 0, 'a cycle leaves its chain')
  return [...steps.slice(start), ...steps.slice(0, start)]
}
