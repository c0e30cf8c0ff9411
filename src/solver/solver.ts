// A SAT solver for acyclic graphs: finds truth values such that all clauses hold and the edges they
// bring in, together with the known ones, have no cycle; or proves that there are none.
//
// Conflict-driven clause learning (MiniSat's architecture: Eén and Sörensson, SAT 2003) modulo
// acyclicity (MonoSAT: Bayless et al., AAAI 2015), one technique a file: trail, clauses, propagate,
// decide, analyze, restart, reduce, proof; and for the graph edges, present, order, cycle, acyclic,
// lookahead. It knows only integers. Literal 2 * v says that variable v is true, 2 * v + 1 that it
// is false. Exact: 'sat' comes with values and an order, 'unsat' with premises (see core.ts).
// Deterministic. Deciding is NP-complete; the deadline is asked about every millisecond.
//
// Use: build (addKnownEdge, newVariable, addLiteralEdge, addConditionalEdge, addClause), then
// solve, then ask; more may be added after a solve, and solve called again. Main class: AcyclicSolver.

import type { Deadline } from '../base/deadline.ts'
import { assert } from '../base/errors.ts'
import { buildCsr } from '../graph/csr.ts'
import { findTopologicalOrder, positionsOf } from '../graph/toposort.ts'
import type { AcyclicTheory } from './acyclic.ts'
import { buildTheory } from './acyclic.ts'
import { Analyzer } from './analyze.ts'
import { Clauses, LEARNED, LITERALS, SIZE } from './clauses.ts'
import { Decider } from './decide.ts'
import { EdgeStore } from './edges.ts'
import { Lookahead } from './lookahead.ts'
import type { Premise } from './proof.ts'
import { ProofLog } from './proof.ts'
import { propagateClauses } from './propagate.ts'
import { Reducer } from './reduce.ts'
import { resizeInt8 } from './resize.ts'
import { RestartPolicy } from './restart.ts'
import { Settler } from './settle.ts'
import { NONE, Trail } from './trail.ts'

const STEPS_PER_CHECK = 1 << 15 // watches and nodes visited between two looks at the deadline
const KEPT_LEMMA = 3 // cycles of at most so many literals are kept as clauses

/** How much work a solver did. */
export interface Figures {
  decisions: number
  conflicts: number
  propagations: number
  forced: number // decisions saved because the other side closes a cycle
  cycles: number // conflicts that were cycles
  learned: number
  restarts: number
}

export class AcyclicSolver {
  readonly edges: EdgeStore
  private readonly trail = new Trail()
  private readonly clauses = new Clauses()
  private readonly decider = new Decider()
  private readonly proof = new ProofLog()
  private readonly analyzer = new Analyzer(this.trail, this.clauses, this.decider, this.proof)
  private readonly restarts = new RestartPolicy()
  private readonly reducer = new Reducer()
  private theory: AcyclicTheory | null = null
  private lookahead: Lookahead | null = null
  private settler: Settler | null = null
  private bound = new Int8Array(16) // variable -> 1 when in a clause or conditional edge
  private model = new Uint8Array(0) // variable -> its value in the last solution
  private phase = new Int8Array(16) // variable -> its last value as a literal's low bit
  private wish: Int32Array | null = null // node -> wished position
  private added: number[] = [] // clauses not attached yet
  private refutation = NONE // clause that is false at level 0
  private decisions = 0
  private conflicts = 0
  private forced = 0
  private cycles = 0
  private popped = 0 // trail entries undone, for counting propagations
  private lastSteps = 0

  constructor(nodeCount: number) {
    this.edges = new EdgeStore(nodeCount)
  }

  get variableCount(): number {
    return this.trail.variableCount
  }

  /** An edge that is always present. */
  addKnownEdge(from: number, to: number): void {
    this.assertNodes(from, to)
    this.edges.addKnown(from, to)
    this.theory = null
  }

  newVariable(): number {
    const variable = this.trail.newVariable()
    this.clauses.newVariable()
    this.decider.newVariable(variable)
    if (variable === this.phase.length) {
      this.phase = resizeInt8(this.phase, 2 * variable)
      this.bound = resizeInt8(this.bound, 2 * variable)
    }
    this.phase[variable] = 1
    this.theory = null
    return variable
  }

  /** An edge that is present when the literal is true; a literal may have many. */
  addLiteralEdge(literal: number, from: number, to: number): void {
    this.assertNodes(from, to)
    this.assertLiteral(literal)
    this.edges.addCandidate(literal, NONE, from, to)
    this.theory = null
  }

  /** An edge that is present when both literals are true. */
  addConditionalEdge(literal: number, other: number, from: number, to: number): void {
    if (literal === other) {
      this.addLiteralEdge(literal, from, to)
      return
    }
    this.assertNodes(from, to)
    this.assertLiteral(literal)
    this.assertLiteral(other)
    if (literal === (other ^ 1)) return
    this.bound[literal >> 1] = 1
    this.bound[other >> 1] = 1
    this.edges.addCandidate(literal, other, from, to)
    this.theory = null
  }

