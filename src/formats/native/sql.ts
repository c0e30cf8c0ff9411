// SQL statements among the operations of a native line; a row is named by its key, a version of it
// by the id of the write that made it (null: the initial one):
//
//   {"select":"orders","where":"status = $1","params":["open"],
//    "rows":[{"key":[1],"from":"w3"}],"unread":[{"key":[2],"from":null}]}
//   {"insert":"orders","write":"w7","rows":[{"id":5,"status":"open"}]}
//   {"update":"orders","where":"id = 1","write":"w8",
//    "rows":[{"key":[1],"from":"w3","row":{"id":1,"status":"done"}}]}
//   {"delete":"orders","write":"w9","rows":[{"key":[1],"from":"w8"}]}
//   {"refused":"orders","rows":[{"key":[1],"from":"w8"}]}
//   {"abort":true}
//
// Clauses are kept as text: whoever judges the history parses them. Versions that nobody wrote are
// findings, so no write id is looked up here. Main function: StatementReader.take.

import type { InputError, Place } from '../../base/errors.ts'
import type { IntColumn } from '../../base/grow.ts'
import { findMeant } from '../../base/slips.ts'
import { NONE } from '../../history/history.ts'
import {
  DELETE,
  EVERY_ROW,
  INSERT,
  REFUSED,
  SELECT,
  type SqlTable,
  STATEMENT_NAMES,
  UPDATE,
} from '../../history/sql-events.ts'
import type { SqlStatements } from '../../history/sql-statements.ts'
import type { Value } from '../../history/values.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { JsonScanner } from '../json.ts'
import { JsonFields, quote, refuseSlip, takeText } from '../json-fields.ts'
import { forEachItem, forEachName } from '../json-walk.ts'
import { COLON, OPEN_LIST, OPEN_MAP } from '../scanner.ts'
import { RowReader } from './rows.ts'
import { TABLES_HINT } from './tables.ts'

export const STATEMENT = 'a statement looks like {"select":"orders","where":"id = 1","rows":[]}'

// The first five are the kinds of statements, in their order.
const FIELDS = [...STATEMENT_NAMES, 'abort', 'where', 'params', 'write', 'rows', 'unread'] as const
const ABORT = 5
const WHERE = 6
const PARAMS = 7
const WRITE = 8
const ROWS = 9
const UNREAD = 10
const ALIASES = {
  predicate: 'where',
  condition: 'where',
  parameters: 'params',
  args: 'params',
  writeid: 'write',
  write_id: 'write',
}

const LETTER_T = 116

/** What a statement of each kind has, beside its table and its rows. */
const ALLOWED = [
  [WHERE, PARAMS, UNREAD],
  [WRITE],
  [WHERE, PARAMS, WRITE, UNREAD],
  [WHERE, PARAMS, WRITE, UNREAD],
  [],
]

const ROW_FIELDS = ['key', 'from', 'row'] as const
const VERSION = 'a row looks like {"key":[1],"from":"w3"}; "from":null is the initial version'
const MET =
  'an insert was refused because of a row: {"refused":"orders","rows":[{"key":[1],"from":"w3"}]}'
const CHANGE = 'an updated row looks like {"key":[1],"from":"w3","row":{"id":1,"status":"done"}}'

/** A row that a statement wrote: writes come after all that the statement saw. */
interface Written {
  readonly key: SqlRow
  readonly row: SqlRow | null
  readonly place: Place
}

export class StatementReader {
  /** What statements are put into; null while no tables are declared. */
  into: SqlStatements | null = null
  /** Where the abort of the current transaction stands, NONE if there is none. */
  abortAt = NONE
  private readonly fields: JsonFields
  private readonly rows: RowReader
  private kind = NONE
  private written: Written[] = []

  /** @param columns arrival -> column, to be kept up with the operations */
  constructor(
    private readonly scanner: JsonScanner,
    private readonly columns: IntColumn,
  ) {
    this.fields = new JsonFields(scanner, FIELDS, ALIASES)
    this.rows = new RowReader(scanner)
  }

  /** Nothing may follow an abort. */
  expectMore(): void {
    if (this.abortAt === NONE) return
    const hint = '{"abort":true} is the last operation of its transaction'
    throw this.scanner.fail('the transaction has aborted before this operation', undefined, hint)
  }

  /** Takes the object that comes next. */
  take(txn: number): void {
    const { scanner, fields } = this
    const begin = scanner.at
    const place = scanner.here()
    fields.locate()
    this.kind = this.findKind(begin)
    if (this.kind === ABORT) this.takeAbort(begin)
    else this.takeStatement(txn, begin, place)
    fields.leave()
  }

