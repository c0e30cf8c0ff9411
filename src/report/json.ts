// The verdict as JSON, one object a history, documented and versioned in docs/verdict-format.md. It
// holds everything a report needs: names instead of numbers, the transactions involved in full, and
// a sentence for every edge. Integers beyond 2^53 are written as JSON numbers with all their
// digits.

import { Deadline } from '../base/deadline.ts'
import { inertLines } from '../base/inert.ts'
import { afterAmong } from '../history/after-as-reads.ts'
import {
  APPEND,
  type History,
  INDETERMINATE,
  INITIAL,
  listOf,
  listsOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  STATUS_NAMES,
  WRITE,
} from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { LEVELS, type LevelId } from '../levels/levels.ts'
import { adyaNames } from '../verdict/adya.ts'
import {
  type Anomaly,
  type Case,
  type Edge,
  findEdges,
  INITIAL_TXN,
  type LevelResult,
  positionOf,
} from '../verdict/verdict.ts'
import { describePassed, describeStatements, describeTables, findDeleted } from './sql-json.ts'
import { countHistory, summarise } from './summary.ts'
import { timeToTell } from './told.ts'
import {
  type AnomalyJson,
  type CaseJson,
  type EdgeJson,
  JSON_VERSION,
  type OpJson,
  type PassedJson,
  type PlaceJson,
  type ResultJson,
  type RunJson,
  type TxnJson,
  type VerdictJson,
} from './verdict-json.ts'
import { describeWitness } from './witness.ts'
import { because, headCase, tellOffence } from './words.ts'

/** Elements of a list whose writers belong to an example. */
const MAX_WRITERS = 16

export interface JsonContext {
  path: string
  format: string
  parseMs: number
  /** The levels asked for; null if the question was which levels hold. */
  asked?: readonly LevelId[] | null
  /** The command that gives this verdict again, without secrets. */
  command?: string | null
  /** The run that made the history. */
  run?: RunJson
  /** Name every row that a satisfied verdict on SQL statements rests on. */
  all?: boolean
  /** When it runs out, the last anomaly told of each kind counts those that are not. */
  deadline?: Deadline
}

export function renderJson(
  history: History,
  results: readonly LevelResult[],
  context: JsonContext,
): string {
  return stringify(describeVerdict(history, results, context))
}

/** The verdict as data: what `renderJson` writes, and what every report is made of. */
export function describeVerdict(
  history: History,
  results: readonly LevelResult[],
  context: JsonContext,
): VerdictJson {
  return {
    isobar: JSON_VERSION,
    path: context.path,
    format: context.format,
    asked: context.asked ? [...context.asked] : null,
    command: context.command ?? null,
    history: countHistory(history),
    initial: history.initial === undefined ? false : history.initial,
    warnings: [...history.warnings],
    results: results.map((result) => describeResult(history, result, context)),
    ...summarise(results),
    ...(context.run ? { run: context.run } : {}),
  }
}

/** An input that could not be read. */
export function renderJsonError(
  path: string,
  error: {
    code: string
    message: string
    line: number | null
    column: number | null
    hint: string | null
  },
): string {
  return stringify({ isobar: JSON_VERSION, path, error: { ...error } })
}

function describeResult(history: History, result: LevelResult, context: JsonContext): ResultJson {
  const stages: Record<string, number> = { parse: round(context.parseMs) }
  for (const [name, ms] of Object.entries(result.stages)) stages[name] = round(ms)
  const witness = describeWitness(history, result, context.all === true)
  return {
    level: result.level,
    ...(result.sessionOrder === false ? { sessionOrder: false as const } : {}),
    ...(result.abortedReads ? { abortedReads: result.abortedReads } : {}),
    verdict: result.verdict,
    reason: result.reason,
    impliedBy: result.impliedBy,
    algorithm: result.algorithm,
    elapsedMs: round(result.elapsedMs),
    stages,
    position: positionOf(result),
    anomalies: describeAnomalies(history, result.anomalies, context.deadline),
    certificate: result.certificate ? { ...result.certificate } : null,
    ...(witness ? { witness } : {}),
  }
}

