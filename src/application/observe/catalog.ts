// What the server's catalog says of the tables and functions that statements name: columns, primary
// key, and whatever else changes or hides rows. Asked once for each. Main class: Catalog.

import type { SqlTable } from '../../history/sql-events.ts'
import type { SqlColumn, SqlType, SqlValue } from '../../sql/value.ts'

/** Asks the server something of our own; cells as PostgreSQL writes them. */
export type Ask = (text: string, values?: readonly string[]) => Promise<(string | null)[][]>

/** How far clauses on a column can be judged. */
type Judging =
  | 'all'
  | 'equality' // it has another order, or other spellings, than its text
  | 'date' // ordered as its text is, if that is spelt in the usual way
  | 'none'

export interface Column {
  readonly name: string
  readonly type: SqlType
  readonly judging: Judging
  readonly isUuid: boolean
  readonly notNull: boolean
}

export interface Table {
  /** No two have the same. */
  readonly number: number
  /** Quoted, with its schema. */
  readonly sqlName: string
  readonly name: string
  /** As the history declares it. */
  readonly declared: SqlTable
  /** The columns that are declared, in that order. */
  readonly columns: readonly Column[]
  /** Why statements on it cannot be recorded; null if they can. */
  readonly problem: string | null
  /** Names of its own triggers, which may do anything when it is written. */
  readonly triggers: readonly string[]
  /** Tables that change with it by foreign keys. */
  readonly cascades: readonly string[]
}

/** What a function may do that no clause shows. */
export type FunctionKind = 'plain' | 'aggregate' | 'reads' | 'writes'

const TABLE = `
  SELECT n.nspname, c.relname, c.relkind, c.relhassubclass OR c.relispartition, c.relhasrules,
    row_security_active(c.oid), has_table_privilege(c.oid, 'SELECT'), c.relpersistence,
    (SELECT json_agg(t.tgname) FROM pg_trigger t
      WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'),
    (SELECT json_agg(DISTINCT k.relname) FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid
      WHERE f.confrelid = c.oid AND f.contype = 'f'
        AND (f.confdeltype IN ('c', 'n', 'd') OR f.confupdtype IN ('c', 'n', 'd'))),
    (SELECT json_agg(json_build_array(a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE
        CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname ELSE '' END END,
        a.attnotnull, coalesce(l.collisdeterministic, true), coalesce(l.collcollate IN ('C', 'POSIX')
          OR l.collname = 'ucs_basic' OR l.collprovider = 'd' AND
            (SELECT d.datcollate IN ('C', 'POSIX') FROM pg_database d
              WHERE d.datname = current_database()), false),
        array_position(i.indkey::int2[], a.attnum)) ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    i.indkey IS NOT NULL, pg_table_is_visible(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
  WHERE c.oid = to_regclass($1)`

const FUNCTIONS = `
  SELECT proname, bool_or(prokind = 'a'), bool_or(pronamespace <> 'pg_catalog'::regnamespace),
    bool_or(pronamespace <> 'pg_catalog'::regnamespace AND provolatile = 'v')
  FROM pg_proc WHERE proname IN (SELECT json_array_elements_text($1::json)) GROUP BY 1`

/** By PostgreSQL's names of types: what a column is in the history. */
const TYPES: Readonly<Record<string, readonly [SqlType, Judging]>> = {
  int2: ['integer', 'all'],
  int4: ['integer', 'all'],
  int8: ['integer', 'all'],
  bool: ['boolean', 'all'],
  text: ['text', 'all'],
  varchar: ['text', 'all'],
  uuid: ['text', 'equality'],
  enum: ['text', 'equality'],
  date: ['text', 'date'],
}

/** Types that a key may have beyond these, because one value has one spelling. */
const KEY_TYPES = ['bpchar', 'oid', 'name', 'timestamp']

export class Catalog {
  private readonly tables = new Map<string, Table | null>() // as written -> table
  private readonly known = new Map<string, Table>() // quoted, with schema -> table
  private readonly functions = new Map<string, FunctionKind>()

  /** Undefined: not asked yet; null: there is no such table. */
  table(written: string): Table | null | undefined {
    return this.tables.get(written)
  }

  async askTable(written: string, ask: Ask): Promise<void> {
    const [row] = await ask(TABLE, [written])
    if (row === undefined) {
      this.tables.set(written, null)
      return
    }
    const made = tableOf(row)
    const table = this.known.get(made.sqlName) ?? made
    this.known.set(made.sqlName, table)
    this.tables.set(written, table)
  }

