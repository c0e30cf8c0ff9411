// The verdict file: what `check --json` prints and `--certificate` writes, and what `verify`,
// `report` and `shrink` read. It holds the evidence by names, every transaction that evidence
// speaks of once and in full, and for satisfied levels the proof. These tables are the one
// description of it: types, validation (shape.ts) and docs/verdict.schema.json come from them;
// docs/verdict-format.md explains them.

import { STATUS_NAMES, TIME_UNITS } from '../history/history.ts'
import { STATEMENT_NAMES } from '../history/sql-events.ts'
import { SQL_TYPES } from '../sql/value.ts'
import {
  BOUND,
  CELL,
  CHOICE,
  COUNT,
  FLAG,
  INITIAL,
  LEVEL,
  NAMES_BY_NAME,
  NUMBER,
  OP,
  ORDER,
  RECORD,
  ROW,
  SOURCE,
  TEXT,
  TIMES,
  VALUE,
} from './file-leaves.ts'
import { FILE_VERSION } from './file-version.ts'
import { type FieldsOf, leaf, list, maybe, object, optional, type Shape, word } from './shape.ts'
import type { CertificateKind, EdgeKind, Outcome } from './verdict.ts'

export type { CellJson, ChoiceJson, OpJson, RowJson, SourceJson } from './file-leaves.ts'

/** An operation by its transaction and its position in it, from 0. */
export interface PlaceJson extends FieldsOf<typeof PLACE_FIELDS> {}
const PLACE_FIELDS = { transaction: TEXT, index: COUNT }
const PLACE: Shape<PlaceJson> = object(PLACE_FIELDS)

/** A row that a statement spoke of. */
export interface StatementRowJson extends FieldsOf<typeof STATEMENT_ROW_FIELDS> {}
const STATEMENT_ROW_FIELDS = {
  key: list(CELL),
  /** The write that made the version it saw, null for the initial one; absent for an insert. */
  from: optional(VALUE),
  /** The row as it wrote it. */
  row: optional(ROW),
}
const STATEMENT_ROW: Shape<StatementRowJson> = object(STATEMENT_ROW_FIELDS)

/** A SQL statement: in words, and in full as the native format has it. */
export interface StatementJson extends FieldsOf<typeof STATEMENT_FIELDS> {}
const STATEMENT_FIELDS = {
  /** `SELECT orders WHERE status = 'open'`. */
  text: TEXT,
  /** What came of it: `orders(1)@w3`, or `no rows`. */
  result: TEXT,
  /** The operations that it consists of: the first one, or where it would stand, and how many. */
  first: COUNT,
  count: COUNT,
  kind: word(STATEMENT_NAMES),
  table: TEXT,
  where: optional(TEXT),
  params: optional(list(CELL)),
  write: optional(VALUE),
  rows: list(STATEMENT_ROW),
  unread: optional(list(STATEMENT_ROW)),
}
const STATEMENT: Shape<StatementJson> = object(STATEMENT_FIELDS)

/** A table of a SQL history, with the initial rows that the evidence's transactions speak of. */
export interface TableJson extends FieldsOf<typeof TABLE_FIELDS> {}
const TABLE_FIELDS = {
  name: TEXT,
  columns: list(object({ name: TEXT, type: word(SQL_TYPES) })),
  key: list(TEXT),
  rows: list(ROW),
}
const TABLE: Shape<TableJson> = object(TABLE_FIELDS)

/** A row that a statement passed over. */
export interface PassedJson extends FieldsOf<typeof PASSED_FIELDS> {}
const PASSED_FIELDS = {
  transaction: TEXT,
  /** Which of the transaction's statements, from 0. */
  statement: COUNT,
  text: TEXT,
  /** The level that the transaction ran at. */
  level: maybe(TEXT),
  /** The row: `orders(17)`. */
  key: VALUE,
  /** What it held in the version that is spoken of, null if there was no such row. */
  row: maybe(ROW),
  /** The same in words: `status = 'done'`, `deleted`, `no such row`. */
  held: TEXT,
}
const PASSED: Shape<PassedJson> = object(PASSED_FIELDS)

