// Judges a level where reads have several possible writers: satisfied if some choice of them
// satisfies it. The deciders for unique values judge one choice at a time. What a choice violates
// rests on a few reads only, mostly: these with their writers are a case that no other choice may
// contain, and the solver finds one that contains none. When there is none left, the cases prove
// the violation, each verified by its certificate; a case that takes too little for granted to be
// verified is made larger. First of all the reads with a choice are left out altogether, which
// shows violations that have nothing to do with them; then all but a few, where it is known that
// these alone leave no order (guess-linear.ts). Main function: chooseWriters.

import { Deadline, nowMs } from '../../base/deadline.ts'
import { BudgetExceeded, InternalError } from '../../base/errors.ts'
import { TupleSet } from '../../base/maps.ts'
import { type History, hasTimes, NONE, type PossibleWriters } from '../../history/history.ts'
import { assume, chooseAmong, type Source, sizesOf, sourceOf } from '../../history/writers.ts'
import { type LevelId, type LevelRequest, takesTime, WITHOUT_TIMES } from '../../levels/levels.ts'
import { AcyclicSolver } from '../../solver/solver.ts'
import { certifyCase, certifyWriters, clashOf } from '../../verdict/certify-writers.ts'
import { type Clash, coverChoices } from '../../verdict/cover-choices.ts'
import type { Anomaly, LevelResult } from '../../verdict/verdict.ts'
import { withCertificate } from '../certified.ts'
import { check } from '../check.ts'
import type { CheckOptions } from '../options.ts'
import { encodeSums, guessSums } from './add-up.ts'
import { findContrary, guessLinear } from './guess-linear.ts'
import { findAround, findReliedOn } from './relied-on.ts'

/** More cases than these are no argument that anybody would follow, or wait for. */
const MOST_CASES = 20_000
/** Pairs of a read and a writer that it may have seen: each is a variable of the solver. */
const MOST_PAIRS = 2_000_000
/** Of each kind of anomaly that a choice shows, so many become cases at once. */
const CASES_PER_KIND = 25

/** What these ask of transactions that use one key each has an order that agrees with real time. */
const LINEAR: ReadonlySet<LevelId> = new Set(['lin', 'sser', 'ser+lin'])

/** Judges one level; verdicts on choices that ran out of budget are `unknown`. */
export function chooseWriters(
  history: History,
  request: LevelRequest,
  options: CheckOptions = {},
): LevelResult {
  const { level } = request
  const isTimed = (request.realTime ?? options.realTime ?? false) && takesTime(level)
  const needsTimes = isTimed || WITHOUT_TIMES[level] !== undefined
  const isTimeless = !hasTimes(assume(history, []))
  if (!needsTimes || !isTimeless) {
    const told = new WriterChoice(history, history.writers!, request, options).run()
    if (level !== 'lin' || !isTimeless || told.verdict !== 'unknown') return told
    return {
      ...told,
      reason: 'the history has no times, and nothing else orders what lin asks for',
    }
  }
  // What violates the level without its times violates it; else nobody knows.
  const timeless = { ...request, level: WITHOUT_TIMES[level] ?? level, realTime: false }
  const judged = new WriterChoice(history, history.writers!, timeless, options).run()
  const told: LevelResult = { ...judged, level, ...(isTimed ? { realTime: true } : {}) }
  if (told.verdict !== 'satisfied') return told
  const { sources, ...others } = told
  return { ...blank(others), reason: 'the history has no times' }
}

interface WriterCase {
  anomaly: Anomaly // with what it takes for granted
  clash: Clash
  readonly whole: readonly Source[] // the choice that showed it
  isCertain: boolean // its certificate was verified
}

class WriterChoice {
  private readonly beganMs = nowMs()
  private readonly fromMs: number // of the budget
  private readonly deadline: Deadline
  private readonly sizes: Int32Array // choice -> how many writers it has
  private readonly firstVariable: Int32Array // choice -> of its writers, as in its group
  private readonly choiceOf: Int32Array // op -> the read by whose choice it saw what it saw, NONE
  private cases: WriterCase[] = []
  private readonly known = new TupleSet<number[]>() // cases, choices before values
  private readonly vague = new TupleSet<number[]>() // those that took too little for granted
  private solver = new AcyclicSolver(1)

