// From an execution of SQL transactions to a history. The layout says in which order transactions
// are told, and with it how they are numbered; ids of writes count up from w1 in that order.

import { HistoryBuilder } from '../../history/builder.ts'
import { type History, INDETERMINATE, NONE } from '../../history/history.ts'
import { INSERT } from '../../history/sql-events.ts'
import { rowName, SqlStatements } from '../../history/sql-statements.ts'
import { LEVELS } from '../../levels/levels.ts'
import { type Layout, orderOf } from '../layout.ts'
import type { RanStatement, SqlExecution } from './execution.ts'
import type { StoredRow } from './rows.ts'

export interface SqlLaidOut {
  readonly history: History
  readonly txnOf: Int32Array // txn of the execution -> txn of the history
  /** The history's number of a row. */
  keyOf(row: StoredRow): number
}

export function layOutSql(execution: SqlExecution, layout: Layout, times = true): SqlLaidOut {
  const { tables, txns } = execution
  const order = orderOf(execution, layout)
  const builder = new HistoryBuilder(null)
  const statements = new SqlStatements(builder)
  for (const table of tables) statements.addTable(table)
  execution.rows.forEach((rows, table) => {
    for (const row of rows) statements.addInitialRow(table, row)
  })
  for (let session = 0; session < execution.sessionCount; session++) builder.session(session + 1)

  const txnOf = new Int32Array(txns.length)
  const ids = new Map<RanStatement, string>()
  const told = new Set<StoredRow>() // rows that the history speaks of
  for (const rows of execution.stored) {
    for (const row of rows) if (row.versions[0]?.by === null) told.add(row)
  }
  for (const txn of order) {
    const { session, status, rolledBack, level, start, finish, statements: ran } = txns[txn]!
    const id = builder.addTxn(session, status)
    if (rolledBack) statements.rollBack(id)
    txnOf[txn] = id
    builder.setLevel(
      id,
      LEVELS.findIndex((known) => known.id === level),
    )
    for (const statement of ran) {
      if (statement.written.length > 0) ids.set(statement, `w${ids.size + 1}`)
      for (const { row } of statement.written) told.add(row)
    }
    if (!times) continue
    builder.setStart(id, start)
    if (status !== INDETERMINATE) builder.setFinish(id, finish)
  }
  for (const txn of order) {
    for (const statement of txns[txn]!.statements) {
      addStatement(statements, txnOf[txn]!, statement, ids, told, execution)
    }
  }
  const keyOf = (row: StoredRow) => builder.keys.of(rowName(tables[row.table]!, row.key))
  return { history: builder.finish(), txnOf, keyOf }
}

function addStatement(
  statements: SqlStatements,
  txn: number,
  ran: RanStatement,
  ids: ReadonlyMap<RanStatement, string>,
  told: ReadonlySet<StoredRow>,
  execution: SqlExecution,
): void {
  const { kind, table, where, params } = ran
  const predicate = kind === INSERT ? NONE : statements.predicate(table, where, params)
  statements.begin(txn, kind, table, predicate)
  const idOf = (by: RanStatement | null) => (by === null ? null : ids.get(by)!)
  for (const { row, from } of ran.seen) statements.readRow(row.key, idOf(from))
  if (ran.passed) {
    const known = new Set([...ran.seen, ...ran.passed].map(({ row }) => row))
    for (const { row, from } of ran.passed) {
      if (told.has(row)) statements.readRow(row.key, idOf(from), false)
    }
    // Rows that came later were absent.
    for (const row of execution.stored[table]!) {
      if (!told.has(row) || known.has(row) || ran.own.has(row)) continue
      statements.readRow(row.key, null, false)
    }
  }
  const id = ids.get(ran)
  if (id === undefined) return
  statements.nameWrite(id)
  for (const { row, values } of ran.written) statements.writeRow(row.key, id, values)
}
