// Judges histories in which every transaction has a level of its own, and histories of SQL
// statements at any level. The one place that knows both deciders: `solve` chooses writers and
// commit order together inside the solver, `search` is the published algorithm, which tries one
// extension of the history after another. Both give the same verdicts. Loaded only when it is
// needed, because of the SQL parser. Main function: checkMixed.

import { type Deadline, nowMs } from '../../base/deadline.ts'
import { assert, BudgetExceeded, UsageError } from '../../base/errors.ts'
import { addAll } from '../../base/grow.ts'
import { withRolledBack } from '../../history/counts.ts'
import { ABORTED, type History, hasTimes, NONE } from '../../history/history.ts'
import {
  CHAIN,
  idOf,
  LEVELS,
  type LevelId,
  type LevelRequest,
  OWN_LEVELS,
  STATEMENT_LEVELS,
  takesTime,
} from '../../levels/levels.ts'
import { certifyMixed } from '../../verdict/certify-mixed.ts'
import type { Anomaly, Choice, LevelResult, Proof } from '../../verdict/verdict.ts'
import { undecided, withCertificate } from '../certified.ts'
import { addFound } from '../evidence/add-found.ts'
import { joinKinds } from '../examples.ts'
import type { PartOf } from '../general/core.ts'
import { describeLostUpdates, describeViolation } from '../general/describe.ts'
import { decide, type Solution, type Violation } from '../general/engine.ts'
import { ofRows } from '../general/of-rows.ts'
import type { Problem } from '../general/problem.ts'
import { rowsRecorded } from '../general/recorded-order.ts'
import { restrictTo } from '../general/restrict.ts'
import { findImplied, settled } from '../implied.ts'
import { type CheckOptions, deadlineFor, exampleLimit, phaseOf } from '../options.ts'
import type { MixedProblem, MixedSolution } from '../problem/mixed-problem.ts'
import { decideByExtensions } from '../published/extensions.ts'
import { buildMixedProblem } from './build-problem.ts'
import { describeMixedOffences } from './offences.ts'

const HINT = `a history of SQL statements can be judged at ${STATEMENT_LEVELS.join(', ')}`

/** How many transactions are judged anew, in all, in search of further kinds of violations. */
const JUDGED_ANEW = 40_000
const MOST_EXAMPLES = 40
const FEW_CASES = 4
/** Once so much was done for them (Deadline.checkCount), no further ones are sought. */
const MOST_CHECKS = 4000

type Timed = <T>(stage: string, work: () => T) => T

/** @param asked null: every level that applies */
export function checkMixed(
  history: History,
  asked: readonly (LevelId | LevelRequest)[] | null,
  options: CheckOptions = {},
): LevelResult[] {
  if (history.after !== null) {
    throw new UsageError(
      'mixed levels and SQL statements are judged by the order of sessions only, and the history names others in "after"',
      'leave "after" out, or judge registers and lists at one level for all',
    )
  }
  if (history.versions !== null) {
    throw new UsageError(
      'mixed levels and SQL statements are judged without versions, and the history has some',
      'leave versions out, or judge registers and lists at one level for all',
    )
  }
  const checker = new MixedChecker(history, options)
  for (const request of asked ?? ['mixed' as const]) expectOrders(request, options)
  if (asked === null) return checker.profile()
  return asked.map((request, i) => {
    checker.divide(asked.length - i)
    return checker.check(idOf(request))
  })
}

function expectOrders(asked: LevelId | LevelRequest, options: CheckOptions): void {
  const request: Partial<LevelRequest> = typeof asked === 'string' ? {} : asked
  const level = idOf(asked)
  const realTime = (request.realTime ?? options.realTime) && takesTime(level)
  if ((request.sessionOrder ?? options.sessionOrder) === false) {
    throw new UsageError('mixed levels and SQL statements are judged with session order only')
  }
  if (!realTime) return
  throw new UsageError(
    'mixed levels and SQL statements are judged without real time, but for sser',
    level === 'ser' ? 'ask for --level sser, which is ser with real time' : null,
  )
}

