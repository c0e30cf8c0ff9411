// The transactions of a file session by session, on disk, each with all of its operations: what it
// takes to tell them again in another order, as often as one likes. Only of files that may be
// judged in a stream (file-stream.ts), whose values are written once each. Main classes:
// SessionLog, SessionCursor.

import { IntColumn } from '../base/grow.ts'
import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt, putSigned } from '../files/varint.ts'
import type { PlainFile } from '../formats/pieces.ts'
import { ABORTED, COMMITTED, NONE, READ, WRITE } from '../history/history.ts'
import { FileStream, NotStreamed, type StreamPiece } from './file-stream.ts'
import { NumberSet } from './number-set.ts'
import type { SpillSizes } from './spilled-history.ts'
import { SMALL } from './symbol-code.ts'

const MOST_BLOCK = 1 << 13

/** The initial value in a log; others are one more than themselves. */
export const INITIAL_VALUE = 0

export interface LogOptions {
  readonly memoryBytes: number
  /** Called now and then; may throw to give up. */
  readonly onProgress: (readBytes: number) => void
}

export class SessionLog {
  readonly stream: FileStream
  /** Session -> its transactions. */
  readonly lengths = new IntColumn(16)
  /** Whether the file tells one session after the other. */
  isOneByOne = false
  private readonly streams: Streams
  private readonly lastTxn = new IntColumn(16) // session -> its last one in the log
  private readonly values: NumberSet // all that were written
  private switches = 0
  // The transaction that is read.
  private txn: number = NONE
  private session: number = NONE
  private status = COMMITTED
  private readonly ops = new IntColumn() // pairs: twice the key plus the kind, the value
  private record = new Uint8Array(1 << 10)

  /** Reads the file. Throws NotStreamed, InputError. */
  constructor(
    file: PlainFile,
    private readonly sizes: SpillSizes,
    scratch: Scratch,
    { memoryBytes, onProgress }: LogOptions,
  ) {
    this.stream = new FileStream(file, sizes)
    this.values = new NumberSet(sizes.windowBytes / 2)
    const blockBytes = Math.min(MOST_BLOCK, Math.max(64, sizes.windowBytes >> 6))
    this.streams = new Streams(scratch, 0, blockBytes)
    try {
      for (const piece of this.stream.read(memoryBytes, onProgress)) this.take(piece)
      this.turnTo(this.stream.txnCount, NONE, COMMITTED)
    } catch (error) {
      this.close()
      throw error
    }
    this.streams.finish()
    this.isOneByOne = this.switches < 2 * this.lengths.length
  }

  cursors(): SessionCursor[] {
    return Array.from(this.lengths.view(), (_, session) => new SessionCursor(this.streams, session))
  }

  close(): void {
    this.streams.close()
  }

  private take({ builder, first, txnCount, txnSession, initial }: StreamPiece): void {
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const { ops } = this
    const goTo = (txn: number) => {
      while (this.txn < txn) {
        const local = this.txn + 1 - first
        this.turnTo(this.txn + 1, txnSession[local]!, builder.statusOf(local))
      }
    }
    for (let i = 0; i < builder.opCount; i++) {
      const txn = first + opTxn[i]!
      if (txn < this.txn) throw new NotStreamed('transactions that do not stand side by side')
      if (txn !== this.txn) goTo(txn)
      const value = opValue[i]!
      const kind = opKind[i]!
      if (kind > WRITE) throw new NotStreamed('lists')
      if (kind === READ && this.status === ABORTED) continue
      if (value !== initial && value >= SMALL) throw new NotStreamed('values that are not small')
      if (kind === WRITE && (value === initial || this.values.add(value) !== true)) {
        throw new NotStreamed('values that may be written twice')
      }
      ops.push(2 * opKey[i]! + kind)
      ops.push(value === initial ? INITIAL_VALUE : value + 1)
    }
    goTo(first + txnCount - 1)
  }

  /** Puts the transaction that was read into the log, and begins another. */
  private turnTo(txn: number, session: number, status: number): void {
    if (status > ABORTED) throw new NotStreamed('indeterminate transactions')
    if (this.txn !== NONE) this.put()
    if (session !== this.session) this.switches++
    this.txn = txn
    this.session = session
    this.status = status
    this.ops.length = 0
  }

  private put(): void {
    const { ops, session, streams, lengths, lastTxn, txn, sizes } = this
    if (session >= lengths.length) {
      streams.grow(Math.ceil((session + 1) * 1.5))
      if (streams.bytes.length > sizes.windowBytes / 2) throw new NotStreamed('many sessions')
      while (lengths.length <= session) {
        lengths.push(0)
        lastTxn.push(0)
      }
    }
    const room = (ops.length + 2) * MAX_INT_BYTES
    if (room > this.record.length) this.record = new Uint8Array(2 * room)
    const { record } = this
    let at = putSigned(record, 0, txn - lastTxn.data[session]!)
    at = putInt(record, at, ops.length + (this.status === ABORTED ? 1 : 0))
    for (let i = 0; i < ops.length; i++) at = putInt(record, at, ops.data[i]!)
    streams.put(session, record.subarray(0, at))
    lastTxn.data[session] = txn
    lengths.data[session]!++
  }
}

/** How far a session has come; one block of it is in memory. */
export class SessionCursor {
  txn: number = NONE // the next one; NONE at the end
  isAborted = false
  opCount = 0
  readonly key = new IntColumn(16) // op -> twice the key, plus the kind
  readonly value = new IntColumn(16) // op -> the value, as the log has it
  private last = 0
  private readonly reader = new IntReader()
  private block: number

  constructor(
    private readonly streams: Streams,
    session: number,
  ) {
    this.block = streams.firstBlock(session)
    this.advance()
  }

  advance(): void {
    const { reader, streams, key, value } = this
    while (reader.isAtEnd && this.block !== NONE) {
      reader.load(streams.readBlock(this.block))
      this.block = streams.nextBlock(this.block)
    }
    if (reader.isAtEnd) {
      this.txn = NONE
      return
    }
    this.last += reader.signed()
    this.txn = this.last
    const size = reader.int()
    this.isAborted = size % 2 === 1
    this.opCount = size >> 1
    key.grow(this.opCount)
    value.grow(this.opCount)
    for (let op = 0; op < this.opCount; op++) {
      key.data[op] = reader.int()
      value.data[op] = reader.int()
    }
  }
}