/** A transaction as a line of the native format has it, but always with a name. */
export interface TxnJson extends FieldsOf<typeof TXN_FIELDS> {}
const TXN_FIELDS = {
  session: VALUE,
  id: TEXT,
  status: word(STATUS_NAMES),
  start: optional(NUMBER),
  finish: optional(NUMBER),
  level: optional(TEXT),
  /** It ran alone, on a database that had come to rest. */
  audit: optional(FLAG),
  /** Its outcome is unknown, but others saw what it wrote. */
  observed: optional(FLAG),
  /** SQL: aborted by its own program; its reads are judged. */
  rolledBack: optional(FLAG),
  ops: list(OP),
  /** SQL: its statements; `ops` then tells what they did row by row. */
  statements: optional(list(STATEMENT)),
}
const TXN: Shape<TxnJson> = object(TXN_FIELDS)

const KINDS: readonly EdgeKind[] = ['SO', 'WR', 'WW', 'RW', 'RT', 'CO']

/** One step of an argument; null stands for the initial state. */
export interface EdgeJson extends FieldsOf<typeof EDGE_FIELDS> {}
const EDGE_FIELDS = {
  from: maybe(TEXT),
  to: maybe(TEXT),
  kind: word(KINDS),
  key: VALUE,
  ops: list(PLACE),
  because: TEXT,
  /** What it rests on. */
  premises: list((): Shape<EdgeJson> => EDGE),
  /** The premises are a cycle that the opposite order would close. */
  refutes: optional(FLAG),
  /** Holds only inside the case that assumes it. */
  assumed: optional(FLAG),
  /** SQL, WR: `to` saw the version of `from` in that it did not return the row. */
  passed: optional(PASSED),
}
const EDGE: Shape<EdgeJson> = object(EDGE_FIELDS)
const EDGES = list(EDGE)

/** Assumptions that cannot all hold: they close a cycle, or the cases before say so. */
export interface CaseJson extends FieldsOf<typeof CASE_FIELDS> {}
const CASE_FIELDS = {
  /** What is assumed, in words: `If T1 commits before T2`. */
  heading: TEXT,
  assumptions: EDGES,
  cycle: EDGES,
}
const CASE: Shape<CaseJson> = object(CASE_FIELDS)

/** Whom a read is taken to have seen, where several may have written what it read. */
export interface GivenJson extends FieldsOf<typeof GIVEN_FIELDS> {}
const GIVEN_FIELDS = {
  read: PLACE,
  /** Null for the initial state. */
  write: maybe(PLACE),
  /** The same in words: `T3 read x = 1 from T1`. */
  says: TEXT,
}
const GIVEN: Shape<GivenJson> = object(GIVEN_FIELDS)

/** An anomaly with transactions, sessions and keys by their names. */
export interface AnomalyJson extends FieldsOf<typeof ANOMALY_FIELDS> {}
const ANOMALY_FIELDS = {
  name: TEXT,
  tap: maybe(TEXT),
  adya: maybe(TEXT),
  meaning: maybe(TEXT),
  count: COUNT,
  /** Those that violate the level, the reader or victim first. */
  transactions: list(TEXT),
  /** Those that only left the state from which the others start. */
  earlier: list(TEXT),
  story: maybe(TEXT),
  ops: list(PLACE),
  /** Every transaction that the evidence names, in the order of the input. */
  core: list(TEXT),
  /** Names of the core, each with those of the core that it comes after beyond its session. */
  after: optional(NAMES_BY_NAME),
  edges: EDGES,
  cases: list(CASE),
  /**
   * Where values were written twice: it shows if these reads saw these writers, whomever others
   * saw. All anomalies of a level together leave no choice of writers open.
   */
  given: optional(list(GIVEN)),
  /** SQL: rows that transactions wrote which are not of the core. */
  shared: optional(list(TEXT)),
  /** SQL: the row that was not returned though it had to be, in a version that had to be. */
  absence: optional(PASSED),
}
const ANOMALY: Shape<AnomalyJson> = object(ANOMALY_FIELDS)

/** What proves that a level is satisfied. */
export interface ProofJson extends FieldsOf<typeof PROOF_FIELDS> {}
const PROOF_FIELDS = {
  kind: word(['none', 'commit-order', 'snapshots', 'witness']),
  /**
   * Transactions that count, first to last, by their positions in the input from 0; of snapshots
   * 2n is the snapshot of transaction n, and 2n + 1 its commit.
   */
  order: optional(ORDER),
  choices: optional(list(CHOICE)),
  /** Instead of both: the position in `results`, from 0, of an earlier one that has this proof. */
  sameAs: optional(COUNT),
}
const PROOF: Shape<ProofJson> = object(PROOF_FIELDS)

