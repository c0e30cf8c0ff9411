// Values, rows and keys of SQL histories: a row is an object of columns, {"id":1,"status":"open"},
// in which a column that is missing is NULL; a key lists the values of the primary key, [1], or is
// the value itself where the key has one column. Types must be those of the columns: an integer is
// a JSON number (64 bits, exact), text a string, a numeric either, with decimals a string.

import type { InputError } from '../../base/errors.ts'
import { obtain } from '../../base/maps.ts'
import { findMeant } from '../../base/slips.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { Value } from '../../history/values.ts'
import { PLAIN_DECIMAL, type SqlRow, type SqlType, type SqlValue } from '../../sql/value.ts'
import { beginsNumber, type JsonScanner } from '../json.ts'
import { quote } from '../json-fields.ts'
import { forEachItem, forEachName, takeFlag } from '../json-walk.ts'
import { COLON, OPEN_LIST, OPEN_MAP, QUOTE } from '../scanner.ts'

const MAX_INTEGER = 2n ** 63n - 1n
const VALUES = 'values are integers, strings, true, false and null; write decimals as strings'

export class RowReader {
  private readonly columns = new Map<SqlTable, Map<string, number>>() // table -> name -> column

  constructor(private readonly scanner: JsonScanner) {}

  /** A row with its key columns; the others may be missing. */
  takeRow(table: SqlTable): SqlRow {
    const { scanner } = this
    const placed = () => new Map(table.columns.map(({ name }, column) => [name, column]))
    const names = obtain(this.columns, table, placed)
    const row: (SqlValue | undefined)[] = table.columns.map(() => undefined)
    const shape = 'a row looks like {"id":1,"status":"open"}'
    scanner.need(OPEN_MAP, `a row of ${table.name}`, shape)
    const begin = scanner.at
    forEachName(scanner, (at) => {
      const name = scanner.text()
      const column = names.get(name)
      if (column === undefined) throw this.unknownColumn(table, name, at)
      if (row[column] !== undefined) {
        throw scanner.fail(`column ${quote(name)} is given twice`, at, 'a row has each column once')
      }
      scanner.expect(COLON)
      row[column] = this.takeColumn(table, column, table.keyColumns.includes(column))
    })
    for (const column of table.keyColumns) {
      if (row[column] !== undefined) continue
      const message = `the row lacks its key column ${quote(table.columns[column]!.name)}`
      const hint = `the key of ${table.name} is (${keyNames(table)}); other columns may be missing`
      throw scanner.fail(message, begin, hint, 'missing-key')
    }
    return row.map((value) => value ?? null)
  }

  /** A primary key: a list of its values, or the only one. */
  takeKey(table: SqlTable): SqlRow {
    const { scanner } = this
    const count = table.keyColumns.length
    const hint = `the key of ${table.name} is (${keyNames(table)})`
    const key: SqlValue[] = []
    if (scanner.skipSpace() !== OPEN_LIST) {
      if (count !== 1) {
        const message = `a key of ${table.name} is a list of ${count} values`
        throw scanner.fail(message, scanner.at, hint, 'bad-key')
      }
      return [this.takeColumn(table, table.keyColumns[0]!, true)]
    }
    const begin = scanner.at
    forEachItem(scanner, (position) => {
      const column = table.keyColumns[position]
      if (column === undefined) scanner.skipValue()
      key.push(column === undefined ? null : this.takeColumn(table, column, true))
    })
    if (key.length !== count) {
      const values = count === 1 ? '1 value' : `${count} values`
      const message = `a key of ${table.name} has ${values}, found ${key.length}`
      throw scanner.fail(message, begin, hint, 'bad-key')
    }
    return key
  }

  /** The parameters of a statement, of any types. */
  takeParams(): SqlValue[] {
    const params: SqlValue[] = []
    this.scanner.need(OPEN_LIST, 'a list of parameters', 'it looks like "params":["open",3]')
    forEachItem(this.scanner, (position) => {
      params.push(this.takeValue(`parameter $${position + 1}`))
    })
    return params
  }

