// The types of expressions, by PostgreSQL's names, and the conversions between them. A column of
// type integer counts as bigint; integer literals and casts have PostgreSQL's narrower types, so
// that arithmetic on them overflows where it does there.

import { Decimal, readDecimal } from './decimal.ts'
import type { Place } from './error.ts'
import type { SqlType, SqlValue } from './value.ts'

/** What expressions compute with: the values of rows, and numerics, which rows hold as text. */
export type Value = SqlValue | Decimal

/** `unknown` is what a string literal and NULL are, until an operator decides. */
export type ExprType = SqlType | 'smallint' | 'bigint' | 'unknown'

export const COLUMN_TYPES: Record<SqlType, ExprType> = {
  boolean: 'boolean',
  integer: 'bigint',
  numeric: 'numeric',
  text: 'text',
}

/** Bits of the integer types, by which they widen; 0 for the others. */
export const BITS: Record<ExprType, number> = {
  boolean: 0,
  smallint: 16,
  integer: 32,
  bigint: 64,
  numeric: 0,
  text: 0,
  unknown: 0,
}

const NAMES: Record<string, ExprType> = {
  bool: 'boolean',
  boolean: 'boolean',
  int2: 'smallint',
  smallint: 'smallint',
  int: 'integer',
  int4: 'integer',
  integer: 'integer',
  int8: 'bigint',
  bigint: 'bigint',
  numeric: 'numeric',
  decimal: 'numeric',
  dec: 'numeric',
  text: 'text',
  varchar: 'text',
  'character varying': 'text',
}

/** The type that a cast names, or null. */
export function findType(name: string): ExprType | null {
  return Object.hasOwn(NAMES, name) ? NAMES[name]! : null
}

export function isInteger(type: ExprType): boolean {
  return BITS[type] > 0
}

export function isNumber(type: ExprType): boolean {
  return isInteger(type) || type === 'numeric'
}

/** The type of an integer literal, or null if it takes more than 64 bits. */
export function integerTypeOf(value: bigint): ExprType | null {
  if (BigInt.asIntN(32, value) === value) return 'integer'
  return BigInt.asIntN(64, value) === value ? 'bigint' : null
}

/** The value, if it fits the integer type. */
export function fitted(value: bigint, type: ExprType, place: Place): bigint {
  if (BigInt.asIntN(BITS[type], value) === value) return value
  throw place.error(`${type} out of range`)
}

/**
 * As PostgreSQL, which casts only its type integer to boolean and back. But a column of type
 * integer, bigint here, may be narrower in the database: so bigint is cast to boolean as well.
 */
export function canCast(from: ExprType, to: ExprType): boolean {
  if (from === to || from === 'text' || to === 'text') return true
  if (to === 'boolean') return from === 'integer' || from === 'bigint'
  return from !== 'boolean' || to === 'integer'
}

/** The conversion of values other than NULL. */
export function conversionOf(from: ExprType, to: ExprType, place: Place): (value: Value) => Value {
  if (from === to) return (value) => value
  if (from === 'unknown' || from === 'text') return (value) => readText(String(value), to, place)
  if (to === 'text') return (value) => String(value)
  if (to === 'boolean') return (value) => value !== 0n
  if (from === 'boolean') return (value) => (value ? 1n : 0n)
  if (to === 'numeric') return (value) => new Decimal(value as bigint, 0)
  if (from === 'numeric') return (value) => fitted((value as Decimal).round(0).digits, to, place)
  return (value) => fitted(value as bigint, to, place)
}

/** A value of the type from its text, as PostgreSQL reads it. */
function readText(text: string, type: ExprType, place: Place): Value {
  if (type === 'numeric') return readDecimal(text, place)
  if (type === 'boolean') return readBoolean(text, place)
  return isInteger(type) ? readInteger(text, type, place) : text
}

const SPACE_AROUND = /^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g
const INTEGER = /^([-+]?)(\d+(?:_\d+)*|0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)$/

function readInteger(text: string, type: ExprType, place: Place): bigint {
  const found = INTEGER.exec(text.replace(SPACE_AROUND, ''))
  if (!found) throw place.error(`invalid input syntax for type ${type} "${text}"`)
  const size = BigInt(found[2]!.replaceAll('_', ''))
  const value = found[1] === '-' ? -size : size
  if (BigInt.asIntN(BITS[type], value) === value) return value
  throw place.error(`value "${text}" is out of range for type ${type}`)
}

/** Each word may be cut short, as long as it is no other's beginning. */
const TRUTHS = /^(?:t|tr|tru|true|y|ye|yes|on|1)$/i
const FALSEHOODS = /^(?:f|fa|fal|fals|false|n|no|of|off|0)$/i

function readBoolean(text: string, place: Place): boolean {
  const word = text.replace(SPACE_AROUND, '')
  if (TRUTHS.test(word)) return true
  if (FALSEHOODS.test(word)) return false
  throw place.error(`invalid input syntax for type boolean "${text}"`)
}
