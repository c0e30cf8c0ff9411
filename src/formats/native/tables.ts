// The tables of a SQL history, which the header declares:
//
//   "tables":{"orders":{"columns":{"id":"integer","status":"text"},"key":["id"],
//                       "rows":[{"id":1,"status":"open"}]}}
//
// `rows` are those that are there before anything is written. Further lines with "tables" may declare
// more tables, and more such rows. Main function: takeTables.

import { NONE } from '../../history/history.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { SqlStatements } from '../../history/sql-statements.ts'
import { SQL_TYPES, type SqlColumn } from '../../sql/value.ts'
import type { JsonScanner } from '../json.ts'
import { JsonFields, quote, takeText } from '../json-fields.ts'
import { forEachItem, forEachName } from '../json-walk.ts'
import { COLON, OPEN_LIST, OPEN_MAP } from '../scanner.ts'
import { RowReader } from './rows.ts'

export const TABLES_HINT =
  'the header looks like {"isobar":1,"tables":{"orders":{"columns":{"id":"integer"},"key":["id"]}}}'

const FIELDS = ['columns', 'key', 'rows'] as const
const COLUMNS = 0
const KEY = 1
const ROWS = 2
const ALIASES = { primarykey: 'key', primary_key: 'key', initial: 'rows', types: 'columns' }
const TYPES = `there are ${SQL_TYPES.join(', ')}`

/** Takes all tables with their initial rows. */
export function takeTables(scanner: JsonScanner, into: SqlStatements): void {
  const reader = new TableReader(scanner, into)
  scanner.need(OPEN_MAP, 'the tables', TABLES_HINT)
  forEachName(scanner, (at) => {
    const name = scanner.text()
    checkName(scanner, name, at)
    scanner.expect(COLON)
    reader.take(name, at)
  })
}

class TableReader {
  private readonly fields: JsonFields
  private readonly rows: RowReader

  constructor(
    private readonly scanner: JsonScanner,
    private readonly into: SqlStatements,
  ) {
    this.fields = new JsonFields(scanner, FIELDS, ALIASES)
    this.rows = new RowReader(scanner)
  }

  /** A table that is declared already may get more initial rows. */
  take(name: string, at: number): void {
    const { scanner, fields, into } = this
    scanner.need(OPEN_MAP, `table ${quote(name)}`, TABLES_HINT)
    const begin = scanner.at
    fields.locate()
    const known = into.findTable(name)
    if (known !== NONE) {
      if (fields.has(COLUMNS) || fields.has(KEY) || !fields.has(ROWS)) {
        const message = `table ${quote(name)} is declared twice`
        throw scanner.fail(message, at, 'tables have unique names; later lines may add "rows" only')
      }
      fields.enter(ROWS)
      this.takeRows(known, into.tables[known]!)
      return fields.leave()
    }
    for (const field of [COLUMNS, KEY]) {
      if (fields.has(field)) continue
      const message = `table ${quote(name)} has no "${FIELDS[field]!}"`
      throw scanner.fail(message, begin, TABLES_HINT, 'missing-field')
    }
    fields.enter(COLUMNS)
    const columns = this.takeColumns(name)
    fields.enter(KEY)
    const table = { name, columns, keyColumns: this.takeKeyColumns(name, columns) }
    const id = into.addTable(table)
    if (fields.has(ROWS)) {
      fields.enter(ROWS)
      this.takeRows(id, table)
    }
    fields.leave()
  }

  private takeColumns(table: string): SqlColumn[] {
    const { scanner } = this
    const columns: SqlColumn[] = []
    scanner.need(OPEN_MAP, `the columns of ${table}`, TABLES_HINT)
    forEachName(scanner, (at) => {
      const name = scanner.text()
      if (columns.some((column) => column.name === name)) {
        throw scanner.fail(`column ${quote(name)} is declared twice`, at, 'names are unique')
      }
      scanner.expect(COLON)
      scanner.skipSpace()
      const typeAt = scanner.at
      const told = takeText(scanner, `the type of ${quote(name)}`, TYPES)
      const type = SQL_TYPES.find((known) => known === told)
      if (type === undefined) {
        const message = `column ${quote(name)} has the unknown type ${quote(told)}`
        throw scanner.fail(message, typeAt, TYPES, 'unknown-type')
      }
      columns.push({ name, type })
    })
    return columns
  }

  private takeKeyColumns(table: string, columns: readonly SqlColumn[]): number[] {
    const { scanner } = this
    const key: number[] = []
    const begin = scanner.at
    const hint = 'it lists the columns of the primary key: "key":["id"]'
    scanner.need(OPEN_LIST, `the key of ${table}`, hint)
    forEachItem(scanner, () => {
      const at = scanner.at
      const name = takeText(scanner, 'the name of a column', hint)
      const column = columns.findIndex((candidate) => candidate.name === name)
      if (column === NONE) {
        const names = columns.map((candidate) => candidate.name).join(', ')
        const message = `table ${table} has no column ${quote(name)}`
        throw scanner.fail(message, at, `its columns are ${names}`, 'unknown-column')
      }
      if (columns[column]!.type === 'numeric') {
        const advice = 'numbers of one value have several spellings; declare the column as text'
        throw scanner.fail(`the key column ${quote(name)} is numeric`, at, advice, 'bad-key')
      }
      if (key.includes(column)) {
        throw scanner.fail(`column ${quote(name)} is in the key twice`, at, hint)
      }
      key.push(column)
    })
    if (key.length === 0) throw scanner.fail(`the key of ${table} has no column`, begin, hint)
    return key
  }

  private takeRows(id: number, table: SqlTable): void {
    const { scanner } = this
    const hint = 'a list of objects: "rows":[{"id":1}]'
    scanner.need(OPEN_LIST, `the initial rows of ${table.name}`, hint)
    forEachItem(scanner, () => {
      const place = scanner.here()
      this.into.addInitialRow(id, this.rows.takeRow(table), place)
    })
  }
}

/** Rows are called orders(17): a name with a parenthesis could be mistaken for another's row. */
function checkName(scanner: JsonScanner, name: string, at: number): void {
  if (name !== '' && !name.includes('(')) return
  const hint = 'rows are named table(key), so the name of a table has no parenthesis'
  throw scanner.fail(`${quote(name)} cannot be the name of a table`, at, hint)
}