export function describeAnomalies(
  history: History,
  anomalies: readonly Anomaly[],
  deadline: Deadline = Deadline.none(),
): AnomalyJson[] {
  const isTold = timeToTell(deadline)
  const lastOf = new Map<string, AnomalyJson>() // name -> the last one told
  const all: AnomalyJson[] = []
  for (const anomaly of anomalies) {
    if (!isTold(anomaly)) {
      lastOf.get(anomaly.name)!.count += anomaly.count
      continue
    }
    const described = new AnomalyDescriber(history, anomaly).describe()
    lastOf.set(anomaly.name, described)
    all.push(described)
  }
  return all
}

class AnomalyDescriber {
  /** Every transaction that the example names, those of its operations too, in input order. */
  private readonly txns: number[]
  private readonly earlier: ReadonlySet<number>
  private readonly after: ReadonlyMap<number, readonly number[]>

  constructor(
    private readonly history: History,
    private readonly anomaly: Anomaly,
  ) {
    const found = new Set(anomaly.txns)
    for (const op of findOps(anomaly)) found.add(history.opTxn[op]!)
    for (const op of anomaly.ops) for (const write of findWrites(history, op)) found.add(write)
    if (history.sql) for (const txn of findDeleted(history, found, this.keys())) found.add(txn)
    this.txns = [...found].sort((a, b) => a - b)
    this.earlier = new Set(anomaly.earlier)
    this.after = afterAmong(history, this.txns)
  }

  describe(): AnomalyJson {
    const { history, anomaly } = this
    const kind = findAnomaly(anomaly.name)
    return {
      name: anomaly.name,
      tap: kind?.tap ?? null,
      adya: adyaNames(history, anomaly)[0] ?? null,
      meaning: kind?.meaning ?? null,
      count: anomaly.count,
      transactions: anomaly.txns.map((txn) => this.name(txn)),
      story: tellOffence(history, anomaly),
      ops: anomaly.ops.map((op) => this.place(op)),
      core: this.txns.map((txn) => this.txn(txn)),
      edges: anomaly.edges.map((edge) => this.edge(edge)),
      cases: anomaly.cases.map((branch) => this.case(branch)),
      ...this.sqlParts(),
    }
  }

  /** The tables, and the row that should have been returned. */
  private sqlParts(): Pick<AnomalyJson, 'tables' | 'absence'> {
    const { history, anomaly } = this
    if (history.sql === null) return {}
    const { absence } = anomaly
    const tables = describeTables(history, history.sql, this.txns, this.keys())
    if (!absence) return { tables }
    const write = anomaly.ops[0] ?? INITIAL
    return { tables, absence: this.passed(absence.event, absence.key, write) }
  }

  /** The keys that the evidence speaks of. */
  private keys(): Set<number> {
    const { absence, edges, cases, ops } = this.anomaly
    const keys = new Set(ops.map((op) => this.history.opKey[op]!))
    for (const { key } of findEdges(edges, cases)) keys.add(key)
    if (absence) keys.add(absence.key)
    keys.delete(NONE)
    return keys
  }

  private passed(event: number, key: number, write: number): PassedJson {
    const reader = this.history.sql!.eventTxn[event]!
    return describePassed(this.history, event, key, write, this.name(reader))
  }

  private txn(txn: number): TxnJson {
    const described = describeTxn(this.history, txn, this.name(txn))
    const after = this.after.get(txn)
    if (after) described.after = after.map((other) => this.name(other))
    return this.earlier.has(txn) ? { ...described, earlier: true } : described
  }

  private name(txn: number): string {
    return this.history.txnName(txn)
  }

  private case(branch: Case): CaseJson {
    return {
      heading: headCase(this.history, branch),
      assumptions: branch.assumptions.map((edge) => this.edge(edge)),
      cycle: branch.cycle.map((edge) => this.edge(edge)),
    }
  }

  private edge(edge: Edge): EdgeJson {
    const name = (txn: number) => (txn === INITIAL_TXN ? null : this.name(txn))
    const described: EdgeJson = {
      from: name(edge.from),
      to: name(edge.to),
      kind: edge.kind,
      key: edge.key === NONE ? null : this.history.keyName(edge.key),
      ops: edge.ops.filter((op) => op !== NONE).map((op) => this.place(op)),
      because: because(this.history, edge),
      premises: edge.premises.map((premise) => this.edge(premise)),
    }
    if (edge.refutes) described.refutes = true
    if (edge.assumed) described.assumed = true
    if (edge.event !== undefined) {
      described.passed = this.passed(edge.event, edge.key, edge.ops[0] ?? INITIAL)
    }
    return described
  }

