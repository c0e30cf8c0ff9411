// The native format, JSON Lines: an optional header {"isobar":1,"initial":null}, then one
// transaction a line. For recorders, a transaction may come as a `pending` line before COMMIT is
// sent and an `outcome` line after it; pending without outcome is indeterminate. A last line that
// is torn (the recorder was killed) is a warning. The format: docs/history-format.md.
//
// Lines are scanned as bytes; no JSON.parse, no object a line. Fields may come in any order: where
// `ops` stands before `session`, it is stepped over and read when the line is known.

import type { InputError } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  INDETERMINATE,
  NONE,
  type Places,
  STATUS_NAMES,
  TIME_UNITS,
  type TimeUnit,
} from '../../history/history.ts'
import { SqlStatements } from '../../history/sql-statements.ts'
import type { Value } from '../../history/values.ts'
import { LEVELS } from '../../levels/levels.ts'
import { JsonScanner } from '../json.ts'
import { refuseSlip, scanName, takeText } from '../json-fields.ts'
import { LineParser, NEWLINE } from '../lines.ts'
import { CLOSE_MAP, COLON, COMMA, OPEN_MAP, QUOTE } from '../scanner.ts'
import { renderJson } from '../sink.ts'
import { type Draft, NO_TXN, OF_ALL, type ParseOptions, type PieceParser } from '../source.ts'
import { AfterReader } from './after.ts'
import { Bookmark } from './bookmark.ts'
import { draftOf, placesOf, refuseClash } from './draft.ts'
import * as field from './fields.ts'
import { NamedTxns } from './named-txns.ts'
import { OpReader, SHORTEST_OP } from './ops.ts'
import { takePartial } from './partial.ts'
import { ABORT_HINT, PendingTxns } from './pending.ts'
import { StatementReader } from './sql.ts'
import { TABLES_HINT, takeTables } from './tables.ts'
import { TxnVersion } from './version.ts'

const VERSION = 1

export class NativeParser extends LineParser implements PieceParser {
  private builder: HistoryBuilder
  private readonly scanner = new JsonScanner(false)
  private readonly opColumn = new IntColumn() // arrival -> column
  private readonly statements = new StatementReader(this.scanner, this.opColumn)
  private readonly ops = new OpReader(this.scanner, this.opColumn, this.statements)
  private readonly after = new AfterReader(this.scanner)
  private readonly txnLine = new IntColumn() // txn -> line
  private readonly lineTxn = new IntColumn() // line - 1 -> txn, NO_TXN or OF_ALL
  private readonly pending: PendingTxns
  private readonly ids = new NamedTxns(this.idLimit)
  private line = this.lineOf(1)
  private readonly sizeBytes: number
  private started: boolean // a line that is not blank was seen

  // The line being read.
  private seen = 0 // bit set of fields
  private session = NONE
  private label = NONE
  private status = COMMITTED
  private start = Number.NaN
  private startText: string | null = null // see JsonScanner.timeText
  private finishTime = Number.NaN
  private finishText: string | null = null
  private level = NONE
  private readonly opsAt = new Bookmark(this.scanner) // of `ops`, if it could not be read yet
  private readonly tablesAt = new Bookmark(this.scanner)
  private readonly partialAt = new Bookmark(this.scanner)
  private readonly markAt = new Bookmark(this.scanner) // of what a mark says
  private txn = NONE
  private initial: Value | undefined = null
  private unit: TimeUnit | null = null
  private readonly version = new TxnVersion(this.scanner)

  constructor(options: ParseOptions = {}) {
    super(options)
    const { piece, sizeBytes = 0 } = options
    this.sizeBytes = sizeBytes
    this.started = piece?.isFirst === false
    const initial = this.started ? piece?.initial : null
    this.builder = new HistoryBuilder(initial, 0, piece?.keys, piece?.columns)
    this.pending = new PendingTxns(piece === undefined ? null : [])
  }

  protected nextLine(): number {
    return this.line
  }

  protected parseLines(bytes: Uint8Array, from: number, to: number): void {
    const { scanner } = this
    const first = this.builder.opCount === 0
    this.reserve(Math.ceil((to - from) / SHORTEST_OP))
    let at = from
    while (at < to) {
      scanner.load(bytes, at, this.line)
      this.txn = NO_TXN
      if (scanner.skipSpace() !== NEWLINE) {
        this.parseLine()
        if (scanner.skipSpace() !== NEWLINE) throw scanner.unexpected('the end of the line')
      }
      at = scanner.at + 1
      this.lineTxn.push(this.txn)
      this.line = this.lineOf(this.lineTxn.length + 1)
    }
    if (first && this.sizeBytes > to) {
      this.reserve(Math.ceil((this.sizeBytes * this.builder.opCount * 1.02) / (to - from)))
    }
  }

