// A table as the server's catalog describes it: columns, primary key, and whatever else changes or
// hides rows. Main function: tableOf.

import type { SqlTable } from '../../history/sql-events.ts'
import { PLAIN_DECIMAL, type SqlColumn, type SqlType, type SqlValue } from '../../sql/value.ts'

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
  /** Blanks at its end are none of its value, and are there or not, by how it is written. */
  readonly isPadded: boolean
  readonly notNull: boolean
  /** Its value follows from those of others. */
  readonly isGenerated: boolean
  /** How PostgreSQL spells its values, where connections may ask for other spellings. */
  readonly spelling: RegExp | null
}

/** A foreign key by which rows of another table change with those of this one. */
export interface Cascade {
  /** The other table. */
  readonly child: string
  /** Columns that it refers to. */
  readonly columns: readonly string[]
  readonly onDelete: boolean
  readonly onUpdate: boolean
}

/** A column whose every value is one of another table's, at any time. */
export interface Reference {
  readonly column: string
  /** Quoted, with its schema. */
  readonly to: string
  readonly key: string
}

/** A unique key beside the primary one. */
export interface Unique {
  /** As the server's errors call it. */
  readonly constraint: string
  /** Positions among the columns that are declared. */
  readonly columns: readonly number[]
}

export interface Table {
  /** No two have the same. */
  readonly number: number
  /** Quoted, with its schema. */
  readonly sqlName: string
  /** With its schema, where there is another of its name. */
  readonly qualifiedName: string
  readonly name: string
  /** As the history declares it. */
  readonly declared: SqlTable
  /** The columns that are declared, in that order. */
  readonly columns: readonly Column[]
  /** Why statements on it cannot be recorded; null if they can. */
  readonly problem: string | null
  /** Names of its own triggers, which may do anything when it is written. */
  readonly triggers: readonly string[]
  readonly cascades: readonly Cascade[]
  /** Foreign keys of one column, but for those that may be broken inside of a transaction. */
  readonly references: readonly Reference[]
  /** What the constraint of its primary key is called. */
  readonly keyConstraint: string | null
  /** Unique keys, but for those of expressions, of some rows only, or of columns that are not known. */
  readonly uniques: readonly Unique[]
  /** Functions that its defaults and checks call when a row is written, by name. */
  readonly functions: Readonly<Record<string, 'reads' | 'writes'>>
}

/** Whether a function (p) is the user's: not PostgreSQL's, nor of what is known to leave tables alone. */
export const OWN = `(p.pronamespace <> 'pg_catalog'::regnamespace AND NOT EXISTS (
    SELECT FROM pg_depend e JOIN pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e'
      AND x.extname IN ('btree_gin', 'btree_gist', 'citext', 'cube', 'earthdistance',
        'fuzzystrmatch', 'hstore', 'intarray', 'isn', 'ltree', 'pg_trgm', 'pgcrypto', 'seg',
        'unaccent', 'uuid-ossp')))`

/** Asks for the cells of a table; those that depend on who asks come last. */
export const TABLE = `
  SELECT n.nspname, c.relname, c.relkind, c.relhassubclass OR c.relispartition, c.relhasrules,
    c.relpersistence,
    (SELECT json_agg(t.tgname) FROM pg_trigger t
      WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'),
    (SELECT json_agg(json_build_object('child', k.relname, 'columns',
        (SELECT json_agg(a.attname) FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum = ANY (f.confkey)),
        'onDelete', f.confdeltype IN ('c', 'n', 'd'), 'onUpdate', f.confupdtype IN ('c', 'n', 'd'))
        ORDER BY f.oid)
      FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid
      WHERE f.confrelid = c.oid AND f.contype = 'f'
        AND (f.confdeltype IN ('c', 'n', 'd') OR f.confupdtype IN ('c', 'n', 'd'))),
    (SELECT json_object_agg(p.proname, CASE p.provolatile WHEN 'v' THEN 'writes' ELSE 'reads' END
        ORDER BY p.proname, p.provolatile)
      FROM pg_depend d LEFT JOIN pg_operator o
          ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        JOIN pg_proc p ON p.oid = coalesce(o.oprcode::oid, d.refobjid)
      WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass) AND ${OWN} AND (
        d.classid = 'pg_attrdef'::regclass AND d.objid IN
          (SELECT s.oid FROM pg_attrdef s WHERE s.adrelid = c.oid)
        OR d.classid = 'pg_constraint'::regclass AND d.objid IN
          (SELECT s.oid FROM pg_constraint s WHERE s.contype = 'c' AND (s.conrelid = c.oid
            OR s.contypid IN (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = c.oid))))),
    (SELECT json_agg(json_build_array(a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE
        CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname ELSE '' END END,
        a.attnotnull, coalesce(l.collisdeterministic, true),
        coalesce(CASE l.collprovider WHEN 'c' THEN l.collcollate IN ('C', 'POSIX')
          WHEN 'b' THEN true
          WHEN 'd' THEN
            (SELECT CASE coalesce(to_jsonb(d) ->> 'datlocprovider', 'c')
                WHEN 'c' THEN d.datcollate IN ('C', 'POSIX') ELSE to_jsonb(d) ->> 'datlocprovider' = 'b' END
              FROM pg_database d WHERE d.datname = current_database()) END, false),
        array_position(i.indkey::int2[], a.attnum), a.attgenerated <> '') ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    (SELECT json_agg(json_build_array(x.relname, u.indisprimary,
        (SELECT json_agg(a.attname ORDER BY k.n)
        FROM unnest(u.indkey::int2[]) WITH ORDINALITY k (num, n)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num
        WHERE k.n <= u.indnkeyatts)) ORDER BY x.relname)
      FROM pg_index u JOIN pg_class x ON x.oid = u.indexrelid
      WHERE u.indrelid = c.oid AND u.indisunique AND u.indisvalid AND u.indpred IS NULL
        AND u.indexprs IS NULL),
    (SELECT json_agg(json_build_object('column', a.attname,
        'to', format('"%s"."%s"', replace(m.nspname, '"', '""'), replace(k.relname, '"', '""')),
        'key', b.attname) ORDER BY f.oid)
      FROM pg_constraint f JOIN pg_class k ON k.oid = f.confrelid
        JOIN pg_namespace m ON m.oid = k.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1]
        JOIN pg_attribute b ON b.attrelid = k.oid AND b.attnum = f.confkey[1]
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.convalidated AND NOT f.condeferrable
        AND array_length(f.conkey, 1) = 1),
    i.indkey IS NOT NULL, pg_table_is_visible(c.oid), row_security_active(c.oid),
    has_table_privilege(c.oid, 'SELECT')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
  WHERE c.oid = to_regclass($1)`

