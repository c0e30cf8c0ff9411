// Verifies verdicts on histories in which every transaction is judged at a level of its own, those
// of SQL statements among them. A satisfied one is replayed (certify-witness.ts). A violated one is
// gone through edge by edge and case by case, as in certify-cycles.ts, with rules that depend on
// the level of the transaction that an edge speaks of:
//
//   WR  what a statement returned or touched; or, for a row it passed over, the version it saw
//       instead: one assumed by the case, or the only one that fails its predicate
//   CO  who was visible to a reader whatever the order, and wrote another version of what it read,
//       commits before the writer of the version that it read
//   RW  for a reader at pc, si, ser: it precedes whoever replaced what it read
//
// A step that assumes a read from an indeterminate transaction assumes that it took effect; else it
// is left out, which only takes obligations away. Main function: certifyMixed.

import { Deadline } from '../base/deadline.ts'
import { withRolledBack } from '../history/counts.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  hasLists,
  INITIAL,
  NONE,
  READ_LIST,
} from '../history/history.ts'
import { LEVELS, type LevelId, OWN_LEVELS, STATEMENT_LEVELS } from '../levels/levels.ts'
import { misnomer } from './anomaly-rules.ts'
import { type Certification, certifyBy } from './certification.ts'
import { Audits } from './certify-audits.ts'
import { certifyCases } from './certify-cases.ts'
import { foreignAbsenceProblem, ruleProblem } from './certify-mixed-edges.ts'
import { certifyOffence as certifyReads, isWrite } from './certify-reads.ts'
import { chainProblem, type LevelOf } from './certify-shape.ts'
import { certifyWitness } from './certify-witness.ts'
import { cycleProblems, type Rule, type Scope } from './prove-edges.ts'
import { SqlRows } from './sql-rows.ts'
import {
  type Anomaly,
  type Case,
  type Edge,
  findTxns,
  INITIAL_TXN,
  type LevelResult,
} from './verdict.ts'

const MAX_PROBLEMS = 5

export function certifyMixed(
  recorded: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): Certification {
  const history = result.abortedReads === 'ignore' ? recorded : withRolledBack(recorded)
  const rows = new SqlRows(history, deadline)
  const { level } = result
  // Evidence may name anybody: who has no level is refused where it is asked who counts.
  const levelOf: LevelOf = (txn) =>
    level === 'mixed' ? (recordedLevel(history, txn) ?? 'rc') : level
  return certifyBy(
    {
      scope: () => scopeProblem(history, result),
      proof: (proof) =>
        proof.kind === 'witness'
          ? certifyWitness(rows, levelOf, proof.order, proof.choices)
          : ['it takes a witness to satisfy these levels'],
      anomaly: (anomaly) => certifyAnomaly(rows, levelOf, anomaly),
      counts: (anomalies) => certifyCounts(history, anomalies),
    },
    result,
    deadline,
  )
}

/** Counts that cannot be: how often statements offend and readers miss rows is not counted. */
function certifyCounts({ opCount, keyCount, sql }: History, anomalies: readonly Anomaly[]) {
  const most = opCount + keyCount * (sql?.eventCount ?? 0)
  const wrong = anomalies.filter(({ count }) => !(count >= 1 && count <= most))
  return wrong.map(({ name, count }) => `${name} cannot occur ${count} times`)
}

/** What puts the result beyond the rules that are known here. */
function scopeProblem(history: History, result: LevelResult): string | null {
  const { level, sessionOrder, realTime } = result
  if (sessionOrder === false) return 'these levels are verified with session order only'
  if (realTime) return 'these levels are verified without real time'
  if (history.sql !== null && hasLists(history)) return 'lists beside SQL are beyond these rules'
  if (history.versions !== null) return 'versions are beyond these rules'
  if (level !== 'mixed') {
    const isKnown = STATEMENT_LEVELS.includes(level)
    return isKnown ? null : `transactions cannot be judged at ${level} here`
  }
  for (let txn = 0; txn < history.txnCount; txn++) {
    const id = recordedLevel(history, txn)
    const isJudged = id !== null && OWN_LEVELS.includes(id)
    const isOut = history.txnStatus[txn] === ABORTED && !history.txnCounts[txn]
    if (!isOut && !history.txnIsInitial[txn] && !isJudged) {
      return `${txn} ran at no level that can be judged`
    }
  }
  return null
}

/** The level that the transaction ran at; of the initial one none is ever asked for. */
function recordedLevel(history: History, txn: number): LevelId | null {
  if (txn === INITIAL_TXN) return 'ser'
  return LEVELS[history.txnLevel?.[txn] ?? NONE]?.id ?? null
}

function certifyAnomaly(rows: SqlRows, levelOf: LevelOf, anomaly: Anomaly): string[] {
  const { edges, cases, txns, name } = anomaly
  if (edges.length === 0 && cases.length === 0) return certifyOffence(rows, anomaly)
  if (edges.length > 0 && cases.length > 0) return ['a cycle, or cases, not both']
  const problems =
    cases.length > 0 ? certifySteps(rows, levelOf, cases) : certifyCycle(rows, levelOf, edges)
  const named = [...new Set(txns)].sort((a, b) => a - b)
  if (named.length !== txns.length || named.join() !== findTxns(edges, cases).join()) {
    problems.push(`${name} names other transactions than its evidence`)
  }
  const wrong = problems.length === 0 ? misnomer(rows.history, name, edges, cases) : null
  return wrong === null ? problems.slice(0, MAX_PROBLEMS) : [wrong]
}

