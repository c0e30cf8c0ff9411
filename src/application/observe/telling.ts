// What hooks are told of a statement: a step that is filled in as it goes. Main class: Telling.

import { rowName } from '../../history/sql-statements.ts'
import { parsePredicate, SqlError } from '../../sql/predicate.ts'
import { renderPredicate } from '../../sql/render.ts'
import { type Clause, Unjudged } from './clause.ts'
import type { DriverResult } from './driver.ts'
import type { RowRef, Step } from './hooks.ts'
import type { Recorder } from './recorder.ts'
import type { Shape } from './shape.ts'
import type { Column, Table } from './table.ts'
import type { RowEvent, StatementEvent } from './transaction.ts'

type Open<T> = { -readonly [Field in keyof T]: T[Field] }

const SHOWN_ROWS = 3
const SHOWN_CHARS = 120

export class Telling {
  readonly step: Open<Step>

  constructor(given: Pick<Step, 'actor' | 'client' | 'text' | 'values'>, shape: Shape) {
    const { kind, effect, savepoint, on, words, functions } = shape
    this.step = {
      ...given,
      processId: null,
      kind,
      inTransaction: false,
      savepoint: savepoint?.does ?? null,
      locks: on?.locks ?? false,
      takesDefaults: on?.verb === 'insert' || words.some(({ value }) => value === 'default'),
      functions,
      // Until it is recorded nobody knows what a statement on rows reads.
      clauses: effect === 'nothing' ? [] : null,
    }
  }

  begin(processId: number | null, inTransaction: boolean): void {
    this.step.processId = processId
    this.step.inTransaction = inTransaction
  }

  /**
   * @param asked the statement's own clause, where events may say less: which rows came may depend
   * on others that did not
   * @param isWhole whether that is all that the statement did
   */
  record(
    events: readonly StatementEvent[],
    recorder: Recorder,
    asked: Clause | Unjudged | null,
    isWhole: boolean,
  ): void {
    const reads: RowRef[] = []
    const writes: RowRef[] = []
    for (const { kind, table, rows, write } of events) {
      const refer = (row: RowEvent, version: RowRef['version']): RowRef => {
        return { table: table.name, relation: table.sqlName, row: row.name, version }
      }
      for (const row of rows) {
        if (kind !== 'insert') {
          const from = row.from ?? recorder.versions.writerOf(row.name, row.xmin!)
          reads.push(refer(row, from === null || from === undefined ? from : String(from)))
        }
        if (write !== null) writes.push(refer(row, String(write)))
      }
    }
    this.step.reads = reads
    this.step.writes = writes
    const clauses = events.flatMap(({ table, clause }) => {
      if (clause === null) return []
      const where = renderPredicate(clause.text, clause.params)
      const row = rowOf(table, asked ?? clause, reads)
      return [{ table: table.name, relation: table.sqlName, where, row }]
    })
    if (isWhole) this.step.clauses = clauses
  }

  end(error: unknown, result: DriverResult | null, level: string | null): void {
    this.step.level = level
    if (error !== null) this.step.error = error
    else if (result !== null) {
      this.step.returned = wordsFor(result)
      const row = onlyRowOf(result)
      if (row !== null) this.step.onlyRow = row
    }
  }
}

/** The one row that a clause can be about; null if there may be others. */
function rowOf(table: Table, asked: Clause | Unjudged, reads: readonly RowRef[]): string | null {
  if (asked instanceof Unjudged) return null
  const { columns, keyColumns } = table.declared
  if (!keyColumns.every((column) => hasOneSpelling(table.columns[column]!))) return null
  try {
    const { fixed } = parsePredicate(asked.text, columns, asked.params)
    if (!keyColumns.every((column) => fixed.has(column))) return null
    const key = keyColumns.map((column) => fixed.get(column)!)
    const name = rowName(table.declared, key)
    return reads.every((ref) => ref.table !== table.name || ref.row === name) ? name : null
  } catch (error) {
    if (error instanceof SqlError) return null
    throw error
  }
}

function hasOneSpelling({ judging }: Column): boolean {
  return judging === 'all' || judging === 'equality'
}

function onlyRowOf({ rows, fields }: DriverResult): Record<string, unknown> | null {
  if (rows?.length !== 1) return null
  const [row] = rows
  if (!Array.isArray(row)) return row as Record<string, unknown>
  return Object.fromEntries(row.map((value, i) => [fields?.[i]?.name ?? '', value]))
}

function wordsFor(result: DriverResult): string {
  const { rows, rowCount, command } = result
  if (Array.isArray(result)) return 'several results'
  if (!rows || rows.length === 0) {
    if (command === 'SELECT') return 'no rows'
    return rowCount === null ? command : `${command} ${rowCount}`
  }
  const shown = rows.slice(0, SHOWN_ROWS).map(render).join('; ')
  const more = rows.length > SHOWN_ROWS ? `; … ${rows.length} rows in all` : ''
  return (shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS)}…` : shown) + more
}

function render(row: unknown): string {
  const show = (value: unknown): string => {
    if (typeof value === 'bigint') return String(value)
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  }
  if (Array.isArray(row)) return row.map(show).join(', ')
  return Object.entries(row as object)
    .map(([name, value]) => `${name} ${show(value)}`)
    .join(', ')
}
