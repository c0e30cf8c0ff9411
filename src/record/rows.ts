// Statements on tables, as SQL databases other than PostgreSQL run them, such that it comes out
// which versions of rows they saw (postgres/statement.ts says how). Where an UPDATE or a DELETE
// cannot return what it touched, it leaves its number in the rows, and what they held before is
// gathered by a second statement that touches nothing else. Values stand in the text: there are no
// parameters. Main functions: rowTableStatements, runOnRows.

import { assert } from '../base/errors.ts'
import type { SqlTable } from '../history/sql-events.ts'
import { renderPredicate } from '../sql/render.ts'
import type { SqlStatement } from '../sql/statement.ts'
import { renderSqlValue, type SqlRow, type SqlType, type SqlValue } from '../sql/value.ts'
import type { StatementAnswer, TableTraits } from './database.ts'

/** What a server answers to a statement. */
export interface Answer {
  readonly rows: readonly (readonly unknown[])[]
  /** Rows that were changed. */
  readonly rowCount: number
}

/** Columns beside those that are declared: who wrote the row, and who had written it before. */
export const WRITER = 'isobar_writer'
export const BEFORE = 'isobar_before'

/** Of tables that are there for nothing but rows. */
export const NO_TRAITS: TableTraits = { indexed: [], uniqueAtCommit: [] }

/** How to learn which rows were touched: from the statement, from the rows, or from a variable. */
export type Seeing = 'returning' | 'rows' | 'variable'

export interface RowDialect {
  readonly seeing: Seeing
  /** A statement that writes rows; over those with that key, all the other columns. */
  upsertRows(
    into: string,
    tuples: readonly string[],
    key: string,
    others: readonly string[],
  ): string
  /** A clause on the columns of that table as the database has it, if that differs. */
  clause?(text: string, table: SqlTable): string
}

/**
 * What a database calls a type whose values compare as ours do: texts by their bytes. Few have
 * exact numbers of any length, and no workload asks for them.
 */
export type RowTypes = Readonly<Record<Exclude<SqlType, 'numeric'>, string>>

export const PLAIN_TYPES: RowTypes = { boolean: 'BOOLEAN', integer: 'BIGINT', text: 'TEXT' }

/** What a database has in the statements that make tables. */
interface OwnWords {
  /** Behind the columns, and behind the whole. */
  readonly inside?: string
  readonly behind?: string
  /** A statement for several rows, if that is no plain INSERT. */
  insertRows?(into: string, tuples: readonly string[]): string
}

type Execute = (text: string) => Promise<Answer>

/** Rows of one INSERT. */
const ROWS_AT_ONCE = 500

/** The name of a table in the database. */
export function rowTable({ name }: SqlTable): string {
  assert(/^\w+$/.test(name), `a plain name, not ${name}`)
  return `isobar_${name}`
}

/** Statements that create the table, with the rows that it holds at first. */
export function rowTableStatements(
  table: SqlTable,
  rows: readonly SqlRow[],
  { indexed }: TableTraits,
  types: RowTypes,
  own: OwnWords,
): string[] {
  const name = rowTable(table)
  const columns = table.columns.map(({ name, type }, column) => {
    const isKey = table.keyColumns.includes(column)
    assert(type !== 'numeric', 'workloads have no numerics')
    return `${quote(name)} ${types[type]}${isKey ? ' NOT NULL' : ''}`
  })
  columns.push(`${WRITER} BIGINT`, `${BEFORE} BIGINT`, `PRIMARY KEY (${keysOf(table).join(', ')})`)
  const statements = [
    `CREATE TABLE ${name} (${columns.join(', ')}${own.inside ?? ''}) ${own.behind ?? ''}`,
    ...indexed.map((column) => `CREATE INDEX ${name}_${column} ON ${name} (${quote(column)})`),
  ]
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const tuples = rows.slice(start, start + ROWS_AT_ONCE).map(tuple)
    const into = `${name} (${namesOf(table).join(', ')})`
    statements.push((own.insertRows ?? insertRows)(into, tuples))
  }
  return statements
}

/** @param write the number under which rows are written */
export async function runOnRows(
  dialect: RowDialect,
  execute: Execute,
  table: SqlTable,
  statement: SqlStatement,
  write: number,
): Promise<StatementAnswer> {
  const name = rowTable(table)
  const columns = namesOf(table)
  if (statement.kind === 'insert') {
    const tuples = statement.rows.map((row) => tuple([...row, BigInt(write)]))
    const keys = keysOf(table)
    const others = [...columns.filter((column) => !keys.includes(column)), WRITER]
    const into = `${name} (${[...columns, WRITER].join(', ')})`
    await execute(dialect.upsertRows(into, tuples, keys.join(', '), others))
    return { rows: [], from: [] }
  }
  const plain = renderPredicate(statement.where, statement.params)
  const where = dialect.clause?.(plain, table) ?? plain
  if (statement.kind === 'select') {
    const text = `SELECT ${columns.join(', ')}, ${WRITER} FROM ${name} WHERE ${where}`
    return answerOf(table, await execute(text))
  }
  if (statement.kind === 'delete') {
    if (dialect.seeing === 'returning') {
      const returning = `RETURNING ${columns.join(', ')}, ${WRITER}`
      return answerOf(table, await execute(`DELETE FROM ${name} WHERE ${where} ${returning}`))
    }
    const touched = await touch(dialect.seeing, execute, table, [], where, write)
    if (touched.rows.length > 0) {
      await execute(`DELETE FROM ${name} WHERE ${touchedBy(dialect.seeing, table, touched, write)}`)
    }
    return touched
  }
  const set = Object.entries(statement.set).map(([column, to]) => {
    const isSum = to !== null && typeof to === 'object'
    return `${quote(column)} = ${isSum ? `${quote(column)} + (${to.add})` : renderSqlValue(to)}`
  })
  return touch(dialect.seeing, execute, table, set, where, write)
}

