// The search: conflict-driven clause learning modulo acyclicity.
//
// Propagate clauses and edges; on a conflict learn a clause and go back to where it forces a
// literal; otherwise decide the next variable; a conflict without decisions is a refutation. This
// is MiniSat's loop (Eén and Sörensson, SAT 2003), with cycles as further conflicts (as in MonoSAT:
// Bayless et al., AAAI 2015). Each technique is in a file of its own; this one puts them together
// and keeps the counts. Worst case exponential; the deadline is asked about every millisecond.
// Main class: Search.

import type { Deadline } from '../base/deadline.ts'
import { enlarged } from '../base/grow.ts'
import type { AcyclicTheory } from './acyclic.ts'
import { Analyzer } from './analyze.ts'
import { Clauses, LEARNED, LITERALS, SIZE } from './clauses.ts'
import { Decider } from './decide.ts'
import { findClosing } from './lookahead.ts'
import { type Premise, ProofLog } from './proof.ts'
import { propagateClauses } from './propagate.ts'
import { Reducer } from './reduce.ts'
import { Rephaser } from './rephase.ts'
import { NONE, Trail } from './trail.ts'

const STEPS_PER_CHECK = 1 << 15 // watches and nodes visited between two looks at the deadline
const KEPT_LEMMA = 3 // cycles of at most so many literals are kept as clauses

export class Search {
  readonly trail = new Trail()
  private readonly clauses = new Clauses()
  private readonly decider = new Decider()
  private readonly proof = new ProofLog()
  private readonly analyzer = new Analyzer(this.trail, this.clauses, this.decider, this.proof)
  private readonly reducer = new Reducer()
  private theory: AcyclicTheory | null = null
  private bound: Int8Array = new Int8Array(0) // variable -> 1 if more than its edges matters
  private rephaser: Rephaser | null = null
  private phase = new Int8Array(16) // variable -> its last value as the low bit of a literal
  private added: number[] = [] // clauses not attached yet
  private refutation = NONE // clause that is false at level 0
  private decisions = 0
  /** Conflicts so far. */
  conflicts = 0
  private inTurnUntil = 0 // conflicts before which variables are decided by their numbers
  private lastSteps = 0

  newVariable(): number {
    const variable = this.trail.newVariable()
    this.clauses.newVariable()
    this.decider.newVariable(variable)
    if (variable === this.phase.length) this.phase = enlarged(this.phase, 2 * variable)
    this.phase[variable] = 1
    return variable
  }

  /** Makes a literal the side of its variable that is tried first. */
  prefer(literal: number): void {
    this.phase[literal >> 1] = literal & 1
  }

  /** Decides variables by their numbers until there were so many conflicts. */
  takeInTurn(conflicts: number): void {
    this.inTurnUntil = this.conflicts + conflicts
    this.decider.takeInTurn()
  }

  /** Adds a clause of distinct literals, none with its negation. */
  addClause(literals: readonly number[]): void {
    const id = this.proof.addInput(literals, literals.length)
    this.added.push(this.clauses.add(literals, literals.length, 0, 0, id))
  }

  /** Notes that the known edges have a cycle. */
  refute(): void {
    this.refutation = this.clauses.add([], 0, 0, 0, this.proof.addCycle([], 0))
  }

  /**
   * Takes over a theory that has asserted nothing yet.
   * @param bound variable -> 1 if it is in a clause or a conditional edge
   * @param wish node -> place in an order that is likely to fit, null if there is none
   */
  setTheory(theory: AcyclicTheory, bound: Int8Array, wish: Int32Array | null): void {
    this.backtrack(0)
    this.theory = theory
    this.rephaser = new Rephaser(theory, wish)
    this.bound = bound
  }

  /** Decides; on true the trail holds a solution. Null after so many conflicts. */
  run(deadline: Deadline, mostConflicts: number): boolean | null {
    if (this.refutation !== NONE) return false
    const end = this.conflicts + mostConflicts
    const theory = this.theory!
    const rephaser = this.rephaser!
    this.backtrack(0)
    this.attachAdded()
    this.lastSteps = this.countSteps(theory)
    while (this.refutation === NONE) {
      const conflict = this.propagate(theory)
      if (conflict === NONE) {
        this.tidy(rephaser, deadline)
        const variable = this.decider.peek(this.trail)
        if (variable === NONE) return true
        this.decide(variable, theory)
      } else if (this.trail.levelCount === 0) {
        this.refutation = conflict
      } else {
        rephaser.onConflict(this.trail.size)
        this.learn(conflict)
        if (this.conflicts >= end) return null
      }
      this.checkDeadline(deadline, theory)
    }
    return false
  }