  constructor(
    private readonly history: History,
    private readonly writers: PossibleWriters,
    private readonly request: LevelRequest,
    private readonly options: CheckOptions,
  ) {
    const { budgetMs, budgetFromMs, memoryBytes, onTick } = options
    this.fromMs = budgetFromMs ?? this.beganMs
    this.deadline = new Deadline(budgetMs ?? null, memoryBytes ?? null, onTick ?? null, {
      fromMs: this.fromMs,
    })
    this.choiceOf = new Int32Array(history.opCount).fill(NONE)
    writers.reads.forEach((read, choice) => {
      this.choiceOf[read] = read
      if (writers.again[choice] !== NONE) this.choiceOf[writers.again[choice]!] = read
    })
    this.sizes = sizesOf(writers)
    this.firstVariable = new Int32Array(this.sizes.length + 1)
  }

  run(): LevelResult {
    const without = this.judge([], false)
    if (without.verdict !== 'satisfied') {
      const given: readonly Source[] = []
      const anomalies = without.anomalies.map((anomaly) => ({ ...anomaly, given, count: 1 }))
      return this.finish({ ...without, anomalies })
    }
    try {
      return this.search(without)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      return this.finish({ ...blank(without), reason: error.message })
    }
  }

  private search(blueprint: LevelResult): LevelResult {
    const { history, deadline } = this
    const guess = this.writers.sums
      ? { sources: guessSums(this.writers) }
      : guessLinear(history, deadline)
    if (guess !== null && 'contrary' in guess) {
      if (!LINEAR.has(this.request.level)) return this.choose(blueprint)
      const argued = this.argue(findContrary(history, guess.contrary, deadline), blueprint)
      return argued ?? this.choose(blueprint)
    }
    const guessed = guess?.sources ? this.judge(guess.sources, false) : null
    if (guessed?.verdict !== 'satisfied') return this.choose(blueprint)
    return this.finish({ ...guessed, sources: guess!.sources! })
  }

  /** The level violated by these reads alone, whomever the others saw; null if it is not. */
  private argue(reads: readonly number[], blueprint: LevelResult): LevelResult | null {
    const narrow = chooseAmong(this.history, reads)
    const options = { ...this.options, certify: false, budgetFromMs: this.fromMs }
    const choice = new WriterChoice(narrow, narrow.writers!, this.request, options)
    const result = choice.choose(blueprint)
    return result.verdict === 'violated' ? this.finish(result) : null
  }

  /** Tries one choice after another that no case forbids. */
  private choose(blueprint: LevelResult): LevelResult {
    this.numberVariables()
    this.solver = this.makeSolver()
    for (;;) {
      if (this.solver.solve(this.deadline) === 'unsat') {
        if (!this.settleCases(blueprint)) continue
        const anomalies = this.cases.map(({ anomaly }) => anomaly)
        const verdict = { ...blank(blueprint), verdict: 'violated' as const, anomalies }
        return this.finish({ ...verdict, algorithm: 'writers' })
      }
      const sources = this.chosen()
      const result = this.judge(sources, true)
      if (result.verdict === 'satisfied') return this.finish({ ...result, sources })
      if (result.verdict === 'unknown') return this.finish(result)
      const assumed = assume(this.history, sources)
      for (const anomaly of result.anomalies) {
        const reads = findReliedOn(assumed, this.choiceOf, anomaly)
        this.add({ ...anomaly, given: pick(sources, reads), count: 1 }, sources, false)
      }
      if (this.cases.length > MOST_CASES) {
        throw new BudgetExceeded(
          `there are more than ${MOST_CASES} cases of who wrote what was read`,
        )
      }
    }
  }

  /** One choice, all of it or a part: `isWhole` asks for what makes many cases at once. */
  private judge(sources: readonly Source[], isWhole: boolean): LevelResult {
    const more = isWhole ? { all: true, limit: CASES_PER_KIND } : {}
    const budgetFromMs = this.fromMs
    const options = { ...this.options, ...more, certify: false, budgetFromMs }
    return check(assume(this.history, sources), this.request, options)
  }

  /** Keeps the cases that are needed, if all are certain; else makes some larger. */
  private settleCases(blueprint: LevelResult): boolean {
    const clashes = this.cases.map(({ clash }) => clash)
    const needed = coverChoices(this.sizes, clashes, this.deadline, this.writers.sums)
    if (needed === null) throw new InternalError('the solver and the cover contradict one another')
    const violated = { ...blank(blueprint), verdict: 'violated' as const }
    const larger: WriterCase[] = []
    for (const at of needed) {
      this.deadline.check()
      const each = this.cases[at]!
      if (each.isCertain) continue
      const { problems } = certifyCase(this.history, violated, each.anomaly, this.deadline)
      each.isCertain = problems.length === 0
      if (!each.isCertain) larger.push(each)
    }
    if (larger.length === 0) {
      this.cases = needed.map((at) => this.cases[at]!)
      return true
    }
    this.cases = this.cases.filter((each) => !larger.includes(each))
    this.solver = this.makeSolver()
    for (const each of larger) this.enlarge(violated, each)
    return false
  }

