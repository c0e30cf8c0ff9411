// A statement of the application with more columns in its answer, which tell the versions of rows
// that it saw and made, and what stands in them; they are taken out again before the application
// sees the answer. A version is known by its row and PostgreSQL's system column xmin, the
// (sub)transaction that made it.
//
// - SELECT: xmin and the columns of each row. Where rows are made into groups the statement becomes
//   a subquery, beside whose first row stands another with the same clause, which PostgreSQL
//   evaluates on the same snapshot.
// - INSERT, UPDATE, DELETE: RETURNING, evaluated on the very rows written, also where READ
//   COMMITTED goes on to newer ones after waiting for a lock. What an UPDATE replaced is `old`
//   since PostgreSQL 18; before, a subquery on the statement's snapshot, which holds the row that
//   was replaced from REPEATABLE READ on, because the server refuses to replace any other.
//
// Main function: probeFor.

import { obtain, TupleMap } from '../../base/maps.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { Catalog } from './catalog.ts'
import type { OnTable, Shape } from './shape.ts'
import { mayBeSet, quote, readCell, type Table } from './table.ts'

/** A version of a row as it was seen. */
export interface Seen {
  readonly xmin: string
  readonly row: SqlRow
}

/** What a row of the answer tells. */
export interface Told {
  /** The row read or deleted, or as written. */
  readonly version: Seen
  /** What it replaced; null: nothing; undefined: not known. */
  readonly replaced: Seen | null | undefined
}

export interface Probe {
  readonly text: string
  /** How many columns were added behind the others. */
  readonly hidden: number
  /** Whether the application has columns of its own to see. */
  readonly visible: boolean
  /** Where they were put, and how many characters. */
  readonly at: number
  readonly length: number
  /** All rows in the first added column of the first row; else one row of cells is one row. */
  readonly grouped: boolean
  /** Whether an answer without rows has one all the same, which is to be taken out. */
  readonly addsRow: boolean
  /** Columns whose values before are told behind those of now, after their xmin; null: none is. */
  readonly before: readonly number[] | null
  readonly level: boolean
}

export interface ProbeOptions {
  /** Major version of the server. */
  readonly major: number
  /** Whether to ask for the level that the transaction runs at. */
  readonly level: boolean
  /** Whether the transaction has one snapshot for all its statements. */
  readonly snapshot: boolean
  readonly grouped: boolean
  /** Whether the added columns are text, which is the same in binary answers. */
  readonly asText: boolean
}

export const LEVEL = "current_setting('transaction_isolation')"

const made = new WeakMap<OnTable, TupleMap<unknown[], Probe>>()

/** The probe of a statement, made once for each way to ask. */
export function probeFor(text: string, on: OnTable, table: Table, options: ProbeOptions): Probe {
  const probes = obtain(made, on, () => new TupleMap())
  const { major, level, snapshot, grouped, asText } = options
  const key = [table.number, major, level, snapshot, grouped, asText]
  return obtain(probes, key, () => makeProbe(text, on, table, options))
}

/** Rows of groups that are told; more would take too much memory. */
export const TOLD_ROWS = 10_000

/** Why what a statement does cannot be found out by more columns; null if it can. */
export function findUnprobed(
  { on, functions }: Shape,
  table: Table,
  { major, grouped }: ProbeOptions,
  catalog: Catalog,
): string | null {
  const { verb, conflict, sets } = on!
  const replaces = verb === 'update' || conflict === 'update'
  const setsKey = () =>
    table.declared.keyColumns.some((key) => mayBeSet(table, sets, table.columns[key]!.name))
  if (replaces && major < 18 && setsKey()) return 'a key that changes, before PostgreSQL 18'
  const runsOnce = grouped && functions.some((name) => catalog.traitsOf(name)?.volatile)
  return runsOnce ? 'groups of rows by a clause that must run once' : null
}

