// Verifies arguments by cases: a list of steps, each of which says that some assumptions cannot all
// hold. A step with a cycle shows it by that; one without follows from the steps before it by unit
// propagation, and so must in the end a contradiction (RUP: Goldberg and Novikov, DATE 2003).
// What else is known of assumptions: of two transactions one comes first; a statement that passed a
// row over saw one of the versions that fail its predicate; whoever was read from took effect. One
// pass over all clauses for each step without a cycle. Main function: certifyCases.

import type { Deadline } from '../base/deadline.ts'
import { addAll } from '../base/grow.ts'
import { type Case, type Edge, INITIAL_TXN } from './verdict.ts'

const MAX_PROBLEMS = 5

/** What the kind of history says of assumptions and cycles. */
export interface CaseRules {
  readonly txnCount: number
  readonly keyCount: number
  /** What is wrong with making the assumption; null if nothing is. */
  assumptionProblem(assumption: Edge): string | null
  /** What is wrong with a cycle under assumptions. */
  cycleProblems(cycle: readonly Edge[], assumptions: readonly Edge[]): string[]
  /** Whose versions of a row a statement that passed it over may have seen. */
  candidates(event: number, key: number): readonly number[]
  /** Whether the transaction took effect, whatever is assumed. */
  counts(txn: number): boolean
  /** Whose writes the transaction read: if it took effect, so did they. */
  sources(txn: number): Iterable<number>
}

export function certifyCases(
  cases: readonly Case[],
  rules: CaseRules,
  deadline: Deadline,
): string[] {
  const clauses = new AssumptionClauses(rules, deadline)
  const problems: string[] = []
  for (const { assumptions, cycle } of cases) {
    deadline.check()
    for (const assumption of assumptions) {
      const problem = rules.assumptionProblem(assumption)
      if (problem !== null) return [...problems, problem]
    }
    const literals = assumptions.map((assumption) => clauses.literalOf(assumption))
    if (cycle.length > 0) addAll(problems, rules.cycleProblems(cycle, assumptions))
    else if (!clauses.contradict(literals)) problems.push('a step follows from none before it')
    if (problems.length >= MAX_PROBLEMS) return problems
    clauses.add(literals.map((literal) => literal ^ 1))
  }
  if (!clauses.contradict([])) problems.push('the cases leave a possibility open')
  return problems
}

/** Assumptions as literals: 2 · v says that variable v is true, 2 · v + 1 that it is false. */
class AssumptionClauses {
  private readonly orders = new Map<number, number>() // pair of transactions -> variable
  private readonly reads = new Map<number, Map<number, number>>() // row -> source -> variable
  private readonly counting = new Map<number, number>() // transaction -> variable
  private readonly clauses: (readonly number[])[] = []
  private readonly units: number[] = [] // clauses of one literal
  private readonly occurrences: number[][] = [] // literal -> clauses that hold it
  private isBroken = false // whether a clause is empty

  constructor(
    private readonly rules: CaseRules,
    private readonly deadline: Deadline,
  ) {}

  add(literals: readonly number[]): void {
    const clause = this.clauses.length
    this.clauses.push(literals)
    if (literals.length === 0) this.isBroken = true
    if (literals.length === 1) this.units.push(clause)
    for (const literal of literals) this.occurrences[literal]!.push(clause)
  }

  literalOf({ kind, from, to, event, key }: Edge): number {
    if (kind === 'WR') return 2 * this.readsOf(event!, key, to).get(from)!
    const [first, second] = from < to ? [from, to] : [to, from]
    const pair = first * this.rules.txnCount + second
    const variable = this.orders.get(pair) ?? this.newVariable()
    this.orders.set(pair, variable)
    return 2 * variable + (from < to ? 0 : 1)
  }

  private newVariable(): number {
    this.occurrences.push([], [])
    return (this.occurrences.length >> 1) - 1
  }

  /** Source -> variable; a statement that took effect saw one of the versions that it may have. */
  private readsOf(event: number, key: number, reader: number): Map<number, number> {
    const { rules } = this
    const row = event * rules.keyCount + key
    const known = this.reads.get(row)
    if (known) return known
    const variables = new Map<number, number>()
    this.reads.set(row, variables)
    for (const source of rules.candidates(event, key)) variables.set(source, this.newVariable())
    const isSure = rules.counts(reader)
    const reading = isSure ? 0 : 2 * this.countingOf(reader)
    const some = [...variables.values()].map((variable) => 2 * variable)
    this.add(isSure ? some : [reading ^ 1, ...some])
    for (const [source, variable] of variables) {
      if (!isSure) this.add([2 * variable + 1, reading])
      const isAlways = source === INITIAL_TXN || rules.counts(source)
      if (!isAlways) this.add([2 * variable + 1, 2 * this.countingOf(source)])
    }
    return variables
  }

  private countingOf(txn: number): number {
    const { rules, counting } = this
    const known = counting.get(txn)
    if (known !== undefined) return known
    const pending = [txn]
    counting.set(txn, this.newVariable())
    for (const reader of pending) {
      for (const source of rules.sources(reader)) {
        if (rules.counts(source)) continue
        if (!counting.has(source)) {
          counting.set(source, this.newVariable())
          pending.push(source)
        }
        this.add([2 * counting.get(reader)! + 1, 2 * counting.get(source)!])
      }
    }
    return counting.get(txn)!
  }

  /** Whether propagation breaks a clause once all of these literals are true. */
  contradict(literals: readonly number[]): boolean {
    if (this.isBroken) return true
    const isTrue = new Uint8Array(this.occurrences.length) // literal -> 1
    const trail: number[] = []
    const assign = (literal: number) => {
      if (isTrue[literal]) return
      isTrue[literal] = 1
      trail.push(literal)
    }
    for (const clause of this.units) assign(this.clauses[clause]![0]!)
    for (const literal of literals) assign(literal)
    for (const literal of trail) {
      if (isTrue[literal ^ 1]) return true
      for (const clause of this.occurrences[literal ^ 1]!) {
        const open = this.openLiterals(clause, isTrue)
        if (open === null) continue
        if (open.length === 0) return true
        if (open.length === 1) assign(open[0]!)
      }
    }
    return false
  }

  /** The literals of a clause that are not false, at most two; null if one is true. */
  private openLiterals(clause: number, isTrue: Uint8Array): number[] | null {
    const open: number[] = []
    this.deadline.step()
    for (const literal of this.clauses[clause]!) {
      if (isTrue[literal]) return null
      if (!isTrue[literal ^ 1] && open.length < 2) open.push(literal)
    }
    return open
  }
}