/** SQL: what a satisfied verdict rests on beside an order of commits. */
export interface WitnessJson extends FieldsOf<typeof WITNESS_FIELDS> {}
const WITNESS_FIELDS = {
  /** How many rows statements passed over although some version of them was to be returned. */
  passedOver: COUNT,
  /** How many statements that were. */
  statements: COUNT,
  /** Each with whose version was seen, null for the initial one; if all was asked for. */
  rows: optional(list(object({ ...PASSED_FIELDS, from: maybe(TEXT) }))),
}
const WITNESS: Shape<WitnessJson> = object(WITNESS_FIELDS)

/** The verdict on a level, with transactions, sessions and keys by their names. */
export interface ResultJson extends FieldsOf<typeof RESULT_FIELDS> {}
const CERTIFICATES: readonly CertificateKind[] = [
  'commit-order',
  'snapshots',
  'witness',
  'cycle',
  'reads',
  'cases',
]
const OUTCOMES: readonly Outcome[] = ['satisfied', 'violated', 'unknown']
const RESULT_FIELDS = {
  level: LEVEL,
  /** False if the level was judged without session order. */
  sessionOrder: optional(leaf<false>('false', (v) => v === false, { const: false })),
  /** True if real time counted like session order, where that is not part of the level. */
  realTime: optional(leaf<true>('true', (v) => v === true, { const: true })),
  /** At stale: the bound that was asked for, `5s` or `3`; absent if none was. */
  bound: optional(BOUND),
  /** SQL: present if the reads of rolled back transactions were not judged though there are any. */
  abortedReads: optional(word(['ignore'])),
  verdict: word(OUTCOMES),
  /** Why the verdict is unknown. */
  reason: maybe(TEXT),
  /** The level whose verdict settled this one. */
  impliedBy: maybe(LEVEL),
  algorithm: TEXT,
  elapsedMs: NUMBER,
  stages: TIMES,
  /** Where the first counterexample begins: how many transactions the input has up to there. */
  position: maybe(COUNT),
  anomalies: list(ANOMALY),
  /** Null for violated and unknown levels. */
  proof: maybe(PROOF),
  /** Satisfied, where values were written twice: whom each read saw that has a choice. */
  sources: optional(list(SOURCE)),
  /** Satisfied, at stale: the least bounds that hold, the time with the unit of the history. */
  staleness: optional(object({ time: TEXT, versions: optional(COUNT) })),
  certificate: maybe(
    object({
      kind: word(CERTIFICATES),
      verified: leaf<boolean>('true or false', (v) => typeof v === 'boolean', { type: 'boolean' }),
    }),
  ),
  witness: optional(WITNESS),
}
const RESULT: Shape<ResultJson> = object(RESULT_FIELDS)

const SERIES = list(maybe(NUMBER))

/** A run over time, in equal parts; latencies are those of commits, null where there was none. */
export interface TimelineJson extends FieldsOf<typeof TIMELINE_FIELDS> {}
const TIMELINE_FIELDS = {
  partUs: NUMBER,
  committed: list(NUMBER),
  aborted: list(NUMBER),
  indeterminate: list(NUMBER),
  medianUs: SERIES,
  p99Us: SERIES,
}
const TIMELINE: Shape<TimelineJson> = object(TIMELINE_FIELDS)

/** The run that made the history: what `run.json` holds, and how it went over time. */
export interface RunJson extends FieldsOf<typeof RUN_FIELDS> {}
const RUN_FIELDS = {
  database: object({ name: TEXT, place: TEXT }),
  level: object({ asked: TEXT, granted: TEXT }),
  workload: RECORD,
  faults: RECORD,
  transactions: object({
    recorded: COUNT,
    committed: COUNT,
    aborted: COUNT,
    indeterminate: COUNT,
    failures: TIMES,
  }),
  throughput: object({ perSecond: NUMBER, commitsPerSecond: NUMBER }),
  time: object({ runMs: NUMBER, generationShare: NUMBER, verificationShare: NUMBER }),
  /** The command that makes such a run, without secrets. */
  command: maybe(TEXT),
  timeline: maybe(TIMELINE),
}
const RUN: Shape<RunJson> = object(RUN_FIELDS)

