// A refutation as a list of steps, each of which follows from those before it by unit propagation.
//
// Given clauses that cannot all hold, literals are assumed one after another until propagation
// breaks a clause; then those assumptions that the conflict rests on cannot all hold, and that is
// a lemma (clause learning by decisions; the lemmas have the RUP property of Goldberg and Novikov,
// DATE 2003). Where propagation alone refutes the clauses there are none. What the refutation does
// not use is left out, and a clause stands before its first use. Literals are assumed as they make
// a clause false, or, where the opposite cannot be assumed, as they make it true; so lemmas speak
// only of what can be assumed. Meant for the clauses of a minimised core. Main
// function: refute.

import { Deadline } from '../base/deadline.ts'
import { assert } from '../base/errors.ts'
import { addTo } from '../base/maps.ts'

const NONE = -1

/** A clause that was given, or a lemma. */
export interface RefutationStep {
  readonly clause: number // index of the clause, NONE for a lemma
  readonly literals: readonly number[]
}

/**
 * @param clauses cannot all hold
 * @param isAssumable whether the literal may be assumed; if not, its opposite may be
 */
export function refute(
  clauses: readonly (readonly number[])[],
  isAssumable: (literal: number) => boolean = () => true,
  deadline: Deadline = Deadline.none(),
): RefutationStep[] {
  return new Refutation(clauses, isAssumable, deadline).run()
}

class Refutation {
  private readonly literals: (readonly number[])[] // clause -> literals; lemmas follow
  private readonly basis: number[][] // lemma, from 0 -> clauses it was derived from, in order
  private readonly occurrences = new Map<number, number[]>() // literal -> clauses that hold it
  private readonly truth = new Map<number, boolean>() // literal -> value
  private readonly reason = new Map<number, number>() // variable -> clause that forced it, or NONE
  private readonly trail: number[] = [] // literals that are true
  private readonly starts: number[] = [] // level -> where in the trail it begins
  private head = 0 // first literal of the trail that was not propagated

  constructor(
    private readonly given: readonly (readonly number[])[],
    private readonly isAssumable: (literal: number) => boolean,
    private readonly deadline: Deadline,
  ) {
    this.literals = []
    this.basis = []
    for (const clause of given) this.add(clause)
  }

  run(): RefutationStep[] {
    let conflict = this.literals.findIndex((literals) => literals.length === 0)
    for (let clause = 0; clause < this.given.length && conflict < 0; clause++) {
      if (this.given[clause]!.length === 1) conflict = this.force(clause)
    }
    while (true) {
      if (conflict < 0) conflict = this.propagate()
      if (conflict < 0) this.decide()
      else if (this.starts.length === 0) return this.steps(this.antecedents(conflict).clauses)
      else conflict = this.learn(conflict)
    }
  }

  private add(literals: readonly number[]): number {
    const clause = this.literals.length
    this.literals.push(literals)
    for (const literal of literals) {
      addTo(this.occurrences, literal, clause)
    }
    return clause
  }

  private assign(literal: number, reason: number): void {
    this.truth.set(literal, true)
    this.truth.set(literal ^ 1, false)
    this.reason.set(literal >> 1, reason)
    this.trail.push(literal)
  }

  /** Makes the last open literal of a clause true; the clause itself if all are false, else NONE. */
  private force(clause: number): number {
    let open = NONE
    for (const literal of this.literals[clause]!) {
      const value = this.truth.get(literal)
      if (value === true) return NONE
      if (value === false) continue
      if (open !== NONE) return NONE
      open = literal
    }
    if (open === NONE) return clause
    this.assign(open, clause)
    return NONE
  }

  /** A clause that is broken, NONE if there is none. */
  private propagate(): number {
    while (this.head < this.trail.length) {
      const literal = this.trail[this.head++]!
      for (const clause of this.occurrences.get(literal ^ 1) ?? []) {
        this.deadline.step(this.literals[clause]!.length)
        const conflict = this.force(clause)
        if (conflict !== NONE) return conflict
      }
    }
    return NONE
  }

  /** Assumes a literal of the shortest open clause, lemmas included. */
  private decide(): void {
    let best = NONE
    let fewest = Number.POSITIVE_INFINITY
    for (let clause = 0; clause < this.literals.length && fewest > 2; clause++) {
      const literals = this.literals[clause]!
      this.deadline.step(literals.length)
      if (literals.some((literal) => this.truth.get(literal) === true)) continue
      const open = literals.filter((literal) => !this.truth.has(literal))
      if (open.length >= fewest) continue
      fewest = open.length
      const broken = open.find((literal) => this.isAssumable(literal ^ 1))
      best = broken === undefined ? open[0]! : broken ^ 1
    }
    assert(best !== NONE, 'clauses that cannot all hold leave something open')
    this.starts.push(this.trail.length)
    this.assign(best, NONE)
  }

  /** Adds the lemma of a conflict and goes back to where it forces something. */
  private learn(conflict: number): number {
    const { clauses, decisions } = this.antecedents(conflict)
    this.basis.push(clauses)
    const lemma = this.add(decisions.map((literal) => literal ^ 1))
    // Decisions come in the order of their levels: all but the last one stay.
    const kept = decisions.at(-2)
    let level = 0
    while (kept !== undefined && this.trail[this.starts[level]!] !== kept) level++
    const size = kept === undefined ? 0 : level + 1
    const start = this.starts[size]!
    for (const literal of this.trail.splice(start)) {
      this.truth.delete(literal)
      this.truth.delete(literal ^ 1)
    }
    this.starts.length = size
    this.head = start
    return this.force(lemma)
  }

  /** The clauses and decisions that a broken clause rests on, in the order of the trail. */
  private antecedents(conflict: number): { clauses: number[]; decisions: number[] } {
    const needed = new Set(this.literals[conflict]!.map((literal) => literal >> 1))
    const clauses = [conflict]
    const decisions: number[] = []
    for (let i = this.trail.length - 1; i >= 0; i--) {
      const variable = this.trail[i]! >> 1
      if (!needed.has(variable)) continue
      const reason = this.reason.get(variable)!
      if (reason === NONE) {
        decisions.push(this.trail[i]!)
        continue
      }
      clauses.push(reason)
      for (const literal of this.literals[reason]!) needed.add(literal >> 1)
    }
    return { clauses: clauses.reverse(), decisions: decisions.reverse() }
  }

  /** What the refutation uses: given clauses before the first lemma that needs them. */
  private steps(last: readonly number[]): RefutationStep[] {
    const { given, basis } = this
    const used = new Set(last)
    for (let lemma = basis.length - 1; lemma >= 0; lemma--) {
      if (!used.has(given.length + lemma)) continue
      for (const clause of basis[lemma]!) used.add(clause)
    }
    const steps: RefutationStep[] = []
    const told = new Set<number>()
    const tell = (clauses: readonly number[]) => {
      for (const clause of clauses) {
        if (clause >= given.length || told.has(clause)) continue
        told.add(clause)
        steps.push({ clause, literals: given[clause]! })
      }
    }
    basis.forEach((clauses, lemma) => {
      if (!used.has(given.length + lemma)) return
      tell(clauses)
      steps.push({ clause: NONE, literals: this.literals[given.length + lemma]! })
    })
    tell(last)
    return steps
  }
}
