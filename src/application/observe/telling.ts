// What hooks are told of a statement: a step that is filled in as it goes. Main class: Telling.

import { renderPredicate } from '../../sql/render.ts'
import type { DriverResult } from './driver.ts'
import type { RowRef, Step } from './hooks.ts'
import type { Recorder } from './recorder.ts'
import type { Shape } from './shape.ts'
import type { RowEvent, StatementEvent } from './transaction.ts'

type Open<T> = { -readonly [Field in keyof T]: T[Field] }

const SHOWN_ROWS = 3
const SHOWN_CHARS = 120

export class Telling {
  readonly step: Open<Step>

  constructor(given: Pick<Step, 'actor' | 'client' | 'text' | 'values'>, shape: Shape) {
    const { kind, effect } = shape
    // Until it is recorded nobody knows what a statement on rows reads.
    const clauses = effect === 'nothing' ? [] : null
    this.step = { ...given, processId: null, kind, inTransaction: false, clauses }
  }

  begin(processId: number | null, inTransaction: boolean): void {
    this.step.processId = processId
    this.step.inTransaction = inTransaction
  }

  /** @param isWhole whether that is all that the statement did */
  record(events: readonly StatementEvent[], recorder: Recorder, isWhole: boolean): void {
    const reads: RowRef[] = []
    const writes: RowRef[] = []
    for (const { kind, table, rows, write } of events) {
      const refer = (row: RowEvent, version: RowRef['version']): RowRef => {
        return { table: table.name, row: row.name, version }
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
      return [{ table: table.name, where: renderPredicate(clause.text, clause.params) }]
    })
    if (isWhole) this.step.clauses = clauses
  }

  end(error: unknown, result: DriverResult | null): void {
    if (error !== null) this.step.error = error
    else if (result !== null) this.step.returned = wordsFor(result)
  }
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