/** A session, or several where there are many: how many transactions begin in each part. */
export interface OverviewRowJson extends FieldsOf<typeof OVERVIEW_ROW_FIELDS> {}
const OVERVIEW_ROW_FIELDS = {
  /** The first session of the row, and how many it has. */
  name: TEXT,
  sessions: COUNT,
  /** Part by part, without the zeros at the end; absent if there is none at all. */
  committed: optional(ORDER),
  aborted: optional(ORDER),
  indeterminate: optional(ORDER),
}

/** The whole history at a glance: sessions over time, or over positions where there are no times. */
export interface OverviewJson extends FieldsOf<typeof OVERVIEW_FIELDS> {}
const OVERVIEW_FIELDS = {
  /** What goes from left to right: times of start, or positions within sessions from 0. */
  axis: word(['time', 'position']),
  /** Where the first of the equal parts begins, how long each is, and how many there are. */
  from: NUMBER,
  part: NUMBER,
  parts: COUNT,
  rows: list(object(OVERVIEW_ROW_FIELDS)),
  /** Where the transactions of the evidence are; of very many the first ones. */
  places: list(object({ transaction: TEXT, row: COUNT, at: NUMBER, until: optional(NUMBER) })),
  /** What happened beside the transactions, such as faults; of very many the first ones. */
  events: list(object({ at: NUMBER, source: TEXT, text: TEXT })),
}
const OVERVIEW: Shape<OverviewJson> = object(OVERVIEW_FIELDS)

/** What a history is made of: also tells a verdict on another history at once. */
export interface HistoryCounts extends FieldsOf<typeof COUNTS_FIELDS> {}
const COUNTS_FIELDS = {
  sessions: COUNT,
  transactions: COUNT,
  committed: COUNT,
  aborted: COUNT,
  indeterminate: COUNT,
  operations: COUNT,
  keys: COUNT,
}
const COUNTS: Shape<HistoryCounts> = object(COUNTS_FIELDS)

/** The verdict on one history. */
export interface VerdictJson extends FieldsOf<typeof VERDICT_FIELDS> {}
const VERDICT_FIELDS = {
  isobar: leaf<number>(`version ${FILE_VERSION}`, (v) => v === FILE_VERSION, {
    const: FILE_VERSION,
  }),
  path: TEXT,
  format: TEXT,
  /** The levels asked for; null if the question was which levels hold. */
  asked: maybe(list(LEVEL)),
  /** The command that gives this verdict again, without secrets. */
  command: maybe(TEXT),
  history: COUNTS,
  /** The value every key has before anything is written; false if there is none. */
  initial: INITIAL,
  /** The unit of times, where the history names one. */
  unit: optional(word(TIME_UNITS)),
  warnings: list(TEXT),
  results: list(RESULT),
  /** Satisfied levels that no other satisfied one implies. */
  strongest: list(LEVEL),
  /** Violated levels that imply no other violated one. */
  weakestViolated: list(LEVEL),
  /** Every transaction that some evidence names, in full, in the order of the input. */
  transactions: list(TXN),
  /** SQL: the tables of those transactions. */
  tables: optional(list(TABLE)),
  overview: optional(OVERVIEW),
  run: optional(RUN),
}
export const VERDICT: Shape<VerdictJson> = object(VERDICT_FIELDS)

/** The tables that have names in the schema; the first is the file's. */
export const VERDICT_TABLES = {
  verdict: VERDICT_FIELDS,
  anomaly: ANOMALY_FIELDS,
  case: CASE_FIELDS,
  edge: EDGE_FIELDS,
  given: GIVEN_FIELDS,
  overview: OVERVIEW_FIELDS,
  passed: PASSED_FIELDS,
  place: PLACE_FIELDS,
  proof: PROOF_FIELDS,
  result: RESULT_FIELDS,
  run: RUN_FIELDS,
  statement: STATEMENT_FIELDS,
  table: TABLE_FIELDS,
  transaction: TXN_FIELDS,
}
