// Why a few transactions contradict their levels where no single cycle is known: an argument by
// cases. The solver is asked with nothing known but what explain.ts can explain; the few cycles
// under assumptions (the order of two writers, whose version a statement passed over, whether an
// indeterminate transaction took effect) that cannot all be avoided are the steps of the argument
// (solver/refutation.ts), and as many as may be are folded into plain cycles (evidence/fold.ts).
// Main function: argue.

import { type Deadline, withProgress } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { addAll } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { type CoreClause, type CoreCycle, clauseOf, findCore } from '../../solver/core.ts'
import { refute } from '../../solver/refutation.ts'
import { type Case, type Edge, findTxns } from '../../verdict/verdict.ts'
import { type Argument, foldCases } from '../evidence/fold.ts'
import { PC, SI } from '../problem/levels.ts'
import { IN } from '../problem/mixed-problem.ts'
import { Conflicts } from './conflicts.ts'
import { Encoder, ORDER, PRESENT, READS } from './encode.ts'
import { LIMITS, solveRound } from './engine.ts'
import { Explainer } from './explain.ts'
import { buildKnownEdges } from './known-edges.ts'
import { type Origin, Origins } from './origins.ts'
import type { PathStep } from './paths.ts'
import type { Problem } from './problem.ts'
import { RowAxioms } from './row-axioms.ts'
import { saturate } from './saturate.ts'
import { Verifier } from './verify.ts'

/** A cycle, if what is known without cases contradicts itself; else null. */
export function explainPlainly(problem: Problem, deadline: Deadline): Argument | null {
  const { known, conflicts, isSound } = inferPlainly(problem, deadline)
  if (isSound) return null
  const edges = new Explainer(known, conflicts).explainKnown(deadline)
  assert(edges !== null, 'what is known without cases is explained without')
  return { edges, cases: [] }
}

function inferPlainly(problem: Problem, deadline: Deadline) {
  const known = buildKnownEdges(problem, deadline, LIMITS.closure)
  const conflicts = problem.pairs && new Conflicts(problem, known, false, deadline)
  return { known, conflicts, isSound: saturate(known, conflicts, deadline) }
}

/**
 * @param problem of transactions that contradict their levels, but not by what is known
 * @param deadline after which the argument is not made smaller any more
 * @param last after which there will be none
 */
export function argue(problem: Problem, deadline: Deadline, last: Deadline): Argument {
  const { known, conflicts } = inferPlainly(problem, last)
  const origins = new Origins(known.graph.nodeCount)
  const encoder = new Encoder(known, last, origins)
  const axioms = conflicts && new RowAxioms(encoder, conflicts)
  const verifier = new Verifier(problem, last)
  const openCount = encoder.countOpen()
  const hasAll = openCount <= LIMITS.pairs
  if (hasAll) encoder.addAll(openCount)
  for (let round = 0; encoder.solver.solve(last) === 'sat'; round++) {
    const found = solveRound(encoder, axioms, verifier, null, hasAll, round)
    assert(typeof found === 'number', 'a core contradicts its levels')
  }
  const explainer = new Explainer(known, conflicts)
  return new Translator(encoder, origins, explainer, problem).run(deadline, last)
}

/** A cycle, and the clause that its assumptions cannot all hold. */
interface Leaf {
  readonly clause: readonly number[]
  readonly cycle: Edge[]
}

/** From what the solver says to evidence. */
class Translator {
  constructor(
    private readonly encoder: Encoder,
    private readonly origins: Origins,
    private readonly explainer: Explainer,
    private readonly problem: Problem,
  ) {}

