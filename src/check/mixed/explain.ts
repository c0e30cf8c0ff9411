// Why a few transactions contradict their levels, as evidence: one cycle that follows from what was
// read, or an argument by cases. The solver is asked without any inference before it, so that all
// it knows are the axioms; the few of them that cannot all hold, each a cycle under assumptions
// (the order of two writers, whose version a statement passed over, whether an indeterminate
// transaction took effect), are the steps of the argument (solver/refutation.ts), and as many as
// may be are folded into plain cycles (evidence/fold.ts). Main function: explainMixed.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { NONE } from '../../history/history.ts'
import { type CoreClause, type CoreCycle, clauseOf } from '../../solver/core.ts'
import { refute } from '../../solver/refutation.ts'
import { type Case, type Edge, findTxns } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { type Argument, foldCases } from '../evidence/fold.ts'
import { IN, type MixedProblem, PC, SI } from '../problem/mixed-problem.ts'
import type { Cause } from './causes.ts'
import { Encoder, ORDER, PRESENT, READS } from './encode.ts'
import { Layout } from './layout.ts'
import { type Origin, Origins } from './origins.ts'
import { Saturation } from './saturate.ts'
import { likelyPositions, solveAxioms } from './solve.ts'
import { Verifier } from './verify.ts'

/**
 * @param problem of a core: only its transactions read and overwrite, and they contradict
 * @param deadline after which the argument is not made smaller any more
 * @param last after which there will be none
 */
export function explainMixed(problem: MixedProblem, deadline: Deadline, last: Deadline): Argument {
  const layout = new Layout(problem)
  const likely = likelyPositions(layout)
  const saturation = new Saturation(layout, last, likely)
  saturation.known.update()
  const origins = new Origins(layout.graphNodeCount)
  const encoder = new Encoder(layout, saturation, likely, last, origins)
  const solution = solveAxioms(encoder, new Verifier(layout, last))
  assert(solution === null, 'a core contradicts its levels')
  const explainer = new Translator(layout, saturation, encoder, origins)
  const steps: Step[] = encoder.why(deadline, last).reasons.flatMap((reason) => {
    const cycle = explainer.cycleOf(reason)
    if (cycle === null) return []
    return explainer.withOutcomes(clauseOf(reason), cycle).map((clause) => ({ clause, cycle }))
  })
  steps.sort(compareSteps)
  const isAssumable = (literal: number) => explainer.isAssumable(literal)
  const clauses = [...steps.map(({ clause }) => clause), ...origins.axioms]
  const cases: Case[] = []
  const sole: Edge[] = [] // reads that the argument uses because nothing else could have been read
  for (const { clause, literals } of refute(clauses, isAssumable, last)) {
    if (clause >= steps.length) sole.push(...explainer.soleRead(literals))
    else {
      const assumptions = literals.flatMap((literal) => explainer.assumption(literal ^ 1))
      cases.push({ assumptions, cycle: steps[clause]?.cycle ?? [] })
    }
  }
  sayReads(cases, sole)
  return foldCases(cases, explainer)
}

/**
 * Has the argument speak of reads before it rests on them: the first step without a cycle assumes
 * those that no step speaks of, or a last one, which says that they cannot all have been.
 */
function sayReads(cases: Case[], reads: readonly Edge[]): void {
  const said = cases.flatMap(({ assumptions }) => assumptions)
  const isSaid = ({ event, key }: Edge) =>
    said.some((edge) => edge.kind === 'WR' && edge.event === event && edge.key === key)
  const unsaid = reads.filter((edge) => !isSaid(edge))
  if (unsaid.length === 0) return
  const first = cases.findIndex(({ cycle }) => cycle.length === 0)
  if (first < 0) cases.push({ assumptions: unsaid, cycle: [] })
  else cases[first] = { ...cases[first]!, assumptions: [...cases[first]!.assumptions, ...unsaid] }
}

/** A cycle, and the clause that its assumptions cannot all hold. */
interface Step {
  readonly clause: readonly number[]
  readonly cycle: Edge[]
}

/** What assumes little comes first, candidates in their order. */
function compareSteps({ clause: a }: Step, { clause: b }: Step): number {
  return a.length - b.length || a.reduce((sum, literal, i) => sum || literal - b[i]!, 0)
}

/** From what the solver says to evidence. */
class Translator {
  private readonly facts: EdgeFacts
  private readonly nodeOf: Int32Array // graph node -> node
  private readonly localOf = new Map<number, number>() // transaction -> node

  constructor(
    private readonly layout: Layout,
    private readonly saturation: Saturation,
    private readonly encoder: Encoder,
    private readonly origins: Origins,
  ) {
    const { problem, snapshot } = layout
    this.facts = new EdgeFacts(problem.history)
    this.nodeOf = Int32Array.from({ length: layout.graphNodeCount }, (_, node) => node)
    for (let node = 0; node < problem.nodeCount; node++) {
      this.nodeOf[snapshot[node]!] = node
      this.localOf.set(problem.txnOf[node]!, node)
    }
  }