function makeProbe(text: string, on: OnTable, table: Table, options: ProbeOptions): Probe {
  const cells = [
    `${on.table.alias}.xmin`,
    ...table.columns.map(({ name }) => `${on.table.alias}.${quote(name)}`),
  ]
  const columns = options.grouped ? [groupColumn(text, on, cells)] : cells
  const before = columnsBefore(on, table, options)
  if (before !== null) {
    const names = ['xmin', ...before.map((column) => quote(table.columns[column]!.name))]
    const old = options.major >= 18 ? (name: string) => `old.${name}` : snapshotColumn(on, table)
    columns.push(...names.map(old))
  }
  if (options.level) columns.push(LEVEL)
  // Names of their own where ORDER BY might take them for the application's.
  const name = (i: number) => (on.ordered || options.grouped ? ` AS isobar_${i}` : '')
  const cast = options.asText ? '::text' : ''
  const list = columns.map((column, i) => column + cast + name(i)).join(', ')
  const added = options.grouped ? `SELECT isobar.*, ${list} FROM (` : on.before + list
  const at = options.grouped ? 0 : on.columnsAt
  return {
    text: options.grouped
      ? `${added}${text.slice(0, on.end)}\n) AS isobar`
      : text.slice(0, at) + added + text.slice(at),
    hidden: columns.length,
    visible: on.before === ', ',
    at,
    length: added.length,
    grouped: options.grouped,
    addsRow: false,
    before,
    level: options.level,
  }
}

/** Columns that a statement may have changed; null if what they were cannot be asked for. */
function columnsBefore(on: OnTable, table: Table, options: ProbeOptions): number[] | null {
  const replaces = on.verb === 'update' || on.conflict === 'update'
  if (!replaces || (options.major < 18 && !(on.verb === 'update' && options.snapshot))) return null
  return [...table.columns.keys()].filter((column) => {
    const { name } = table.columns[column]!
    return table.triggers.length > 0 || mayBeSet(table, on.sets, name)
  })
}

function groupColumn(text: string, on: OnTable, cells: readonly string[]): string {
  const from = `${text.slice(on.table.start, on.table.end)} AS ${on.table.alias}`
  const where = on.where ? ` WHERE ${text.slice(on.where.start, on.where.end)}` : ''
  const texts = cells.map((cell) => `${cell}::text`).join(', ')
  // A clause may end with a comment.
  const rows = `SELECT json_build_array(${texts}) AS cells FROM ${from}${where}\nLIMIT ${TOLD_ROWS + 1}`
  const all = `(SELECT json_agg(isobar_rows.cells) FROM (${rows}) AS isobar_rows)::text`
  return `CASE WHEN row_number() OVER () = 1 THEN ${all} END`
}

/** A column of the row as the snapshot has it, found by its key, which the statement leaves alone. */
function snapshotColumn(on: OnTable, table: Table): (name: string) => string {
  const key = table.declared.keyColumns.map((column) => quote(table.columns[column]!.name))
  const same = key.map((name) => `isobar_old.${name} = ${on.table.alias}.${name}`).join(' AND ')
  return (name) => `(SELECT isobar_old.${name} FROM ${table.sqlName} AS isobar_old WHERE ${same})`
}

export type Cells = readonly (string | null)[]

/** What the added columns of an answer say. */
export function readProbe(probe: Probe, table: Table, answer: readonly Cells[]): Told[] {
  const { columns } = table
  const read = (cells: Cells): Seen => {
    return { xmin: cells[0]!, row: columns.map((column, i) => readCell(column, cells[i + 1]!)) }
  }
  if (probe.grouped) {
    const told = answer.find(([all]) => all !== null)
    const rows = JSON.parse(told?.[0] ?? '[]') as Cells[]
    return rows.map((cells) => ({ version: read(cells), replaced: undefined }))
  }
  const { before } = probe
  const at = columns.length + 1
  return answer.map((cells) => {
    const version = read(cells)
    if (before === null) return { version, replaced: undefined }
    const xmin = cells[at]
    if (xmin === null || xmin === undefined) return { version, replaced: null }
    const row = [...version.row]
    before.forEach((column, i) => {
      row[column] = readCell(columns[column]!, cells[at + 1 + i]!)
    })
    return { version, replaced: { xmin, row } }
  })
}

/** The level that the server says the transaction runs at; null if it was not asked, or not told. */
export function levelTold(probe: Probe, answer: readonly Cells[]): string | null {
  return probe.level ? (answer[0]?.[probe.hidden - 1] ?? null) : null
}
