// dbcop's bincode: little-endian, fixed width, one file, often `history.bincode` in a directory.
//
//   i64 id, n_node, n_variable, n_transaction, n_event            only informational
//   str info, start, end                                          str = i64 length, UTF-8 bytes
//   i64 sessions { i64 txns { i64 events { u8 isWrite, i64 key, i64 value, u8 ok } u8 committed } }
//
// A transaction that did not commit is aborted; an event that is not ok failed, so nobody could see
// it, and is left out. The initial value is 0. Counts are checked against the bytes that are left
// before anything is made.

import { HistoryBuilder } from '../../history/builder.ts'
import { ABORTED, COMMITTED, type History, READ, WRITE } from '../../history/history.ts'
import { badByte, type Int64, int64ToValue, internInt64 } from '../binary.ts'
import { badUtf8, DocumentParser, firstBadByte } from '../source.ts'

const EVENT_BYTES = 18

export class DbcopParser extends DocumentParser {
  private at = 0
  private bytes: Uint8Array = new Uint8Array(0)
  private view = new DataView(this.bytes.buffer)
  private readonly builder = new HistoryBuilder(0)

  override place() {
    return { line: 1, column: this.length + 1 }
  }

  finish(): History {
    if (this.length === 0) return this.builder.finish()
    const all = this.all()
    this.bytes = all.subarray(0, this.length)
    this.view = new DataView(all.buffer, 0, this.length)
    for (let i = 0; i < 5; i++) this.int64('the header')
    for (const name of ['info', 'start', 'end']) this.skipString(name)
    const sessions = this.count('sessions', 8)
    for (let session = 0; session < sessions; session++) {
      const name = this.builder.session(session)
      const txns = this.count('transactions', 9)
      for (let i = 0; i < txns; i++) this.readTxn(name)
    }
    if (this.at < this.bytes.length) throw badByte(this.at, 'unexpected bytes behind the history')
    return this.builder.finish(null, this.options.duplicateValues)
  }

  private readTxn(session: number): void {
    const { builder } = this
    const txn = builder.addTxn(session, COMMITTED)
    const events = this.count('events', EVENT_BYTES)
    builder.reserveOps(events)
    for (let i = 0; i < events; i++) {
      this.step()
      const isWrite = this.flag('isWrite')
      const key = this.int64('a key')
      const value = this.int64('a value')
      if (!this.flag('ok')) continue
      const kind = isWrite ? WRITE : READ
      builder.addOp(txn, kind, internInt64(builder.keys, key), internInt64(builder.values, value))
    }
    if (!this.flag('committed')) builder.setStatus(txn, ABORTED)
  }

  /** A number of things of at least `size` bytes each. */
  private count(what: string, size: number): number {
    const at = this.at
    const count = int64ToValue(this.int64(`the number of ${what}`))
    const left = this.bytes.length - this.at
    if (count < 0 || count > left / size) {
      const message = `${count} ${what} do not fit into the ${left} bytes that are left`
      throw badByte(at, message, 'truncated')
    }
    return Number(count)
  }

  private int64(what: string): Int64 {
    const { at, view } = this
    if (at + 8 > view.byteLength) throw badByte(at, `the file ends within ${what}`, 'truncated')
    this.at += 8
    return { low: view.getInt32(at, true), high: view.getInt32(at + 4, true) }
  }

  private flag(what: string): boolean {
    const byte = this.bytes[this.at]
    if (byte === undefined) throw badByte(this.at, `the file ends before "${what}"`, 'truncated')
    if (byte > 1) throw badByte(this.at, `"${what}" must be 0 or 1, not ${byte}`)
    this.at++
    return byte === 1
  }

  private skipString(what: string): void {
    const end = this.count(`bytes of "${what}"`, 1)
    const bad = firstBadByte(this.bytes, this.at, this.at + end)
    if (bad < this.at + end) throw badUtf8({ line: 1, column: bad + 1 })
    this.at += end
  }
}