function certifyOffence(rows: SqlRows, anomaly: Anomaly): string[] {
  const { name, ops, absence } = anomaly
  const { history, sql } = rows
  const isList = history.opKind[ops[0] ?? NONE] === READ_LIST
  if (isList && !absence && name !== 'LostCommit') return certifyReads(history, 'mixed', anomaly)
  const reader = absence ? sql.eventTxn[absence.event] : history.opTxn[ops[0] ?? NONE]
  if (reader === undefined || !history.txnCounts[reader]) return [`${name}: no reader that counts`]
  if (absence) {
    const problem = rows.absenceProblem(reader, absence.event, absence.key)
    if (problem !== null) return [`${name}: ${problem}`]
  } else if (isWrite(history, ops[0]!)) {
    return [`${name}: operation ${ops[0]} is not a read`]
  }
  const found = absence ? rows.absenceOffence(absence.event, absence.key) : rows.offenceOf(ops[0]!)
  if (found !== name) return [`the read is ${found ?? 'sound'}, not ${name}`]
  if (name !== 'LostCommit' || !absence) {
    return name === 'LostCommit' ? Audits.of(history).certify(anomaly) : []
  }
  const isLost = rows.findLost(absence.event, absence.key).includes(ops[0] ?? NONE)
  return isLost ? [] : [`statement ${absence.event} does not miss write ${ops[0]}`]
}

/** What is wrong with a cycle under assumptions. */
function certifyCycle(
  rows: SqlRows,
  levelOf: LevelOf,
  cycle: readonly Edge[],
  assumptions: readonly Edge[] = [],
): string[] {
  const { history } = rows
  const rule: Rule = (edge, scope, need) => {
    const counts = countingUnder(rows, scope)
    const problem = ruleProblem({ rows, levelOf, scope, counts }, edge)
    if (problem === null) need(edge.premises, edge.refutes ? scope.withOpposite(edge) : scope)
    return problem
  }
  return cycleProblems(rule, chainProblem(history, levelOf, cycle, null), cycle, assumptions)
}

/** Whether a transaction took effect, under what is assumed. */
function countingUnder(rows: SqlRows, scope: Scope): (txn: number) => boolean {
  const { history } = rows
  let counting: Set<number> | null = null
  return (txn) => {
    if (txn === INITIAL_TXN) return true
    if (!(txn >= 0 && txn < history.txnCount)) return false
    if (history.txnCounts[txn]) return true
    counting ??= withWhatTheyRead(history, scope)
    return isOptional(rows, txn) && counting.has(txn)
  }
}

/** Those that took effect by some assumption, and all that they read from, directly or not. */
function withWhatTheyRead(history: History, scope: Scope): Set<number> {
  const txns = new Set<number>()
  for (const { kind, from, to } of scope.assumptions()) if (kind === 'WR') txns.add(from).add(to)
  for (const txn of txns) for (const source of sourcesOf(history, txn)) txns.add(source)
  return txns
}

/** Those that a transaction read from. */
function sourcesOf(history: History, txn: number): number[] {
  const { txnOpStart, readTxn, readFrom } = history
  const sources: number[] = []
  for (let op = txnOpStart[txn] ?? 0; op < (txnOpStart[txn + 1] ?? 0); op++) {
    if (readFrom[op]! !== NONE && readFrom[op]! !== INITIAL) sources.push(readTxn[op]!)
  }
  return sources
}

/** An argument by cases: orders of writers, versions passed over, outcomes that are not known. */
function certifySteps(rows: SqlRows, levelOf: LevelOf, cases: readonly Case[]): string[] {
  const { history } = rows
  const { txnCount, keyCount } = history
  const mayCount = (txn: number) =>
    txn >= 0 && txn < txnCount && (history.txnCounts[txn] === 1 || isOptional(rows, txn))
  return certifyCases(
    cases,
    {
      txnCount,
      keyCount,
      assumptionProblem: (assumption) => assumptionProblem(rows, assumption, mayCount),
      cycleProblems: (cycle, assumptions) => certifyCycle(rows, levelOf, cycle, assumptions),
      candidates: (event, key) => rows.candidates(event, key),
      counts: (txn) => history.txnCounts[txn] === 1,
      sources: (txn) => sourcesOf(history, txn),
    },
    rows.deadline,
  )
}

/** Whether nobody knows if the transaction took effect, and nothing says that it cannot have. */
function isOptional(rows: SqlRows, txn: number): boolean {
  const { txnCounts, txnStatus } = rows.history
  return txnCounts[txn] !== 1 && txnStatus[txn] !== COMMITTED && rows.mayCount(txn)
}

function assumptionProblem(
  rows: SqlRows,
  edge: Edge,
  mayCount: (txn: number) => boolean,
): string | null {
  const { kind, from, to, event, key } = edge
  if (!edge.assumed || edge.premises.length > 0) return 'a case assumes something, without reasons'
  if (!mayCount(to)) return `${to} cannot have taken effect`
  if (kind === 'WR') {
    const problem = foreignAbsenceProblem(rows, edge)
    if (problem !== null) return problem
    const isCandidate = rows.candidates(event!, key).includes(from)
    return isCandidate ? null : 'a case invents a version'
  }
  if (kind !== 'WW') return `${kind} is not assumed`
  if (from === INITIAL_TXN) return 'the initial state comes first'
  if (from === to || !mayCount(from)) return 'a case is about two transactions'
  const missing = [from, to].some((txn) => rows.lastWrite(txn, key) === NONE)
  return missing ? 'a case is about a key that both write' : null
}
