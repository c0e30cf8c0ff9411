// What an answered statement proves, as statements of a history. A SELECT by a clause that can be
// judged says which rows it saw and that it passed all others over; where that cannot be said, only
// the rows that it returned are told, as if it had asked for their keys. Main function: witness.

import type { SqlRow } from '../../sql/value.ts'
import type { Catalog, Table } from './catalog.ts'
import { type Clause, clauseOf, keysClause, limitClause, Unjudged } from './clause.ts'
import type { Seen, Told } from './probe.ts'
import type { Recorder } from './recorder.ts'
import type { OnTable, Shape } from './shape.ts'
import { makeRow, type RowEvent, type StatementEvent } from './transaction.ts'

export interface Answer {
  readonly text: string
  readonly values: readonly unknown[]
  readonly shape: Shape
  readonly on: OnTable
  readonly table: Table
  readonly told: readonly Told[]
  /** Rows of the application's answer, or rows touched. */
  readonly rowCount: number
  /** Whether groups of rows came back. */
  readonly grouped: boolean
  /** Whether the transaction has one snapshot. */
  readonly snapshot: boolean
}

/** The events of a statement; notes what it wrote, and counts what cannot be said of it. */
export function witness(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { on, table } = answer
  noteFunctions(recorder, answer.shape)
  if (on.more)
    recorder.skipped.count(on.verb === 'insert' ? 'INSERT … SELECT' : 'a subquery or second table')
  if (on.verb === 'select') return selected(recorder, answer)
  if (answer.told.length > 0) noteConsequences(recorder, table)
  if (on.verb === 'insert') return inserted(recorder, answer)
  return on.verb === 'update' ? updated(recorder, answer) : deleted(recorder, answer)
}

/** Functions of the user may do what no clause shows. */
function noteFunctions(recorder: Recorder, { functions }: Shape): void {
  for (const name of functions) {
    const kind = recorder.catalog.kindOf(name)
    if (kind !== 'reads' && kind !== 'writes') continue
    recorder.skipped.count(`the function ${name}`)
    if (kind === 'writes') recorder.skipped.everything = true
  }
}

/** Triggers may do anything; foreign keys change rows of other tables. */
function noteConsequences(recorder: Recorder, table: Table): void {
  for (const trigger of table.triggers) {
    recorder.skipped.count(`the trigger ${trigger} on ${table.name}`)
    recorder.skipped.everything = true
  }
}

function noteCascades(recorder: Recorder, table: Table): void {
  for (const child of table.cascades) {
    recorder.skipped.count(`rows of ${child} that changed with ${table.name}`)
    recorder.skipped.tables.add(child)
  }
}

export function isGrouped(catalog: Catalog, { functions, on }: Shape): boolean {
  if (on?.verb !== 'select') return false
  return on.grouped || functions.some((name) => catalog.kindOf(name) === 'aggregate')
}

function readClause({ text, values, shape, on, table }: Answer): Clause | Unjudged {
  const qualifiers = [on.table.aliasName, on.table.name]
  return clauseOf({ table, text, words: shape.words, where: on.where, qualifiers, values })
}

const versionOf = (
  seen: Seen,
  table: Table,
  recorder: Recorder,
  row: SqlRow | null = null,
): RowEvent => makeRow(table, seen, row, recorder.versions)

function selected(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { table, told, grouped } = answer
  const rows = new Map<string, RowEvent>()
  for (const { version } of told) {
    const row = versionOf(version, table, recorder)
    rows.set(`${row.name} ${row.xmin}`, row) // a function may have multiplied it
  }
  if (grouped && hidesGroups(answer)) {
    recorder.skipped.count('groups of rows that are not all there')
    return []
  }
  const clause = selectClause(recorder, answer)
  if (clause === null) return []
  return [{ kind: 'select', table, clause, rows: [...rows.values()], write: null }]
}

/** Groups that did not come back, so that it is not known which rows they were of. */
function hidesGroups({ on, rowCount }: Answer): boolean {
  if (!on.grouped) return rowCount === 0 && (on.limit !== null || on.offset)
  return on.limit !== null || on.offset || (on.having && rowCount === 0)
}

/** What the statement asked for; null: nothing that can be said. */
function selectClause(recorder: Recorder, answer: Answer): Clause | null {
  const { on, table, told, grouped } = answer
  const rows = told.map(({ version }) => version.row)
  const only = () => keysOf(table, rows)
  const clause = readClause(answer)
  if (clause instanceof Unjudged) {
    recorder.skipped.count(clause.reason)
    return only()
  }
  // Which rows are locked by others is no matter of versions.
  if (on.skipsLocked) return only()
  if (grouped || (on.limit === null && !on.offset)) return clause
  if (on.offset) {
    recorder.skipped.count('OFFSET')
    return only()
  }
  const limit = limitOf(on.limit!, answer.values)
  if (limit !== null && answer.rowCount < limit) return clause
  if (rows.length === 0) return null
  if (!on.ordered && limit !== null) return only() // any rows would have done
  const isSure = answer.snapshot || !answer.shape.words.some(({ value }) => value === 'for')
  const narrowed = isSure && on.order ? limitClause(table, clause, on.order, rows) : null
  if (narrowed !== null) return narrowed
  recorder.skipped.count('ORDER BY with LIMIT')
  return only()
}

