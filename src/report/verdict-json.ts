// The verdict as JSON holds it: the input of every report. docs/verdict-format.md describes it.
// A report is a function of this and nothing else, so that a verdict that was saved can be shown
// at any later time, on another machine.

import type { StatusName } from '../history/history.ts'
import type { StatementName } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlType } from '../sql/value.ts'
import type { CertificateKind, EdgeKind, Outcome } from '../verdict/verdict.ts'
import type { HistoryCounts } from './summary.ts'

export const JSON_VERSION = 1

/** `["r", key, value]`, as in the native format; a list of values for a read of a list. */
export type OpJson = [verb: string, key: Value, value: Value | (Value | Value[])[]]

/** An operation by its transaction and its position in it, from 0. */
export interface PlaceJson {
  transaction: string
  index: number
  op: OpJson
}

/** What a column holds; integers beyond 2^53 are bigints. */
export type CellJson = Value | boolean

/** A row by its columns. */
export type RowJson = Record<string, CellJson>

/** A row that a statement spoke of. */
export interface StatementRowJson {
  key: CellJson[]
  /** The write that made the version it saw, null for the initial one; absent for an insert. */
  from?: Value
  /** The row as it wrote it. */
  row?: RowJson
}

/** A SQL statement: in words, and in full as the native format has it. */
export interface StatementJson {
  /** `SELECT orders WHERE status = 'open'`. */
  text: string
  /** What came of it: `orders(1)@w3`, or `no rows`. */
  result: string
  /** The operations that it consists of: the first one, or where it would stand, and how many. */
  first: number
  count: number
  kind: StatementName
  table: string
  where?: string
  params?: CellJson[]
  write?: Value
  rows: StatementRowJson[]
  unread?: StatementRowJson[]
}

/** A table of a SQL history, with the initial rows that the evidence's transactions speak of. */
export interface TableJson {
  name: string
  columns: { name: string; type: SqlType }[]
  key: string[]
  rows: RowJson[]
  /** Names of rows that transactions wrote which are not of the core. */
  shared: string[]
}

/** A row that a statement passed over. */
export interface PassedJson {
  transaction: string
  /** Which of the transaction's statements, from 0. */
  statement: number
  text: string
  /** The level that the transaction ran at. */
  level: string | null
  /** The row: `orders(17)`. */
  key: Value
  /** What it held in the version that is spoken of, null if there was no such row. */
  row: RowJson | null
  /** The same in words: `status = 'done'`, `deleted`, `no such row`. */
  held: string
}

/** A transaction as a line of the native format has it, but always with a name. */
export interface TxnJson {
  session: Value
  id: string
  status: StatusName
  start?: number
  finish?: number
  level?: string
  /** It ran alone, on a database that had come to rest. */
  audit?: true
  /** Names of those of the core that it comes after beyond its session. */
  after?: string[]
  /** Only left the state from which the others start. */
  earlier?: true
  /** Its outcome is unknown, but others saw what it wrote. */
  observed?: true
  /** SQL: aborted by its own program; its reads are judged. */
  rolledBack?: true
  ops: OpJson[]
  /** SQL: its statements; `ops` then tells what they did row by row. */
  statements?: StatementJson[]
}

/** One step of an argument; null stands for the initial state. */
export interface EdgeJson {
  from: string | null
  to: string | null
  kind: EdgeKind
  key: Value
  ops: PlaceJson[]
  because: string
  premises: EdgeJson[]
  /** The premises are a cycle that the opposite order would close. */
  refutes?: boolean
  /** Holds only inside the case that assumes it. */
  assumed?: boolean
  /** SQL, WR: `to` saw the version of `from` in that it did not return the row. */
  passed?: PassedJson
}

/** Assumptions that cannot all hold: they close a cycle, or the cases before say so. */
export interface CaseJson {
  /** What is assumed, in words: `If T1 commits before T2`. */
  heading: string
  assumptions: EdgeJson[]
  cycle: EdgeJson[]
}

export interface AnomalyJson {
  name: string
  tap: string | null
  adya: string | null
  meaning: string | null
  count: number
  /** Those that violate the level, the reader or victim first. */
  transactions: string[]
  story: string | null
  ops: PlaceJson[]
  /** Every transaction that the evidence names, in full, in the order of the input. */
  core: TxnJson[]
  edges: EdgeJson[]
  cases: CaseJson[]
  /** SQL: the tables of the transactions. */
  tables?: TableJson[]
  /** SQL: the row that was not returned though it had to be, in a version that had to be. */
  absence?: PassedJson
}

/** SQL: what a satisfied verdict rests on beside an order of commits. */
export interface WitnessJson {
  /** How many rows statements passed over although some version of them was to be returned. */
  passedOver: number
  /** How many statements that were. */
  statements: number
  /** Each with whose version was seen, null for the initial one; if all was asked for. */
  rows?: (PassedJson & { from: string | null })[]
}

export interface ResultJson {
  level: LevelId
  /** False if the level was judged without session order. */
  sessionOrder?: false
  /** SQL: present if the reads of rolled back transactions were not judged though there are any. */
  abortedReads?: 'ignore'
  verdict: Outcome
  reason: string | null
  impliedBy: LevelId | null
  algorithm: string
  elapsedMs: number
  stages: Record<string, number>
  anomalies: AnomalyJson[]
  /** Where the first counterexample begins: how many transactions the input has up to there. */
  position: number | null
  certificate: { kind: CertificateKind; verified: boolean } | null
  witness?: WitnessJson
}

/** A run over time, in equal parts; latencies are those of commits, null where there was none. */
export interface TimelineJson {
  partUs: number
  committed: number[]
  aborted: number[]
  indeterminate: number[]
  medianUs: (number | null)[]
  p99Us: (number | null)[]
}

/** The run that made the history: what `run.json` holds, and how it went over time. */
export interface RunJson {
  database: { name: string; place: string }
  level: { asked: string; granted: string }
  workload: Readonly<Record<string, unknown>>
  faults: Readonly<Record<string, unknown>>
  transactions: {
    recorded: number
    committed: number
    aborted: number
    indeterminate: number
    failures: Record<string, number>
  }
  throughput: { perSecond: number; commitsPerSecond: number }
  time: { runMs: number; generationShare: number; verificationShare: number }
  /** The command that makes such a run, without secrets. */
  command: string | null
  timeline: TimelineJson | null
}

export interface VerdictJson {
  isobar: number
  path: string
  format: string
  /** The levels asked for; null if the question was which levels hold. */
  asked: LevelId[] | null
  /** The command that gives this verdict again, without secrets. */
  command: string | null
  history: HistoryCounts
  /** The value every key has before anything is written; false if there is none. */
  initial: Value | false
  warnings: string[]
  results: ResultJson[]
  strongest: LevelId | null
  weakestViolated: LevelId | null
  run?: RunJson
}
