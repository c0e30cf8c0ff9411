// A transaction of the application while it runs: what its statements saw and wrote, its
// savepoints, and the level it runs at. What is rolled back to a savepoint was read all the same,
// but was not written: an UPDATE of that part becomes a SELECT of the same clause, and later
// statements of it no longer speak of rows that it had written. Main class: Transaction.

import { narrowClause } from '../../history/narrow.ts'
import { rowName } from '../../history/sql-statements.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { Clause } from './clause.ts'
import type { Join } from './join/join-claims.ts'
import type { Table } from './table.ts'
import type { Versions, Writer } from './versions.ts'

export type EventKind = 'select' | 'insert' | 'update' | 'delete' | 'refused'

/** What a statement did to one row. */
export interface RowEvent {
  readonly key: SqlRow
  readonly name: string // as the history calls the row
  /** The version that it saw; null: it did not look, as an INSERT. */
  readonly xmin: string | null
  /** Who made that version; looked up as soon as it is known. */
  from: Writer
  /** The row as seen, for what is there at first. */
  readonly seen: SqlRow | null
  /** The row as written; null if it was deleted, or only read. */
  readonly row: SqlRow | null
}

export interface StatementEvent {
  kind: EventKind
  readonly table: Table
  /** Null for INSERT, refused or not. */
  clause: Clause | null
  rows: RowEvent[]
  write: number | null
  /** It is what a join depended on of one of its tables. */
  readonly part?: { readonly join: Join; readonly table: number }
}

export function makeRow(
  table: Table,
  seen: { xmin: string; row: SqlRow } | null,
  row: SqlRow | null,
  versions: Versions,
): RowEvent {
  const key = table.declared.keyColumns.map((column) => (seen?.row ?? row)![column]!)
  const name = rowName(table.declared, key)
  const xmin = seen?.xmin ?? null
  const from = xmin === null ? null : versions.writerOf(name, xmin)
  return { key, name, xmin, from, seen: seen?.row ?? null, row }
}

export class Transaction {
  readonly events: StatementEvent[] = []
  levelIsSure = false
  failed = false
  /** Whether it is not known what a statement saw that failed. */
  isUntold = false
  /** Whether a join is left out because what it saw was taken back. */
  hasLostJoin = false
  finish = 0
  private savepoints: { name: string; at: number }[] = []

  constructor(
    readonly id: number,
    readonly session: string,
    readonly lane: { busy: boolean },
    readonly start: number,
    readonly began: number, // as the recorder counts
    /** As the server said, or as it was asked for. */
    public level: string | null,
  ) {}

  setSavepoint(name: string): void {
    this.savepoints.push({ name, at: this.events.length })
  }

  releaseSavepoint(name: string): void {
    const at = this.findSavepoint(name)
    if (at >= 0) this.savepoints.length = at
  }

  /** Returns what was undone. */
  returnTo(name: string): StatementEvent[] {
    const at = this.findSavepoint(name)
    if (at < 0) return []
    this.savepoints.length = at + 1
    const joins = this.events.filter(({ part }) => part).length
    const undone = undo(this.events, this.savepoints[at]!.at)
    this.hasLostJoin ||= this.events.filter(({ part }) => part).length < joins
    return undone
  }

  private findSavepoint(name: string): number {
    return this.savepoints.findLastIndex((savepoint) => savepoint.name === name)
  }
}

/** Makes reads of the statements from there on; returns those that had written, as they were. */
function undo(events: StatementEvent[], from: number): StatementEvent[] {
  const undone: StatementEvent[] = []
  const written = new Map<Table, Map<string, SqlRow>>() // rows that are as they were before
  const kept: StatementEvent[] = []
  for (const event of events.slice(from)) {
    const { table, kind, write } = event
    if (event.part && written.size > 0) continue
    const rows = written.get(table)
    const seen = leaveOut(event, rows ?? new Map())
    if (kind === 'refused') {
      if (seen.rows.length > 0) kept.push(seen)
    } else if (kind !== 'insert') kept.push({ ...seen, kind: 'select', write: null })
    if (write === null) continue
    undone.push(event)
    const ours = rows ?? new Map<string, SqlRow>()
    for (const { name, key } of event.rows) ours.set(name, key)
    written.set(table, ours)
  }
  events.length = from
  events.push(...kept)
  return undone
}

/** The statement, but that it says nothing of some rows. */
function leaveOut(event: StatementEvent, names: ReadonlyMap<string, SqlRow>): StatementEvent {
  const { table, clause } = event
  const rows = event.rows
    .filter(({ name }) => !names.has(name))
    .map((row) => ({ ...row, row: null }))
  if (names.size === 0 || clause === null) return { ...event, rows }
  const text = narrowClause(table.declared, clause.text, clause.params, [...names.values()])
  return { ...event, clause: { text, params: [] }, rows }
}