class MixedChecker {
  private readonly deadline: Deadline
  private readonly history: History // in which all count whose reads are judged

  constructor(
    private readonly recorded: History,
    private readonly options: CheckOptions,
  ) {
    this.deadline = deadlineFor(options)
    this.history = this.ignoresAborted ? recorded : withRolledBack(recorded)
  }

  private get ignoresAborted(): boolean {
    return this.options.abortedReads === 'ignore'
  }

  /** See Deadline. */
  divide(taskCount: number): void {
    this.deadline.divide(taskCount)
  }

  /** The levels from the weakest on; ser first, because what satisfies it satisfies all. */
  profile(): LevelResult[] {
    const results: LevelResult[] = []
    const haveLevels = this.haveLevels()
    let left = OWN_LEVELS.length + (haveLevels ? 1 : 0)
    for (const level of ['ser', ...OWN_LEVELS.slice(0, -1)] as const) {
      this.deadline.divide(left--)
      results.push(findImplied(level, results) ?? this.check(level))
    }
    const inOrder = results
      .map((result) => settled(result, results))
      .sort((a, b) => CHAIN.indexOf(a.level) - CHAIN.indexOf(b.level))
    this.deadline.divide(left)
    return haveLevels ? [this.check('mixed'), ...inOrder] : inOrder
  }

  /** Whether every transaction that is judged, or may be, ran at a level that can be judged. */
  private haveLevels(): boolean {
    const { txnLevel, txnStatus, txnCounts } = this.history
    const isKnown = (level: number, txn: number) => {
      const id = LEVELS[level]?.id
      const isOut = txnStatus[txn] === ABORTED && !txnCounts[txn]
      return isOut || (id !== undefined && OWN_LEVELS.includes(id))
    }
    return txnLevel?.every(isKnown) ?? false
  }

  check(level: LevelId): LevelResult {
    this.expectKnown(level)
    // Without times sser is violated if ser is, and else nobody knows.
    const isTimeless = level === 'sser' && !hasTimes(this.history)
    const started = nowMs()
    this.deadline.enter(level)
    const stages: Record<string, number> = {}
    const timed: Timed = (stage, work) => {
      const from = nowMs()
      try {
        return this.deadline.during(phaseOf(stage), work)
      } finally {
        stages[stage] = (stages[stage] ?? 0) + nowMs() - from
      }
    }
    const algorithm = this.options.algorithm === 'search' ? 'extensions' : 'solve'
    const result = { ...undecided(level), algorithm, stages }
    const hasIgnored = this.ignoresAborted && this.recorded.sql?.txnRolledBack.includes(1)
    if (hasIgnored) result.abortedReads = 'ignore'
    let offences: Anomaly[] = []
    try {
      const { history, deadline } = this
      const problem = timed('reads', () =>
        buildMixedProblem(history, isTimeless ? 'ser' : level, deadline),
      )
      offences = describeMixedOffences(problem, exampleLimit(this.options), deadline)
      const decision = timed(level, () => this.decide(problem))
      if (!('order' in decision)) {
        addAll(result.anomalies, this.explainAll(problem, decision, timed))
      } else if (isTimeless) {
        result.reason = 'the history has no times'
      } else if (offences.length === 0) {
        result.verdict = 'satisfied'
        result.proof = proofOf(problem, decision)
      }
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      result.reason = error.message
    }
    // What single statements did violates every level, whether or not the rest was decided.
    const anomalies = offences.concat(result.anomalies)
    if (anomalies.length > 0)
      Object.assign(result, { verdict: 'violated', reason: null, anomalies })
    try {
      if (this.options.certify !== false) timed('certify', () => this.certify(result))
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      const { message: reason } = error
      Object.assign(result, { verdict: 'unknown', reason, anomalies: [], proof: null })
    }
    result.elapsedMs = nowMs() - started
    return result
  }

