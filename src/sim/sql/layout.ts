// From an execution of SQL transactions to a history. The layout says in which order transactions
// are told, and with it how they are numbered; ids of writes count up from w1 in that order.

import { IntColumn } from '../../base/grow.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { type History, INDETERMINATE, NONE } from '../../history/history.ts'
import { INSERT } from '../../history/sql-events.ts'
import { rowName, SqlStatements } from '../../history/sql-statements.ts'
import { LEVELS } from '../../levels/levels.ts'
import { type Layout, orderOf } from '../layout.ts'
import type { RanStatement, SqlExecution, StoredRow } from './execution.ts'

export interface SqlLaidOut {
  readonly history: History
  readonly txnOf: Int32Array // txn of the execution -> txn of the history
  /** The history's number of a row. */
  keyOf(row: StoredRow): number
}

export function layOutSql(execution: SqlExecution, layout: Layout, times = true): SqlLaidOut {
  const { tables, txns } = execution
  const order = orderOf(execution, layout)
  const { opCount, statementCount } = sizeOf(execution)
  const builder = new HistoryBuilder(null, opCount)
  const statements = new SqlStatements(builder, opCount, statementCount)
  for (const table of tables) statements.addTable(table)
  execution.rows.forEach((rows, table) => {
    for (const row of rows) statements.addInitialRow(table, row)
  })
  for (let session = 0; session < execution.sessionCount; session++) builder.session(session + 1)

  const txnOf = new Int32Array(txns.length)
  const teller = new Teller(builder, statements, execution)
  for (const txn of order) {
    const { session, status, rolledBack, level, start, finish, statements: ran } = txns[txn]!
    const id = builder.addTxn(session, status)
    if (rolledBack) statements.rollBack(id)
    txnOf[txn] = id
    builder.setLevel(
      id,
      LEVELS.findIndex((known) => known.id === level),
    )
    for (const statement of ran) teller.announce(statement)
    if (!times) continue
    builder.setStart(id, start)
    if (status !== INDETERMINATE) builder.setFinish(id, finish)
  }
  for (const txn of order) {
    for (const statement of txns[txn]!.statements) teller.tell(txnOf[txn]!, statement)
  }
  const keyOf = (row: StoredRow) => builder.keys.of(rowName(tables[row.table]!, row.key))
  return { history: builder.finish(), txnOf, keyOf }
}

/** About how many operations and statements the history will have. */
function sizeOf({ txns }: SqlExecution): { opCount: number; statementCount: number } {
  let opCount = 0
  let statementCount = 0
  for (const { statements } of txns) {
    statementCount += statements.length
    for (const { seen, passed, written } of statements) {
      opCount += seen.length + (passed?.length ?? 0) + written.length
    }
  }
  return { opCount, statementCount }
}

/** Tells statements; the history's numbers of rows and writes are looked up once each. */
class Teller {
  private readonly keys: readonly Int32Array[] // table, row -> key, NONE before it is first met
  private readonly told: readonly Uint8Array[] // table, row -> 1 if the history speaks of it
  private readonly values = new IntColumn(64) // write -> value id, NONE before it is first met
  private readonly initial: number // value id of initial versions

  constructor(
    private readonly builder: HistoryBuilder,
    private readonly statements: SqlStatements,
    private readonly execution: SqlExecution,
  ) {
    const { stored, rows: first } = execution
    this.keys = stored.map((rows) => new Int32Array(rows.length).fill(NONE))
    // Those that are there at first are the first of their table.
    this.told = stored.map((rows, table) =>
      new Uint8Array(rows.length).fill(1, 0, first[table]!.length),
    )
    this.initial = builder.valueId(null)
  }

  /** Gives a statement that writes the next number. */
  announce(ran: RanStatement): void {
    if (ran.written.length === 0) return
    ran.write = this.values.length
    this.values.push(NONE)
    for (const { row } of ran.written) this.told[row.table]![row.index] = 1
  }

  private isTold(row: StoredRow): boolean {
    return this.told[row.table]![row.index] === 1
  }

  private key(row: StoredRow): number {
    const keys = this.keys[row.table]!
    if (keys[row.index] === NONE) keys[row.index] = this.statements.key(row.table, row.key)
    return keys[row.index]!
  }

  /** @param by null: the initial version */
  private value(by: RanStatement | null): number {
    if (by === null) return this.initial
    const values = this.values.data
    const { write } = by
    if (values[write] === NONE) values[write] = this.builder.valueId(`w${write + 1}`)
    return values[write]!
  }

  tell(txn: number, ran: RanStatement): void {
    const { statements } = this
    const { kind, table, where, params } = ran
    const predicate = kind === INSERT ? NONE : statements.predicate(table, where, params)
    statements.begin(txn, kind, table, predicate)
    for (const { row, by } of ran.seen) statements.readKey(this.key(row), this.value(by))
    if (ran.passed) {
      const known = new Set([...ran.seen, ...ran.passed].map(({ row }) => row))
      for (const { row, by } of ran.passed) {
        if (this.isTold(row)) statements.readKey(this.key(row), this.value(by), false)
      }
      // Rows that came later were absent.
      for (const row of this.execution.stored[table]!) {
        if (!this.isTold(row) || known.has(row) || ran.own.has(row)) continue
        statements.readKey(this.key(row), this.initial, false)
      }
    }
    if (ran.written.length === 0) return
    const value = this.value(ran)
    statements.nameWriteValue(value)
    for (const { row, values } of ran.written) statements.writeKey(this.key(row), value, values)
  }
}