  private takeStatement(txn: number, begin: number, place: Place): void {
    const { scanner, fields, into } = this
    if (into === null) {
      const message = 'a statement, but the header declares no tables'
      throw scanner.fail(message, begin, TABLES_HINT, 'unknown-table')
    }
    this.refuseForeign()
    const id = this.takeTable(into)
    if (this.kind === REFUSED && fields.has(ROWS)) return this.takeRefused(into, txn, id, place)
    if (this.kind === REFUSED) throw this.missing(begin, 'rows', MET)
    const predicate = this.kind === INSERT ? NONE : this.takePredicate(into, id, place)
    if (!fields.has(ROWS)) {
      const hint = this.kind === INSERT ? 'the rows as written' : 'the rows it saw; [] if none'
      throw this.missing(begin, 'rows', hint)
    }
    into.begin(txn, this.kind, id, predicate, place)
    let write: Value = null
    if (fields.has(WRITE)) {
      fields.enter(WRITE)
      const writePlace = scanner.here()
      write = this.rows.takeWriteId('write id', false)
      into.nameWrite(write, writePlace)
    }
    const table = into.tables[id]!
    this.written = []
    fields.enter(ROWS)
    if (this.kind === INSERT) this.takeInserted(table)
    else this.takeVersions(table, into, true)
    if (fields.has(UNREAD)) {
      fields.enter(UNREAD)
      this.takeVersions(table, into, false)
    }
    if (this.written.length > 0 && write === null) {
      const hint = 'the id by which reads name what it wrote: "write":"w7"'
      throw this.missing(begin, 'write', hint)
    }
    for (const { key, row, place } of this.written) {
      into.writeRow(key, write, row, place)
      this.columns.push(place.column)
    }
  }

  /** What an INSERT met that was refused: it speaks of no other rows. */
  private takeRefused(into: SqlStatements, txn: number, id: number, statement: Place): void {
    const { scanner, fields } = this
    fields.enter(ROWS)
    const at = scanner.at
    this.expectList('the rows that were there')
    const met: { key: SqlRow; from: Value; place: Place }[] = []
    forEachItem(scanner, () => {
      const place = scanner.here()
      const { key, from } = this.takeVersion(into.tables[id]!, false)
      met.push({ key, from, place })
    })
    if (met.length === 0) throw scanner.fail('the insert was refused by no row', at, MET)
    const keys = met.map(({ key }) => key)
    into.begin(txn, REFUSED, id, into.predicateOfKeys(id, keys), statement)
    for (const { key, from, place } of met) {
      into.readRow(key, from, true, place)
      this.columns.push(place.column)
    }
  }

  /** Which statement the object is. */
  private findKind(begin: number): number {
    const { scanner, fields } = this
    const kinds = [SELECT, INSERT, UPDATE, DELETE, REFUSED, ABORT]
    const [kind, other] = kinds.filter((each) => fields.has(each))
    if (kind === undefined) {
      const message = 'the object is no statement: it has no "select", "insert", "update", "delete"'
      throw scanner.fail(message, begin, STATEMENT)
    }
    if (other === undefined) return kind
    const message = `the statement is both "${FIELDS[kind]!}" and "${FIELDS[other]!}"`
    throw scanner.fail(message, begin, STATEMENT)
  }

  private takeAbort(begin: number): void {
    this.fields.enter(ABORT)
    this.scanner.need(LETTER_T, 'true', 'an abort is {"abort":true}, else it is left out')
    this.scanner.expectWord('true')
    this.abortAt = begin
  }

  /** Refuses what a statement of this kind cannot have. */
  private refuseForeign(): void {
    const { fields, kind } = this
    const allowed = ALLOWED[kind]!
    for (let field = WHERE; field < FIELDS.length; field++) {
      if (field === ROWS || !fields.has(field) || allowed.includes(field)) continue
      const names = [ROWS, ...allowed].map((known) => `"${FIELDS[known]!}"`).join(', ')
      const verb = kind === REFUSED ? 'a refused insert' : STATEMENT_NAMES[kind]!
      const message = `${verb} has no "${FIELDS[field]!}"`
      throw this.scanner.fail(message, fields.valueAt(field), `beside the table it has ${names}`)
    }
    if (!fields.has(PARAMS) || fields.has(WHERE)) return
    const hint = 'parameters are what $1, $2, … stand for in "where"'
    throw this.scanner.fail('"params" without "where"', fields.valueAt(PARAMS), hint)
  }

