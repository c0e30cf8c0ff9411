// One exchange with the server: one or more prepared statements sent in a single message, and their
// answers. The pg driver connects and logs in; from then on the bytes of PostgreSQL's protocol are
// made and read here, into one buffer and out of what the socket gives, because the driver's
// general ways take several times as long as the little that is asked for here: bench/recording.ts.
// One exchange at a time. Main class: Wire.

import { writeSync } from 'node:fs'
import { Socket, type SocketConstructorOpts } from 'node:net'
import type { Client } from 'pg'
import { MessageWriter } from './message-writer.ts'

export interface Statement {
  readonly name: string
  readonly text: string
}

export type Cells = readonly (string | null)[]

/** What statements are given; whole numbers are written as they are. */
export type Inputs = readonly (string | number | null)[]

const NO_CELLS: Inputs = []
const NO_ROWS: readonly Cells[] = []

export interface Answer {
  /** First column of the first row, as text or as the whole number it tells; null if it is NULL. */
  cell: string | number | null
  rowCount: number
  /** All rows, as text, where they are asked for; else those after the first. */
  rows: readonly Cells[]
  /** The server's word on the last statement, e.g. `UPDATE 1`, `COMMIT`. */
  tag: string
}

/** What whoever asks makes of an answer. What `read` throws is an error as well. */
export interface Meaning<Read> {
  read(answer: Answer): Read
  fail(error: Error): Error
}

const PLAIN: Meaning<Answer> = { read: (answer) => answer, fail: (error) => error }

/** What the server says went wrong. */
class ServerError extends Error {
  constructor(
    message: string,
    readonly severity: string,
    readonly code: string,
  ) {
    super(message)
  }
}

// The first byte of a message says what it is.
const COMMAND_COMPLETE = 0x43 // C
const DATA_ROW = 0x44 // D
const ERROR = 0x45 // E
const READY = 0x5a // Z

const HEADER_BYTES = 5 // its kind, and its length, which counts itself but not the kind

const INLET_BYTES = 1 << 14

/** What the server says most often of statements; other words are made of their bytes each time. */
const USUAL_TAGS = ['SELECT 1', 'UPDATE 1', 'BEGIN', 'COMMIT'].map((text) => ({
  text,
  bytes: Buffer.from(text, 'latin1'),
}))
/** Digits that surely tell a number which is exact. */
const MOST_DIGITS = 15

/**
 * A socket whose bytes all come into one buffer and go out of one, past the stream, which would
 * make a buffer of its own for every answer, and queue it. Not for encrypted connections: those
 * need the stream.
 */
export class Inlet {
  readonly socket: Socket & { readonly _handle?: { readonly fd?: number } | null }
  /** Takes bytes that are there until it returns. At first, for the driver, they go to the stream. */
  take: (bytes: Buffer, count: number) => void = (bytes, count) =>
    this.socket.emit('data', Buffer.from(bytes.subarray(0, count)))

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(INLET_BYTES)
    const callback = (count: number) => {
      this.take(buffer, count)
      return true
    }
    // Known to Node since 12, but not to its types here: those have it at `connect` alone.
    this.socket = new Socket({ onread: { buffer, callback } } as SocketConstructorOpts)
  }

  /**
   * Sends the first `count` bytes, which must stay as they are until they are answered. A message
   * of ours nearly always fits, so one call of the operating system does it; what is left, and what
   * is wrong, is the stream's business, and so is all where sockets have no number of a file. (A
   * socket that was closed has none: its number may be somebody else's by now.)
   */
  give(bytes: Buffer, count: number): void {
    const { socket } = this
    const file = socket._handle?.fd ?? NO_FILE
    let sent = 0
    if (file !== NO_FILE && socket.writableLength === 0) {
      try {
        sent = writeSync(file, bytes, 0, count)
      } catch {
        // Full, or broken.
      }
    }
    if (sent < count) socket.write(bytes.subarray(sent, count))
  }
}

/** What a number is that is no open file's. */
const NO_FILE = -1

class Exchange<Read> {
  readonly answer: Answer = { cell: null, rowCount: 0, rows: NO_ROWS, tag: '' }
  error: Error | null = null

  constructor(
    readonly keepsRows: boolean,
    private readonly meaning: Meaning<Read>,
    private readonly resolve: (read: Read) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  settle(): void {
    if (this.error !== null) return this.reject(this.meaning.fail(this.error))
    if (!this.keepsRows) countChanged(this.answer)
    try {
      this.resolve(this.meaning.read(this.answer))
    } catch (error) {
      this.reject(error)
    }
  }
}

export class Wire {
  private readonly stream: Socket
  private readonly writer = new MessageWriter()
  private readonly give: (bytes: Buffer, count: number) => void
  private exchange: Exchange<unknown> | null = null
  private rest: Buffer | null = null // the beginning of a message whose end has not come

  /**
   * Takes the connection over from the driver, which has logged in and is at rest.
   * @param inlet where bytes come in, if not by the stream
   * @param onLost called when the server ends it while nobody asks
   */
  constructor(
    client: Client,
    inlet: Inlet | null,
    private readonly onLost: () => void,
  ) {
    this.stream = (client as unknown as { connection: { stream: Socket } }).connection.stream
    this.stream.removeAllListeners('data')
    if (inlet === null) this.stream.on('data', (bytes: Buffer) => this.take(bytes, bytes.length))
    else inlet.take = (bytes, count) => this.take(bytes, count)
    this.give =
      inlet === null
        ? (bytes, count) => this.stream.write(bytes.subarray(0, count))
        : (bytes, count) => inlet.give(bytes, count)
    this.stream.once('close', () => this.lose())
  }

