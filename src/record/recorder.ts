// Writes what clients saw to a history file, as it happens, in the native format (JSON Lines).
//
// A transaction's operations go to the file, as a `pending` line, before its COMMIT is sent; the
// `outcome` line follows when the answer is known. So whatever moment the program is killed at, the
// file tells the truth: a transaction without outcome is indeterminate, and one without any line
// never sent COMMIT. Outcomes may wait for the next pending line or a few milliseconds: losing one
// turns a known outcome into an unknown one, never into a wrong one.
//
// Several threads may record into one file: each writes whole lines, behind whatever is there, by
// one call of the operating system, which tears no line apart.
//
// Times come from one monotonic clock, in microseconds since the start of the run.

import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { InputError } from '../base/errors.ts'
import { renderTables } from '../formats/native/sql-write.ts'
import type { StatusName } from '../history/history.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlRow } from '../sql/value.ts'
import { type Instant, Numbers, RunClock } from './among-threads.ts'
import { renderRun } from './statement-line.ts'
import { TextBuffer } from './text-buffer.ts'

const FLUSH_EVERY_MS = 20
const FLUSH_AT_BYTES = 1 << 16

/** Keys of runs are numbers; those of scripts have names. */
export type KeyName = number | string

/** The transaction that a session is in the middle of; used again for its next one. */
export class OpenTransaction {
  id = 0
  session = 0
  startUs = 0
  level: LevelId | null = null
  /** Whether it runs alone, when all is at rest (audit.ts). */
  isAudit = false
  /** Operations so far, as JSON without the brackets around them. */
  readonly ops = new TextBuffer()
  private lastOp = 0 // where the last operation begins, with the comma before it

  begin(id: number, session: number, level: LevelId | null, startUs: number): void {
    this.id = id
    this.session = session
    this.level = level
    this.startUs = startUs
    this.ops.end = 0
  }

  /** @param rows what each row of the key holds; one, unless the database is broken */
  addRead(key: KeyName, rows: readonly Value[]): void {
    if (rows.length !== 1) return this.addRows(key, rows.map(render))
    const [value] = rows
    this.open('["r",', key)
    if (typeof value === 'number') this.ops.number(value)
    else this.ops.text(render(value!))
    this.ops.ascii(']')
  }

  addReadList(key: number, rows: readonly (readonly Value[])[]): void {
    this.addRows(
      key,
      rows.map((values) => `[${values.map(render).join(',')}]`),
    )
  }

  addWrite(key: KeyName, value: number): void {
    this.open('["w",', key)
    this.ops.number(value)
    this.ops.ascii(']')
  }

  addAppend(key: number, value: number): void {
    this.open('["append",', key)
    this.ops.number(value)
    this.ops.ascii(']')
  }

  addStatement(...ran: Parameters<typeof renderRun>): void {
    this.next()
    this.ops.text(renderRun(...ran))
  }

  /** The transaction was rolled back on purpose. */
  addAbort(): void {
    this.next()
    this.ops.ascii('{"abort":true}')
  }

  /** The last operation, a write, found no row, and changed nothing. */
  foundNoRow(key: KeyName): void {
    this.ops.end = this.lastOp
    this.addRows(key, [])
  }

  private addRows(key: KeyName, rows: readonly string[]): void {
    const isOne = rows.length === 1
    this.open(isOne ? '["r",' : '["rows",', key)
    this.ops.text(isOne ? `${rows[0]}]` : `[${rows.join(',')}]]`)
  }

  /** An operation on a key begins. */
  private open(kind: string, key: KeyName): void {
    this.next()
    this.ops.ascii(kind)
    if (typeof key === 'number') this.ops.number(key)
    else this.ops.text(JSON.stringify(key))
    this.ops.ascii(',')
  }

  private next(): void {
    this.lastOp = this.ops.end
    if (this.lastOp > 0) this.ops.ascii(',')
  }
}

/** What a recorder of another thread needs to know, as plain data. */
export interface RecorderPart {
  readonly path: string
  readonly origin: Instant
  /** Which ids of transactions are its own: those of this place of so many. */
  readonly place: number
  readonly of: number
}

export class Recorder {
  /** Transactions recorded so far, whatever became of them. */
  txnCount = 0
  private readonly file: number
  private readonly clock: RunClock
  private ids: Numbers
  private readonly lines = new TextBuffer() // not written yet
  private timer: NodeJS.Timeout | null = null
  private failure: Error | null = null
  private isClosed = false

