// What the runner needs of a database: one folder per database implements it. Keys are numbers from
// 0; values are numbers that the runner never uses twice; null is the initial state. Beside such
// registers there may be tables, on which statements run; every one that writes leaves a number
// behind in the rows, by which later ones know whose version they saw.
//
// Recording stands or falls with the word of the driver on failed transactions: it says `aborted`
// only if the transaction certainly left no trace: the server said so, or COMMIT was never sent.
// Everything else is `indeterminate`.

import { UsageError } from '../base/errors.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import type { SqlStatement } from '../sql/statement.ts'
import type { SqlRow } from '../sql/value.ts'
import { SHAPES } from '../workload/parameters.ts'
import type { Way } from '../workload/plan.ts'

export interface Database {
  /** Product and version, e.g. `PostgreSQL 18.4`. */
  readonly name: string
  /** Where it is, without secrets. */
  readonly place: string
  /** Aborted, with a DatabaseError, when the run has no right to go on; null if it always has. */
  readonly gone: AbortSignal | null
  /** Whether a new connection shows all that was acknowledged, once nothing else runs. */
  readonly isAudited: boolean
  /** The levels it offers: our id -> its own name. */
  readonly levels: ReadonlyMap<LevelId, string>
  /** What it has for scripted interleavings beside keys; null if nothing waits and has rows there. */
  readonly script: ScriptSupport | null
  /** The nodes of a cluster, in the order of the target; absent where there is one. */
  readonly nodes?: readonly Node[]
  /** How other threads come to its nodes; absent where sessions have to share the one of the run. */
  readonly reach?: Reach
  /** Creates keys from `from` up to `to`, in their initial state; others are no rows at first. */
  addKeys(from: number, to: number): Promise<void>
  /** Creates tables, with the rows each holds at first. UsageError if it runs no statements. */
  addTables(tables: readonly SqlTable[], rows: readonly (readonly SqlRow[])[]): Promise<void>
  /** The database's own name of the level that transactions at this level really get. */
  grantedLevel(level: LevelId): Promise<string>
  /** A connection for one session. Throws DatabaseError; what aborts the signal, if that does. */
  open(signal?: AbortSignal): Promise<Connection>
  /**
   * Its own log from now on, where one tells the order of all commits to the registers. Throws
   * DatabaseError if the log cannot be had.
   */
  openCommitLog?(): Promise<CommitLog>
  /** Removes what was created and lets go of everything. */
  close(): Promise<void>
}

/** A node of a cluster: always the same one for a session, whatever happens to its connection. */
export interface Node extends Pick<Database, 'open'> {
  /** It only answers reads: a replica. */
  readonly isReader: boolean
}

/** The nodes as plain data, from which another thread makes them again (reach.ts). */
export interface Reach {
  readonly kind: string
  readonly places: readonly unknown[]
}

/** What a database's own log says of when values were committed. */
export interface CommitLog {
  /** Reads what is left, once all has come to rest. Throws DatabaseError. */
  finish(): Promise<void>
  /** The place of the log at which the value was committed; null if it was not. */
  placeOf(value: number): string | null
  /** What was read stays. */
  close(): Promise<void>
}

/** What a table of a script has beside its primary key. */
export interface TableTraits {
  readonly indexed: readonly string[]
  /** Columns whose values are unique, but only from COMMIT on. */
  readonly uniqueAtCommit: readonly string[]
}

/** Rows and locks, as scripted interleavings need them (script.ts). */
export interface ScriptSupport {
  /** Whether constraints can wait for COMMIT. */
  readonly defersConstraints: boolean
  /** Whether there is SELECT … FOR UPDATE. */
  readonly locksRows: boolean
  /** Creates a table of numbers. */
  addTable(table: SqlTable, rows: readonly SqlRow[], traits: TableTraits): Promise<void>
  /** Whether the connection waits for another one to end its transaction. */
  isBlocked(connection: Connection): Promise<boolean>
}

/** What a statement returned: rows as selected, as updated, or as deleted. */
export interface StatementAnswer {
  readonly rows: readonly SqlRow[]
  /** Row -> the number that the version seen was written under; null for the initial one. */
  readonly from: readonly (number | null)[]
}

/**
 * One session's connection. All but `close` and `cut` throw TransactionFailure if the transaction
 * has ended thereby, and DatabaseError if it makes no sense to go on at all.
 */
export interface Connection {
  /** Local port of the connection, by which a proxy knows it; 0 if it has none. */
  readonly localPort: number
  /** The connection is of no more use. */
  readonly isLost: boolean
  begin(level: LevelId): Promise<void>
  /** Sends the BEGIN now that would go with the first statement; absent where `begin` sends it. */
  sendBegin?(): Promise<void>
  /** What each row of the key holds; there is one, unless the database is broken. */
  read(key: number): Promise<readonly Value[]>
  readList(key: number): Promise<readonly (readonly Value[])[]>
  /** As read, FOR UPDATE: only where rows can be locked. */
  lock(key: number): Promise<readonly Value[]>
  /** Reads many keys at once; all registers, or all lists. */
  readAll(keys: readonly number[], areLists: boolean): Promise<readonly KeyRows[]>
  /**
   * How many rows took the value: one, unless the database is broken.
   * @param way how the value gets into its row, where there are rows
   */
  write(key: number, value: number, way?: Way): Promise<number>
  append(key: number, value: number): Promise<number>
  /** Runs a statement on one of the tables; rows that it writes are written under `write`. */
  run(table: SqlTable, statement: SqlStatement, write: number): Promise<StatementAnswer>
  /** Outside of transactions: in how many rows it replaced `old` (null: the initial state). */
  cas(key: number, old: Value, value: number, level: LevelId): Promise<number>
  /** Outside of transactions: one read on its own. */
  get(key: number, level: LevelId): Promise<readonly Value[]>
  /** Lets others come in between, for a moment of its own time; absent where clocks say how long. */
  rest?(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): Promise<void>
  /** Drops the connection at once; what waits for an answer fails. */
  cut(): void
}

/** A key, and what each of its rows holds: a value, or a list. */
export type KeyRows = readonly [key: number, rows: readonly (Value | readonly Value[])[]]

export type Fate = 'aborted' | 'indeterminate'

/** A transaction that did not commit, or of which nobody knows. */
export class TransactionFailure extends Error {
  override readonly name = 'TransactionFailure'

  /** @param code the database's own for it, e.g. an SQLSTATE; null if there is none */
  constructor(
    readonly fate: Fate,
    message: string,
    readonly code: string | null = null,
  ) {
    super(message)
  }
}

/** The database's own name of a level. Throws UsageError if it does not offer it. */
export function ownLevel(database: Pick<Database, 'name' | 'levels'>, level: LevelId): string {
  const own = database.levels.get(level)
  if (own !== undefined) return own
  const offered = [...database.levels].map(([id, name]) => `${id} (${name})`).join(', ')
  throw new UsageError(
    `${database.name} does not offer ${levelName(level)} (${level})`,
    `it offers ${offered}`,
  )
}

/** What is said to who asks for an SQL workload on a database that runs none. */
export function noSqlWorkloads(where: string): UsageError {
  const hint = `choose one of ${SHAPES.join(', ')}`
  return new UsageError(`SQL workloads do not run on ${where}`, hint)
}

/** What is said where there is no SELECT … FOR UPDATE. */
export function noLocks(): UsageError {
  return new UsageError('this database has no SELECT … FOR UPDATE')
}
