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
// A case that assumes a read from an indeterminate transaction assumes that it took effect; without
// such an assumption it is left out, which only takes obligations away. Main function:
// certifyMixed.

import { Deadline } from '../base/deadline.ts'
import { withRolledBack } from '../history/counts.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  hasLists,
  INITIAL,
  NONE,
  WRITE,
} from '../history/history.ts'
import { LEVELS, type LevelId, OWN_LEVELS } from '../levels/levels.ts'
import { Audits } from './certify-audits.ts'
import {
  foreignAbsenceProblem,
  type MixedContext,
  mixedPathProblem,
  ruleProblem,
} from './certify-mixed-edges.ts'
import { certifyWitness, type LevelOf } from './certify-witness.ts'
import { EdgeProver, ProofScope } from './prove-edges.ts'
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

/** Checks the evidence of a result and notes the outcome in its `certificate`. */
export function certifyMixed(
  recorded: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): string[] {
  if (result.verdict === 'unknown') return []
  const history = result.abortedReads === 'ignore' ? recorded : withRolledBack(recorded)
  const problem = scopeProblem(history, result)
  if (problem !== null) return [problem]
  const rows = new SqlRows(history, deadline)
  const { level, proof, anomalies } = result
  const levelOf: LevelOf = (txn) => (level === 'mixed' ? recordedLevel(history, txn)! : level)
  let problems: string[]
  if (result.verdict === 'satisfied') {
    problems =
      proof?.kind === 'witness'
        ? certifyWitness(rows, levelOf, proof.order, proof.choices)
        : ['a satisfied level comes without a witness']
    result.certificate = { kind: 'witness', verified: problems.length === 0 }
    return problems
  }
  problems = anomalies.length === 0 ? ['a violated level comes without an anomaly'] : []
  for (const anomaly of anomalies) problems.push(...certifyAnomaly(rows, levelOf, anomaly))
  const isCases = anomalies.some(({ cases }) => cases.length > 0)
  const isCycle = anomalies.some(({ edges }) => edges.length > 0)
  const kind = isCases ? 'cases' : isCycle ? 'cycle' : 'reads'
  result.certificate = { kind, verified: problems.length === 0 }
  return problems
}

