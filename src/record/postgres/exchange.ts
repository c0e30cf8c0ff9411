// One exchange with the server: one or more prepared statements sent in a single message, and their
// answers. The pg driver connects and logs in; from then on the bytes of PostgreSQL's protocol are
// made and read here, into one buffer and out of what the socket gives, because the driver's
// general ways take several times as long as the little that is asked for here: bench/recording.ts.
// One exchange at a time. Main class: Wire.

import { Socket, type SocketConstructorOpts } from 'node:net'
import type { Client } from 'pg'
import { MessageWriter } from './message-writer.ts'

export interface Statement {
  readonly name: string
  readonly text: string
}

export type Cells = readonly (string | null)[]

export interface Answer {
  /** First column of the first row, as text; null if it is NULL. */
  cell: string | null
  rowCount: number
  /** All rows, as text, where they are asked for; else those after the first. */
  rows: Cells[]
  /** The server's word on the last statement, e.g. `UPDATE 1`, `COMMIT`. */
  tag: string
}

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

/**
 * A socket whose bytes all come into one buffer, past the stream, which would make a buffer of its
 * own for every answer, and queue it. Not for encrypted connections: those need the stream.
 */
export class Inlet {
  readonly socket: Socket
  /** Takes bytes that are there until it returns. At first, for the driver, they go to the stream. */
  take: (bytes: Buffer) => void = (bytes) => this.socket.emit('data', Buffer.from(bytes))

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(INLET_BYTES)
    const callback = (count: number) => {
      this.take(buffer.subarray(0, count))
      return true
    }
    // Known to Node since 12, but not to its types here: those have it at `connect` alone.
    this.socket = new Socket({ onread: { buffer, callback } } as SocketConstructorOpts)
  }
}

class Exchange {
  readonly answer: Answer = { cell: null, rowCount: 0, rows: [], tag: '' }
  error: Error | null = null

  constructor(
    readonly keepsRows: boolean,
    readonly resolve: (answer: Answer) => void,
    readonly reject: (error: Error) => void,
  ) {}
}

export class Wire {
  private readonly stream: Socket
  private readonly writer = new MessageWriter()
  private exchange: Exchange | null = null
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
    if (inlet === null) this.stream.on('data', (bytes: Buffer) => this.take(bytes))
    else inlet.take = (bytes) => this.take(bytes)
    this.stream.once('close', () => this.lose())
  }

  /** Prepares statements; from then on they are known by name. */
  prepare(statements: readonly Statement[]): Promise<Answer> {
    for (const { name, text } of statements) this.writer.parse(name, text, [])
    return this.send(false)
  }

  /** Runs prepared statements one after another, up to the first that fails; answers for the last. */
  execute(first: string | null, name: string, values: Cells): Promise<Answer> {
    if (first !== null) this.writer.execute(first, [])
    this.writer.execute(name, values)
    return this.send(false)
  }

  /** Runs a statement that is not prepared, behind one that is if `first` names it. */
  query(
    first: string | null,
    text: string,
    types: readonly number[],
    values: Cells,
  ): Promise<Answer> {
    if (first !== null) this.writer.execute(first, [])
    this.writer.parse('', text, types)
    this.writer.execute('', values)
    return this.send(true)
  }

  private send(keepsRows: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.exchange = new Exchange(keepsRows, resolve, reject)
      this.stream.write(this.writer.finish())
    })
  }

  private take(arrived: Buffer): void {
    const bytes = this.rest === null ? arrived : Buffer.concat([this.rest, arrived])
    let at = 0
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + 1 + bytes.readInt32BE(at + 1)
      if (end > bytes.length) break
      this.read(bytes, at, end)
      at = end
    }
    this.rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at)) // what came is lent
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
        if (exchange) exchange.answer.tag = bytes.toString('latin1', body, end - 1)
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
    if (exchange === null) return
    if (exchange.error !== null) return exchange.reject(exchange.error)
    if (!exchange.keepsRows) countChanged(exchange.answer)
    exchange.resolve(exchange.answer)
  }

  /** What the server said last counts, if it said that something was wrong. */
  private lose(): void {
    if (this.exchange === null) return
    this.exchange.error ??= new Error('Connection terminated unexpectedly')
    this.settle()
  }
}

function readRow({ answer, keepsRows }: Exchange, bytes: Buffer, body: number): void {
  const count = bytes.readInt16BE(body)
  let at = body + 2
  const isFirst = answer.rowCount++ === 0
  const fields: (string | null)[] = []
  for (let i = 0; i < count; i++) {
    const length = bytes.readInt32BE(at)
    at += 4
    fields.push(length < 0 ? null : bytes.toString('utf8', at, at + length))
    if (length > 0) at += length
  }
  if (isFirst) answer.cell = fields[0] ?? null
  if (keepsRows || !isFirst) answer.rows.push(fields)
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
