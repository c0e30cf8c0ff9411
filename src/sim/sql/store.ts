// A store of rows that runs each transaction at the level it asks for. The order of its commits is
// the one commit order under which every transaction keeps its own level's promise:
//
//   rc            each statement sees the commits up to some moment not before the statement before
//                 it, nor before anything its session has seen
//   ra, cc, pc    every statement sees the commits up to the moment it began: a prefix of the
//                 commit order, which holds its session's past
//   si            as pc; it commits only if nobody has written its rows since
//   ser           as pc; if it wrote anything, it commits only if each of its statements would
//                 return the same versions now, so that it might as well have run at once. If it
//                 wrote nothing, its place in the order is right behind what it saw
//
// What a transaction of any level commits counts for the checks of all. Runs as ra and cc are no
// weaker than pc: their promises are kept, not their licence used up.

import { assert } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { NONE } from '../../history/history.ts'
import { type SqlTable, STATEMENT_NAMES } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import { assign, type SqlStatement, type UpdateStatement } from '../../sql/statement.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { SqlPlan } from '../../workload/sql/plan.ts'
import type { RanStatement, SeenRow, WrittenRow } from './execution.ts'
import { type RowState, type StoredRow, Version } from './execution.ts'
import { withRows } from './row-index.ts'
import { ABSENT, newestState, type Search, StoredTable, satisfies, versionAt } from './rows.ts'

const NO_ROWS: ReadonlySet<StoredRow> = new Set()
const NOTHING_SEEN: readonly SeenRow[] = []
const NOTHING_WRITTEN: readonly WrittenRow[] = []

/** Commits between two looks for rows that are gone for good. */
const BURY_EVERY = 64

/** How a statement may be made to misbehave. */
export interface Mischief {
  /** It, and every statement behind it, sees everything that is committed by now. */
  readonly seesNewest?: boolean
  /** It passes over this row, whatever the row holds. */
  readonly missing?: StoredRow
}

interface Reading {
  readonly statement: number // its number in the transaction
  readonly ran: RanStatement
  readonly table: StoredTable
  readonly search: Search
}

/** A transaction at work. */
interface OpenTxn {
  readonly level: LevelId
  snapshot: number // it sees the commits up to this one
  statementCount: number
  readonly own: Map<StoredRow, Version> // what it wrote last of each row
  readonly readings: Reading[]
}

export interface StatementResult {
  readonly ran: RanStatement
  /** Rows selected, or as updated, or as deleted. */
  readonly rows: readonly SqlRow[]
}

export class SqlStore {
  readonly tables: readonly StoredTable[]
  private readonly tableIds: ReadonlyMap<string, number>
  private readonly open: (OpenTxn | null)[] // session -> its transaction
  private readonly floor: Int32Array // session -> the last commit that it has seen for certain
  private seq = 0

  /**
   * @param lag how many commits behind a snapshot may be, where the level lets it
   * @param tellsPassed whether statements say which versions they passed over
   */
  constructor(
    plan: SqlPlan,
    private readonly lag: number,
    private readonly tellsPassed: boolean,
    private readonly random: Random,
  ) {
    const { tables, rows, sessionCount } = plan
    this.tables = tables.map((table, i) => new StoredTable(table, i, rows[i] ?? []))
    this.tableIds = new Map(tables.map((table, i) => [table.name, i]))
    this.open = new Array<OpenTxn | null>(sessionCount).fill(null)
    this.floor = new Int32Array(sessionCount)
  }

  begin(session: number, level: LevelId): void {
    this.open[session] = {
      level,
      snapshot: this.drawSnapshot(this.floor[session]!),
      statementCount: 0,
      own: new Map(),
      readings: [],
    }
  }

  run(session: number, statement: SqlStatement, mischief: Mischief = {}): StatementResult {
    const txn = this.open[session]!
    const id = this.tableIds.get(statement.table)
    assert(id !== undefined, `a table of the plan, not ${statement.table}`)
    const table = this.tables[id]!
    const number = txn.statementCount++
    const write = (ran: RanStatement, row: StoredRow, values: SqlRow | null) => {
      const version = new Version(row, values, ran, txn.own.get(row)?.since ?? number)
      txn.own.set(row, version)
      return version
    }
    if (statement.kind === 'insert') {
      const ran = this.record(statement, id, NOTHING_SEEN, null, NO_ROWS)
      ran.written = statement.rows.map((values) =>
        write(ran, table.row(table.keyOf(values)), values),
      )
      return { ran, rows: [] }
    }
    const { missing } = mischief
    if (txn.level === 'rc') txn.snapshot = this.drawSnapshot(txn.snapshot)
    if (mischief.seesNewest) txn.snapshot = this.seq
    const { snapshot } = txn
    const search = table.search(statement.where, statement.params)
    const found: Version[] = []
    const mine = txn.own.size > 0 ? txn.own : null
    for (const row of this.candidates(txn, table, search)) {
      const version = mine?.get(row) ?? versionAt(row, snapshot)
      if (version === null || row === missing || !satisfies(search, version.values)) continue
      found.push(version)
    }
    const own = this.tellsPassed ? new Set(txn.own.keys()) : NO_ROWS
    const stateOf = (row: StoredRow) =>
      (row === missing ? row.newest?.before : versionAt(row, snapshot)) ?? ABSENT
    const passed = this.tellsPassed ? passedOver(table, found, own, stateOf) : null
    // A copy has no room to grow, and is kept.
    const ran = this.record(statement, id, found.slice(), passed, own)
    txn.readings.push({ statement: number, ran, table, search })
    if (statement.kind === 'select') return { ran, rows: found.map(valuesOf) }
    const written = found.map(({ row, values }) => {
      const after = statement.kind === 'update' ? updated(table.table, statement, values!) : null
      return write(ran, row, after)
    })
    ran.written = written
    return { ran, rows: statement.kind === 'update' ? written.map(valuesOf) : found.map(valuesOf) }
  }