  /** Orders may be assumed either way; that something happened, not that it did not. */
  isAssumable(literal: number): boolean {
    return this.encoder.meaning.kind.data[literal >> 1] === ORDER || (literal & 1) === 0
  }

  /** What a literal assumes; nothing if it goes without saying. */
  assumption(literal: number): Edge[] {
    const { kind, a, b } = this.encoder.meaning
    const first = a.data[literal >> 1]!
    const second = b.data[literal >> 1]!
    switch (kind.data[literal >> 1]) {
      case READS: {
        const edge = this.readEdge(this.layout.fixedCount + first, second)
        return edge.assumed ? [edge] : []
      }
      default: {
        const [from, to] = (literal & 1) === 0 ? [first, second] : [second, first]
        return [this.assumedOrder(from, to, this.commonKey(from, to))]
      }
    }
  }

  /** The read of an axiom that leaves only one; nothing if it goes without saying. */
  soleRead(literals: readonly number[]): Edge[] {
    const { kind } = this.encoder.meaning
    const reads = literals.filter((it) => (it & 1) === 0 && kind.data[it >> 1] === READS)
    return reads.length === 1 ? this.assumption(reads[0]!) : []
  }

  /** The cycle of a reason; null for a clause that goes without saying. */
  cycleOf(reason: CoreClause | CoreCycle): Edge[] | null {
    if (reason.kind === 'clause') return this.cycleOfClause(reason.literals)
    const edges = reason.edges.map(({ from, to, literals }) => {
      const origin = this.origins.ofEdge(literals, from, to)
      return origin ? this.edgeOf(origin, from, to) : this.givenEdge(from, to)
    })
    const present = edges.filter((edge) => edge !== null)
    return joinSessions(present.map((edge) => this.aboutSame(edge, present)))
  }

  /** An order of two writers, told of a key that the cycle speaks of anyway. */
  private aboutSame(edge: Edge, cycle: readonly Edge[]): Edge {
    if (edge.kind !== 'WW') return edge
    const [from, to] = [this.localOf.get(edge.from)!, this.localOf.get(edge.to)!]
    const keys = this.commonKeys(from, to)
    const key = cycle.find((other) => other.kind !== 'WW' && keys.includes(other.key))?.key
    return key === undefined ? edge : this.orderEdge(from, to, key)
  }

  /**
   * The clause, told of every read through which the indeterminate transactions of the cycle may
   * have taken effect: nothing else says that they did.
   */
  withOutcomes(clause: readonly number[], cycle: readonly Edge[]): (readonly number[])[] {
    const { kind } = this.encoder.meaning
    const { state } = this.layout.problem
    let clauses = [clause.filter((literal) => kind.data[literal >> 1] !== PRESENT)]
    for (const txn of findTxns(cycle, [])) {
      const node = this.localOf.get(txn)!
      if (state[node] === IN) continue
      const reads = this.readsThatNeed(node)
      clauses = clauses.flatMap((literals) =>
        literals.some((literal) => reads.includes(literal))
          ? [literals]
          : reads.map((read) => [...literals, read]),
      )
    }
    return clauses
  }

  /** Literals that deny a read in which the node, or one that read from it, takes part. */
  private readsThatNeed(node: number): number[] {
    const { kind, a, b } = this.encoder.meaning
    const { fixedCount, pairReader, problem } = this.layout
    const needing = new Set([node])
    for (const source of needing) {
      for (let pair = 0; pair < fixedCount; pair++) {
        if (problem.fixedNode[pair] === source) needing.add(pairReader[pair]!)
      }
    }
    const literals: number[] = []
    for (let variable = 0; variable < kind.length; variable++) {
      if (kind.data[variable] !== READS) continue
      const reader = pairReader[fixedCount + a.data[variable]!]!
      if (needing.has(reader) || needing.has(b.data[variable]!)) literals.push(2 * variable + 1)
    }
    return literals
  }

  /** A writer that was visible, and must not have been: it would come after what was read. */
  private cycleOfClause(literals: readonly number[]): Edge[] | null {
    const origin = this.origins.ofClause(literals)
    if (origin?.rule !== 'visible') return null
    const { by, source, pair } = origin
    const forced = this.edgeOf(origin, by, source)!
    const key = this.layout.pairKey[pair]!
    return [forced, source === 0 ? this.session(0, by) : this.orderEdge(source, by, key)]
  }

  private edgeOf(origin: Origin, from: number, to: number): Edge | null {
    const { facts, layout } = this
    switch (origin.rule) {
      case 'session':
        return this.session(this.nodeOf[from]!, this.nodeOf[to]!)
      case 'read':
        return this.readEdge(origin.pair, origin.source)
      case 'order':
        return this.orderEdge(origin.from, origin.to, this.commonKey(origin.from, origin.to))
      case 'overwritten': {
        const { pair, source, by } = origin
        const order = this.orderEdge(source, by, layout.pairKey[pair]!)
        return facts.overwrite(this.readEdge(pair, source), order)
      }
      case 'visible': {
        const { pair, source, by, via } = origin
        const seen = this.readEdge(pair, source)
        return facts.forced(this.txn(by), seen, joinSessions(via.map((c) => this.causeEdge(c))))
      }
    }
  }