  protected override keepLastLine(bytes: Uint8Array, length: number): boolean {
    const tear = this.scanner.findTear(bytes.subarray(0, length), this.line)
    if (tear) this.builder.warnings.push(`line ${this.line} is torn, and left out: ${tear.message}`)
    return tear === null
  }

  protected build(): History {
    refuseClash(this.builder, this.places())
    this.after.resolve(this.builder, (label) => this.ids.find(label))
    return this.builder.finish(this.places(), this.duplicateValues)
  }

  private places(): Places {
    return placesOf(this.builder.opTxn, this.txnLine, this.opColumn)
  }

  lineTxns(): Int32Array {
    return this.lineTxn.view()
  }

  draft(): Draft {
    this.endLines()
    const { isOpen, elsewhere } = this.pending
    return draftOf(this.builder, this.places(), this.after.isUsed, elsewhere ?? [], isOpen)
  }

  private reserve(ops: number): void {
    this.builder.reserveOps(ops)
    this.opColumn.grow(this.builder.opTxn.data.length)
  }

  private parseLine(): void {
    const { scanner } = this
    this.seen = 0
    this.label = NONE
    this.txn = NONE
    this.opsAt.at = NONE
    scanner.need(OPEN_MAP, 'a JSON object', LINE)
    const begin = scanner.at
    scanner.at++
    if (scanner.skipSpace() !== CLOSE_MAP) {
      for (;;) {
        this.parseField()
        const c = scanner.skipSpace()
        if (c === CLOSE_MAP) break
        if (c !== COMMA) throw scanner.unexpected('"," or "}"')
        scanner.at++
        scanner.need(QUOTE, 'the name of a field')
      }
    }
    scanner.at++
    // A transaction may have a field of its own that is called so.
    const isTxn = this.has(field.SESSION) || this.has(field.OPS)
    const isMore = !isTxn && !this.has(field.PENDING)
    if (this.has(field.ISOBAR)) this.takeHeader(begin)
    else if (this.has(field.OUTCOME)) this.takeOutcome(begin)
    else if (this.has(field.MARK) && !isTxn) this.takeMark(begin)
    else if (isMore && (this.has(field.TABLES) || this.has(field.PARTIAL))) this.takeMore(begin)
    else this.takeTxn(begin)
    this.started = true
  }

  /** What a recorder learns only as it goes: tables, their initial rows, what it left out. */
  private takeMore(begin: number): void {
    this.txn = OF_ALL
    if (this.has(field.TABLES)) this.takeTables(begin)
    if (!this.has(field.PARTIAL)) return
    this.partialAt.visit(() => {
      this.builder.partial = takePartial(this.scanner, this.builder.partial)
    })
  }

  /** Something that happened beside the transactions. */
  private takeMark(begin: number): void {
    const { scanner } = this
    if (!this.has(field.START)) {
      const hint = 'a mark looks like {"mark":"the server restarts","start":12}'
      throw scanner.fail('the mark does not say when: it has no "start"', begin, hint)
    }
    this.markAt.visit(() => {
      const text = takeText(scanner, 'a string that says what happened')
      this.builder.annotations.push({ time: this.start, source: field.RUN, text })
    })
  }

  private has(name: number): boolean {
    return (this.seen & (1 << name)) !== 0
  }

  private parseField(): void {
    const { scanner } = this
    const nameAt = scanner.at
    scanner.scanString()
    const name = this.fieldOf(nameAt)
    scanner.expect(COLON)
    // What a transaction calls its unit is its own affair.
    if (name === field.UNKNOWN || (name === field.UNIT && !this.has(field.ISOBAR))) {
      return scanner.skipValue()
    }
    if (this.has(name)) throw scanner.fail(`"${field.FIELDS[name]!}" is given twice`, nameAt)
    this.seen |= 1 << name
    this.parseFieldValue(name)
  }