  /** Rows that the statement has to look at, those among them that its transaction wrote. */
  private candidates(txn: OpenTxn, table: StoredTable, search: Search) {
    const committed = table.candidates(search)
    if (search.index === null || txn.own.size === 0) return committed
    const own: StoredRow[] = []
    for (const [row, { values }] of txn.own) {
      if (values === null || this.tables[row.table] !== table) continue
      if (search.matches(values)) own.push(row)
    }
    return own.length === 0 ? committed : withRows(committed, own)
  }

  private record(
    statement: SqlStatement,
    table: number,
    seen: readonly SeenRow[],
    passed: readonly SeenRow[] | null,
    own: ReadonlySet<StoredRow>,
  ): RanStatement {
    const isInsert = statement.kind === 'insert'
    return {
      kind: STATEMENT_NAMES.indexOf(statement.kind),
      table,
      where: isInsert ? '' : statement.where,
      params: isInsert ? [] : statement.params,
      seen: seen.length === 0 ? NOTHING_SEEN : seen,
      passed,
      own,
      written: NOTHING_WRITTEN,
      write: NONE,
    }
  }

  /**
   * Ends the transaction. Returns its place in the commit order, whole for those that wrote; NaN if
   * its level does not let it commit: nothing happened.
   */
  commit(session: number): number {
    const txn = this.open[session]!
    if (txn.own.size > 0) {
      if (txn.level === 'si' && !this.isFirstCommitter(txn)) return this.rollback(session)
      if (txn.level === 'ser') {
        if (!this.isStillTrue(txn)) return this.rollback(session)
        if (!this.tellsPassed) return this.install(session)
        // It might as well have run at once, and so passed over what is there now.
        for (const { ran, table } of txn.readings) {
          ran.passed = passedOver(table, ran.seen, ran.own, newestState)
        }
      }
    }
    return this.install(session)
  }

  /** Commits whatever the level says. */
  install(session: number): number {
    const txn = this.open[session]!
    this.open[session] = null
    this.floor[session] = Math.max(this.floor[session]!, txn.snapshot)
    if (txn.own.size === 0) return txn.snapshot + 0.5
    const seq = ++this.seq
    for (const version of txn.own.values()) this.tables[version.row.table]!.commit(version, seq)
    if (seq % BURY_EVERY === 0) this.bury()
    this.floor[session] = seq
    return seq
  }

  /**
   * Rolls a transaction back that wants it so. What it read is judged by its level still, as if it
   * had written nothing: its place is right behind what it saw, and its session goes on from there.
   */
  abandon(session: number): number {
    const { snapshot } = this.open[session]!
    this.open[session] = null
    this.floor[session] = Math.max(this.floor[session]!, snapshot)
    return snapshot + 0.5
  }

  rollback(session: number): number {
    this.open[session] = null
    return Number.NaN
  }

  /** No statement will see an earlier state than that of the oldest snapshot, open or to come. */
  private bury(): void {
    let oldest = this.seq - this.lag
    for (const txn of this.open) if (txn) oldest = Math.min(oldest, txn.snapshot)
    for (const table of this.tables) table.buryUpTo(oldest)
  }

  /** From now on the session sees everything that is committed by now. */
  settle(session: number): void {
    this.floor[session] = this.seq
  }

  private drawSnapshot(least: number): number {
    if (this.lag === 0 || this.random.chance(0.5)) return this.seq
    return Math.max(least, this.seq - this.random.below(this.lag + 1))
  }

  private isFirstCommitter(txn: OpenTxn): boolean {
    for (const row of txn.own.keys()) if (newestState(row).seq > txn.snapshot) return false
    return true
  }

  /** Whether every statement would return the same versions now. */
  private isStillTrue(txn: OpenTxn): boolean {
    for (const { statement, ran, table, search } of txn.readings) {
      for (const row of table.candidates(search)) {
        const newest = newestState(row)
        if (newest.seq <= txn.snapshot) continue
        // What it had written itself by then, it saw as it left it.
        if ((txn.own.get(row)?.since ?? statement) < statement) continue
        if (satisfies(search, newest.values)) return false
        if (ran.seen.some((returned) => returned.row === row)) return false
      }
    }
    return true
  }
}

function valuesOf({ values }: Version): SqlRow {
  return values!
}

function updated(table: SqlTable, statement: UpdateStatement, before: SqlRow): SqlRow {
  return before.map((value, column) => {
    const to = statement.set[table.columns[column]!.name]
    return to === undefined ? value : assign(to, value)
  })
}

function passedOver(
  table: StoredTable,
  seen: readonly SeenRow[],
  own: ReadonlySet<StoredRow>,
  stateOf: (row: StoredRow) => RowState,
): SeenRow[] {
  const returned = new Set(seen.map(({ row }) => row))
  const others = table.rows.filter((row) => !returned.has(row) && !own.has(row))
  return others.map((row) => ({ row, by: stateOf(row).by }))
}