  /** After a solution was found: whether a variable is true in it. */
  valueOf(variable: number): boolean {
    return this.trail.value[2 * variable]! > 0
  }

  /** After a refutation: the clauses and cycles it rests on. */
  findPremises(): Premise[] {
    return this.proof.findPremises(this.refutation, this.trail, this.clauses)
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

  /** Clauses first, then one literal's edges, in turn until nothing is left. */
  private propagate(theory: AcyclicTheory): number {
    const { trail, clauses } = this
    while (true) {
      const conflict = propagateClauses(trail, clauses)
      if (conflict !== NONE) return conflict
      if (theory.asserted === trail.size) return NONE
      if (theory.assertNext()) continue
      const { literals } = theory.cycle
      const lemma = this.addLemma(literals)
      if (literals.length > KEPT_LEMMA) this.clauses.remove(lemma)
      else if (literals.length >= 2) this.clauses.attach(lemma)
      return lemma
    }
  }

  /** The clause that says not all these literals can be true; open and late ones come first. */
  private addLemma(cycle: readonly number[]): number {
    const { level, value } = this.trail
    const lemma = cycle.map((literal) => literal ^ 1)
    const rank = (literal: number) => (value[literal] === 0 ? Infinity : level[literal >> 1]!)
    lemma.sort((a, b) => (rank(a) === rank(b) ? a - b : rank(b) - rank(a)))
    const id = this.proof.addCycle(lemma, lemma.length)
    return this.clauses.add(lemma, lemma.length, LEARNED, lemma.length, id)
  }

  private learn(conflict: number): void {
    const { analyzer, clauses } = this
    this.conflicts++
    if (this.conflicts === this.inTurnUntil) this.decider.takeByActivity(this.trail.variableCount)
    analyzer.analyze(conflict)
    this.backtrack(analyzer.backLevel)
    const { learned, count, glue, proofId } = analyzer
    const clause = clauses.add(learned, count, LEARNED, glue, proofId)
    if (count >= 2) clauses.attach(clause)
    this.trail.assign(learned[0]!, clause)
    this.decider.decay()
  }

  /** Decides a variable by the order or its last value, unless one side closes a cycle. */
  private decide(variable: number, theory: AcyclicTheory): void {
    const last = 2 * variable + this.phase[variable]!
    const settled = this.bound[variable] === 1 ? NONE : theory.settledLiteral(last)
    if (settled !== NONE) return this.assume(settled)
    let literal = theory.polarity(variable)
    if (literal === NONE) literal = last
    for (const side of [literal, literal ^ 1]) {
      const closing = findClosing(theory, side)
      if (closing === NONE) continue
      theory.cycle.find(closing)
      this.force(side ^ 1, this.addLemma(theory.cycle.literals))
      return
    }
    this.assume(literal)
  }

  private assume(literal: number): void {
    this.decisions++
    this.trail.openLevel()
    this.trail.assign(literal, NONE)
  }

  private force(literal: number, lemma: number): void {
    if (this.clauses.arena[lemma + SIZE]! >= 2) this.clauses.attach(lemma)
    else this.backtrack(0)
    this.trail.assign(literal, lemma)
  }

  /** Starts over and forgets, when due. */
  private tidy(rephaser: Rephaser, deadline: Deadline): void {
    if (rephaser.isDue(this.conflicts < this.inTurnUntil)) {
      this.backtrack(0)
      rephaser.rephase(deadline)
    }
    if (this.reducer.isDue(this.conflicts)) {
      this.reducer.reduce(this.trail, this.clauses, this.conflicts)
    }
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
    this.theory?.undoTo(keep)
    trail.undoTo(level)
  }

  private checkDeadline(deadline: Deadline, theory: AcyclicTheory): void {
    const steps = this.countSteps(theory)
    if (steps - this.lastSteps < STEPS_PER_CHECK) return
    this.lastSteps = steps
    deadline.check()
  }

  /** Work done so far, in units of much the same time. */
  private countSteps(theory: AcyclicTheory): number {
    const { clauses, decisions, conflicts } = this
    return clauses.visits + theory.order.visits + theory.cycle.visits + decisions + conflicts
  }
}