function keysOf(table: Table, rows: readonly SqlRow[]): Clause | null {
  if (rows.length === 0) return null
  const { keyColumns } = table.declared
  return keysClause(
    table,
    rows.map((row) => keyColumns.map((column) => row[column]!)),
  )
}

function limitOf(limit: string, values: readonly unknown[]): number | null {
  const value = limit.startsWith('$') ? values[Number(limit.slice(1)) - 1] : limit
  const count = value === null || value === '' ? Number.NaN : Number(value)
  return Number.isSafeInteger(count) ? count : null
}

/** The clause of a statement that writes; of its rows only, if it cannot be judged. */
function writeClause(recorder: Recorder, answer: Answer, seen: readonly SqlRow[]): Clause | null {
  const clause = answer.on.more ? null : readClause(answer)
  if (clause instanceof Unjudged) recorder.skipped.count(clause.reason)
  return clause === null || clause instanceof Unjudged ? keysOf(answer.table, seen) : clause
}

function deleted(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { table, told } = answer
  if (told.length > 0) noteCascades(recorder, table)
  const clause = writeClause(
    recorder,
    answer,
    told.map(({ version }) => version.row),
  )
  if (clause === null) return []
  const rows = told.map(({ version }) => versionOf(version, table, recorder))
  const write = rows.length === 0 ? null : recorder.nextWrite()
  return [{ kind: 'delete', table, clause, rows, write }]
}

function updated(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { table, told } = answer
  const seen = told.flatMap(({ replaced }) => (replaced ? [replaced.row] : []))
  const isBlind = seen.length < told.length
  if (isBlind) {
    recorder.skipped.count('UPDATE at READ COMMITTED before PostgreSQL 18')
    return written(recorder, table, told)
  }
  const clause = writeClause(recorder, answer, seen)
  if (clause === null) return []
  const moved = told.filter((each) => changesKey(table, each))
  const stayed = told.filter((each) => !changesKey(table, each))
  const rows = stayed.map(({ version, replaced }) =>
    versionOf(replaced!, table, recorder, version.row),
  )
  const write = rows.length === 0 ? null : recorder.nextWrite()
  const event: StatementEvent = { kind: 'update', table, clause, rows, write }
  recorder.noteWrite(event, stayed)
  if (moved.length === 0) return [event]
  noteCascades(recorder, table)
  // A row that gets another key is deleted, and another comes: rows keep their keys in a history.
  const gone = moved.map(({ replaced }) => versionOf(replaced!, table, recorder))
  const narrowed = keysOf(
    table,
    moved.map(({ replaced }) => replaced!.row),
  )!
  const leave: StatementEvent = {
    kind: 'delete',
    table,
    clause: narrowed,
    rows: gone,
    write: recorder.nextWrite(),
  }
  if (rows.length === 0) return [{ ...leave, clause }, ...written(recorder, table, moved)]
  recorder.skipped.count('an UPDATE of keys and of other columns at once')
  const kept = {
    ...event,
    clause: keysOf(
      table,
      stayed.map(({ replaced }) => replaced!.row),
    )!,
  }
  return [kept, leave, ...written(recorder, table, moved)]
}

function changesKey({ declared }: Table, { version, replaced }: Told): boolean {
  return declared.keyColumns.some((column) => version.row[column] !== replaced!.row[column])
}

/** Rows that were written whatever stood there. */
function written(recorder: Recorder, table: Table, told: readonly Told[]): StatementEvent[] {
  if (told.length === 0) return []
  const rows = told.map(({ version }) => makeRow(table, null, version.row, recorder.versions))
  const event: StatementEvent = {
    kind: 'insert',
    table,
    clause: null,
    rows,
    write: recorder.nextWrite(),
  }
  recorder.noteWrite(event, told)
  return [event]
}

function inserted(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { on, table, told } = answer
  if (on.conflict !== null && told.length < (on.proposed ?? 0)) {
    recorder.skipped.count('ON CONFLICT that left a row as it is')
  }
  const fresh = told.filter(({ replaced }) => !replaced)
  const events = written(recorder, table, fresh)
  const isBlind = on.conflict === 'update' && fresh.some(({ replaced }) => replaced === undefined)
  if (isBlind) recorder.skipped.count('ON CONFLICT DO UPDATE before PostgreSQL 18')
  const over = told.filter(({ replaced }) => replaced)
  if (over.length === 0) return events
  const clause = keysOf(
    table,
    over.map(({ version }) => version.row),
  )!
  const rows = over.map(({ version, replaced }) =>
    versionOf(replaced!, table, recorder, version.row),
  )
  const event: StatementEvent = { kind: 'update', table, clause, rows, write: recorder.nextWrite() }
  recorder.noteWrite(event, over)
  return [...events, event]
}