  private causeEdge({ from, to, pair }: Cause): Edge {
    return pair === NONE ? this.session(from, to) : this.readEdge(pair, from)
  }

  /** Session order or a read; null from a snapshot to its own commit. */
  private givenEdge(from: number, to: number): Edge | null {
    const { session, index, fixedCount, nodePairStart, nodePair, problem } = this.layout
    const a = this.nodeOf[from]!
    const b = this.nodeOf[to]!
    if (a === b) return null
    if (session[a] === session[b] && index[a]! < index[b]!) return this.session(a, b)
    for (let i = nodePairStart[b]!; i < nodePairStart[b + 1]!; i++) {
      const pair = nodePair[i]!
      if (pair < fixedCount && problem.fixedNode[pair] === a) return this.readEdge(pair, a)
    }
    assert(false, 'what is given is session order or a read')
  }

  private session(from: number, to: number): Edge {
    return this.facts.session(this.txn(from), this.txn(to))
  }

  /** What a pair saw; assumed if it is one of several versions, or of an uncertain transaction. */
  private readEdge(pair: number, source: number): Edge {
    const { problem, fixedCount, pairKey, pairReader, pairRead } = this.layout
    const { zeroStart, state } = problem
    if (pair < fixedCount) return this.facts.seenBy(problem.fixedOp[pair]!, this.txn(source))
    const open = pair - fixedCount
    const reader = pairReader[pair]!
    const event = problem.readEvent[pairRead[pair]!]!
    const edge = this.facts.passedOver(this.txn(source), this.txn(reader), pairKey[pair]!, event)
    const isOnly = zeroStart[open + 1]! - zeroStart[open]! === 1
    if (!isOnly || state[source] !== IN || state[reader] !== IN) edge.assumed = true
    return edge
  }

  /** Version order: by what is given, or assumed. */
  private orderEdge(a: number, b: number, key: number): Edge {
    if (a === 0) return this.facts.versions(this.txn(a), this.txn(b), key)
    if (!this.saturation.known.has(a, b)) return this.assumedOrder(a, b, key)
    const premises = joinSessions(this.findPath(a, b))
    return { ...this.facts.versions(this.txn(a), this.txn(b), key), premises }
  }

  private assumedOrder(a: number, b: number, key: number): Edge {
    return this.facts.assumedVersions(this.txn(a), this.txn(b), key)
  }

  /** A shortest path between two commits through what is given. */
  private findPath(a: number, b: number): Edge[] {
    const { from, to } = this.saturation.known
    const cameFrom = new Map<number, number>()
    const queue = [a]
    for (const node of queue) {
      if (node === b) break
      for (let i = 0; i < from.length; i++) {
        const next = to.data[i]!
        if (from.data[i] !== node || cameFrom.has(next)) continue
        cameFrom.set(next, node)
        queue.push(next)
      }
    }
    const path: Edge[] = []
    for (let node = b; node !== a; node = cameFrom.get(node)!) {
      const edge = this.givenEdge(cameFrom.get(node)!, node)
      if (edge) path.push(edge)
    }
    return path.reverse()
  }

  /** Whether the edge may leave from a commit: an anti-dependency leaves from a snapshot. */
  startsAtCommit({ kind, from, to }: Edge): boolean {
    if (kind !== 'RW') return true
    const [reader, writer] = [this.localOf.get(from)!, this.localOf.get(to)!]
    const level = this.layout.problem.level[reader]!
    if (level === PC) return false
    return level !== SI || this.commonKey(reader, writer) !== NONE
  }

  /** Whether it leads to a snapshot, and not only to the commit after it. */
  arrivesAtSnapshot(edge: Edge): boolean {
    if (edge.kind === 'SO' || edge.kind === 'WR') return true
    const [from, to] = [this.localOf.get(edge.from)!, this.localOf.get(edge.to)!]
    const level = this.layout.problem.level[to]!
    if (level !== PC && level !== SI) return true
    return level === SI && this.startsAtCommit(edge) && this.commonKey(from, to) !== NONE
  }

  /** A key that both write, NONE if there is none. */
  private commonKey(a: number, b: number): number {
    return this.commonKeys(a, b)[0] ?? NONE
  }

  private commonKeys(a: number, b: number): Int32Array {
    const { nodeKeyStart, nodeKey } = this.layout
    const keys = (node: number) => nodeKey.subarray(nodeKeyStart[node]!, nodeKeyStart[node + 1]!)
    const others = keys(b)
    return keys(a).filter((key) => others.includes(key))
  }

  private txn(node: number): number {
    return this.layout.problem.txnOf[node]!
  }
}

/** Steps along one session make one edge. */
function joinSessions(edges: readonly Edge[]): Edge[] {
  const joined: Edge[] = []
  for (const edge of edges) {
    const last = joined[joined.length - 1]
    if (last?.kind === 'SO' && edge.kind === 'SO' && last.to === edge.from) last.to = edge.to
    else joined.push(edge)
  }
  return joined
}