  /** Undefined: not asked yet. */
  kindOf(name: string): FunctionKind | undefined {
    return this.functions.get(name)
  }

  async askFunctions(names: readonly string[], ask: Ask): Promise<void> {
    for (const name of names) this.functions.set(name, 'plain')
    for (const [name, aggregate, own, writes] of await ask(FUNCTIONS, [JSON.stringify(names)])) {
      const kind = writes === 't' ? 'writes' : own === 't' ? 'reads' : 'plain'
      this.functions.set(name!, aggregate === 't' ? 'aggregate' : kind)
    }
  }

  /** After a change of tables, or of where names are looked for. */
  forget(): void {
    this.tables.clear()
    this.functions.clear()
  }
}

let tableCount = 0

type ColumnCells = [string, string, boolean, boolean, boolean, number | null]

function tableOf(row: readonly (string | null)[]): Table {
  const [schema, relation, kind, inherits, rules, secured, readable, persistence] = row as string[]
  const [, , , , , , , , triggers, cascades, described, hasKey, visible] = row
  const cells = JSON.parse(described ?? '[]') as ColumnCells[]
  const name = visible === 't' ? relation! : `${schema!}.${relation!}`
  const problem =
    problemOfKind(kind!, inherits === 't') ??
    (hasKey !== 't' ? 'it has no primary key' : null) ??
    (name.includes('(') ? 'its name has a parenthesis' : null) ??
    (rules === 't' ? 'it has rules' : null) ??
    (secured === 't' ? 'row security hides rows of it' : null) ??
    (readable !== 't' ? 'there is no permission to read it' : null) ??
    (persistence === 't' ? 'it is temporary' : null) ??
    problemOfKey(cells)
  const columns = cells.filter((cell) => cell[5] !== null || typeOf(cell) !== null).map(columnOf)
  const keyed = cells.filter((cell) => cell[5] !== null).sort((a, b) => a[5]! - b[5]!)
  const keyColumns = keyed.map(([key]) => columns.findIndex((column) => column.name === key))
  const declared: SqlTable = {
    name,
    columns: columns.map((column): SqlColumn => ({ name: column.name, type: column.type })),
    keyColumns,
  }
  const list = (json: string | null | undefined) => JSON.parse(json ?? '[]') as string[]
  const sqlName = `${quote(schema!)}.${quote(relation!)}`
  return {
    number: ++tableCount,
    sqlName,
    name,
    declared,
    columns,
    problem,
    triggers: list(triggers),
    cascades: list(cascades),
  }
}

function problemOfKind(kind: string, inherits: boolean): string | null {
  const kinds: Record<string, string> = {
    v: 'it is a view',
    m: 'it is a materialized view',
    f: 'it is a foreign table',
    p: 'it is partitioned',
  }
  return kinds[kind] ?? (kind !== 'r' ? 'it is no table' : inherits ? 'it has parts' : null)
}

function problemOfKey(cells: readonly ColumnCells[]): string | null {
  for (const cell of cells) {
    if (cell[5] === null) continue
    if (!cell[3])
      return `the collation of its key column "${cell[0]}" takes different text for equal`
    if (typeOf(cell) === null && !KEY_TYPES.includes(cell[1])) {
      return `its key column "${cell[0]}" has a type that is not supported`
    }
  }
  return null
}

function typeOf([, type, , deterministic]: ColumnCells): readonly [SqlType, Judging] | null {
  return Object.hasOwn(TYPES, type) && deterministic ? TYPES[type]! : null
}

function columnOf(cell: ColumnCells): Column {
  const [name, postgresType, notNull, , plainOrder] = cell
  const [type, judging] = typeOf(cell) ?? (['text', 'none'] as const)
  const ordered = judging !== 'all' || type !== 'text' || plainOrder
  const isUuid = postgresType === 'uuid'
  return { name, type, judging: ordered ? judging : 'equality', isUuid, notNull }
}

/** A cell as PostgreSQL wrote it, as a value. */
export function readCell(column: Column, cell: string | null): SqlValue {
  if (cell === null || column.type === 'text') return cell
  return column.type === 'integer' ? BigInt(cell) : cell === 't' || cell === 'true'
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
