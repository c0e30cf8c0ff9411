// SQL statements of a workload as PostgreSQL runs them, such that its answer tells which versions
// of rows it saw. Every table has two more columns: the number of the statement that wrote the row,
// NULL at first, and the number that stood there before. An UPDATE moves the one to the other and
// returns it, so that the version it saw comes from the very row that it changed, also where READ
// COMMITTED goes on to a newer version than the statement's snapshot after waiting for a lock.
// (Since PostgreSQL 18 there is RETURNING old; this works on all.)
//
// WHERE clauses are sent as they are, with the types of their parameters, so that both sides read
// them alike. Main function: queryOf.

import type { SqlTable } from '../../history/sql-events.ts'
import type { InsertStatement, SqlStatement, UpdateStatement } from '../../sql/statement.ts'
import { renderSqlValue, type SqlType, type SqlValue, typeOfValue } from '../../sql/value.ts'
import type { StatementAnswer } from '../database.ts'
import { BEFORE, WRITER } from '../rows.ts'

export interface Query {
  readonly text: string
  readonly types: readonly number[] // parameter -> object id of its type, 0 if the server decides
  readonly values: readonly (string | null)[] // parameter -> value, as text
}

const TYPE_IDS: Readonly<Record<SqlType, number>> = {
  boolean: 16,
  integer: 20,
  numeric: 1700,
  text: 25,
}

/** The name of a table in the database. */
export function tableName(table: SqlTable): string {
  return quote(`isobar_${table.name}`)
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** @param write the number under which rows are written */
export function queryOf(table: SqlTable, statement: SqlStatement, write: number): Query {
  // Clauses may name the table.
  const name = `${tableName(table)} AS ${quote(table.name)}`
  const columns = table.columns.map((column) => quote(column.name)).join(', ')
  if (statement.kind === 'insert')
    return insertOf(table, `${name} (${columns}, ${WRITER})`, statement, write)
  const parameters = new Parameters()
  for (const value of statement.params) parameters.add(value)
  const where = `WHERE ${statement.where}`
  const seen = `${columns}, ${statement.kind === 'update' ? BEFORE : WRITER}`
  if (statement.kind === 'select') return parameters.query(`SELECT ${seen} FROM ${name} ${where}`)
  const changed = `${where} RETURNING ${seen}`
  if (statement.kind === 'delete') return parameters.query(`DELETE FROM ${name} ${changed}`)
  const set = assignments(table, statement, parameters)
  set.push(`${BEFORE} = ${WRITER}`, `${WRITER} = ${parameters.add(BigInt(write))}`)
  return parameters.query(`UPDATE ${name} SET ${set.join(', ')} ${changed}`)
}

/**
 * Writes its rows whether they are there or not. It reads nothing that it tells of: where READ
 * COMMITTED writes over a row that came after the statement's snapshot, that is a blind write like
 * any other; from REPEATABLE READ on, the server refuses it (40001), as it does for an UPDATE.
 */
function insertOf(table: SqlTable, into: string, { rows }: InsertStatement, write: number): Query {
  const parameters = new Parameters()
  const writer = parameters.add(BigInt(write))
  const tuples = rows.map((row) => {
    const cells = row.map((value, i) => parameters.add(value, table.columns[i]!.type))
    return `(${[...cells, writer].join(', ')})`
  })
  const key = table.keyColumns.map((column) => quote(table.columns[column]!.name))
  const others = table.columns
    .filter((_, column) => !table.keyColumns.includes(column))
    .map((column) => quote(column.name))
  const set = [...others, WRITER].map((column) => `${column} = excluded.${column}`)
  return parameters.query(
    `INSERT INTO ${into} VALUES ${tuples.join(', ')} ` +
      `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`,
  )
}

function assignments(table: SqlTable, { set }: UpdateStatement, parameters: Parameters): string[] {
  return Object.entries(set).map(([name, to]) => {
    const column = quote(name)
    if (to !== null && typeof to === 'object') {
      return `${column} = ${quote(table.name)}.${column} + ${parameters.add(to.add)}`
    }
    const { type } = table.columns.find((each) => each.name === name)!
    return `${column} = ${parameters.add(to, type)}`
  })
}

class Parameters {
  private readonly types: number[] = []
  private readonly values: (string | null)[] = []

  /** Returns how the text names it. NULL has the type given, else what the server makes of it. */
  add(value: SqlValue, type: SqlType | null = typeOfValue(value)): string {
    this.types.push(type === null ? 0 : TYPE_IDS[type])
    return `$${this.values.push(textOf(value))}`
  }

  query(text: string): Query {
    return { text, types: this.types, values: this.values }
  }
}

/** A value as it is sent. */
export function textOf(value: SqlValue): string | null {
  if (value === null || typeof value === 'string') return value
  return renderSqlValue(value)
}

/** Reads what came back: the declared columns, and behind them whose version it was. */
export function answerOf(
  table: SqlTable,
  rows: readonly (readonly (string | null)[])[],
): StatementAnswer {
  const { columns } = table
  return {
    rows: rows.map((cells) => columns.map(({ type }, i) => parseValue(type, cells[i]!))),
    from: rows.map((cells) => {
      const writer = cells[columns.length]!
      return writer === null ? null : Number(writer)
    }),
  }
}

function parseValue(type: SqlType, text: string | null): SqlValue {
  if (text === null || type === 'text' || type === 'numeric') return text
  return type === 'integer' ? BigInt(text) : text === 't'
}