  private expectKnown(level: LevelId): void {
    if (!STATEMENT_LEVELS.includes(level)) {
      throw new UsageError(`level ${level} is not for SQL statements`, HINT)
    }
    if (level === 'sser' && this.options.algorithm === 'search') {
      throw new UsageError('the published search does not know real time in SQL histories', HINT)
    }
  }

  private decide(rows: MixedProblem): MixedSolution | Violation {
    const { deadline } = this
    if (this.options.algorithm === 'search') {
      const found = decideByExtensions(rows, deadline)
      if (found) return found
    }
    const problem = ofRows(rows)
    const decision = decide(problem, deadline, rowsRecorded(rows, deadline))
    if (!decision.satisfied) return decision
    assert(this.options.algorithm !== 'search', 'both deciders agree')
    return asSolution(problem, decision)
  }

  /** One example of each kind, sought among those whom no other involves. */
  private explainAll(problem: MixedProblem, first: Violation, timed: Timed): Anomaly[] {
    const limit = exampleLimit(this.options)
    const affordable = Math.min(MOST_EXAMPLES, Math.max(3, JUDGED_ANEW / problem.nodeCount))
    const found = timed('explain', () => describeLostUpdates(first.known.problem, affordable))
    if (found.length === 0) found.push(timed('explain', () => this.explain(problem, first)))
    let left = 0 // of those found, how many are left out already
    const { deadline } = this
    const before = deadline.checkCount
    let rows = problem
    while (this.options.algorithm !== 'search' && found.length < affordable) {
      const known = found.length
      addFound(found, () => {
        const involved = new Set(found.slice(left).flatMap(({ txns }) => Array.from(txns)))
        left = found.length
        const others = Array.from(rows.txnOf).filter((txn) => !involved.has(txn))
        rows = restrictTo(rows, others)
        const decision = timed('explain', () => this.decide(rows))
        return 'order' in decision ? [] : [timed('explain', () => this.explain(rows, decision))]
      })
      if (found.length === known || deadline.checkCount - before > MOST_CHECKS) break
    }
    // One long argument by cases is enough to read; what is shown more plainly is told beside it.
    const kinds = joinKinds(found, limit)
    return kinds.filter(({ name, cases }) => name === found[0]!.name || cases.length <= FEW_CASES)
  }

  private explain(rows: MixedProblem, found: Violation): Anomaly {
    const partOf: PartOf = (txns, within) => ofRows(restrictTo(within?.pairs?.rows ?? rows, txns))
    return describeViolation(found, partOf, this.deadline)
  }

  private certify(result: LevelResult): void {
    const deadline = this.deadline.toTheEnd()
    const certify = () => certifyMixed(this.recorded, result, deadline)
    Object.assign(result, withCertificate(result, certify))
  }
}

/** The order with the writers chosen; NONE for readers that take no part. */
export function asSolution({ pairs, txnCount }: Problem, found: Solution): MixedSolution {
  const { fixedCount, reader } = pairs!
  const takesPart = new Uint8Array(txnCount)
  for (const txn of found.order) takesPart[txn] = 1
  const choice = found
    .source!.slice(fixedCount)
    .map((source, open) => (takesPart[reader[fixedCount + open]!] ? source : NONE))
  return { order: Int32Array.from([0, ...found.order]), choice }
}

function proofOf(problem: MixedProblem, { order, choice }: MixedSolution): Proof {
  const { openCount, openRead, openKey, keyOf, readNode, readEvent, nodeCount, txnOf } = problem
  const isIn = new Uint8Array(nodeCount)
  for (const node of order) isIn[node] = 1
  const choices: Choice[] = []
  for (let conflict = 0; conflict < openCount; conflict++) {
    const read = openRead[conflict]!
    if (!isIn[readNode[read]!]) continue
    const txn = txnOf[choice[conflict]!]!
    choices.push({ event: readEvent[read]!, key: keyOf[openKey[conflict]!]!, txn })
  }
  const txns = order.filter((node) => node !== 0).map((node) => txnOf[node]!)
  return { kind: 'witness', order: txns, choices }
}
