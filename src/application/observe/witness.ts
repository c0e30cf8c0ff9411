// What an answered statement proves, as statements of a history. A SELECT by a clause that can be
// judged says which rows it saw and that it passed all others over; where that cannot be said, only
// the rows that it returned are told, as if it had asked for their keys. Main function: witness.

import { TupleMap } from '../../base/maps.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { Catalog } from './catalog.ts'
import { type Clause, clauseOf, keysClause, limitClause, Unjudged } from './clause.ts'
import { type Seen, TOLD_ROWS, type Told } from './probe.ts'
import type { Recorder } from './recorder.ts'
import type { OnTable, Shape } from './shape.ts'
import { type Column, mayBeSet, type Table } from './table.ts'
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
  /** Whether there may be more, which were not asked for. */
  readonly isCut: boolean
  /** Whether groups of rows came back. */
  readonly grouped: boolean
  /** Whether the transaction has one snapshot. */
  readonly snapshot: boolean
}

/** The events of a statement; notes what it wrote, and counts what cannot be said of it. */
export function witness(recorder: Recorder, answer: Answer): StatementEvent[] {
  const { on, told, table } = answer
  noteFunctions(recorder, answer.shape)
  if (on.more)
    recorder.skipped.count(on.verb === 'insert' ? 'INSERT … SELECT' : 'a subquery or second table')
  if (on.verb !== 'select') noteConsequences(recorder, answer)
  const odd = told.map(({ version, replaced }) => oddIn(table, version) ?? oddIn(table, replaced))
  const oddest = odd.find((column) => column !== undefined)
  if (oddest !== undefined) {
    const isNumber = oddest.type === 'numeric'
    recorder.skipped.count(isNumber ? 'NaN or an infinity' : 'a date in another spelling')
    if (on.verb !== 'select') recorder.skipped.everything = true
    return []
  }
  if (on.verb === 'select') return selected(recorder, answer)
  if (on.verb === 'insert') return inserted(recorder, answer)
  return on.verb === 'update' ? updated(recorder, answer) : deleted(recorder, answer)
}

/** Functions of the user may do what no clause shows. */
export function noteFunctions(recorder: Recorder, { functions }: Shape): void {
  for (const name of functions) {
    const does = recorder.catalog.traitsOf(name)?.does
    if (does === undefined)
      recorder.skipped.everything = true // nobody asked
    else if (does !== 'nothing') noteFunction(recorder, name, does)
  }
}

function noteFunction({ skipped }: Recorder, name: string, does: 'reads' | 'writes'): void {
  skipped.count(`the function ${name}`)
  if (does === 'writes') skipped.everything = true
}

/**
 * What a statement that writes may do beside it: triggers do anything, also where no row came back;
 * defaults and checks call functions; foreign keys change rows of other tables, and so on.
 */
function noteConsequences(recorder: Recorder, { on, table, told }: Answer): void {
  const { skipped } = recorder
  for (const trigger of table.triggers) {
    skipped.count(`the trigger ${trigger} on ${table.name}`)
    skipped.everything = true
  }
  if (on.verb !== 'delete') {
    for (const [name, does] of Object.entries(table.functions)) noteFunction(recorder, name, does)
  }
  for (const { child, columns, onDelete, onUpdate } of table.cascades) {
    const isGone = onDelete && on.verb === 'delete' && told.length > 0
    if (!isGone && !(onUpdate && changesAny(table, on, told, columns))) continue
    skipped.count(`rows of ${child} that changed with ${table.name}`)
    skipped.everything = true
  }
}

/** Whether some of the columns may have changed. */
function changesAny(
  table: Table,
  { verb, conflict, sets }: OnTable,
  told: readonly Told[],
  names: readonly string[],
): boolean {
  if (verb !== 'update' && conflict !== 'update') return false
  if (!names.some((name) => mayBeSet(table, sets, name))) return false
  const columns = names.map((name) => table.columns.findIndex((each) => each.name === name))
  return told.some(({ version, replaced }) => {
    if (replaced === null && verb === 'insert') return false
    if (!replaced || columns.includes(-1)) return true
    return columns.some((column) => version.row[column] !== replaced.row[column])
  })
}

/** Whether something is spelt as it is not always. */
export function isOdd(table: Table, seen: Seen | null | undefined): boolean {
  return oddIn(table, seen) !== undefined
}