  private parseFieldValue(name: number): void {
    const { scanner, builder } = this
    const c = scanner.skipSpace()
    if (name === field.SESSION) this.session = this.ops.takeSymbol(builder.sessions, 'session')
    else if (name === field.ID || name === field.PENDING || name === field.OUTCOME) {
      if (this.label !== NONE) throw scanner.fail('the id is given twice')
      this.label = this.ops.takeSymbol(builder.labels, 'transaction id')
    } else if (name === field.STATUS) this.status = scanName(scanner, STATUS_NAMES, 'status')
    else if (name === field.START) {
      this.start = scanner.scanTime('start')
      this.startText = scanner.timeText
    } else if (name === field.FINISH) {
      this.finishTime = scanner.scanTime('finish')
      this.finishText = scanner.timeText
    } else if (name === field.LEVEL) this.level = scanName(scanner, LEVEL_IDS, 'level')
    else if (name === field.OPS) {
      this.opsAt.set()
      if (this.has(field.SESSION)) this.takeOps()
      else scanner.skipValue()
    } else if (name === field.ISOBAR) this.parseVersion()
    else if (name === field.VERSION) this.version.pass()
    else if (name === field.AFTER) {
      this.after.take(() => this.ops.takeSymbol(builder.labels, 'transaction id'))
    } else if (name === field.TABLES) this.tablesAt.pass()
    else if (name === field.PARTIAL) this.partialAt.pass()
    else if (name === field.MARK) this.markAt.pass()
    else if (name === field.UNIT) {
      this.unit = TIME_UNITS[scanName(scanner, TIME_UNITS, 'unit of time')]!
    } else if (name === field.AUDIT) {
      if (c !== 116) throw scanner.unexpected('true', 'an audit has "audit":true')
      scanner.expectWord('true')
    } else {
      if (c === 102) scanner.expectWord('false')
      this.initial = c === 102 ? undefined : this.ops.takeValue('initial value')
    }
  }

  private takeOps(): void {
    this.txn = this.builder.addTxn(this.session, COMMITTED)
    this.txnLine.push(this.line)
    this.pending.add()
    this.opsAt.at = NONE
    this.statements.abortAt = NONE
    this.ops.takeOps(this.builder, this.txn)
  }

  /** A whole transaction, or a pending one. */
  private takeTxn(begin: number): void {
    const { scanner, builder } = this
    if (this.has(field.INITIAL)) {
      throw scanner.fail('"initial" belongs into the header', begin, HEADER)
    }
    if (this.has(field.TABLES)) {
      throw scanner.fail('"tables" belongs into the header', this.tablesAt.at, TABLES_HINT)
    }
    if (this.has(field.PARTIAL)) {
      const hint = 'it has a line of its own, or stands in the header'
      throw scanner.fail('"partial" is said of a history', this.partialAt.at, hint)
    }
    if (!this.has(field.SESSION)) throw this.missing(begin, 'session')
    if (!this.has(field.OPS)) throw this.missing(begin, 'ops')
    if (this.opsAt.at !== NONE) this.opsAt.visit(() => this.takeOps())
    const { txn } = this
    if (this.has(field.STATUS)) builder.setStatus(txn, this.status)
    if (this.has(field.START)) builder.setStart(txn, this.start, this.startText)
    if (this.has(field.FINISH)) builder.setFinish(txn, this.finishTime, this.finishText)
    if (this.has(field.LEVEL)) builder.setLevel(txn, this.level)
    if (this.has(field.AUDIT)) builder.setAudit(txn)
    if (this.has(field.AFTER)) this.after.assign(txn)
    if (this.has(field.VERSION)) this.version.assign(builder, txn)
    if (this.has(field.PENDING)) this.takePending(txn, begin)
    if (this.statements.abortAt !== NONE) this.takeAbort(txn)
    if (this.label === NONE) return
    const other = this.ids.claim(this.label, txn)
    if (other !== txn) {
      const id = renderJson(builder.labels.get(this.label))
      const message = `transaction id ${id} is used twice (first at line ${this.txnLine.data[other]!})`
      throw scanner.fail(message, begin, 'ids name one transaction each', 'duplicate-id')
    }
    builder.setLabelId(txn, this.label)
  }

  private takePending(txn: number, begin: number): void {
    if (this.has(field.STATUS) || this.has(field.FINISH)) {
      const name = this.has(field.STATUS) ? 'status' : 'finish'
      const hint = 'they come with the outcome: {"outcome":"T7","status":"committed","finish":15}'
      throw this.scanner.fail(`a pending transaction has no "${name}" yet`, begin, hint)
    }
    this.builder.setStatus(txn, INDETERMINATE)
    this.pending.open(txn)
  }