  /** An operation by its transaction, its position in it, and what it is. */
  private place(op: number): PlaceJson {
    const { history } = this
    const txn = history.opTxn[op]!
    return {
      transaction: this.name(txn),
      index: op - history.txnOpStart[txn]!,
      op: describeOp(history, op),
    }
  }
}

/** The transactions that wrote what a read returned; of a long list none, it has too many. */
function findWrites(history: History, op: number): number[] {
  const writes: number[] = []
  if (history.opKind[op] === READ) writes.push(history.readFrom[op]!)
  for (const list of Array.from(listsOf(history, op))) {
    const [from, to] = [history.listStart[list]!, history.listStart[list + 1]!]
    if (to - from <= MAX_WRITERS) writes.push(...history.listFrom.subarray(from, to))
  }
  return writes.filter((write) => write >= 0).map((write) => history.opTxn[write]!)
}

/** Every operation that the evidence names, down to its last premise. */
function findOps(anomaly: Anomaly): Set<number> {
  const ops = new Set(anomaly.ops)
  for (const edge of findEdges(anomaly.edges, anomaly.cases)) for (const op of edge.ops) ops.add(op)
  ops.delete(NONE)
  return ops
}

/** A transaction as a line of the native format has it, but always with a name. */
export function describeTxn(
  history: History,
  txn: number,
  name: string = history.txnName(txn),
): TxnJson {
  const described: TxnJson = {
    session: history.sessionLabel(history.txnSession[txn]!),
    id: name,
    status: STATUS_NAMES[history.txnStatus[txn]!]!,
    ops: [],
  }
  const start = history.txnStartTime?.[txn] ?? Number.NaN
  const finish = history.txnFinishTime?.[txn] ?? Number.NaN
  if (!Number.isNaN(start)) described.start = start
  if (!Number.isNaN(finish)) described.finish = finish
  if (history.txnStatus[txn] === INDETERMINATE && history.txnCounts[txn]) described.observed = true
  if (history.sql?.txnRolledBack[txn]) described.rolledBack = true
  const level = history.txnLevel?.[txn] ?? NONE
  if (level !== NONE) described.level = LEVELS[level]!.id
  if (history.txnAudit?.[txn]) described.audit = true
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    described.ops.push(describeOp(history, op))
  }
  if (history.sql) described.statements = describeStatements(history, history.sql, txn)
  return described
}

function describeOp(history: History, op: number): OpJson {
  const key: Value = history.keyName(history.opKey[op]!)
  if (history.opKind[op] === READ_LIST) return ['r', key, listOf(history, op)]
  if (history.opKind[op] === READ_ROWS) return ['rows', key, rowsOf(history, op)]
  const verb = history.opKind[op] === WRITE ? 'w' : history.opKind[op] === APPEND ? 'append' : 'r'
  return [verb, key, history.valueOf(op)]
}

/** A verdict, or a list of them, as JSON in pieces: a string cannot hold any amount of evidence. */
export function* stringifyPieces(value: unknown, depth = 5): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield stringify(value)
    return
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  let before = open!
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue
    yield Array.isArray(value) ? before : `${before}${stringify(name)}:`
    yield* stringifyPieces(part, depth - 1)
    before = ','
  }
  yield before === ',' ? close! : `${open}${close}`
}

/** JSON.stringify, with bigints as plain digits, inert. No recursion deeper than the evidence itself. */
export function stringify(value: unknown): string {
  let isExact = true
  const plain = JSON.stringify(value, (_name, part) => {
    if (typeof part !== 'bigint') return part
    isExact = false
    return 0
  })
  if (isExact) return inertLines(plain)
  // Integers are marked by more controls than any string of the history begins with.
  let mark = '\u0001'
  while (plain.includes(JSON.stringify(mark).slice(0, -1))) mark += '\u0001'
  const marked = JSON.stringify(value, (_name, part) =>
    typeof part === 'bigint' ? `${mark}${part}` : part,
  )
  const integer = new RegExp(`"(?:\\\\u0001){${mark.length}}(-?\\d+)"`, 'g')
  return inertLines(marked.replace(integer, '$1'))
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
