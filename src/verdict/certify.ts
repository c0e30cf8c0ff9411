// Verifies verdicts, independently of whatever decided them: a satisfied level by replaying its
// order (certify-order.ts, certify-snapshots.ts), a violated one by going through its evidence edge
// by edge (certify-cycles.ts) or read by read (certify-reads.ts). Calls no decider and imports
// nothing of check/. Returns problems in words, an empty list if the verdict stands. Main function:
// certifyResult.

import { Deadline } from '../base/deadline.ts'
import { afterAsReads } from '../history/after-as-reads.ts'
import { type History, NONE } from '../history/history.ts'
import { withoutSessionOrder } from '../history/sessionless.ts'
import type { LevelId } from '../levels/levels.ts'
import { Audits } from './certify-audits.ts'
import { certifyCut } from './certify-cut.ts'
import { certifyCycle, certifyOrders } from './certify-cycles.ts'
import { certifyLinearOrder, findHeavyTxn } from './certify-lin.ts'
import { certifyCommitOrder } from './certify-order.ts'
import { certifyOffence, certifyUnrepeatable, findRows, isOffence } from './certify-reads.ts'
import { certifySnapshots } from './certify-snapshots.ts'
import { classifyCycle } from './classify.ts'
import { knowsSessions, LEVEL_RULES } from './level-rules.ts'
import { splitTxns } from './starting-state.ts'
import { type Anomaly, type CertificateKind, findTxns, type LevelResult } from './verdict.ts'

/** Checks the evidence of a result and notes the outcome in its `certificate`. */
export function certifyResult(
  recorded: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): string[] {
  if (result.verdict === 'unknown') return []
  const sessionless = result.sessionOrder === false || !knowsSessions(result.level)
  const history = sessionless ? withoutSessionOrder(recorded) : recorded
  // Who acknowledged what before an audit began is no matter of the level.
  const audits = Audits.of(result.sessionOrder === false ? history : recorded)
  const problem = scopeProblem(history, result)
  const problems =
    problem !== null
      ? [problem]
      : result.verdict === 'satisfied'
        ? certifySatisfied(asReplayed(history, result.level), result, audits, deadline)
        : certifyViolated(history, result, audits, deadline)
  result.certificate = { kind: certificateKind(result), verified: problems.length === 0 }
  return problems
}

/** Orders are replayed with reads in the place of session order that goes beyond sessions. */
function asReplayed(history: History, level: LevelId): History {
  return history.after === null || level === 'lin'
    ? history
    : afterAsReads(history, level === 'ra').history
}

/** What keeps the verdict from meaning anything for the history. */
function scopeProblem(history: History, { level, verdict, proof, anomalies }: LevelResult) {
  if (level === 'mixed' || history.sql !== null) return 'mixed levels have rules of their own'
  if (level === 'lin') {
    const heavy = findHeavyTxn(history)
    if (heavy !== NONE) return `transaction ${heavy} is not a lightweight operation`
  }
  if (verdict === 'satisfied' && anomalies.length > 0) return 'a satisfied level has no anomaly'
  return verdict === 'violated' && proof !== null ? 'a violated level has no proof' : null
}

function certifySatisfied(
  history: History,
  result: LevelResult,
  audits: Audits,
  deadline: Deadline,
): string[] {
  const { proof, level } = result
  const broken = findRows(history) ?? audits.findProblem()
  if (broken !== null) return [broken]
  if (proof === null) return ['a satisfied level comes without a proof']
  if (!LEVEL_RULES[level].proofs.has(proof.kind)) return [`${level} is not proved by ${proof.kind}`]
  switch (proof.kind) {
    case 'none':
      return certifyCut(history)
    case 'commit-order':
      if (level === 'lin') return certifyLinearOrder(history, proof.order)
      return certifyCommitOrder(history, level, proof.order, deadline)
    case 'snapshots':
      return certifySnapshots(history, level, proof.events, deadline)
    case 'witness':
      return ['only SQL histories have witnesses']
  }
}

function certifyViolated(
  history: History,
  result: LevelResult,
  audits: Audits,
  deadline: Deadline,
): string[] {
  if (result.anomalies.length === 0) return ['a violated level comes without an anomaly']
  const problems: string[] = []
  for (const [i, anomaly] of result.anomalies.entries()) {
    // One anomaly proves the verdict; what there is no time to verify is not told.
    if (i > 0 && deadline.hasRunOut()) {
      result.anomalies = result.anomalies.slice(0, i)
      break
    }
    problems.push(...certifyAnomaly(history, result.level, anomaly, audits, deadline))
  }
  return problems
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

/** The name, the count and the list of transactions that go with a cycle or a case split. */
function certifyLabels(history: History, level: LevelId, anomaly: Anomaly): string[] {
  const { edges, cases, txns, earlier, name, count } = anomaly
  const problems: string[] = []
  if (!(count >= 1)) problems.push(`${name} occurs ${count} times`)
  const expected = LEVEL_RULES[level].argued
    ? splitTxns(history, edges, cases)
    : { txns: findTxns(edges, cases), earlier: [] }
  if (!areSame(txns, expected.txns) || !areSame(earlier, expected.earlier)) {
    problems.push(`${name} names other transactions than its evidence`)
  }
  const isCycle = cases.length === 0 && !edges.some((edge) => edge.kind === 'CO')
  if (isCycle && LEVEL_RULES[level].argued && classifyCycle(history, edges) !== name) {
    problems.push(`the cycle is ${classifyCycle(history, edges)}, not ${name}`)
  }
  return problems
}

/** Whether a list has these members, each once, in any order; `members` ascends. */
function areSame(list: readonly number[], members: readonly number[]): boolean {
  return list.toSorted((a, b) => a - b).join() === members.join()
}

function certificateKind(result: LevelResult): CertificateKind {
  if (result.verdict === 'satisfied') {
    return !result.proof || result.proof.kind === 'none' ? 'reads' : result.proof.kind
  }
  if (result.anomalies.some((anomaly) => anomaly.cases.length > 0)) return 'cases'
  return result.anomalies.some((anomaly) => anomaly.edges.length > 0) ? 'cycle' : 'reads'
}
