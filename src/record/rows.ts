// Statements on tables of numbers, as SQL databases other than PostgreSQL run them, such that it
// comes out which versions of rows they saw (postgres/statement.ts says how). Where an UPDATE or a
// DELETE cannot return what it touched, it leaves its number in the rows, and what they held before
// is gathered by a second statement that touches nothing else. For scripted interleavings, whose
// clauses are plain. Main function: runOnRows.

import { assert } from '../base/errors.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { SqlStatement } from '../sql/statement.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import type { StatementAnswer, TableTraits } from './database.ts'
import type { Answer } from './registers.ts'

/** Columns beside those that are declared: who wrote the row, and who had written it before. */
export const WRITER = 'isobar_writer'
export const BEFORE = 'isobar_before'

/** How to learn which rows were touched: from the statement, from the rows, or from a variable. */
export type Seeing = 'returning' | 'rows' | 'variable'

export interface RowDialect {
  readonly seeing: Seeing
  /** What makes an INSERT write over a row with that key, all these columns. */
  upsertRow(key: string, columns: readonly string[]): string
}

type Execute = (text: string) => Promise<Answer>

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
  mark: { readonly inside?: string; readonly behind?: string },
): string[] {
  const name = rowTable(table)
  const columns = namesOf(table).map((column) => `${column} BIGINT NOT NULL`)
  columns.push(`${WRITER} BIGINT`, `${BEFORE} BIGINT`, `PRIMARY KEY (${keyOf(table)})`)
  return [
    `CREATE TABLE ${name} (${columns.join(', ')}${mark.inside ?? ''}) ${mark.behind ?? ''}`,
    ...indexed.map((column) => `CREATE INDEX ${name}_${column} ON ${name} (${column})`),
    `INSERT INTO ${name} (${namesOf(table).join(', ')}) VALUES ${rows.map(tuple).join(', ')}`,
  ]
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
    const written = [...columns, WRITER]
    const tuples = statement.rows.map((row) => tuple([...row, BigInt(write)]))
    const upsert = dialect.upsertRow(keyOf(table), written.slice(1))
    await execute(
      `INSERT INTO ${name} (${written.join(', ')}) VALUES ${tuples.join(', ')} ${upsert}`,
    )
    return { rows: [], from: [] }
  }
  assert(statement.params.length === 0, 'a clause without parameters')
  const { where } = statement
  if (statement.kind === 'select') {
    const text = `SELECT ${columns.join(', ')}, ${WRITER} FROM ${name} WHERE ${where}`
    return answerOf(await execute(text))
  }
  if (statement.kind === 'delete') {
    if (dialect.seeing === 'returning') {
      const returning = `RETURNING ${columns.join(', ')}, ${WRITER}`
      return answerOf(await execute(`DELETE FROM ${name} WHERE ${where} ${returning}`))
    }
    const touched = await touch(dialect.seeing, execute, table, [], where, write)
    const keys = touched.rows.map((row) => renderSqlValue(row[table.keyColumns[0]!]!))
    if (keys.length > 0) {
      await execute(`DELETE FROM ${name} WHERE ${keyOf(table)} IN (${keys.join(', ')})`)
    }
    return touched
  }
  const set = Object.entries(statement.set).map(([column, to]) => {
    const isSum = to !== null && typeof to === 'object'
    return `${column} = ${isSum ? `${column} + ${to.add}` : renderSqlValue(to)}`
  })
  return touch(dialect.seeing, execute, table, set, where, write)
}

/** An upsert, as SQLite and DuckDB have it. */
export function onConflict(key: string, columns: readonly string[]): string {
  const set = columns.map((name) => `${name} = excluded.${name}`)
  return `ON CONFLICT (${key}) DO UPDATE SET ${set.join(', ')}`
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
    const cells = seen.map((column) => `IFNULL(${column}, '')`).join(", ',', ")
    const note = `LENGTH(@isobar := CONCAT(@isobar, ${cells}, ';'))`
    await execute("SET @isobar = ''")
    await execute(`${update}, ${WRITER} = IF(${note}, ${write}, ${write}) WHERE ${where}`)
    const { rows } = await execute('SELECT @isobar')
    return answerOf({ rows: parseNotes(String(rows[0]![0])), rowCount: 0 })
  }
  const statement = `${update}, ${WRITER} = ${write} WHERE ${where}`
  if (seeing === 'returning') {
    return answerOf(await execute(`${statement} RETURNING ${seen.join(', ')}`))
  }
  await execute(statement)
  const text = `SELECT ${seen.join(', ')} FROM ${name} WHERE ${WRITER} = ${write}`
  return answerOf(await execute(text))
}

/** `1,20,3;2,30,;` */
function parseNotes(text: string): (string | null)[][] {
  const notes = text.split(';').slice(0, -1)
  return notes.map((note) => note.split(',').map((cell) => (cell === '' ? null : cell)))
}

/** The declared columns, and behind them whose version it was. */
function answerOf({ rows }: Answer): StatementAnswer {
  return {
    rows: rows.map((cells) => cells.slice(0, -1).map((cell) => BigInt(String(cell)))),
    from: rows.map((cells) => {
      const writer = cells.at(-1) ?? null
      return writer === null ? null : Number(writer)
    }),
  }
}

function namesOf({ columns }: SqlTable): string[] {
  return columns.map(({ name }) => name)
}

function keyOf(table: SqlTable): string {
  return table.columns[table.keyColumns[0]!]!.name
}

function tuple(row: SqlRow): string {
  return `(${row.map(renderSqlValue).join(', ')})`
}