  run(deadline: Deadline, last: Deadline): Argument {
    const { reasons } = findCore(this.encoder.solver, deadline, last)
    const leaves: Leaf[] = reasons.flatMap((reason) => {
      const cycle = this.cycleOf(reason)
      if (cycle === null) return []
      return this.withOutcomes(clauseOf(reason), cycle).map((clause) => ({ clause, cycle }))
    })
    leaves.sort(compareLeaves)
    const clauses = [...leaves.map(({ clause }) => clause), ...this.origins.axioms]
    const cases: Case[] = []
    const sole: Edge[] = [] // reads that the argument uses because nothing else could be read
    const steps = withProgress(
      () => refute(clauses, (literal) => this.isAssumable(literal), last),
      () => `${leaves.length} cycles cannot all be avoided, but were not put in order`,
    )
    for (const { clause, literals } of steps) {
      if (clause >= leaves.length) addAll(sole, this.soleRead(literals))
      else {
        const assumptions = literals.flatMap((literal) => this.assumption(literal ^ 1))
        cases.push({ assumptions, cycle: leaves[clause]?.cycle ?? [] })
      }
    }
    sayReads(cases, sole)
    return foldCases(cases, this)
  }

  /** Orders may be assumed either way; that something happened, not that it did not. */
  private isAssumable(literal: number): boolean {
    return this.encoder.meaning.kind.data[literal >> 1] === ORDER || (literal & 1) === 0
  }

  /** What a literal assumes; nothing if it goes without saying. */
  private assumption(literal: number): Edge[] {
    const { kind, a, b } = this.encoder.meaning
    const first = a.data[literal >> 1]!
    const second = b.data[literal >> 1]!
    if (kind.data[literal >> 1] === READS) {
      const edge = this.explainer.readEdge(this.problem.pairs!.fixedCount + first, second)
      return edge.assumed ? [edge] : []
    }
    const [from, to] = (literal & 1) === 0 ? [first, second] : [second, first]
    return [this.assumedOrder(from, to)]
  }

  private assumedOrder(from: number, to: number): Edge {
    const { facts } = this.explainer
    const [a, b] = [this.explainer.txn(from), this.explainer.txn(to)]
    return facts.assumedVersions(a, b, this.commonKeys(from, to)[0]!)
  }

  /** The read of an axiom that leaves only one; nothing if it goes without saying. */
  private soleRead(literals: readonly number[]): Edge[] {
    const { kind } = this.encoder.meaning
    const reads = literals.filter((it) => (it & 1) === 0 && kind.data[it >> 1] === READS)
    return reads.length === 1 ? this.assumption(reads[0]!) : []
  }

  /** The cycle of a reason; null for a clause that goes without saying. */
  private cycleOf(reason: CoreClause | CoreCycle): Edge[] | null {
    if (reason.kind === 'clause') return this.cycleOfClause(reason.literals)
    const { graph } = this.encoder.known
    const given = new Map<PathStep, Edge>()
    const steps = reason.edges.map(({ from, to, literals }): PathStep => {
      const origin = this.origins.ofEdge(literals, from, to)
      if (literals.length === 0 && origin === null) {
        return { from, to, edge: graph.findEdge(from, to) }
      }
      const step = { from, to, edge: graph.edgeCount }
      given.set(step, this.edgeOf(origin!, from, to))
      return step
    })
    const cycle = this.explainer.cycleOf(steps, given)
    return cycle.map((edge) => this.aboutSame(edge, cycle))
  }

  /** An assumed order of two writers, told of a key that the cycle speaks of anyway. */
  private aboutSame(edge: Edge, cycle: readonly Edge[]): Edge {
    if (edge.kind !== 'WW' || !edge.assumed) return edge
    const { facts } = this.explainer
    const keys = this.commonKeys(this.explainer.local(edge.from), this.explainer.local(edge.to))
    const key = cycle.find((other) => other.kind !== 'WW' && keys.includes(other.key))?.key
    return key === undefined ? edge : facts.assumedVersions(edge.from, edge.to, key)
  }

  /** A writer that was visible, and must not have been: it would come after what was read. */
  private cycleOfClause(literals: readonly number[]): Edge[] | null {
    const { explainer } = this
    const origin = this.origins.ofClause(literals)
    if (origin?.rule !== 'visible') return null
    const { by, source, pair } = origin
    const forced = explainer.forcedBy(by, explainer.readEdge(pair, source), origin.via)
    if (source !== 0) return [forced, explainer.orderEdge(source, by, forced.key)]
    return [forced, explainer.facts.session(explainer.txn(0), explainer.txn(by))]
  }