/** The column of what is spelt as it is not always, so that its text tells neither order nor key. */
function oddIn({ columns }: Table, seen: Seen | null | undefined): Column | undefined {
  if (!seen) return undefined
  return columns.find(({ spelling }, i) => {
    const value = seen.row[i]
    return spelling !== null && typeof value === 'string' && !spelling.test(value)
  })
}

export function isGrouped(catalog: Catalog, { functions, on }: Shape): boolean {
  if (on?.verb !== 'select') return false
  return on.grouped || functions.some((name) => catalog.traitsOf(name)?.aggregate)
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
  const rows = new TupleMap<unknown[], RowEvent>()
  for (const { version } of told) {
    const row = versionOf(version, table, recorder)
    rows.set([row.name, row.xmin], row) // a function may have multiplied it
  }
  if (grouped && told.length > TOLD_ROWS) {
    recorder.skipped.count(`groups of more than ${TOLD_ROWS} rows`)
    return []
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
function hidesGroups(answer: Answer): boolean {
  const { on, rowCount } = answer
  const isCut = on.limit !== null || skipsRows(answer)
  if (!on.grouped) return rowCount === 0 && isCut
  return isCut || (on.having && rowCount === 0)
}

/** Whether it may leave out the first rows: OFFSET, but for OFFSET 0. */
function skipsRows({ on, values }: Answer): boolean {
  return on.offset !== null && numberOf(on.offset, values) !== 0
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
  // Which rows are locked by others is no matter of versions, nor where one stops to read.
  if (on.skipsLocked || answer.isCut) return only()
  if (answer.shape.functions.some((name) => recorder.catalog.traitsOf(name)?.returnsSet)) {
    recorder.skipped.count('a function that returns no row, or several')
    return only()
  }
  const isSkipping = skipsRows(answer)
  if (grouped || (on.limit === null && !isSkipping)) return clause
  if (isSkipping) {
    recorder.skipped.count('OFFSET')
    return only()
  }
  const limit = numberOf(on.limit!, answer.values)
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

export function numberOf(written: string, values: readonly unknown[]): number | null {
  const value = written.startsWith('$') ? values[Number(written.slice(1)) - 1] : written
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
  if (moved.length === 0) return [replacedBy(recorder, table, told, clause)]
  const stayed = told.filter((each) => !changesKey(table, each))
  if (stayed.length === 0) return movedTo(recorder, table, moved, clause)
  recorder.skipped.count('an UPDATE of keys and of other columns at once')
  return [
    replacedBy(recorder, table, stayed, oldKeysOf(table, stayed)),
    ...movedTo(recorder, table, moved, oldKeysOf(table, moved)),
  ]
}

function oldKeysOf(table: Table, told: readonly Told[]): Clause {
  return keysOf(
    table,
    told.map(({ replaced }) => replaced!.row),
  )!
}

/** Rows that keep their keys get new versions. */
function replacedBy(
  recorder: Recorder,
  table: Table,
  told: readonly Told[],
  clause: Clause,
): StatementEvent {
  const rows = told.map(({ version, replaced }) =>
    versionOf(replaced!, table, recorder, version.row),
  )
  const write = rows.length === 0 ? null : recorder.nextWrite()
  const event: StatementEvent = { kind: 'update', table, clause, rows, write }
  recorder.noteWrite(event, told)
  return event
}

/** A row that gets another key is deleted, and another comes: rows keep their keys in a history. */
function movedTo(
  recorder: Recorder,
  table: Table,
  told: readonly Told[],
  clause: Clause,
): StatementEvent[] {
  const rows = told.map(({ replaced }) => versionOf(replaced!, table, recorder))
  const leave: StatementEvent = {
    kind: 'delete',
    table,
    clause,
    rows,
    write: recorder.nextWrite(),
  }
  return [leave, ...written(recorder, table, told)]
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
  const stayed = over.filter((each) => !changesKey(table, each))
  const moved = over.filter((each) => changesKey(table, each))
  if (stayed.length > 0) events.push(replacedBy(recorder, table, stayed, oldKeysOf(table, stayed)))
  if (moved.length > 0) events.push(...movedTo(recorder, table, moved, oldKeysOf(table, moved)))
  return events
}