  /**
   * Creates the file, which must not exist yet. `about` is kept in the header for the reader.
   * @param joined a recorder of another thread has created it
   */
  constructor(
    readonly path: string,
    about: Record<string, string | number | boolean | null> = {},
    declared: { tables: readonly SqlTable[]; rows: readonly (readonly SqlRow[])[] } | null = null,
    joined: RecorderPart | null = null,
  ) {
    const { place, of } = joined ?? { place: 0, of: 1 }
    this.clock = new RunClock(joined?.origin)
    this.ids = new Numbers(1 + place, of)
    try {
      this.file = openSync(path, joined ? constants.O_WRONLY | constants.O_APPEND : 'ax', 0o644)
    } catch (error) {
      throw unwritable(path, error)
    }
    if (joined) return
    const header = JSON.stringify({ isobar: 1, initial: null, unit: 'us', ...about })
    const tables = declared && renderTables(declared.tables, declared.rows)
    this.lines.text(tables ? `${header.slice(0, -1)},"tables":${tables}}\n` : `${header}\n`)
    this.flush()
  }

  /** One that records into the same file, in another thread. */
  static join(part: RecorderPart): Recorder {
    return new Recorder(part.path, {}, null, part)
  }

  /** To be called before anything is recorded: so many others are going to join. */
  share(others: number): RecorderPart[] {
    const of = others + 1
    this.ids = new Numbers(1, of)
    const { path } = this
    const { origin } = this.clock
    return Array.from({ length: others }, (_, i) => ({ path, origin, place: i + 1, of }))
  }

  /** Microseconds since the recorder was made. Rounding down never turns overlap into order. */
  nowUs(): number {
    return this.clock.nowUs()
  }

  /** Begins a transaction of the session; its start is now, before anything is sent. */
  begin(txn: OpenTransaction, session: number, level: LevelId | null): void {
    txn.begin(this.ids.next(), session, level, this.nowUs())
  }

  /** Something that happens now beside the transactions, such as a fault. */
  mark(text: string): void {
    this.lines.text(`{"mark":${JSON.stringify(text)},"start":${this.nowUs()}}\n`)
    this.later()
  }

  /** To be called before COMMIT is sent: on return, the line has reached the operating system. */
  pending(txn: OpenTransaction): void {
    const { lines } = this
    lines.ascii('{"pending":')
    lines.number(txn.id)
    this.tell(txn)
    lines.ascii('}\n')
    this.flush()
    this.txnCount++
  }

  /** The end of a pending transaction. An indeterminate one has no finish. */
  outcome(txn: OpenTransaction, status: StatusName): void {
    const { lines } = this
    const finishUs = this.nowUs()
    lines.ascii('{"outcome":')
    lines.number(txn.id)
    this.tellEnd(status, status === 'indeterminate' ? null : finishUs)
  }

  /** A transaction that ended before COMMIT was sent. */
  aborted(txn: OpenTransaction): void {
    const { lines } = this
    const finishUs = this.nowUs()
    lines.ascii('{"id":')
    lines.number(txn.id)
    this.tell(txn)
    this.tellEnd('aborted', finishUs)
    this.txnCount++
  }

  private tell(txn: OpenTransaction): void {
    const { lines } = this
    lines.ascii(',"session":')
    lines.number(txn.session)
    if (txn.level !== null) lines.ascii(`,"level":"${txn.level}"`)
    if (txn.isAudit) lines.ascii(',"audit":true')
    lines.ascii(',"start":')
    lines.number(txn.startUs)
    lines.ascii(',"ops":[')
    lines.append(txn.ops)
    lines.ascii(']')
  }

  private tellEnd(status: StatusName, finishUs: number | null): void {
    const { lines } = this
    lines.ascii(`,"status":"${status}"`)
    if (finishUs !== null) {
      lines.ascii(',"finish":')
      lines.number(finishUs)
    }
    lines.ascii('}\n')
    this.later()
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    try {
      this.flush()
    } finally {
      closeSync(this.file)
    }
  }

  private later(): void {
    if (this.lines.end > FLUSH_AT_BYTES) return this.flush()
    this.timer ??= setTimeout(() => {
      this.timer = null
      try {
        this.flush()
      } catch (error) {
        this.failure = error as Error // for the next one who writes
      }
    }, FLUSH_EVERY_MS)
  }

  /** What is known is in the file when this returns. */
  flush(): void {
    const { lines } = this
    const { bytes, end } = lines
    if (end === 0) return
    lines.end = 0
    if (this.failure) throw this.failure
    let written: number
    try {
      written = writeSync(this.file, bytes, 0, end)
    } catch (error) {
      throw unwritable(this.path, error)
    }
    // The next call would say why; what came in between would be part of a torn line.
    if (written < end) {
      this.failure = unwritable(this.path, new Error('there is no room for all of a line'))
      throw this.failure
    }
  }
}

function render(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function unwritable(path: string, error: unknown): InputError {
  const { code, message } = error as { code?: string; message: string }
  const why =
    code === 'EEXIST' ? 'the file exists already; a recording never replaces one' : message
  const failure = new InputError('unwritable-file', why)
  failure.path = path
  return failure
}