/** How many of them do not depend on who asks. */
export const COMMON_CELLS = 13

/** By PostgreSQL's names of types: what a column is in the history. */
const TYPES: Readonly<Record<string, readonly [SqlType, Judging]>> = {
  int2: ['integer', 'all'],
  int4: ['integer', 'all'],
  int8: ['integer', 'all'],
  numeric: ['numeric', 'all'],
  bool: ['boolean', 'all'],
  text: ['text', 'all'],
  varchar: ['text', 'all'],
  uuid: ['text', 'equality'],
  enum: ['text', 'equality'],
  date: ['text', 'date'],
}

/** Types that a key may have beyond these, because one value has one spelling. */
const KEY_TYPES = ['bpchar', 'oid', 'name', 'timestamp']

/** How the types are spelt whose values connections may have in another style, or that have more. */
const SPELLINGS: Readonly<Record<string, RegExp>> = {
  numeric: PLAIN_DECIMAL,
  date: /^(?:\d{4}-\d\d-\d\d|-?infinity)$/,
  timestamp: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/,
}

let tableCount = 0

type UniqueCells = [constraint: string, isPrimary: boolean, columns: string[]]

type ColumnCells = [string, string, boolean, boolean, boolean, number | null, boolean]

/** What the cells say. */
export function tableOf(row: readonly (string | null)[]): Table {
  const [schema, relation, kind, inherits, rules, persistence] = row as string[]
  const [triggers, cascades, functions, described, keys, references] = row.slice(6)
  const [hasKey, visible, secured, readable] = row.slice(12)
  const cells = JSON.parse(described ?? '[]') as ColumnCells[]
  const qualifiedName = `${schema!}.${relation!}`
  const name = visible === 't' ? relation! : qualifiedName
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
  const list = (json: string | null | undefined) => JSON.parse(json ?? '[]')
  const unique = list(keys) as UniqueCells[]
  const sqlName = `${quote(schema!)}.${quote(relation!)}`
  return {
    number: ++tableCount,
    sqlName,
    qualifiedName,
    name,
    declared,
    columns,
    problem,
    triggers: list(triggers),
    cascades: list(cascades),
    references: list(references),
    keyConstraint: unique.find(([, isPrimary]) => isPrimary)?.[0] ?? null,
    uniques: unique
      .filter(([, isPrimary]) => !isPrimary)
      .flatMap((cells) => uniqueOf(cells, columns)),
    functions: JSON.parse(functions ?? '{}'),
  }
}

function uniqueOf([constraint, , names]: UniqueCells, columns: readonly Column[]): Unique[] {
  const at = names.map((name) => columns.findIndex((column) => column.name === name))
  // Numerics have several texts for one value.
  const isKnown = at.every((i) => i >= 0 && columns[i]!.type !== 'numeric')
  return isKnown ? [{ constraint, columns: at }] : []
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
    const type = typeOf(cell)?.[0] ?? null
    if (type === 'numeric' || (type === null && !KEY_TYPES.includes(cell[1]))) {
      return `its key column "${cell[0]}" has a type that is not supported`
    }
  }
  return null
}

function typeOf([, type, , deterministic]: ColumnCells): readonly [SqlType, Judging] | null {
  return Object.hasOwn(TYPES, type) && deterministic ? TYPES[type]! : null
}

function columnOf(cell: ColumnCells): Column {
  const [name, postgresType, notNull, , plainOrder, , isGenerated] = cell
  const [type, judging] = typeOf(cell) ?? (['text', 'none'] as const)
  const ordered = judging !== 'all' || type !== 'text' || plainOrder
  const isUuid = postgresType === 'uuid'
  const isPadded = postgresType === 'bpchar'
  const spelling = SPELLINGS[postgresType] ?? null
  const judged = ordered ? judging : 'equality'
  return { name, type, judging: judged, isUuid, isPadded, notNull, isGenerated, spelling }
}

/** A cell as PostgreSQL wrote it, as a value. */
export function readCell(column: Column, cell: string | null): SqlValue {
  if (cell === null) return cell
  if (column.type === 'text') return column.isPadded ? cell.replace(/ +$/, '') : cell
  if (column.type === 'numeric') return cell
  return column.type === 'integer' ? BigInt(cell) : cell === 't' || cell === 'true'
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Whether a statement that sets some columns may change one. */
export function mayBeSet(table: Table, sets: readonly string[], name: string): boolean {
  const column = table.columns.find((each) => each.name === name)
  return sets.includes(name) || column?.isGenerated !== false
}
