// Which row has the values of a unique key that is not the primary one: noted whenever a row is
// written, so that an INSERT that fails on such a key is known to have met that row. Only so many
// are kept, the latest: of an INSERT that met another one it is not told what it met. Main class:
// UniqueRows.

import { renderSqlValue, type SqlRow } from '../../sql/value.ts'
import type { Table } from './table.ts'

interface Holder {
  readonly name: string // of the row
  readonly key: SqlRow
  readonly write: number
}

const KEPT = 20_000

export class UniqueRows {
  private readonly holders = new Map<string, Holder>() // table, constraint and values -> row

  note(table: Table, name: string, key: SqlRow, row: SqlRow, write: number): void {
    for (const { constraint, columns } of table.uniques) {
      const values: SqlRow = columns.map((column) => row[column]!)
      if (values.includes(null)) continue
      const holder = nameOf(table, constraint, values)
      this.holders.delete(holder) // so that the first is always the one noted longest ago
      this.holders.set(holder, { name, key, write })
    }
    for (const oldest of this.holders.keys()) {
      if (this.holders.size <= KEPT) break
      this.holders.delete(oldest)
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