  private takeTable(into: SqlStatements): number {
    const { scanner, fields, kind } = this
    fields.enter(kind)
    const at = scanner.at
    const name = takeText(scanner, 'the name of a table', STATEMENT)
    const table = into.findTable(name)
    if (table !== NONE) return table
    const names = into.tables.map((known) => known.name)
    const meant = findMeant(name, names)
    const known = names.length > 0 ? `the header declares ${names.join(', ')}` : TABLES_HINT
    const hint = meant ? `did you mean "${meant}"?` : known
    throw scanner.fail(`there is no table ${quote(name)}`, at, hint, 'unknown-table')
  }

  private takePredicate(into: SqlStatements, table: number, statement: Place): number {
    const { scanner, fields } = this
    if (!fields.has(WHERE)) return into.predicate(table, EVERY_ROW, [], statement)
    fields.enter(WHERE)
    const place = scanner.here()
    const text = takeText(scanner, 'a WHERE clause', 'it is SQL in a string: "where":"id = 1"')
    if (!fields.has(PARAMS)) return into.predicate(table, text, [], place)
    fields.enter(PARAMS)
    return into.predicate(table, text, this.rows.takeParams(), place)
  }

  private takeInserted(table: SqlTable): void {
    this.expectList('the rows as written')
    forEachItem(this.scanner, () => {
      const place = this.scanner.here()
      const row = this.rows.takeRow(table)
      this.written.push({ key: table.keyColumns.map((column) => row[column]!), row, place })
    })
  }

  private takeVersions(table: SqlTable, into: SqlStatements, returned: boolean): void {
    this.expectList(returned ? 'the rows' : 'the rows passed over')
    forEachItem(this.scanner, () => {
      const place = this.scanner.here()
      const { key, from, row } = this.takeVersion(table, returned && this.kind === UPDATE)
      const opCount = into.opCount
      into.readRow(key, from, returned, place)
      // One more row of a key belongs to the operation that is there already.
      if (into.opCount > opCount) this.columns.push(place.column)
      if (returned && this.kind !== SELECT) this.written.push({ key, row, place })
    })
  }

  /** Takes {"key":…,"from":…}, and "row" if it is an update that saw and wrote it. */
  private takeVersion(table: SqlTable, updates: boolean) {
    const { scanner } = this
    const hint = updates ? CHANGE : VERSION
    scanner.need(OPEN_MAP, 'a row', hint)
    const begin = scanner.at
    let key: SqlRow | undefined
    let from: Value | undefined
    let row: SqlRow | null = null
    let rowAt = NONE
    forEachName(scanner, (at) => {
      const field = ROW_FIELDS.findIndex((name) => scanner.textIs(name))
      if (field === NONE) refuseSlip(scanner, at, ROW_FIELDS)
      else if ([key !== undefined, from !== undefined, row !== null][field]) {
        throw scanner.fail(`"${ROW_FIELDS[field]!}" is given twice`, at, hint)
      }
      scanner.expect(COLON)
      scanner.skipSpace()
      if (field === 0) key = this.rows.takeKey(table)
      else if (field === 1) from = this.rows.takeWriteId('version', true)
      else if (field === NONE) scanner.skipValue()
      else {
        if (!updates) throw scanner.fail('only an update says what a row became', at, hint)
        rowAt = scanner.at
        row = this.rows.takeRow(table)
      }
    })
    if (key === undefined) throw this.missing(begin, 'key', hint)
    if (from === undefined) throw this.missing(begin, 'from', hint)
    if (updates && row === null) throw this.missing(begin, 'row', CHANGE)
    if (updates) this.checkChange(table, key, row!, rowAt)
    return { key, from, row: row as SqlRow | null }
  }

  /** An update says what the row became, which is the same row still. */
  private checkChange(table: SqlTable, key: SqlRow, row: SqlRow, rowAt: number): void {
    const changed = table.keyColumns.find((column, i) => row[column] !== key[i])
    if (changed === undefined) return
    const message = `the update changes the key column ${quote(table.columns[changed]!.name)}`
    const hint = 'a row keeps its primary key: record a delete and an insert instead'
    throw this.scanner.fail(message, rowAt, hint, 'changed-key')
  }

  private expectList(what: string): void {
    this.scanner.need(OPEN_LIST, what, 'a list of objects, [] if there are none')
  }

  private missing(at: number, name: string, hint: string): InputError {
    const verb = this.kind === REFUSED ? 'refused insert' : STATEMENT_NAMES[this.kind]!
    const whose = ROW_FIELDS.some((known) => known === name) ? 'row' : verb
    return this.scanner.fail(`the ${whose} has no "${name}"`, at, hint, 'missing-field')
  }
}