/** What puts the result beyond the rules that are known here. */
function scopeProblem(history: History, { level, sessionOrder }: LevelResult): string | null {
  if (sessionOrder === false) return 'these levels are verified with session order only'
  if (hasLists(history)) return 'lists are beyond these rules'
  if (level !== 'mixed') {
    return OWN_LEVELS.includes(level) ? null : `transactions cannot be judged at ${level} here`
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
  const argument = new MixedArgument(rows, levelOf)
  const scope = new Scope(null, null)
  if (edges.length > 0) argument.cycle(edges, scope)
  else argument.cases(cases, scope)
  const named = [...new Set(txns)].sort((a, b) => a - b)
  if (named.length !== txns.length || named.join() !== findTxns(edges, cases).join()) {
    argument.problems.push(`${name} names other transactions than its evidence`)
  }
  return argument.problems.slice(0, MAX_PROBLEMS)
}

function certifyOffence(rows: SqlRows, anomaly: Anomaly): string[] {
  const { name, ops, absence } = anomaly
  const { history, sql } = rows
  const reader = absence ? sql.eventTxn[absence.event] : history.opTxn[ops[0] ?? NONE]
  if (reader === undefined || !history.txnCounts[reader]) return [`${name}: no reader that counts`]
  if (absence) {
    const problem = rows.absenceProblem(reader, absence.event, absence.key)
    if (problem !== null) return [`${name}: ${problem}`]
  } else if (history.opKind[ops[0]!] === WRITE) {
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

/** What is assumed at some point of the argument, and what was proved there. */
class Scope extends ProofScope<Scope> {
  constructor(
    parent: Scope | null,
    private readonly assumption: Edge | null,
  ) {
    super(parent)
  }

  private find(fits: (edge: Edge) => boolean): boolean {
    for (let at: Scope | null = this; at !== null; at = at.parent) {
      if (at.assumption && fits(at.assumption)) return true
    }
    return false
  }

  assumesOrder(from: number, to: number): boolean {
    return this.find((edge) => edge.kind === 'WW' && edge.from === from && edge.to === to)
  }

  assumesRead(event: number, key: number, from: number): boolean {
    return this.find(
      (edge) =>
        edge.kind === 'WR' && edge.event === event && edge.key === key && edge.from === from,
    )
  }

  /** Transactions that some assumption reads from. */
  readFrom(): Set<number> {
    const found = new Set<number>()
    this.find((edge) => {
      if (edge.kind === 'WR') found.add(edge.from)
      return false
    })
    return found
  }
}

class MixedArgument extends EdgeProver<Scope> {
  constructor(
    private readonly rows: SqlRows,
    private readonly levelOf: LevelOf,
  ) {
    super((edge, scope, need) => {
      const problem = ruleProblem(this.contextOf(scope), edge)
      if (problem === null) need(edge.premises, scope)
      return problem
    })
  }

  cases(cases: readonly Case[], outer: Scope): void {
    const pending = [{ cases, scope: outer }]
    while (pending.length > 0 && this.problems.length < MAX_PROBLEMS) {
      const { cases, scope } = pending.pop()!
      const problem = this.splitProblem(cases, scope)
      if (problem !== null) {
        this.problems.push(problem)
        continue
      }
      for (const { assumption, cycle, cases: further } of cases) {
        const inside = new Scope(scope, assumption)
        if (cycle.length > 0 && further.length > 0) this.problems.push('a case ends twice')
        else if (further.length > 0) pending.push({ cases: further, scope: inside })
        else this.cycle(cycle, inside)
      }
    }
  }

  /** The two orders of two writers of a key, or every version that a statement may have seen. */
  private splitProblem(cases: readonly Case[], scope: Scope): string | null {
    const assumptions = cases.map(({ assumption }) => assumption)
    const [a, b] = assumptions
    if (!a || assumptions.some((edge) => !edge.assumed || edge.premises.length > 0)) {
      return 'a case assumes something, without reasons'
    }
    const context = this.contextOf(scope)
    if (a.kind === 'WR') {
      const { event, key, to } = a
      const isSame = (e: Edge) =>
        e.kind === 'WR' && e.event === event && e.key === key && e.to === to
      if (event === undefined || !assumptions.every(isSame)) {
        return 'the cases are about different rows'
      }
      if (!context.counts(to)) return 'the reader does not count'
      const problem = foreignAbsenceProblem(this.rows, a)
      if (problem !== null) return problem
      const named = assumptions.map((edge) => edge.from).sort((x, y) => x - y)
      const candidates = this.rows.candidates(event, key).sort((x, y) => x - y)
      if (named.join() !== candidates.join()) return 'the cases leave out a version, or invent one'
      return assumptions.some((edge) => scope.assumesRead(event, key, edge.from))
        ? 'a row is split twice'
        : null
    }
    if (a.kind !== 'WW' || !b || cases.length !== 2) return 'a split has two cases'
    if (b.kind !== 'WW' || a.from !== b.to || a.to !== b.from) return 'they are not opposites'
    if (!context.counts(a.from) || !context.counts(a.to)) return 'the ends of a case do not count'
    if (a.from === INITIAL_TXN || a.to === INITIAL_TXN) return 'the initial state comes first'
    for (const { from, to, key } of [a, b]) {
      const missing = [from, to].some((txn) => this.rows.lastWrite(txn, key) === NONE)
      if (missing) return 'a case is about a key that both write'
    }
    const settled = scope.assumesOrder(a.from, a.to) || scope.assumesOrder(b.from, b.to)
    return settled ? 'a pair is split twice' : null
  }

  cycle(edges: readonly Edge[], scope: Scope): void {
    const problem = mixedPathProblem(this.contextOf(scope), edges, null)
    if (problem !== null) this.problems.push(problem)
    this.prove(edges, scope)
  }

  private contextOf(scope: Scope): MixedContext {
    const { rows, levelOf } = this
    const { history } = rows
    let counting: Set<number> | null = null
    return {
      rows,
      levelOf,
      counts: (txn) => {
        if (txn === INITIAL_TXN) return true
        if (!(txn >= 0 && txn < history.txnCount)) return false
        if (history.txnCounts[txn]) return true
        if (history.txnStatus[txn] === COMMITTED || !rows.mayCount(txn)) return false
        counting ??= withWhatTheyRead(history, scope.readFrom())
        return counting.has(txn)
      },
      assumesOrder: (from, to) => scope.assumesOrder(from, to),
      assumesRead: (event, key, from) => scope.assumesRead(event, key, from),
    }
  }
}

/** The transactions and all that they read from, directly or not. */
function withWhatTheyRead(history: History, txns: Set<number>): Set<number> {
  const { txnOpStart, readTxn, readFrom } = history
  for (const txn of txns) {
    if (txn < 0) continue
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (readFrom[op]! !== NONE && readFrom[op]! !== INITIAL) txns.add(readTxn[op]!)
    }
  }
  return txns
}