  /** Prepares statements; from then on they are known by name. */
  prepare(statements: readonly Statement[]): Promise<Answer> {
    for (const { name, text } of statements) this.writer.parse(name, text, [])
    return this.send(false, PLAIN)
  }

  /** Runs prepared statements one after another, up to the first that fails; answers for the last. */
  execute(first: string | null, name: string, values: Inputs): Promise<Answer>
  execute<Read>(
    first: string | null,
    name: string,
    values: Inputs,
    meaning: Meaning<Read>,
  ): Promise<Read>
  execute(
    first: string | null,
    name: string,
    values: Inputs,
    meaning: Meaning<unknown> = PLAIN,
  ): Promise<unknown> {
    if (first !== null) this.writer.execute(first, NO_CELLS)
    this.writer.execute(name, values)
    return this.send(false, meaning)
  }

  /** Runs a statement that is not prepared, behind one that is if `first` names it. */
  query(
    first: string | null,
    text: string,
    types: readonly number[],
    values: Inputs,
    meaning: Meaning<Answer> = PLAIN,
  ): Promise<Answer> {
    if (first !== null) this.writer.execute(first, NO_CELLS)
    this.writer.parse('', text, types)
    this.writer.execute('', values)
    return this.send(true, meaning)
  }

  private send<Read>(keepsRows: boolean, meaning: Meaning<Read>): Promise<Read> {
    return new Promise((resolve, reject) => {
      this.exchange = new Exchange(keepsRows, meaning, resolve, reject) as Exchange<unknown>
      const count = this.writer.finish()
      this.give(this.writer.bytes, count)
    })
  }

  /** @param count how many bytes came */
  private take(arrived: Buffer, count: number): void {
    let bytes = arrived
    let length = count
    if (this.rest !== null) {
      bytes = Buffer.concat([this.rest, arrived.subarray(0, count)])
      length = bytes.length
    }
    let at = 0
    while (length - at >= HEADER_BYTES) {
      const end = at + 1 + int32At(bytes, at + 1)
      if (end > length) break
      this.read(bytes, at, end)
      at = end
    }
    this.rest = at === length ? null : Buffer.from(bytes.subarray(at, length)) // what came is lent
  }

  /** One message. Those that say only that all goes well are passed over, and so are notices. */
  private read(bytes: Buffer, start: number, end: number): void {
    const { exchange } = this
    const body = start + HEADER_BYTES
    switch (bytes[start]) {
      case DATA_ROW:
        if (exchange) readRow(exchange, bytes, body)
        break
      case COMMAND_COMPLETE:
        if (exchange) exchange.answer.tag = tagIn(bytes, body, end - 1)
        break
      case READY:
        this.settle()
        break
      case ERROR:
        if (exchange === null) this.onLost()
        else exchange.error ??= errorIn(bytes.subarray(body, end))
    }
  }

  private settle(): void {
    const { exchange } = this
    this.exchange = null
    exchange?.settle()
  }

  /** What the server said last counts, if it said that something was wrong. */
  private lose(): void {
    if (this.exchange === null) return
    this.exchange.error ??= new Error('Connection terminated unexpectedly')
    this.settle()
  }
}

function readRow(exchange: Exchange<unknown>, bytes: Buffer, body: number): void {
  const { answer, keepsRows } = exchange
  const isFirst = answer.rowCount++ === 0
  if (isFirst && !keepsRows) {
    answer.cell = cellAt(bytes, body + 2)
    return
  }
  const count = (bytes[body]! << 8) | bytes[body + 1]!
  let at = body + 2
  const fields: (string | null)[] = []
  for (let i = 0; i < count; i++) {
    const length = int32At(bytes, at)
    at += 4
    fields.push(length < 0 ? null : bytes.toString('utf8', at, at + length))
    if (length > 0) at += length
  }
  if (isFirst) {
    answer.cell = fields[0] ?? null
    answer.rows = [fields]
  } else if (answer.rows === NO_ROWS) answer.rows = [fields]
  else (answer.rows as Cells[]).push(fields)
}

/** One column of a row. */
function cellAt(bytes: Buffer, at: number): string | number | null {
  const length = int32At(bytes, at)
  if (length < 0) return null
  const end = at + 4 + length
  if (length > MOST_DIGITS || length === 0) return bytes.toString('utf8', at + 4, end)
  let number = 0
  for (let i = at + 4; i < end; i++) {
    const digit = bytes[i]! - 0x30
    if (digit < 0 || digit > 9) return bytes.toString('utf8', at + 4, end)
    number = 10 * number + digit
  }
  return number
}

function tagIn(bytes: Buffer, start: number, end: number): string {
  for (const usual of USUAL_TAGS) {
    const { length } = usual.bytes
    if (length !== end - start || usual.bytes[0] !== bytes[start]) continue
    let i = 1
    while (i < length && usual.bytes[i] === bytes[start + i]) i++
    if (i === length) return usual.text
  }
  return bytes.toString('latin1', start, end)
}

function int32At(bytes: Buffer, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Of statements that return no rows the server says how many they changed. */
function countChanged(answer: Answer): void {
  const { tag } = answer
  if (tag.startsWith('UPDATE ') || tag.startsWith('DELETE ')) answer.rowCount = Number(tag.slice(7))
}

/** Fields with a letter before and a zero behind each. V: as S, but in no language. */
function errorIn(body: Buffer): ServerError {
  const fields = new Map<string, string>()
  for (const field of body.toString('utf8').split('\0')) fields.set(field[0] ?? '', field.slice(1))
  const severity = fields.get('V') ?? fields.get('S') ?? 'ERROR'
  return new ServerError(fields.get('M') ?? 'an error', severity, fields.get('C') ?? '')
}
