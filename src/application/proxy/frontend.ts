// What a client says: the messages that the proxy understands, and those that it says to the server
// in their place. Everything else is passed on as it is. Main functions: readParse, readBind,
// bindTo.

import { frame, int32, Reader } from './frames.ts'

/** What a client's first message may ask for, by the number in it. */
export const CANCEL = 80877102
export const ENCRYPT_TLS = 80877103
export const ENCRYPT_GSS = 80877104

export interface Parse {
  readonly name: string
  readonly text: Buffer
  /** Types of its parameters, by their ids; 0: as the server finds. */
  readonly types: readonly number[]
}

export function readParse(message: Buffer): Parse {
  const reader = new Reader(message)
  const name = reader.string()
  const text = reader.text()
  const types = Array.from({ length: reader.int16() }, () => reader.int32())
  return { name, text, types }
}

export function parse(name: string, text: string, types: readonly number[]): Buffer {
  return frame('P', name, text, [types.length], Buffer.concat(types.map(int32)))
}

export interface Bind {
  readonly portal: string
  readonly statement: string
  /** For each parameter, for all of them (one), or none: all are text. 1: binary. */
  readonly formats: readonly number[]
  readonly values: readonly (Buffer | null)[]
  /** The same for the columns of the answer. */
  readonly answers: readonly number[]
  /** Its parameters as they are in the message. */
  readonly body: Buffer
}

export function readBind(message: Buffer): Bind {
  const reader = new Reader(message)
  const portal = reader.string()
  const statement = reader.string()
  const body = reader.rest()
  const formats = Array.from({ length: reader.int16() }, () => reader.int16())
  const values = Array.from({ length: reader.int16() }, () => {
    const length = reader.int32()
    return length < 0 ? null : reader.bytes(length)
  })
  const left = reader.rest().length
  const answers = Array.from({ length: reader.int16() }, () => reader.int16())
  return { portal, statement, formats, values, answers, body: body.subarray(0, -left) }
}

/** The same of another statement, with more columns behind those of the answer. */
export function bindTo({ portal, body, answers }: Bind, statement: string, more: number): Buffer {
  // One format, or none, is for all columns.
  const all = answers.length < 2 ? answers : [...answers, ...Array<number>(more).fill(0)]
  return frame('B', portal, statement, body, [all.length, ...all])
}

export function readExecute(message: Buffer): { portal: string; maxRows: number } {
  const reader = new Reader(message)
  return { portal: reader.string(), maxRows: reader.int32() }
}

export function execute(portal: string, maxRows = 0): Buffer {
  return frame('E', portal, int32(maxRows))
}

/** Of Describe and Close: a statement (S) or a portal (P). */
export function readNamed(message: Buffer): { kind: string; name: string } {
  const reader = new Reader(message)
  return { kind: String.fromCharCode(reader.byte()), name: reader.string() }
}

export function describe(kind: 'S' | 'P', name: string): Buffer {
  return frame('D', Buffer.from(kind), name)
}

export function close(kind: 'S' | 'P', name: string): Buffer {
  return frame('C', Buffer.from(kind), name)
}

export const FLUSH = frame('H')
export const SYNC = frame('S')

export function query(text: string): Buffer {
  return frame('Q', text)
}

/** A bind of text parameters, with an answer in text. */
export function bindText(portal: string, statement: string, values: readonly string[]): Buffer {
  const cells = values.flatMap((value) => {
    const bytes = Buffer.from(value)
    return [int32(bytes.length), bytes]
  })
  return frame('B', portal, statement, [0, values.length], Buffer.concat(cells), [0])
}

/** Parameters of a client's first message. */
export function readStartup(message: Buffer): Map<string, string> {
  const words = message.subarray(8).toString('utf8').split('\0')
  const parameters = new Map<string, string>()
  for (let i = 0; i + 1 < words.length && words[i] !== ''; i += 2) {
    parameters.set(words[i]!, words[i + 1]!)
  }
  return parameters
}
