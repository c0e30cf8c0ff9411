// The smallest parts of verdict files (verdict-file.ts): texts, numbers, values, operations, rows.

import type { Value } from '../history/values.ts'
import { isVersionText } from '../history/versions.ts'
import { LEVELS, type LevelId } from '../levels/levels.ts'
import { BOUND_PATTERN } from '../levels/staleness.ts'
import { isObject, leaf, type Shape, word } from './shape.ts'

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

export const TEXT = leaf<string>('a string', (v) => typeof v === 'string', { type: 'string' })
export const COUNT = leaf<number>('a count', isCount, { type: 'integer', minimum: 0 })
export const NUMBER = leaf<number>('a number', (v) => typeof v === 'number', { type: 'number' })
export const FLAG = leaf<true>('true', (v) => v === true, { const: true })
export const VALUE = leaf<Value>('an integer, a string or null', isValue, {
  type: ['integer', 'string', 'null'],
})
export const INITIAL = leaf<Value | false>('a value or false', (v) => v === false || isValue(v), {
  anyOf: [{ type: ['integer', 'string', 'null'] }, { const: false }],
})
const isBound = (v: unknown) => typeof v === 'string' && new RegExp(BOUND_PATTERN).test(v)
export const BOUND = leaf<string>('a bound such as 5s or 3', isBound, {
  type: 'string',
  pattern: BOUND_PATTERN,
})
export const LEVEL: Shape<LevelId> = word(LEVELS.map(({ id }) => id))

/**
 * `["r", key, value]`, as in the native format; a list of values for a read of a list; behind the
 * value of a register the version that the store gave it, if any.
 */
export type OpJson = [
  verb: string,
  key: Value,
  value: Value | (Value | Value[])[],
  version?: string,
]

export const OP = leaf<OpJson>('an operation', isOp, { type: 'array', minItems: 3, maxItems: 4 })

/** What a column holds; integers beyond 2^53 are bigints. */
export type CellJson = Value | boolean

export const CELL = leaf<CellJson>('an integer, a string, true, false or null', isCell, {
  type: ['integer', 'string', 'boolean', 'null'],
})

/** A row by its columns. */
export type RowJson = Record<string, CellJson>

export const ROW = recordOf<CellJson>('a row', isCell, {
  type: ['integer', 'string', 'boolean', 'null'],
})
export const TIMES = recordOf<number>('an object of numbers', (v) => typeof v === 'number', {
  type: 'number',
})
export const NAMES_BY_NAME = recordOf<string[]>(
  'lists of names by name',
  (v) => Array.isArray(v) && v.every((name) => typeof name === 'string'),
  { type: 'array', items: { type: 'string' } },
)
export const RECORD = recordOf<unknown>('an object', () => true, {})

/**
 * SQL: whose version of a row a statement passed over: the reader's position in the input, which of
 * its statements, the row, and the writer's position, null for the initial state.
 */
export type ChoiceJson = [reader: number, statement: number, row: Value, writer: number | null]

/**
 * Whom a read saw, where several may have written what it read: the reader's position in the input
 * and which of its operations, the same of the writer, null twice for the initial state.
 */
export type SourceJson = [reader: number, read: number, writer: number | null, write: number | null]

const FOUR = { type: 'array', minItems: 4, maxItems: 4 }

export const SOURCE = leaf<SourceJson>('whom a read saw', isSource, FOUR)

function isSource(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 4) return false
  const [reader, read, writer, write] = value
  const isInitial = writer === null && write === null
  return isCount(reader) && isCount(read) && (isInitial || (isCount(writer) && isCount(write)))
}

export const CHOICE = leaf<ChoiceJson>('a choice', isChoice, FOUR)
const areCounts = (v: unknown) => Array.isArray(v) && v.every(isCount)
const COUNTS = { type: 'array', items: { type: 'integer', minimum: 0 } }
export const ORDER = leaf<number[]>('a list of counts', areCounts, COUNTS)

function recordOf<T>(what: string, fits: (value: unknown) => boolean, schema: object) {
  return leaf<Record<string, T>>(what, (v) => isObject(v) && Object.values(v).every(fits), {
    type: 'object',
    additionalProperties: schema,
  })
}

function isValue(value: unknown): boolean {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    Number.isSafeInteger(value)
  )
}

function isCell(value: unknown): boolean {
  return typeof value === 'boolean' || isValue(value)
}

function isOp(value: unknown): boolean {
  if (!Array.isArray(value) || value.length < 3 || value.length > 4) return false
  const [verb, key, what, version] = value
  if (value.length === 4) {
    const isText = typeof version === 'string' && isVersionText(version)
    if (!isText || !['r', 'w'].includes(verb) || Array.isArray(what)) return false
  }
  if (!['r', 'w', 'append', 'rows'].includes(verb) || key === null || !isValue(key)) return false
  if (verb === 'rows') return Array.isArray(what) && isRows(what)
  return isValue(what) || (verb === 'r' && Array.isArray(what) && what.every(isValue))
}

/** What each row of a key held: all values, or all lists. */
function isRows(rows: readonly unknown[]): boolean {
  const isList = (row: unknown) => Array.isArray(row) && row.every(isValue)
  return rows.every(isValue) || rows.every(isList)
}

function isChoice(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 4) return false
  const [reader, statement, row, writer] = value
  return (
    isCount(reader) && isCount(statement) && isValue(row) && (writer === null || isCount(writer))
  )
}