  /** At least one of the literals is true. */
  addClause(literals: ArrayLike<number>): void {
    const distinct = new Set<number>()
    for (let i = 0; i < literals.length; i++) {
      this.assertLiteral(literals[i]!)
      this.bound[literals[i]! >> 1] = 1
      distinct.add(literals[i]!)
    }
    const kept = [...distinct]
    if (kept.some((literal) => distinct.has(literal ^ 1))) return
    const id = this.proof.addInput(kept, kept.length)
    this.added.push(this.clauses.add(kept, kept.length, 0, 0, id))
  }

  /** Node -> position in an order of the known edges that is likely to fit: the first guess. */
  setInitialOrder(positions: Int32Array): void {
    assert(positions.length === this.edges.nodeCount, 'one position per node')
    this.wish = positions
    this.theory = null
  }

  /** Decides; throws BudgetExceeded when the deadline passes. */
  solve(deadline: Deadline): 'sat' | 'unsat' {
    if (this.refutation !== NONE) return 'unsat'
    deadline.check()
    this.backtrack(0)
    this.attachAdded()
    const theory = this.theory ?? this.prepareTheory()
    if (theory === null || this.refutation !== NONE) return 'unsat'
    this.lastSteps = this.steps(theory)
    while (true) {
      const conflict = this.propagate(theory)
      if (conflict !== NONE) {
        if (this.trail.levelCount === 0) {
          this.refutation = conflict
          return 'unsat'
        }
        this.learn(conflict)
      } else {
        if (this.restarts.isDue()) this.restart()
        if (this.reducer.isDue(this.conflicts)) {
          this.reducer.reduce(this.trail, this.clauses, this.conflicts)
        }
        const variable = this.settler!.pick()
        if (variable === NONE) {
          this.completeModel()
          return 'sat'
        }
        this.decide(variable, theory)
      }
      this.checkDeadline(deadline, theory)
    }
  }

  /** After 'sat': the value of a variable. */
  value(variable: number): boolean {
    return this.model[variable] === 1
  }

  /** After 'sat': node -> position in a topological order of all present edges. */
  order(): Int32Array {
    const { edges } = this
    const { knownCount, candidateCount, candidateLiteral, candidateOther } = edges
    const isTrue = (literal: number) => this.model[literal >> 1] !== (literal & 1)
    const from = new Int32Array(knownCount + candidateCount)
    const to = new Int32Array(knownCount + candidateCount)
    from.set(edges.knownFrom.subarray(0, knownCount))
    to.set(edges.knownTo.subarray(0, knownCount))
    let count = knownCount
    for (let e = 0; e < candidateCount; e++) {
      if (!isTrue(candidateLiteral[e]!)) continue
      if (candidateOther[e] !== NONE && !isTrue(candidateOther[e]!)) continue
      from[count] = edges.candidateFrom[e]!
      to[count++] = edges.candidateTo[e]!
    }
    const present = buildCsr(edges.nodeCount, from, to, count)
    const order = findTopologicalOrder(present, this.theory?.order.position)
    assert(order !== null, 'the present edges of a model have no cycle')
    return positionsOf(order)
  }

  /** After 'unsat': the clauses and cycles that together cannot hold. */
  premises(): Premise[] {
    assert(this.refutation !== NONE, 'premises are asked for after unsat')
    return this.proof.findPremises(this.refutation, this.trail, this.clauses)
  }

  figures(): Figures {
    const { decisions, conflicts, forced, cycles } = this
    const propagations = this.trail.size + this.popped - decisions
    const learned = this.clauses.learnedCount
    const restarts = this.restarts.restarts
    return { decisions, conflicts, propagations, forced, cycles, learned, restarts }
  }

  /** Puts new clauses under watch; at level 0, with what is false there last. */
  private attachAdded(): void {
    const { trail, clauses } = this
    for (const clause of this.added) {
      const { arena } = clauses
      const start = clause + LITERALS
      const size = arena[clause + SIZE]!
      let open = 0
      for (let i = 0; i < size; i++) {
        const literal = arena[start + i]!
        if (trail.value[literal]! < 0) continue
        arena[start + i] = arena[start + open]!
        arena[start + open++] = literal
      }
      if (open === 0) this.refutation = clause
      if (open === 1 && trail.value[arena[start]!] === 0) trail.assign(arena[start]!, clause)
      if (size >= 2) clauses.attach(clause)
    }
    this.added = []
  }

  private prepareTheory(): AcyclicTheory | null {
    this.theory = buildTheory(this.edges, this.trail, this.wish)
    if (this.theory === null) {
      this.refutation = this.clauses.add([], 0, 0, 0, this.proof.addCycle([], 0))
    } else {
      this.lookahead = new Lookahead(this.edges, this.theory)
      this.settler = new Settler(this.trail, this.decider, this.theory, this.bound)
      // What an earlier settler had put aside goes back among the candidates.
      for (let v = 0; v < this.variableCount; v++) this.decider.restore(v)
    }
    return this.theory
  }

