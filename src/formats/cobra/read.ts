// Cobra's logs: a directory with one `*.log` file a session, big-endian records:
//
//   S txnId                                  begin
//   W writeId keyHash valueHash              write
//   R writerTxnId writeId keyHash valueHash  read
//   C txnId                                  commit
//
// The value of a write is its writeId; a read names the one it saw, or a reserved id for the
// initial state. A transaction open at the end of a file, and a torn last record, are those of a
// client that died: the transaction is indeterminate, and a warning says so.

import type { InputError, Place } from '../../base/errors.ts'
import { enlarged, IntColumn } from '../../base/grow.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { COMMITTED, type History, INDETERMINATE, NONE, READ, WRITE } from '../../history/history.ts'
import { SymbolTable } from '../../history/symbols.ts'
import { badByte, type Int64, int64ToValue, internInt64 } from '../binary.ts'
import { openSession } from '../files.ts'
import type { HistoryParser, ParseOptions } from '../source.ts'

const BEGIN = 83 // S
const COMMIT = 67 // C
const READ_RECORD = 82 // R
const WRITE_RECORD = 87 // W
const END = 255 // some writers stop here, and leave old bytes behind it

export const INITIAL_ID = 0xbebeebee
const NULL_ID = 0xdeadbeef
const COLLECTION_IDS = [0x23332333, 0x66666666]

export function isReserved(id: number | bigint): boolean {
  return id === INITIAL_ID || id === NULL_ID || COLLECTION_IDS.includes(Number(id))
}

export class CobraParser implements HistoryParser {
  private readonly builder = new HistoryBuilder(null)
  private readonly ids = new SymbolTable() // transaction id -> symbol, in order of first use
  private readonly idTxn = new IntColumn() // symbol -> txn
  private file = 'the log'
  private session = NONE
  private txn = NONE // the open transaction
  private rest = new Uint8Array(0) // the beginning of a record whose end has not come yet
  private offset = 0 // byte of the file at which `rest` begins
  private ended = false
  private collections = 0 // operations that only mark garbage collection

  constructor(private readonly options: ParseOptions = {}) {}

  /** Begins the next file; sessions are numbered as the files are: T10.log is session 10. */
  beginFile(name: string): void {
    this.file = name
    this.session = openSession(this.builder, name)
  }

  push(bytes: Uint8Array): void {
    if (this.ended) return
    if (this.session === NONE) this.beginFile('T0.log')
    const all = enlarged(this.rest, this.rest.length + bytes.length)
    all.set(bytes, this.rest.length)
    const view = new DataView(all.buffer)
    let at = 0
    while (at < all.length) {
      const length = this.recordLength(all[at]!, at)
      if (this.ended || at + length > all.length) break
      this.takeRecord(view, at)
      at += length
    }
    this.offset += at
    this.rest = this.ended ? new Uint8Array(0) : all.slice(at)
  }

  finish(): History {
    this.endFile()
    const { builder, collections } = this
    if (collections > 0) {
      builder.warnings.push(`${collections} operations that mark garbage collection are left out`)
    }
    return builder.finish(null, this.options.duplicateValues)
  }

  place(): Place {
    return { line: 1, column: this.offset + this.rest.length + 1 }
  }

  endFile(): void {
    const warn = (what: string) => this.builder.warnings.push(`${this.file}: ${what}`)
    if (this.rest.length > 0) warn('the last record is torn, and left out')
    if (this.txn !== NONE) warn('a transaction is open at the end, so indeterminate')
    this.rest = new Uint8Array(0)
    this.offset = 0
    this.txn = NONE
    this.ended = false
  }

  private recordLength(type: number, at: number): number {
    if (type === BEGIN || type === COMMIT) return 9
    if (type === WRITE_RECORD) return 25
    if (type === READ_RECORD) return 33
    if (type !== END) throw this.fail(at, `no record begins with 0x${type.toString(16)}`)
    this.ended = true
    return 0
  }

  private takeRecord(view: DataView, at: number): void {
    const type = view.getUint8(at)
    const first = int64At(view, at + 1)
    if (type === BEGIN) return this.begin(first, at)
    if (this.txn === NONE) throw this.fail(at, 'a record outside of any transaction')
    if (type === COMMIT) return this.commit(first, at)
    const { keys, values } = this.builder
    const isRead = type === READ_RECORD
    const writeId = isRead ? int64At(view, at + 9) : first
    const id = int64ToValue(writeId)
    if (COLLECTION_IDS.includes(Number(id))) {
      this.collections++
      return
    }
    const key = internInt64(keys, int64At(view, at + (isRead ? 17 : 9)))
    const isInitial = id === INITIAL_ID || id === NULL_ID
    const value = isInitial ? this.builder.valueId(null) : internInt64(values, writeId)
    this.builder.addOp(this.txn, isRead ? READ : WRITE, key, value)
  }

  private begin(id: Int64, at: number): void {
    if (this.txn !== NONE) throw this.fail(at, 'a transaction begins while another is open')
    const count = this.ids.size
    const symbol = internInt64(this.ids, id)
    const label = int64ToValue(id)
    if (symbol < count) {
      const other = this.builder.sessionOf(this.idTxn.data[symbol]!)
      const where = other === this.session ? 'in this file' : 'in another session'
      const message = `transaction ${label} begins a second time, the first was ${where}`
      throw this.fail(at, message, 'duplicate-id')
    }
    this.txn = this.builder.addTxn(this.session, INDETERMINATE, label)
    this.idTxn.push(this.txn)
  }

  private commit(id: Int64, at: number): void {
    const symbol = internInt64(this.ids, id)
    if (this.idTxn.data[symbol] !== this.txn || symbol >= this.idTxn.length) {
      throw this.fail(at, `transaction ${int64ToValue(id)} commits, but another is open`)
    }
    this.builder.setStatus(this.txn, COMMITTED)
    this.txn = NONE
  }

  /** @param at where it is among the bytes at hand */
  private fail(at: number, message: string, code?: string): InputError {
    return badByte(this.offset + at, message, code)
  }
}

function int64At(view: DataView, at: number): Int64 {
  return { high: view.getInt32(at), low: view.getInt32(at + 4) }
}