/** An upsert, as SQLite and DuckDB have it. */
export function onConflict(
  into: string,
  tuples: readonly string[],
  key: string,
  others: readonly string[],
): string {
  const set = others.map((name) => `${name} = excluded.${name}`)
  return `${insertRows(into, tuples)} ON CONFLICT (${key}) DO UPDATE SET ${set.join(', ')}`
}

export function insertRows(into: string, tuples: readonly string[]): string {
  return `INSERT INTO ${into} VALUES ${tuples.join(', ')}`
}

/** Updates rows, and says which, as they are afterwards, with whose versions were there before. */
async function touch(
  seeing: Seeing,
  execute: Execute,
  table: SqlTable,
  set: readonly string[],
  where: string,
  write: number,
): Promise<StatementAnswer> {
  const name = rowTable(table)
  const seen = [...namesOf(table), BEFORE]
  const update = `UPDATE ${name} SET ${[...set, `${BEFORE} = ${WRITER}`].join(', ')}`
  if (seeing === 'variable') {
    // Assignments are carried out from left to right, once for each row that is changed. The
    // variable is no part of any table: asking for it locks nothing.
    const cells = seen.map((column, i) => {
      const isText = table.columns[i]?.type === 'text'
      return `IFNULL(${isText ? `HEX(${column})` : column}, '-')`
    })
    const note = `LENGTH(@isobar := CONCAT(@isobar, ${cells.join(", ',', ")}, ';'))`
    await execute("SET @isobar = ''")
    await execute(`${update}, ${WRITER} = IF(${note}, ${write}, ${write}) WHERE ${where}`)
    const { rows } = await execute('SELECT @isobar')
    return answerOf(table, { rows: parseNotes(table, String(rows[0]![0])), rowCount: 0 })
  }
  const statement = `${update}, ${WRITER} = ${write} WHERE ${where}`
  if (seeing === 'returning') {
    return answerOf(table, await execute(`${statement} RETURNING ${seen.join(', ')}`))
  }
  await execute(statement)
  const text = `SELECT ${seen.join(', ')} FROM ${name} WHERE ${WRITER} = ${write}`
  return answerOf(table, await execute(text))
}

/** The rows that were touched, by a clause that has the database look at no others if it can. */
function touchedBy(
  seeing: Seeing,
  table: SqlTable,
  { rows }: StatementAnswer,
  write: number,
): string {
  if (seeing === 'rows') return `${WRITER} = ${write}` // there all reads lock alike
  const keys = rows.map((row) => tuple(table.keyColumns.map((column) => row[column]!)))
  return `(${keysOf(table).join(', ')}) IN (${keys.join(', ')})`
}

/** `1,6974,3;2,-,-;`: texts by the digits of their bytes, `-` is NULL. */
function parseNotes({ columns }: SqlTable, text: string): (string | null)[][] {
  const notes = text.split(';').slice(0, -1)
  return notes.map((note) =>
    note.split(',').map((cell, i) => {
      if (cell === '-') return null
      return columns[i]?.type === 'text' ? Buffer.from(cell, 'hex').toString('utf8') : cell
    }),
  )
}

/** The declared columns, and behind them whose version it was. */
function answerOf({ columns }: SqlTable, { rows }: Answer): StatementAnswer {
  return {
    rows: rows.map((cells) => columns.map(({ type }, i) => readValue(type, cells[i]))),
    from: rows.map((cells) => {
      const writer = cells[columns.length] ?? null
      return writer === null ? null : Number(writer)
    }),
  }
}

function readValue(type: SqlType, cell: unknown): SqlValue {
  if (cell === null || cell === undefined) return null
  if (type === 'integer') return BigInt(String(cell))
  return type === 'text' ? String(cell) : cell === true || Number(cell) === 1
}

function namesOf({ columns }: SqlTable): string[] {
  return columns.map(({ name }) => quote(name))
}

function keysOf({ columns, keyColumns }: SqlTable): string[] {
  return keyColumns.map((column) => quote(columns[column]!.name))
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function tuple(row: SqlRow): string {
  return `(${row.map(renderSqlValue).join(', ')})`
}