  /** Clauses first, then one literal's edges, in turn until nothing is left. */
  private propagate(theory: AcyclicTheory): number {
    const { trail, clauses } = this
    while (true) {
      const conflict = propagateClauses(trail, clauses)
      if (conflict !== NONE) return conflict
      if (theory.asserted === trail.size) return NONE
      if (theory.assertNext()) continue
      this.cycles++
      return this.addLemma(theory.cycle.literals)
    }
  }

  /** The clause that says not all these true literals can be; the latest literals come first. */
  private addLemma(cycle: number[]): number {
    const { level, value } = this.trail
    const lemma = cycle.map((literal) => literal ^ 1)
    // An open literal is about to be forced, so it goes before all.
    const rank = (literal: number) => (value[literal] === 0 ? Infinity : level[literal >> 1]!)
    lemma.sort((a, b) => (rank(a) === rank(b) ? a - b : rank(b) - rank(a)))
    const id = this.proof.addCycle(lemma, lemma.length)
    const clause = this.clauses.add(lemma, lemma.length, LEARNED, lemma.length, id)
    const forcing = lemma.length > 0 && value[lemma[0]!] === 0
    if (lemma.length >= 2 && (forcing || lemma.length <= KEPT_LEMMA)) this.clauses.attach(clause)
    return clause
  }

  private learn(conflict: number): void {
    const { analyzer, clauses } = this
    this.conflicts++
    analyzer.analyze(conflict)
    this.backtrack(analyzer.backLevel)
    const { learned, count, glue, proofId } = analyzer
    const clause = clauses.add(learned, count, LEARNED, glue, proofId)
    if (count >= 2) clauses.attach(clause)
    this.trail.assign(learned[0]!, clause)
    this.decider.decay()
    this.restarts.onConflict(glue)
  }

  /** Keeps the values found, open variables as the order settles them. */
  private completeModel(): void {
    const { trail, settler, variableCount } = this
    this.model = new Uint8Array(variableCount)
    for (let v = 0; v < variableCount; v++) {
      const value = trail.value[2 * v]!
      const isTrue = value === 0 ? (settler!.settledLiteral(v) & 1) === 0 : value > 0
      this.model[v] = isTrue ? 1 : 0
    }
  }

  /** Decides a variable by the order or its last value, unless one side closes a cycle. */
  private decide(variable: number, theory: AcyclicTheory): void {
    const { trail } = this
    let literal = theory.polarity(variable)
    if (literal === NONE) literal = 2 * variable + this.phase[variable]!
    for (const side of [literal, literal ^ 1]) {
      const closing = this.lookahead!.findClosing(side)
      if (closing === NONE) continue
      theory.cycle.find(closing)
      this.forced++
      trail.assign(side ^ 1, this.addLemma(theory.cycle.literals))
      return
    }
    this.decisions++
    trail.openLevel()
    trail.assign(literal, NONE)
  }

  /** Goes back to level 0, or to the last level whose decisions would be taken again. */
  private restart(): void {
    const { trail, decider } = this
    const next = decider.peek(trail)
    this.restarts.onRestart()
    if (next === NONE) return
    const activity = decider.activityOf(next)
    let level = 0
    while (level < trail.levelCount) {
      const decision = trail.literals[trail.startOf(level + 1)]! >> 1
      if (decider.activityOf(decision) < activity) break
      level++
    }
    this.backtrack(level)
  }

  private backtrack(level: number): void {
    const { trail, decider, phase } = this
    if (level >= trail.levelCount) return
    const keep = trail.startOf(level + 1)
    for (let i = trail.size - 1; i >= keep; i--) {
      const literal = trail.literals[i]!
      phase[literal >> 1] = literal & 1
      decider.restore(literal >> 1)
    }
    this.popped += trail.size - keep
    this.theory?.undoTo(keep)
    trail.undoTo(level)
  }

  private checkDeadline(deadline: Deadline, theory: AcyclicTheory): void {
    const steps = this.steps(theory)
    if (steps - this.lastSteps < STEPS_PER_CHECK) return
    this.lastSteps = steps
    deadline.check()
  }

  /** Work done so far, in units of much the same time. */
  private steps(theory: AcyclicTheory): number {
    return this.clauses.visits + theory.order.visits + theory.cycle.visits + this.decisions
  }

  private assertNodes(from: number, to: number): void {
    const { nodeCount } = this.edges
    assert(from >= 0 && from < nodeCount && to >= 0 && to < nodeCount, 'nodes exist')
  }

  private assertLiteral(literal: number): void {
    assert(literal >= 0 && literal < 2 * this.trail.variableCount, 'variables exist')
  }
}
