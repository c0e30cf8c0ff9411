// Rows by what stands in some of their columns, so that a statement need not look at every row of
// its table. A row is listed under every combination that some committed version of it ever had,
// until it is buried: deleted, and seen by nobody any more. Whoever asks looks at the versions.
// Lists are in the order of the table. Main class: RowIndex.

import { firstWhere } from '../../base/search.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../../sql/value.ts'
import type { StoredRow } from './execution.ts'

export class RowIndex {
  private readonly lists = new Map<string, StoredRow[]>()

  constructor(private readonly columns: readonly number[]) {}

  isOn(columns: readonly number[]): boolean {
    const { length } = this.columns
    return columns.length === length && columns.every((column, i) => column === this.columns[i])
  }

  /** Notes that a version of the row holds these values. */
  add(row: StoredRow, values: SqlRow): void {
    const name = this.nameIn(values)
    const list = this.lists.get(name)
    if (list) insertInOrder(list, row)
    else this.lists.set(name, [row])
  }

  /** Forgets the row under these values. */
  remove(row: StoredRow, values: SqlRow): void {
    const list = this.lists.get(this.nameIn(values))
    const place = list ? placeIn(list, row) : 0
    if (list?.[place] === row) list.splice(place, 1)
  }

  /** What the row is listed under. */
  private nameIn(values: SqlRow): string {
    return nameOf(this.columns.map((column) => values[column]!))
  }

  /** @param name of the values, as `nameOf` has it */
  find(name: string): readonly StoredRow[] {
    return this.lists.get(name) ?? []
  }
}

function insertInOrder(list: StoredRow[], row: StoredRow): void {
  const place = placeIn(list, row)
  if (list[place] !== row) list.splice(place, 0, row)
}

/** Where the row is in a list in the order of the table, or belongs; most rows come in order. */
function placeIn(list: readonly StoredRow[], row: StoredRow): number {
  const end = list.length
  if (end > 0 && list[end - 1]!.index < row.index) return end
  return firstWhere(0, end, (place) => list[place]!.index >= row.index)
}

/** A list with more rows, in order, each once. */
export function withRows(list: readonly StoredRow[], more: Iterable<StoredRow>) {
  const merged = [...list]
  for (const row of more) insertInOrder(merged, row)
  return merged
}

export function nameOf(values: readonly SqlValue[]): string {
  let name = ''
  for (let i = 0; i < values.length; i++) {
    name += i === 0 ? renderSqlValue(values[i]!) : `,${renderSqlValue(values[i]!)}`
  }
  return name
}
