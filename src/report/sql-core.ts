// The transactions of a counterexample with SQL statements as a history of their own, which
// violates the level in the same way. A statement says something about every row of its table, also
// about those that it did not return, so parts of statements are left out with care:
//
// - only rows that the evidence speaks of are there, and for si those that several transactions
//   write: at first, in reads and in writes;
// - what a statement says of such a row beside the evidence stays if everybody who wrote the row is
//   here; else the clause is narrowed: (status = 'open') AND NOT (id = 7).
//
// So whatever the part says, the whole says too. Main function: buildSqlCore.

import { TupleSet } from '../base/maps.ts'
import { HistoryBuilder } from '../history/builder.ts'
import { NONE } from '../history/history.ts'
import { narrowClause } from '../history/narrow.ts'
import { EVERY_ROW, INSERT, type SqlTable, STATEMENT_NAMES } from '../history/sql-events.ts'
import { rowName, SqlStatements } from '../history/sql-statements.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlRow } from '../sql/value.ts'
import { findEdges } from '../verdict/verdict.ts'
import type {
  StatementJson,
  StatementRowJson,
  TableJson,
  TxnJson,
} from '../verdict/verdict-file.ts'
import { addOp, addTxn, findPlaces } from './core-history.ts'
import { damaged, type Example, sqlCell } from './example.ts'
import { plain } from './names.ts'

/**
 * Either a history, or why there is none.
 * @param levels those that the evidence violates
 */
export function buildSqlCore(example: Example, levels: readonly LevelId[]) {
  const atSi = levels.some((level) => level === 'si' || level === 'mixed')
  const builder = new CoreBuilder(example, atSi)
  for (const txn of example.txns) {
    const reason = builder.addTxn(txn)
    if (reason !== null) return { history: null, reason } as const
  }
  return builder.finish()
}

interface Table {
  readonly id: number
  readonly sql: SqlTable
}

/** A row of a statement with its name, and what becomes of it. */
interface Kept {
  readonly name: string
  readonly seen: StatementRowJson
}

class CoreBuilder {
  private readonly builder = new HistoryBuilder(null)
  private readonly statements = new SqlStatements(this.builder)
  private readonly tables = new Map<string, Table>()
  private readonly rows = new Map<string, Map<string, SqlRow>>() // table -> rows spoken of -> key
  /** What the evidence names: operations, and rows that statements did not return. */
  private readonly places: TupleSet<[txn: string, op: number]>
  private readonly absences = new TupleSet<[txn: string, statement: number, row: Value]>()
  private readonly shared: ReadonlySet<string> // rows that others write too
  private readonly written = new TupleSet<[row: string, write: Value]>()
  private leftOut = 0
  private narrowed = 0

  constructor(example: Example, atSi: boolean) {
    const { anomaly, txns } = example
    const tables = example.tables ?? []
    this.places = findPlaces(anomaly)
    this.shared = new Set(anomaly.shared)
    for (const table of tables) this.addTable(table)
    const spokenOf = new Set<Value>()
    const edges = [...findEdges(anomaly.edges, anomaly.cases)]
    for (const { key } of edges) spokenOf.add(key)
    for (const passed of [...edges.map((edge) => edge.passed), anomaly.absence]) {
      if (!passed) continue
      spokenOf.add(passed.key)
      this.absences.add([passed.transaction, passed.statement, passed.key])
    }
    for (const { op } of example.ops()) spokenOf.add(op[1])
    if (atSi) for (const row of findContested(txns)) spokenOf.add(row)
    for (const txn of txns) this.noteRows(txn, spokenOf)
    for (const table of tables) this.addInitialRows(table, spokenOf)
  }

  private addTable({ name, columns, key }: TableJson): void {
    const keyColumns = key.map((column) => columns.findIndex((each) => each.name === column))
    if (keyColumns.includes(-1)) throw damaged(`a key of ${plain(name)} is not among its columns`)
    const sql: SqlTable = { name, columns, keyColumns }
    this.tables.set(name, { id: this.statements.addTable(sql), sql })
    this.rows.set(name, new Map())
  }

  private tableOf(name: string): Table {
    const table = this.tables.get(name)
    if (table === undefined) throw damaged(`there is no table ${plain(name)}`)
    return table
  }

  private noteRows({ statements = [] }: TxnJson, spokenOf: ReadonlySet<Value>): void {
    for (const { table, rows, unread = [], write } of statements) {
      const { sql } = this.tableOf(table)
      for (const { key } of [...rows, ...unread]) {
        if (key.length !== sql.keyColumns.length) {
          const columns = `${key.length} columns, not ${sql.keyColumns.length}`
          throw damaged(`the key of a row of ${plain(table)} has ${columns}`)
        }
        const values = key.map(sqlCell)
        const name = rowName(sql, values)
        if (spokenOf.has(name)) this.rows.get(table)!.set(name, values)
      }
      if (write === undefined) continue
      for (const { key } of rows) {
        this.written.add([rowName(sql, key.map(sqlCell)), write])
      }
    }
  }

  private addInitialRows({ name, columns, rows }: TableJson, spokenOf: ReadonlySet<Value>): void {
    const { id, sql } = this.tables.get(name)!
    for (const row of rows) {
      const values = columns.map((column) => sqlCell(row[column.name] ?? null))
      const key = this.statements.keyOf(id, values)
      if (!spokenOf.has(rowName(sql, key))) continue
      this.rows.get(name)!.set(rowName(sql, key), key)
      this.statements.addInitialRow(id, values)
    }
  }

