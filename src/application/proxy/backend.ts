// What the server answers: bytes that are passed on as they are, but for the columns that were
// added, for places in statements that were made longer, and for ways of logging in that only work
// on an encrypted connection. Main functions: withoutColumns, withoutCells, withPosition.

import { movePosition } from '../observe/driver-query.ts'
import type { Cells, Probe } from '../observe/probe.ts'
import { frame, int32, letterOf, Reader } from './frames.ts'

/** A description of rows without its last columns. */
export function withoutColumns(message: Buffer, hidden: number): Buffer {
  const reader = new Reader(message)
  const count = reader.int16() - hidden
  const start = message.length - reader.rest().length
  for (let i = 0; i < count; i++) {
    reader.text()
    reader.bytes(18)
  }
  return frame('T', [count], message.subarray(start, message.length - reader.rest().length))
}

/** A row without its last cells, and those; null if they are not UTF-8. */
export function withoutCells(
  message: Buffer,
  hidden: number,
): { row: Buffer; cells: Cells | null } {
  const reader = new Reader(message)
  const count = reader.int16() - hidden
  const start = message.length - reader.rest().length
  const skip = () => {
    const length = reader.int32()
    return length < 0 ? null : reader.bytes(length)
  }
  for (let i = 0; i < count; i++) skip()
  const end = message.length - reader.rest().length
  const row = frame('D', [count], message.subarray(start, end))
  const bytes = Array.from({ length: hidden }, skip)
  const cells = bytes.map((cell) => (cell === null ? null : decodeUtf8(cell)))
  return { row, cells: cells.includes(undefined) ? null : (cells as Cells) }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined if it is something else. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Cells of a row, which are text. */
export function cellsOf(message: Buffer): Cells {
  return withoutCells(message, new Reader(message).int16()).cells ?? []
}

/** What was done and to how many rows, of the words that say so: INSERT 0 1. */
export function readTag(message: Buffer): { command: string; rowCount: number | null } {
  const words = new Reader(message).string().split(' ')
  const last = words.at(-1)!
  const command = words.filter((word) => !/^\d+$/.test(word)).join(' ')
  return { command, rowCount: /^\d+$/.test(last) ? Number(last) : null }
}

/** Types of the parameters of a statement. */
export function readTypes(message: Buffer): number[] {
  const reader = new Reader(message)
  return Array.from({ length: reader.int16() }, () => reader.int32())
}

export function readSetting(message: Buffer): [name: string, value: string] {
  const reader = new Reader(message)
  return [reader.string(), reader.string()]
}

/** An error as the server told it. */
export interface ServerError {
  /** Never translated: ERROR, FATAL, PANIC. */
  readonly severity: string
  readonly code: string
  readonly message: string
  readonly detail?: string
  readonly schema?: string
  readonly table?: string
  readonly constraint?: string
}

export function readError(message: Buffer): ServerError {
  const field = new Map(fieldsOf(message))
  const get = (name: string) => field.get(name)?.toString('utf8') ?? ''
  return {
    severity: get('V') || get('S'),
    code: get('C'),
    message: get('M'),
    // Names values, which must not be mistaken for others.
    detail: decodeUtf8(field.get('D') ?? Buffer.alloc(0)) ?? '',
    schema: get('s'),
    table: get('t'),
    constraint: get('n'),
  }
}

function fieldsOf(message: Buffer): [name: string, text: Buffer][] {
  const reader = new Reader(message)
  const fields: [string, Buffer][] = []
  for (let name = reader.byte(); name !== 0; name = reader.byte()) {
    fields.push([String.fromCharCode(name), reader.text()])
  }
  return fields
}

/** The error with its place in the statement as the client knows it. */
export function withPosition(message: Buffer, probe: Probe): Buffer {
  const parts = fieldsOf(message).flatMap(([name, text]) => {
    if (name !== 'P') return [Buffer.from(name), text, ZERO]
    const placed = { position: text.toString('utf8') }
    movePosition(placed, probe)
    return [Buffer.from(`P${placed.position}\0`)]
  })
  return frame(letterOf(message), Buffer.concat([...parts, ZERO]))
}

const ZERO = Buffer.from([0])

/** An error of the proxy's own. */
export function fatal(code: string, message: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${code}`, `M${message}`]
  return frame('E', ...fields, ZERO)
}

export const NO_DATA = frame('n')

/** Which ways of logging in need the client's end of an encrypted connection, which there is not. */
const BOUND_TO_CHANNEL = /-PLUS$/
const SASL = 10

/** An authentication request without those ways; null if there is no other. */
export function withoutChannelBinding(message: Buffer): Buffer | null {
  const reader = new Reader(message)
  if (reader.int32() !== SASL) return message
  const ways: string[] = []
  for (let way = reader.string(); way !== ''; way = reader.string()) ways.push(way)
  const left = ways.filter((way) => !BOUND_TO_CHANNEL.test(way))
  return left.length === 0 ? null : frame('R', int32(SASL), ...left, ZERO)
}
