// A solver for acyclic graphs with choices: finds truth values such that all clauses hold and the
// edges that they bring in, together with the known ones, have no cycle; or proves there are none.
//
// This file is the interface; search.ts finds the answer and core.ts explains 'unsat'. It knows
// only integers. Literal 2 * v says that variable v is true, 2 * v + 1 that it is false. A problem:
//
//   addKnownEdge        an edge that is always there
//   addLiteralEdge      an edge that is there when a literal is true; a literal may have many
//   addConditionalEdge  an edge that is there when two literals are true
//   addClause           at least one of some literals is true
//
// The order of two writers a, b is one variable: edges a -> b (and what follows from it) on its
// true literal, b -> a on its false one. Then solve: 'sat' comes with value() and order(), 'unsat'
// with premises(), best read through findCore(). Exact and deterministic; NP-complete, so with a
// deadline. After an answer more may be added, and solve called again, keeping what was learned.
// Main class: AcyclicSolver.

import { Deadline } from '../base/deadline.ts'
import { assert } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import { buildCsr } from '../graph/csr.ts'
import { findTopologicalOrder, positionsOf } from '../graph/toposort.ts'
import { buildTheory } from './acyclic.ts'
import { EdgeStore } from './edges.ts'
import type { Premise } from './proof.ts'
import { Search } from './search.ts'
import { NONE } from './trail.ts'

export class AcyclicSolver {
  /** The edges as added. */
  readonly edges: EdgeStore
  private readonly search = new Search()
  private bound = new Int8Array(16) // variable -> 1 when in a clause or conditional edge
  private wish: Int32Array | null = null // node -> wished position
  private changed = true // whether edges or variables came after the last solve
  private answer: 'sat' | 'unsat' | null = null
  private model = new Uint8Array(0) // variable -> its value in the solution

  constructor(nodeCount: number) {
    this.edges = new EdgeStore(nodeCount)
  }

  get variableCount(): number {
    return this.search.trail.variableCount
  }

  addKnownEdge(from: number, to: number): void {
    this.assertNodes(from, to)
    this.edges.addKnown(from, to)
    this.changed = true
  }

  newVariable(): number {
    const variable = this.search.newVariable()
    if (variable === this.bound.length) this.bound = enlarged(this.bound, 2 * variable)
    this.changed = true
    return variable
  }

  /** Tries the literal first where nothing else speaks for a side of its variable. */
  prefer(literal: number): void {
    this.assertLiteral(literal)
    this.search.prefer(literal)
  }

  /** An edge that is present when the literal is true. */
  addLiteralEdge(literal: number, from: number, to: number): void {
    this.assertNodes(from, to)
    this.assertLiteral(literal)
    this.edges.addCandidate(literal, NONE, from, to)
    this.changed = true
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
    // A literal and its negation are never both true.
    if (literal === (other ^ 1)) return
    this.bound[literal >> 1] = 1
    this.bound[other >> 1] = 1
    this.edges.addCandidate(literal, other, from, to)
    this.changed = true
  }

  /** At least one of the literals is true. */
  addClause(literals: ArrayLike<number>): void {
    const distinct = new Set<number>()
    for (let i = 0; i < literals.length; i++) {
      this.assertLiteral(literals[i]!)
      distinct.add(literals[i]!)
    }
    const kept = [...distinct]
    // A clause with a literal and its negation always holds.
    if (kept.some((literal) => distinct.has(literal ^ 1))) return
    for (const literal of kept) this.bound[literal >> 1] = 1
    this.search.addClause(kept)
  }

  /** Node -> position in an order of the known edges that is likely to fit: the first guess. */
  setInitialOrder(positions: Int32Array): void {
    assert(positions.length === this.edges.nodeCount, 'one position per node')
    this.wish = positions
    this.changed = true
  }

  /**
   * Decides variables in the order in which they were made, until there were so many conflicts:
   * where that follows the order of the nodes, large problems are solved sooner.
   */
  takeInTurn(conflicts: number): void {
    this.search.takeInTurn(conflicts)
  }

  /**
   * Decides; throws BudgetExceeded when the deadline passes, and may be called again; so it may
   * after 'open', the answer when so many conflicts were met.
   */
  solve(deadline: Deadline): 'sat' | 'unsat'
  solve(deadline: Deadline, mostConflicts: number): 'sat' | 'unsat' | 'open'
  solve(deadline: Deadline, mostConflicts = Number.POSITIVE_INFINITY): 'sat' | 'unsat' | 'open' {
    if (this.answer === 'unsat') return 'unsat'
    this.answer = null
    deadline.check()
    if (this.changed) this.prepare(deadline)
    const isSatisfied = this.search.run(deadline, mostConflicts)
    if (isSatisfied === null) return 'open'
    const answer = isSatisfied ? 'sat' : 'unsat'
    if (answer === 'sat') {
      this.model = new Uint8Array(this.variableCount)
      for (let v = 0; v < this.model.length; v++) {
        deadline.step()
        this.model[v] = this.search.valueOf(v) ? 1 : 0
      }
    }
    this.answer = answer
    return answer
  }

  /** After 'sat': the value of a variable. */
  value(variable: number): boolean {
    assert(this.answer === 'sat', 'values are asked for after sat')
    return this.model[variable] === 1
  }

  /** After 'sat': node -> position in a topological order of all present edges. */
  order(deadline: Deadline = Deadline.none()): Int32Array {
    assert(this.answer === 'sat', 'an order is asked for after sat')
    const { edges, model } = this
    const { candidateLiteral, candidateOther } = edges
    const isTrue = (literal: number) => literal === NONE || model[literal >> 1] !== (literal & 1)
    const chosen: number[] = []
    for (let e = 0; e < edges.candidateCount; e++) {
      if (isTrue(candidateLiteral[e]!) && isTrue(candidateOther[e]!)) chosen.push(e)
    }
    const { from, to } = edges.withKnown(chosen)
    deadline.check()
    const present = buildCsr(edges.nodeCount, from, to)
    const order = findTopologicalOrder(present, this.wish ?? undefined, deadline)
    assert(order !== null, 'the present edges of a solution have no cycle')
    return positionsOf(order)
  }

  /** After 'unsat': clauses of the problem and cycles that together cannot hold. */
  premises(): Premise[] {
    assert(this.answer === 'unsat', 'premises are asked for after unsat')
    return this.search.findPremises()
  }

  /** Conflicts that the search met so far. */
  get conflictCount(): number {
    return this.search.conflicts
  }

  private prepare(deadline: Deadline): void {
    const theory = buildTheory(this.edges, this.search.trail, this.wish, deadline)
    if (theory === null) this.search.refute()
    else this.search.setTheory(theory, this.bound, this.wish)
    this.changed = false
  }

  private assertNodes(from: number, to: number): void {
    const { nodeCount } = this.edges
    assert(from >= 0 && from < nodeCount && to >= 0 && to < nodeCount, 'nodes exist')
  }

  private assertLiteral(literal: number): void {
    assert(literal >= 0 && literal < 2 * this.variableCount, 'variables exist')
  }
}