  private takeAbort(txn: number): void {
    if (this.has(field.STATUS) && this.status !== ABORTED) {
      const message = `the transaction aborts, but its status is ${STATUS_NAMES[this.status]!}`
      throw this.scanner.fail(message, this.statements.abortAt, ABORT_HINT)
    }
    this.builder.setStatus(txn, ABORTED)
    this.statements.into?.rollBack(txn)
    if (this.has(field.PENDING)) this.pending.openAborting(txn)
  }

  private takeOutcome(begin: number): void {
    const { scanner, builder } = this
    const allowed =
      (1 << field.OUTCOME) | (1 << field.STATUS) | (1 << field.FINISH) | (1 << field.VERSION)
    if ((this.seen & ~allowed) !== 0) {
      const hint = 'an outcome line has "outcome", "status", "finish" and "version"'
      throw scanner.fail('an outcome line says only how a transaction ended', begin, hint)
    }
    if (!this.has(field.STATUS)) throw this.missing(begin, 'status')
    const label = builder.labels.get(this.label)
    const id = renderJson(label)
    const txn = this.ids.find(this.label)
    const { elsewhere } = this.pending
    if (txn === NONE && elsewhere !== null) {
      const finish = this.has(field.FINISH) ? this.finishTime : Number.NaN
      elsewhere.push({ label, status: this.status, line: this.line, finish })
      // Whose version it is stands in another piece: that there is one is enough to be refused.
      if (this.has(field.VERSION)) this.version.assign(builder, builder.txnCount)
      return
    }
    if (txn === NONE) {
      const message = `the outcome of transaction ${id}, which is not pending before this line`
      throw scanner.fail(message, begin, 'its pending line must come first', 'unknown-id')
    }
    const name = `transaction ${id} (line ${this.txnLine.data[txn]!})`
    this.pending.settle(txn, this.status, name, scanner, begin)
    this.txn = txn
    builder.setStatus(txn, this.status)
    if (this.has(field.FINISH)) builder.setFinish(txn, this.finishTime, this.finishText)
    if (this.has(field.VERSION)) this.version.assign(builder, txn)
  }

  private takeHeader(begin: number): void {
    if (this.started) throw this.scanner.fail('the header must be the first line', begin, HEADER)
    if (this.has(field.OPS) || this.has(field.SESSION) || this.has(field.AFTER)) {
      throw this.scanner.fail('the header is a line of its own', begin, HEADER)
    }
    if (this.has(field.INITIAL)) {
      const capacity = this.builder.opTxn.data.length
      this.builder = new HistoryBuilder(this.initial, capacity, this.builder.keys)
    }
    if (this.has(field.UNIT)) this.builder.timeUnit = this.unit
    this.takeMore(begin)
  }

  private takeTables(begin: number): void {
    const { scanner } = this
    if (this.builder.initial !== null) {
      const hint = '"from":null is a row\'s initial version; leave "initial" out'
      throw scanner.fail('beside tables the initial value is null', begin, hint)
    }
    const into = this.statements.into ?? new SqlStatements(this.builder)
    this.statements.into = into
    this.tablesAt.visit(() => takeTables(scanner, into))
  }

  private parseVersion(): void {
    const { scanner } = this
    const at = scanner.at
    if (scanner.scanTime('version') === VERSION) return
    const hint = 'the header looks like {"isobar":1}; verdict files go to isobar verify or report'
    throw scanner.fail(`this version reads native histories of version ${VERSION}`, at, hint)
  }

  /** Which field the string last read names. */
  private fieldOf(at: number): number {
    const { scanner } = this
    const { bytes, textFrom, textTo } = scanner
    const likely = field.fieldOfShape(bytes[textFrom]!, bytes[textFrom + 1]!, textTo - textFrom)
    if (likely !== field.UNKNOWN && scanner.textIs(field.FIELDS[likely]!)) return likely
    if (this.has(field.ISOBAR)) refuseSlip(scanner, at, field.HEADER_FIELDS)
    else refuseSlip(scanner, at, field.LINE_FIELDS, field.ALIASES)
    return field.UNKNOWN
  }

  private missing(begin: number, name: string): InputError {
    return this.scanner.fail(`the line has no "${name}"`, begin, LINE)
  }
}

const LINE = 'a line looks like {"session":0,"ops":[["r","x",1]]}'
const HEADER = 'the header looks like {"isobar":1,"initial":null}'
const LEVEL_IDS = LEVELS.map((level) => level.id)
