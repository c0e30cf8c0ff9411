// Which row has the values of a unique key that is not the primary one: noted whenever a row is
// written, so that an INSERT that fails on such a key is known to have met that row. Main class:
// UniqueRows.

import { renderSqlValue, type SqlRow } from '../../sql/value.ts'
import type { Table } from './table.ts'

interface Holder {
  readonly name: string // of the row
  readonly key: SqlRow
  readonly write: number
}

export class UniqueRows {
  private readonly holders = new Map<string, Holder>() // table, constraint and values -> row

  note(table: Table, name: string, key: SqlRow, row: SqlRow, write: number): void {
    for (const { constraint, columns } of table.uniques) {
      const values: SqlRow = columns.map((column) => row[column]!)
      if (!values.includes(null))
        this.holders.set(nameOf(table, constraint, values), { name, key, write })
    }
  }

  /** Who was last to get these values. */
  find(table: Table, constraint: string, values: SqlRow): Holder | undefined {
    return this.holders.get(nameOf(table, constraint, values))
  }

  clear(): void {
    this.holders.clear()
  }
}

function nameOf({ number }: Table, constraint: string, values: SqlRow): string {
  return `${number} ${constraint} ${values.map(renderSqlValue).join()}`
}