  private edgeOf(origin: Origin, from: number, to: number): Edge {
    const { explainer, problem } = this
    const { known } = this.encoder
    switch (origin.rule) {
      case 'session': {
        const [a, b] = [known.txnOf(from), known.txnOf(to)]
        return explainer.facts.session(explainer.txn(a), explainer.txn(b))
      }
      case 'read':
        return explainer.readEdge(origin.pair, origin.source)
      case 'order':
        return this.assumedOrder(origin.from, origin.to)
      case 'overwritten': {
        const { pair, source, by, reader } = origin
        const key = problem.keyOf[origin.key]!
        const [writer, its] = [explainer.txn(source), explainer.txn(reader)]
        const seen =
          pair === NONE
            ? explainer.facts.readFrom(writer, its, key)
            : explainer.readEdge(pair, source)
        return explainer.facts.overwrite(seen, explainer.orderEdge(source, by, key))
      }
      case 'visible': {
        const { pair, source, by, via } = origin
        return explainer.forcedBy(by, explainer.readEdge(pair, source), via)
      }
    }
  }

  /**
   * The clause, told of every read through which the indeterminate transactions of the cycle may
   * have taken effect: nothing else says that they did.
   */
  private withOutcomes(clause: readonly number[], cycle: readonly Edge[]): (readonly number[])[] {
    const { pairs } = this.problem
    if (pairs === null) return [clause]
    const { kind } = this.encoder.meaning
    let clauses = [clause.filter((literal) => kind.data[literal >> 1] !== PRESENT)]
    for (const txn of findTxns(cycle, [])) {
      const local = this.explainer.local(txn)
      if (pairs.state[local] === IN) continue
      const reads = this.readsThatNeed(local)
      clauses = clauses.flatMap((literals) =>
        literals.some((literal) => reads.includes(literal))
          ? [literals]
          : reads.map((read) => [...literals, read]),
      )
    }
    return clauses
  }

  /** Literals that deny a read in which the transaction, or one that read from it, takes part. */
  private readsThatNeed(txn: number): number[] {
    const { kind, a, b } = this.encoder.meaning
    const { fixedCount, reader, rows } = this.problem.pairs!
    const needing = new Set([txn])
    for (const source of needing) {
      for (let pair = 0; pair < fixedCount; pair++) {
        if (rows.fixedNode[pair] === source) needing.add(reader[pair]!)
      }
    }
    const literals: number[] = []
    for (let variable = 0; variable < kind.length; variable++) {
      if (kind.data[variable] !== READS) continue
      const its = reader[fixedCount + a.data[variable]!]!
      if (needing.has(its) || needing.has(b.data[variable]!)) literals.push(2 * variable + 1)
    }
    return literals
  }

  /** Whether the edge may leave from a commit: an anti-dependency leaves from a snapshot. */
  startsAtCommit({ kind, from, to }: Edge): boolean {
    if (kind !== 'RW') return true
    const [reader, writer] = [this.explainer.local(from), this.explainer.local(to)]
    const level = this.problem.level[reader]!
    if (level === PC) return false
    return level !== SI || this.commonKeys(reader, writer).length > 0
  }

  /** Whether it leads to a snapshot, and not only to the commit after it. */
  arrivesAtSnapshot(edge: Edge): boolean {
    if (edge.kind === 'SO' || edge.kind === 'WR' || edge.kind === 'RT') return true
    const [from, to] = [this.explainer.local(edge.from), this.explainer.local(edge.to)]
    const level = this.problem.level[to]!
    if (level !== PC && level !== SI) return true
    return level === SI && this.startsAtCommit(edge) && this.commonKeys(from, to).length > 0
  }

  /** Keys of the history that both write. */
  private commonKeys(a: number, b: number): Int32Array {
    const { access, keyOf } = this.problem
    const { writeStart, writeKey } = access
    const keys = (txn: number) => writeKey.subarray(writeStart[txn]!, writeStart[txn + 1]!)
    const others = keys(b)
    return keys(a)
      .filter((key) => others.includes(key))
      .map((key) => keyOf[key]!)
  }
}

/** What assumes little comes first, candidates in their order. */
function compareLeaves({ clause: a }: Leaf, { clause: b }: Leaf): number {
  return a.length - b.length || a.reduce((sum, literal, i) => sum || literal - b[i]!, 0)
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