  /** Null, or why there is no such history. */
  addTxn(txn: TxnJson): string | null {
    const status = txn.observed ? 'committed' : txn.status
    const added = addTxn(this.builder, { ...txn, status }, txn.id)
    if (txn.rolledBack) this.statements.rollBack(added)
    let op = 0
    const addRegisters = (end: number) => {
      for (; op < end; op++) {
        if (this.places.has([txn.id, op])) addOp(this.builder, added, txn.ops[op]!)
        else this.leftOut++
      }
    }
    const own = new Set<string>() // rows it wrote before
    for (const [i, statement] of (txn.statements ?? []).entries()) {
      addRegisters(statement.first)
      const reason = this.addStatement(added, txn, i, own)
      if (reason !== null) return reason
      op = statement.first + statement.count
    }
    addRegisters(txn.ops.length)
    return null
  }

  private addStatement(added: number, txn: TxnJson, i: number, own: Set<string>): string | null {
    const statement = txn.statements![i]!
    const { id, sql } = this.tables.get(statement.table)!
    const spokenOf = this.rows.get(statement.table)!
    const named = (rows: readonly StatementRowJson[] = []) =>
      rows
        .map((seen) => ({ name: rowName(sql, seen.key.map(sqlCell)), seen }))
        .filter(({ name }) => spokenOf.has(name))
    const known = (row: Kept) => this.isKnown(txn, statement, row)
    const touched = named(statement.rows)
    const rows = touched.filter(known)
    const unread = named(statement.unread).filter(known)
    const blind = touched.filter((row) => !known(row))
    if (statement.kind === 'delete' && blind.length > 0) {
      return `${txn.id} deleted ${blind[0]!.name} in a version that another transaction wrote`
    }
    this.leftOut += statement.rows.length - touched.length
    const told = new Set([...rows, ...unread].map(({ name }) => name))
    const silent = Array.from(spokenOf.keys()).filter((name) => !told.has(name))
    const sees = statement.kind !== 'insert'
    const isRefused = statement.kind === 'refused'
    if (told.size === 0 && (!sees || isRefused || silent.length === 0)) return null
    const keys = rows.map(({ seen }) => seen.key.map(sqlCell))
    // What it says of a row by silence, or by a foreign version, must go.
    const isForeign = (name: string) => this.shared.has(name) && !own.has(name)
    const isNamed = (name: string) => this.absences.has([txn.id, i, name])
    const excluded = silent.filter((name) => isForeign(name) && !isNamed(name))
    const predicate = isRefused
      ? this.statements.predicateOfKeys(id, keys)
      : sees
        ? this.predicate(statement, excluded)
        : NONE
    if (statement.kind === 'update' && blind.length > 0) {
      // It wrote the row whatever it saw: what it saw of others, then what it wrote.
      const { write: _, ...looking } = statement
      this.begin(added, { ...looking, kind: 'select' }, predicate, rows, unread)
      this.begin(added, { ...statement, kind: 'insert' }, NONE, touched, [])
    } else {
      this.begin(added, statement, predicate, rows, unread)
    }
    if (statement.write !== undefined) for (const { name } of touched) own.add(name)
    return null
  }

  /** Whether the version of the row was written here, or the evidence says it was not. */
  private isKnown(txn: TxnJson, statement: StatementJson, { name, seen }: Kept): boolean {
    if (statement.kind === 'insert' || (seen.from ?? null) === null) return true
    if (this.written.has([name, seen.from!])) return true
    for (let op = statement.first; op < statement.first + statement.count; op++) {
      const [verb, key] = txn.ops[op] ?? []
      if ((verb === 'r' || verb === 'rows') && key === name) return this.places.has([txn.id, op])
    }
    return false
  }

  private predicate(
    { where = EVERY_ROW, params, table }: StatementJson,
    excluded: readonly string[],
  ): number {
    const { id, sql } = this.tables.get(table)!
    const values = (params ?? []).map(sqlCell)
    if (excluded.length === 0) return this.statements.predicate(id, where, values)
    this.narrowed++
    const rows = excluded.map((name) => this.rows.get(table)!.get(name)!)
    return this.statements.predicate(id, narrowClause(sql, where, values, rows))
  }

  private begin(
    txn: number,
    { kind, write, table }: StatementJson,
    predicate: number,
    rows: readonly Kept[],
    unread: readonly Kept[],
  ): void {
    const event = STATEMENT_NAMES.indexOf(kind)
    const { id, sql } = this.tables.get(table)!
    this.statements.begin(txn, event, id, predicate)
    if (write !== undefined) this.statements.nameWrite(write)
    if (event !== INSERT) {
      const see = ({ seen }: Kept, returned: boolean) =>
        this.statements.readRow(seen.key.map(sqlCell), seen.from ?? null, returned)
      for (const row of rows) see(row, true)
      for (const row of unread) see(row, false)
    }
    if (kind === 'select' || write === undefined) return
    for (const { seen } of rows) {
      if (!seen.row && kind !== 'delete') {
        throw damaged(`an ${kind} of ${plain(table)} does not tell what it wrote`)
      }
      const row = seen.row && sql.columns.map(({ name }) => sqlCell(seen.row![name] ?? null))
      this.statements.writeRow(seen.key.map(sqlCell), write, row ?? null)
    }
  }

  finish() {
    const { leftOut, narrowed } = this
    return { history: this.builder.finish(), leftOut, narrowed }
  }
}

/** Keys that several of the transactions write: at si that alone forbids them to overlap. */
function findContested(core: readonly TxnJson[]): Set<Value> {
  const writer = new Map<Value, string>()
  const contested = new Set<Value>()
  for (const { id, ops, status } of core) {
    if (status === 'aborted') continue // it conflicts with nobody
    for (const [verb, key] of ops) {
      if (verb === 'r' || verb === 'rows') continue
      if ((writer.get(key) ?? id) !== id) contested.add(key)
      writer.set(key, id)
    }
  }
  return contested
}