  /** A case that says less than its evidence needs gets more of the choice that showed it. */
  private enlarge(violated: LevelResult, { anomaly, clash, whole }: WriterCase): void {
    this.vague.add(partsOf(clash))
    const around = findAround(this.history, this.choiceOf, anomaly)
    const reads = [...around, ...anomaly.given!.map(({ read }) => read)]
    let problems: string[] = []
    for (const given of [pick(whole, reads), whole]) {
      const larger = { ...anomaly, given }
      problems = certifyCase(this.history, violated, larger, this.deadline).problems
      if (problems.length === 0) return this.add(larger, whole, true)
    }
    const what = `a choice of writers that violates ${violated.level} failed its own certificate`
    throw new InternalError(`${what}: ${problems.slice(0, 3).join('; ')}`)
  }

  private add(anomaly: Anomaly, whole: readonly Source[], isCertain: boolean): void {
    const { given } = anomaly
    const clash = clashOf(this.writers, given!) as Clash
    const parts = partsOf(clash)
    // Something else is wrong with this choice then: only all of it is known to be.
    const isVague = given!.length === 0 || this.vague.has(parts)
    if (isVague && given !== whole) return this.add({ ...anomaly, given: whole }, whole, false)
    if (this.known.has(parts)) return
    this.known.add(parts)
    this.cases.push({ anomaly, clash, whole, isCertain })
    this.forbid(this.solver, clash)
  }

  private numberVariables(): void {
    const { sizes, firstVariable } = this
    let pairs = 0
    for (let choice = 0; choice < sizes.length; choice++) {
      firstVariable[choice] = pairs
      pairs += sizes[choice]!
      if (pairs > MOST_PAIRS) {
        throw new BudgetExceeded(`reads have more than ${MOST_PAIRS} possible writers in all`)
      }
    }
    firstVariable[sizes.length] = pairs
  }

  /** A variable for every possible writer of every choice. */
  private makeSolver(): AcyclicSolver {
    const { firstVariable, sizes, deadline } = this
    const { likeliest } = this.writers
    const solver = new AcyclicSolver(1)
    for (let at = 0; at < firstVariable[sizes.length]!; at++) solver.newVariable()
    for (let choice = 0; choice < sizes.length; choice++) {
      deadline.step()
      const literals: number[] = []
      const first = firstVariable[choice]!
      for (let at = first; at < firstVariable[choice + 1]!; at++) {
        literals.push(2 * at)
        solver.prefer(at === first + likeliest[choice]! ? 2 * at : 2 * at + 1)
      }
      solver.addClause(literals)
    }
    if (this.writers.sums) encodeSums(solver, this.writers.sums, firstVariable, deadline)
    for (const { clash } of this.cases) this.forbid(solver, clash)
    return solver
  }

  private forbid(solver: AcyclicSolver, { choices, values }: Clash): void {
    const { firstVariable } = this
    solver.addClause(choices.map((choice, i) => 2 * (firstVariable[choice]! + values[i]!) + 1))
  }

  /** The choice that the solver found. */
  private chosen(): Source[] {
    return Array.from(this.sizes, (_, choice) => {
      let position = 0
      while (!this.solver.value(this.firstVariable[choice]! + position)) position++
      return sourceOf(this.writers, choice, position)
    })
  }

  private finish(result: LevelResult): LevelResult {
    const told = { ...result, elapsedMs: nowMs() - this.beganMs }
    if (this.options.certify === false || told.verdict === 'unknown') return told
    const certify = () => certifyWriters(this.history, told, Deadline.none())
    return { ...told, ...withCertificate(told, certify) }
  }
}

const partsOf = ({ choices, values }: Clash) => [...choices, ...values]

function pick(sources: readonly Source[], reads: readonly number[]): Source[] {
  const wanted = new Set(reads)
  return sources.filter(({ read }) => wanted.has(read))
}

/** What a verdict says of its level, without the verdict. */
function blank(result: LevelResult): LevelResult {
  return {
    ...result,
    verdict: 'unknown',
    reason: null,
    anomalies: [],
    proof: null,
    certificate: null,
  }
}
