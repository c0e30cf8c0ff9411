// A typed expression as a function of a row, and how an expression of unknown type gets one.

import type { Place } from './error.ts'
import {
  BITS,
  canCast,
  conversionOf,
  type ExprType,
  isInteger,
  isNumber,
  type Value,
} from './types.ts'
import type { SqlRow, SqlValue } from './value.ts'

/** A column and the value it must have. */
export interface Fix {
  readonly column: number
  readonly value: SqlValue
}

/** A column and the values of which it must have one. */
export interface Among {
  readonly column: number
  readonly values: readonly SqlValue[]
}

export interface Expression {
  readonly type: ExprType
  readonly evaluate: (row: SqlRow) => Value
  /** No column occurs in it. */
  readonly constant: boolean
  /** The column that the expression is, or -1. */
  readonly column: number
  /** What every row has for which the expression is TRUE. */
  readonly fixes: readonly Fix[]
  readonly among?: Among
  readonly place: Place
}

const NO_ROW: SqlRow = []

export function makeConstant(value: Value, type: ExprType, place: Place): Expression {
  return { type, evaluate: () => value, constant: true, column: -1, fixes: [], place }
}

/** An operator's result. */
export function makeResult(
  type: ExprType,
  operands: readonly Expression[],
  place: Place,
  evaluate: (row: SqlRow) => Value,
  fixes: readonly Fix[] = [],
): Expression {
  const constant = operands.every((operand) => operand.constant)
  return { type, evaluate, constant, column: -1, fixes, place }
}

/** The value of a constant expression; undefined if it raises an error. */
export function constantValue(expression: Expression): Value | undefined {
  try {
    return expression.evaluate(NO_ROW)
  } catch {
    return undefined
  }
}

/** An explicit cast; of a literal it says how to read it. */
export function castTo(operand: Expression, type: ExprType, place: Place): Expression {
  if (operand.type === 'unknown') return resolve(operand, type)
  if (operand.type === type) return { ...operand, place }
  if (!canCast(operand.type, type)) throw place.error(`cannot cast type ${operand.type} to ${type}`)
  const convert = conversionOf(operand.type, type, place)
  const { evaluate } = operand
  return makeResult(type, [operand], place, (row) => {
    const value = evaluate(row)
    return value === null ? null : convert(value)
  })
}

/** A literal of type unknown read as the type; anything else as it is. */
export function resolve(operand: Expression, type: ExprType): Expression {
  if (operand.type !== 'unknown') return operand
  const { place } = operand
  const value = operand.evaluate(NO_ROW)
  if (value === null) return makeConstant(null, type, place)
  return makeConstant(conversionOf('unknown', type, place)(value), type, place)
}

/** As resolve, and integers as numeric where that is the type. */
export function coerce(operand: Expression, type: ExprType): Expression {
  const resolved = resolve(operand, type)
  const widens = type === 'numeric' && isInteger(resolved.type)
  return widens ? castTo(resolved, type, operand.place) : resolved
}

/** Both literals: text. One: the type of the other. Numbers of two types: the wider. */
export function commonType(left: ExprType, right: ExprType): ExprType | null {
  if (left === 'unknown') return right === 'unknown' ? 'text' : right
  if (right === 'unknown' || left === right) return left
  if (!isNumber(left) || !isNumber(right)) return null
  if (left === 'numeric' || right === 'numeric') return 'numeric'
  return BITS[left] > BITS[right] ? left : right
}

/** An operand that must be boolean. */
export function asBoolean(operand: Expression, of: string): Expression {
  const resolved = resolve(operand, 'boolean')
  if (resolved.type === 'boolean') return resolved
  throw operand.place.error(`argument of ${of} must be type boolean, not type ${resolved.type}`)
}