  /** The id of a write: a string or an integer; null, where it may stand, is the initial version. */
  takeWriteId(what: string, orNull: boolean): Value {
    const { scanner } = this
    const c = scanner.skipSpace()
    const at = scanner.at
    if (c === QUOTE) {
      scanner.scanString()
      return scanner.text()
    }
    if (beginsNumber(c)) return scanner.takeInteger(what)
    if (c === 110 && orNull) {
      scanner.expectWord('null')
      return null
    }
    const type = typeAt(c)
    const hint = orNull
      ? 'it is the id of the write that made the version, or null for the initial version'
      : 'it is a string or an integer, another for every statement that writes'
    if (type === null) throw scanner.unexpected(`the ${what}`, hint)
    throw scanner.fail(`the ${what} cannot be ${type}`, at, hint)
  }

  private takeColumn(table: SqlTable, column: number, isKey: boolean): SqlValue {
    const { scanner } = this
    const { name, type } = table.columns[column]!
    const c = scanner.skipSpace()
    const at = scanner.at
    const value = this.takeValue(`value of ${name}`)
    if (value === null) {
      if (!isKey) return null
      const hint = `the key of ${table.name} is (${keyNames(table)})`
      throw scanner.fail(`the key column ${quote(name)} cannot be null`, at, hint, 'missing-key')
    }
    const [one, many, spelling] = TYPES[type]
    if (typeAt(c) === one) return value
    if (type === 'numeric') {
      if (typeof value === 'bigint') return String(value)
      if (typeof value === 'string' && PLAIN_DECIMAL.test(value)) return value
    }
    const found = type === 'numeric' && typeof value === 'string' ? 'other text' : typeAt(c)!
    const message = `column ${quote(name)} of ${table.name} holds ${many}, found ${found}`
    throw scanner.fail(message, at, spelling, 'wrong-type')
  }

  private takeValue(what: string): SqlValue {
    const { scanner } = this
    const c = scanner.skipSpace()
    const at = scanner.at
    const type = typeAt(c)
    if (type === 'an integer') {
      scanner.scanInteger(what)
      const value = scanner.integer()
      if (value <= MAX_INTEGER) return value
      const hint = 'integers go from -2^63 to 2^63 - 1'
      throw scanner.fail(`the ${what} does not fit into 64 bits`, at, hint, 'out-of-range')
    }
    if (type === 'a boolean') return takeFlag(scanner)
    if (type === null) throw scanner.unexpected(`the ${what}`, VALUES)
    if (type === 'text') scanner.scanString()
    else if (type === 'null') scanner.expectWord('null')
    else throw scanner.fail(`the ${what} cannot be ${type}`, at, VALUES, 'wrong-type')
    return type === 'text' ? scanner.text() : null
  }

  private unknownColumn(table: SqlTable, name: string, at: number): InputError {
    const names = table.columns.map((column) => column.name)
    const meant = findMeant(name, names)
    const hint = meant ? `did you mean "${meant}"?` : `its columns are ${names.join(', ')}`
    const message = `table ${table.name} has no column ${quote(name)}`
    return this.scanner.fail(message, at, hint, 'unknown-column')
  }
}

/** What a value that begins with this byte is, with its article; null if no value does. */
export function typeAt(c: number): string | null {
  if (c === QUOTE) return 'text'
  if (beginsNumber(c)) return 'an integer'
  if (c === 116 || c === 102) return 'a boolean'
  if (c === 110) return 'null'
  if (c === OPEN_MAP) return 'an object'
  return c === OPEN_LIST ? 'a list' : null
}

/** Type of a column -> what a value of it is, what the column holds, how it is written. */
const TYPES: Record<SqlType, readonly [value: string, values: string, spelling: string]> = {
  boolean: ['a boolean', 'booleans', 'write true or false, or declare another type'],
  integer: [
    'an integer',
    'integers',
    'write the number without quotes, or declare the column as text',
  ],
  numeric: [
    'a number', // which no single byte tells
    'numbers',
    'write "12.50", digits and a point; NaN and infinities are not supported',
  ],
  text: ['text', 'text', 'write it in quotes, or declare another type'],
}

function keyNames(table: SqlTable): string {
  return table.keyColumns.map((column) => table.columns[column]!.name).join(', ')
}
