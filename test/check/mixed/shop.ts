// Small SQL histories in a few lines, over one table orders(id integer, status text, n integer).
// Rows are told as id -> status, or id -> [status, n]; null is a row that is not there.
//
//   shop({ 1: 'open' }, [
//     txn('s1', 'ser', select("status = 'open'", { 1: null }), insert('w1', { 2: 'open' })),
//   ])
//
// What a statement saw is told as id -> write that made the version, null for the initial one.

import { HistoryBuilder, statusOf } from '../../../src/history/builder.ts'
import { type History, NONE, type StatusName } from '../../../src/history/history.ts'
import { DELETE, INSERT, SELECT, UPDATE } from '../../../src/history/sql-events.ts'
import { SqlStatements } from '../../../src/history/sql-statements.ts'
import { LEVELS, type LevelId } from '../../../src/levels/levels.ts'
import type { SqlRow } from '../../../src/sql/value.ts'

type Cell = string | null | readonly [string | null, number]
type Rows = Readonly<Record<number, Cell>>
type Seen = Readonly<Record<number, string | null>>

export interface Statement {
  readonly kind: number
  readonly where: string | null
  readonly seen: Seen
  readonly named: Seen // versions passed over
  readonly write: string | null
  readonly rows: Rows
}

export interface Txn {
  readonly session: string
  readonly level: LevelId | null
  readonly status: StatusName
  readonly statements: readonly Statement[]
}

export function select(where: string | null, seen: Seen, named: Seen = {}): Statement {
  return { kind: SELECT, where, seen, named, write: null, rows: {} }
}

export function insert(write: string, rows: Rows): Statement {
  return { kind: INSERT, where: null, seen: {}, named: {}, write, rows }
}

/** @param rows what the rows seen became */
export function update(write: string, where: string | null, seen: Seen, rows: Rows): Statement {
  return { kind: UPDATE, where, seen, named: {}, write, rows }
}

/** Deletes all rows seen. */
export function remove(write: string, where: string | null, seen: Seen): Statement {
  const rows = Object.fromEntries(Object.keys(seen).map((id) => [id, null]))
  return { kind: DELETE, where, seen, named: {}, write, rows }
}

export function txn(session: string, level: LevelId | null, ...statements: Statement[]): Txn {
  return { session, level, status: 'committed', statements }
}

export function lost(of: Txn): Txn {
  return { ...of, status: 'indeterminate' }
}

export function aborted(of: Txn): Txn {
  return { ...of, status: 'aborted' }
}

export function shop(initial: Rows, txns: readonly Txn[]): History {
  const builder = new HistoryBuilder(null)
  const statements = new SqlStatements(builder)
  const table = statements.addTable({
    name: 'orders',
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'status', type: 'text' },
      { name: 'n', type: 'integer' },
    ],
    keyColumns: [0],
  })
  for (const id of Object.keys(initial)) {
    statements.addInitialRow(table, rowOf(id, initial[Number(id)]!)!)
  }
  for (const { session, level, status, statements: list } of txns) {
    const t = builder.addTxn(builder.session(session), statusOf(status))
    if (level)
      builder.setLevel(
        t,
        LEVELS.findIndex(({ id }) => id === level),
      )
    for (const { kind, where, seen, named, write, rows } of list) {
      const predicate = where === null ? NONE : statements.predicate(table, where)
      statements.begin(t, kind, table, predicate)
      if (write) statements.nameWrite(write)
      for (const id of Object.keys(seen)) statements.readRow([BigInt(id)], seen[Number(id)]!)
      for (const id of Object.keys(named)) {
        statements.readRow([BigInt(id)], named[Number(id)]!, false)
      }
      for (const id of Object.keys(rows)) {
        statements.writeRow([BigInt(id)], write, rowOf(id, rows[Number(id)]!))
      }
    }
  }
  return builder.finish()
}

function rowOf(id: string, cell: Cell): SqlRow | null {
  if (cell === null) return null
  const [status, n] = typeof cell === 'string' ? [cell, 0] : cell
  return [BigInt(id), status, BigInt(n)]
}
