// Verifies verdicts on registers, lists and lightweight transactions at one level for all: an order
// by replaying it (certify-order.ts, certify-snapshots.ts, certify-lin.ts), evidence edge by edge
// (certify-cycles.ts) or read by read (certify-reads.ts). Main function: certifyPlain.

import { Deadline } from '../base/deadline.ts'
import { BudgetExceeded } from '../base/errors.ts'
import { afterAsReads } from '../history/after-as-reads.ts'
import { type History, hasTimes, NONE } from '../history/history.ts'
import { withRealTime } from '../history/real-time.ts'
import { withoutSessionOrder } from '../history/sessionless.ts'
import { isAdyaLevel, type LevelId, takesTime, timedForm, WITHOUT_TIMES } from '../levels/levels.ts'
import { misnomer } from './anomaly-rules.ts'
import { type Certification, certifyBy } from './certification.ts'
import { Audits } from './certify-audits.ts'
import { certifyCounts } from './certify-counts.ts'
import { certifyCut } from './certify-cut.ts'
import { certifyCycle, certifyOrders } from './certify-cycles.ts'
import { certifyLinearOrder, findHeavyTxn } from './certify-lin.ts'
import { certifyCommitOrder } from './certify-order.ts'
import { certifyOffence, certifyUnrepeatable, findRows, isOffence } from './certify-reads.ts'
import { certifySnapshots } from './certify-snapshots.ts'
import { certifyStaleness, certifyStaleRead } from './certify-staleness.ts'
import { knowsSessions, LEVEL_RULES } from './level-rules.ts'
import { splitTxns } from './starting-state.ts'
import { type Anomaly, findTxns, type LevelResult, type Proof } from './verdict.ts'

export function certifyPlain(
  recorded: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): Certification {
  const timed = result.realTime && hasTimes(recorded)
  // With real time some levels are others, which have rules for it; else it is session order.
  const asked = (timed && timedForm(result.level)) || result.level
  const sessionless = result.sessionOrder === false || !knowsSessions(asked)
  // Since reads tell what they saw, only lightweight transactions have rules of their own at lin.
  const isHeavy = asked === 'lin' && (findHeavyTxn(recorded) !== NONE || recorded.versions !== null)
  const level = isHeavy ? 'sser' : asked
  const ordered = sessionless ? withoutSessionOrder(recorded) : recorded
  let history: History
  try {
    // Where the level has no rule for real time, it counts as session order.
    const isRuled = WITHOUT_TIMES[level] !== undefined
    history = timed && !isRuled ? withRealTime(ordered, 'all') : ordered
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    const problems = result.verdict === 'unknown' ? [] : [error.message]
    return { problems, kind: null, anomalies: result.anomalies }
  }
  // Who acknowledged what before an audit began is no matter of the level.
  const audits = Audits.of(result.sessionOrder === false ? history : recorded)
  return certifyBy(
    {
      scope: () => scopeProblem(history, result),
      proof(proof) {
        if (result.realTime && !timed && takesTime(result.level)) {
          return ['the history has no times']
        }
        const broken = findRows(history) ?? audits.findProblem()
        if (broken !== null) return [broken]
        return certifyProof(history, result, level, proof, deadline)
      },
      anomaly: (anomaly) => {
        const problems = certifyAnomaly(history, level, anomaly, audits, deadline)
        if (problems.length > 0 || level !== 'stale') return problems
        const replayed = asReplayed(history, level)
        return certifyStaleRead(history, replayed, anomaly.edges, result.bound)
      },
      counts: (anomalies) => certifyCounts(history, level, anomalies),
    },
    result,
    deadline,
  )
}

/** Orders are replayed with reads in the place of session order that goes beyond sessions. */
function asReplayed(history: History, level: LevelId): History {
  return history.after === null || level === 'lin' || !LEVEL_RULES[level].soundReads
    ? history
    : afterAsReads(history, level === 'ra').history
}

/** What keeps the verdict from meaning anything for the history. */
function scopeProblem(
  history: History,
  { level, realTime, bound, staleness, verdict }: LevelResult,
): string | null {
  if (level !== 'stale' && bound !== undefined) return `level ${level} has no bound`
  if (staleness !== undefined && (level !== 'stale' || verdict !== 'satisfied')) {
    return 'only where a bound holds is it said how stale reads are'
  }
  if (level === 'mixed' || history.sql !== null) return 'mixed levels have rules of their own'
  if (realTime && isAdyaLevel(level)) return `level ${level} knows no real time`
  return null
}

function certifyProof(
  recorded: History,
  result: LevelResult,
  level: LevelId,
  proof: Proof,
  deadline: Deadline,
): string[] {
  if (!LEVEL_RULES[level].proofs.has(proof.kind)) return [`${level} is not proved by ${proof.kind}`]
  const history = asReplayed(recorded, level)
  switch (proof.kind) {
    case 'none':
      return certifyCut(history)
    case 'commit-order':
      if (level === 'lin') return certifyLinearOrder(history, proof.order)
      return certifyOrder(history, recorded, result, level, proof.order, deadline)
    case 'snapshots':
      return certifySnapshots(history, level, proof.events, deadline)
    case 'witness':
      return ['only SQL histories have witnesses']
  }
}

function certifyOrder(
  history: History,
  recorded: History,
  result: LevelResult,
  level: LevelId,
  order: Int32Array,
  deadline: Deadline,
): string[] {
  const problems = certifyCommitOrder(history, level, order, deadline, recorded)
  if (problems.length > 0 || level !== 'stale') return problems
  return certifyStaleness(history, result, deadline)
}

export function certifyAnomaly(
  history: History,
  level: LevelId,
  anomaly: Anomaly,
  audits: Audits = Audits.of(history),
  deadline: Deadline = Deadline.none(),
): string[] {
  if (anomaly.cases.length > 0 && anomaly.edges.length > 0) return ['a cycle, or cases, not both']
  if (anomaly.cases.length > 0 || anomaly.edges.length > 0) {
    const problems =
      anomaly.cases.length > 0
        ? certifyOrders(history, level, anomaly.cases, deadline)
        : certifyCycle(history, level, anomaly.edges)
    return problems.length > 0 ? problems : certifyLabels(history, level, anomaly)
  }
  if (anomaly.name === 'NonRepeatableRead') return certifyUnrepeatable(history, level, anomaly)
  if (anomaly.name === 'LostCommit') return audits.certify(anomaly)
  if (isOffence(anomaly.name)) return certifyOffence(history, level, anomaly)
  return [`${anomaly.name} comes without evidence`]
}

/** The name and the list of transactions that go with a cycle or a case split. */
function certifyLabels(history: History, level: LevelId, anomaly: Anomaly): string[] {
  const { edges, cases, txns, earlier, name } = anomaly
  const problems: string[] = []
  const expected = LEVEL_RULES[level].argued
    ? splitTxns(history, edges, cases)
    : { txns: findTxns(edges, cases), earlier: [] }
  if (!areSame(txns, expected.txns) || !areSame(earlier, expected.earlier)) {
    problems.push(`${name} names other transactions than its evidence`)
  }
  const wrong = misnomer(history, name, edges, cases)
  if (wrong !== null) problems.push(wrong)
  return problems
}

/** Whether a list has these members, each once, in any order; `members` ascends. */
function areSame(list: readonly number[], members: readonly number[]): boolean {
  return list.toSorted((a, b) => a - b).join() === members.join()
}
