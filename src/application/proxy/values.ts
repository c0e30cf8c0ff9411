// Values of parameters as a client sent them, as clauses need them: numbers, truth values, text,
// and lists of these. What is not known for sure is `OPAQUE`, so that no clause is judged by it.
// Main function: valuesOf.

import { decodeUtf8 } from './backend.ts'
import type { Bind } from './frontend.ts'

/** A value that may be anything. */
const OPAQUE: unique symbol = Symbol('a value that is not known')

type Value = number | bigint | boolean | string | null | typeof OPAQUE | readonly Value[]

/** What a type is, by its id in PostgreSQL's catalog, which never changes. */
type Kind = 'boolean' | 'integer' | 'text' | 'uuid' | 'other'
const KINDS: Readonly<Record<number, Kind>> = {
  16: 'boolean',
  20: 'integer', // bigint
  21: 'integer', // smallint
  23: 'integer', // integer
  25: 'text',
  1043: 'text', // varchar
  705: 'text', // unknown
  1082: 'other', // date, whose text says it all
  2950: 'uuid',
}
/** Type of a list -> that of what stands in it. */
const LISTS: Readonly<Record<number, number>> = {
  1000: 16,
  1005: 21,
  1007: 23,
  1009: 25,
  1015: 1043,
  1016: 20,
  2951: 2950,
}
const FIRST_OF_USERS = 16_384

/**
 * @param declared types that the client named; 0: none
 * @param found what the server made of them; null: nobody knows
 */
export function valuesOf(
  { formats, values }: Bind,
  declared: readonly number[],
  found: readonly number[] | null,
): Value[] {
  return values.map((bytes, i) => {
    if (bytes === null) return null
    const isBinary = (formats.length < 2 ? formats[0] : formats[i]) === 1
    const named = declared[i] ?? 0
    const type = found?.[i] ?? named
    if (type === 0) return OPAQUE
    // A type of the user's own that a client names may compare in its own way; one that the server
    // found is that of the column.
    const isForeign = named !== 0 && KINDS[type] === undefined && LISTS[type] === undefined
    return isForeign ? OPAQUE : isBinary ? readBinary(bytes, type) : readText(bytes, type)
  })
}

function readText(bytes: Buffer, type: number): Value {
  const text = decodeUtf8(bytes)
  if (text === undefined) return OPAQUE
  const item = LISTS[type]
  return item === undefined ? scalarOf(text, type) : listOf(text, item)
}

function scalarOf(text: string, type: number): Value {
  const kind = KINDS[type]
  if (kind === 'integer') return /^[-+]?\d{1,19}$/.test(text) ? integer(BigInt(text)) : OPAQUE
  if (kind === 'boolean') {
    return /^(?:t|true)$/.test(text) ? true : /^(?:f|false)$/.test(text) ? false : OPAQUE
  }
  return kind === undefined && type < FIRST_OF_USERS ? OPAQUE : text
}

const ITEM = /"((?:[^"\\]|\\.)*)"|([^",{}\\\s]+)/sy

/** `{1,2}`, `{"a b",NULL}`: one dimension, as drivers write it. */
function listOf(text: string, type: number): Value {
  if (!text.startsWith('{') || !text.endsWith('}')) return OPAQUE
  const items: Value[] = []
  let at = 1
  while (at < text.length - 1) {
    if (items.length > 0 && text[at++] !== ',') return OPAQUE
    ITEM.lastIndex = at
    const found = ITEM.exec(text)
    if (found === null) return OPAQUE
    const [whole, quoted, bare] = found
    at += whole.length
    if (bare?.toUpperCase() === 'NULL') items.push(null)
    else items.push(scalarOf(quoted?.replace(/\\(.)/gs, '$1') ?? bare!, type))
  }
  return items.includes(OPAQUE) ? OPAQUE : items
}

function readBinary(bytes: Buffer, type: number): Value {
  const item = LISTS[type]
  if (item !== undefined) return readBinaryList(bytes, item)
  const kind = KINDS[type]
  if (kind === 'text') return decodeUtf8(bytes) ?? OPAQUE
  if (kind === 'boolean') return bytes[0] === 1
  if (kind === 'uuid') {
    return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
  }
  if (kind !== 'integer') return OPAQUE
  if (bytes.length === 8) return integer(bytes.readBigInt64BE())
  if (bytes.length === 4) return bytes.readInt32BE()
  return bytes.length === 2 ? bytes.readInt16BE() : OPAQUE
}

/** Dimensions, whether there are nulls, type, then each dimension's length and first index. */
function readBinaryList(bytes: Buffer, type: number): Value {
  if (bytes.length < 12) return OPAQUE
  if (bytes.readInt32BE(0) === 0) return []
  if (bytes.readInt32BE(0) !== 1 || bytes.readInt32BE(8) !== type) return OPAQUE
  const items: Value[] = []
  let at = 20
  for (let i = bytes.readInt32BE(12); i > 0; i--) {
    const length = bytes.readInt32BE(at)
    at += 4
    items.push(length < 0 ? null : readBinary(bytes.subarray(at, at + length), type))
    if (length > 0) at += length
  }
  return items.includes(OPAQUE) ? OPAQUE : items
}

function integer(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
