// What an observer of an application's statements is told, and what it may hold up: the interface
// between recording (application/observe) and racing (application/race).

/** What a statement is, as far as transactions and rows are concerned. */
export type StepKind =
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'savepoint'
  | 'set'
  | 'read'
  | 'write'
  | 'other'

/** A version of a row. */
export interface RowRef {
  readonly table: string
  /** The same with its schema, in quotes: two schemas may have a table of one name. */
  readonly relation: string
  /** The values of the primary key, as a history's key of a row is written: `orders(17)`. */
  readonly row: string
  /** The id of the write that made it; null: the version before all writes; undefined: not known. */
  readonly version: string | null | undefined
}

/** What a statement asked of a table. */
export interface ClauseRef {
  readonly table: string
  readonly relation: string
  /** Its WHERE clause; null: every row. */
  readonly where: string | null
  /** The one row that it can be about, because the key is given; null: any. */
  readonly row: string | null
}

/** One statement of the application, on its way to the server and back. */
export interface Step {
  readonly actor: string | undefined
  /** Number of the connection, from 0. */
  readonly client: number
  /** Process id of the server's end of the connection, for pg_blocking_pids; null: not known. */
  readonly processId: number | null
  /** As the application wrote it. */
  readonly text: string
  readonly values: readonly unknown[]
  readonly kind: StepKind
  /**
   * Whether the connection is inside a transaction block when the statement is asked for. A
   * statement outside of one is a transaction by itself.
   */
  readonly inTransaction: boolean
  /** What it does with a savepoint; null: nothing. */
  readonly savepoint: 'set' | 'release' | 'return' | null
  /** It locks the rows that it reads: SELECT … FOR UPDATE and the like. */
  readonly locks: boolean
  /** Columns that it does not name get their defaults: INSERT, or DEFAULT in an UPDATE. */
  readonly takesDefaults: boolean
  /** Names of functions that it may call. */
  readonly functions: readonly string[]
  /** Filled when it was answered: the level that its transaction runs at; null: not known. */
  level?: string | null
  /** Filled when it was answered with an error. */
  error?: unknown
  /** Filled when it was answered: the versions it saw. */
  reads?: readonly RowRef[]
  /** Filled when it was answered: the versions it made, deletions included. */
  writes?: readonly RowRef[]
  /** Tables and clauses that it read by; null: not known, so that it commutes with nothing. */
  clauses?: readonly ClauseRef[] | null
  /** Filled when it was answered: what the application saw, in short words. */
  returned?: string
  /** Filled when it was answered with one row: that row by the names of its columns. */
  onlyRow?: Readonly<Record<string, unknown>>
}

/** Who watches an application's statements. */
export interface Hooks {
  /** Which actor (session) asks; undefined: nobody, and what is asked is not recorded. */
  actor?(): string | undefined
  /** What is asked of the server in place of a statement. */
  rewrite?(text: string, actor: string | undefined): string
  /** Called before a statement is sent, which it is when the promise resolves. */
  before?(step: Step): Promise<void>
  /** Called when it was answered (result or error), before the application sees the answer. */
  after?(step: Step): void
}
