// Comparison, arithmetic, concatenation and LIKE: which types each takes, and what it computes. An
// operand of type unknown takes the type that PostgreSQL's rules give it. All are strict: both sides
// are evaluated, then NULL on either side makes NULL. LIKE is ~~ in errors, as in PostgreSQL.

import { compareValues } from './compare.ts'
import { Decimal, decimalOperation } from './decimal.ts'
import type { Place } from './error.ts'
import {
  castTo,
  coerce,
  commonType,
  constantValue,
  type Expression,
  type Fix,
  makeResult,
  resolve,
} from './expression.ts'
import { escapeLike, matchIlike, matchLike } from './like.ts'
import { type ExprType, fitted, isNumber, type Value } from './types.ts'
import type { SqlValue } from './value.ts'

export const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const
type Comparison = (typeof COMPARISONS)[number]

const COMPARE: Record<Comparison, (left: Value, right: Value) => boolean> = {
  '=': isSame,
  '!=': (left, right) => !isSame(left, right),
  '<': (left, right) => compareValues(left, right) < 0,
  '<=': (left, right) => compareValues(left, right) <= 0,
  '>': (left, right) => compareValues(left, right) > 0,
  '>=': (left, right) => compareValues(left, right) >= 0,
}

/** Whether two values of one type are the same; NULL is the same as NULL. */
function isSame(left: Value, right: Value): boolean {
  if (left instanceof Decimal) return right instanceof Decimal && left.compare(right) === 0
  return left === right
}

type Apply = (left: Value, right: Value) => Value

/** What stands on the two sides of an operator. */
type Sides = readonly [left: Expression, right: Expression]

function makeStrict(type: ExprType, sides: Sides, place: Place, apply: Apply, fixes: Fix[] = []) {
  const [evaluateLeft, evaluateRight] = [sides[0].evaluate, sides[1].evaluate]
  const evaluate: Expression['evaluate'] = (row) => {
    const a = evaluateLeft(row)
    const b = evaluateRight(row)
    return a === null || b === null ? null : apply(a, b)
  }
  return makeResult(type, sides, place, evaluate, fixes)
}

function refuse(operator: string, [left, right]: Sides, place: Place): Error {
  const shown = operator === '!=' ? '<>' : operator
  return place.error(`operator does not exist: ${left.type} ${shown} ${right.type}`)
}

/** Both operands as one type, in which they can be compared. */
function pairUp(operator: string, given: Sides, place: Place): Sides {
  const [left, right] = given
  const type = commonType(left.type, right.type)
  if (type === null) throw refuse(operator, given, place)
  return [coerce(left, type), coerce(right, type)]
}

export function makeComparison(operator: Comparison, given: Sides, place: Place): Expression {
  const sides = pairUp(operator, given, place)
  return makeStrict(
    'boolean',
    sides,
    place,
    COMPARE[operator],
    operator === '=' ? fixesOf(sides) : [],
  )
}

/** What it says of columns that two sides are equal. */
const fixesOf = ([left, right]: Sides) => [...fixOf(left, right), ...fixOf(right, left)]

/** What `side = constant` says of a column; nothing if the constant is NULL: it is never TRUE. */
function fixOf(side: Expression, constant: Expression): Fix[] {
  if (side.column < 0 || !constant.constant) return []
  const value = constantValue(constant)
  if (value === undefined || value === null) return []
  // Columns of numerics, which have many texts for one value, are no columns here.
  return [{ column: side.column, value: value as SqlValue }]
}

/** IS [NOT] DISTINCT FROM: (in)equality for which NULL is a value like others. */
export function makeDistinct(given: Sides, negated: boolean, place: Place): Expression {
  const sides = pairUp('=', given, place)
  const [left, right] = sides
  const evaluate: Expression['evaluate'] = (row) =>
    isSame(left.evaluate(row), right.evaluate(row)) === negated
  return makeResult('boolean', sides, place, evaluate, negated ? fixesOf(sides) : [])
}

export const ARITHMETICS = ['+', '-', '*', '/', '%'] as const
type Arithmetic = (typeof ARITHMETICS)[number]

export function makeArithmetic(operator: Arithmetic, given: Sides, place: Place): Expression {
  const [left, right] = given
  const type = commonType(left.type, right.type)
  if (left.type === 'unknown' && right.type === 'unknown') {
    throw place.error(`operator is not unique: unknown ${operator} unknown`)
  }
  if (type === null || !isNumber(type)) throw refuse(operator, given, place)
  const sides = [coerce(left, type), coerce(right, type)] as const
  if (type === 'numeric') {
    const operation = decimalOperation(operator, place)
    return makeStrict(type, sides, place, (a, b) => operation(a as Decimal, b as Decimal))
  }
  const compute = computeOf(operator, place)
  return makeStrict(type, sides, place, (a, b) =>
    fitted(compute(a as bigint, b as bigint), type, place),
  )
}

/** BigInt divides as PostgreSQL: towards zero, the remainder with the sign of the dividend. */
function computeOf(operator: Arithmetic, place: Place): (a: bigint, b: bigint) => bigint {
  if (operator === '+') return (a, b) => a + b
  if (operator === '-') return (a, b) => a - b
  if (operator === '*') return (a, b) => a * b
  return (a, b) => {
    if (b === 0n) throw place.error('division by zero')
    return operator === '/' ? a / b : a % b
  }
}

/** A sign before an expression. */
export function makeSign(operator: '+' | '-', operand: Expression, place: Place): Expression {
  const { type, evaluate } = operand
  if (type === 'unknown') throw place.error(`operator is not unique: ${operator} unknown`)
  if (!isNumber(type)) throw place.error(`operator does not exist: ${operator} ${type}`)
  if (operator === '+') return { ...operand, place }
  return makeResult(type, [operand], place, (row) => {
    const value = evaluate(row)
    if (value instanceof Decimal) return new Decimal(-value.digits, value.scale)
    return value === null ? null : fitted(-(value as bigint), type, place)
  })
}

/** || of two texts, or of a text and anything. */
export function makeConcat(given: Sides, place: Place): Expression {
  const [left, right] = given
  const isText = ({ type }: Expression) => type === 'text' || type === 'unknown'
  if (!isText(left) && !isText(right)) throw refuse('||', given, place)
  const sides = [castTo(left, 'text', place), castTo(right, 'text', place)] as const
  return makeStrict('text', sides, place, (a, b) => `${a}${b}`)
}

/** The pattern of LIKE … ESCAPE, which must be text as well. */
export function makeEscape(given: Expression, other: Expression, place: Place): Expression {
  const [pattern, character] = [resolve(given, 'text'), resolve(other, 'text')]
  if (pattern.type !== 'text' || character.type !== 'text') {
    throw place.error(`function like_escape(${given.type}, ${other.type}) does not exist`)
  }
  return makeStrict('text', [pattern, character], place, (text, one) =>
    escapeLike(text as string, one as string, place),
  )
}

/** How LIKE is meant. */
type Liking = { readonly negated: boolean; readonly ignoreCase: boolean }

export function makeLike(given: Sides, { negated, ignoreCase }: Liking, place: Place): Expression {
  const [left, right] = [resolve(given[0], 'text'), resolve(given[1], 'text')]
  if (left.type !== 'text' || right.type !== 'text') {
    const sign = `${negated ? '!' : ''}~~${ignoreCase ? '*' : ''}`
    throw refuse(sign, given, place)
  }
  const match = ignoreCase ? matchIlike : matchLike
  const apply: Apply = (text, pattern) =>
    match(text as string, pattern as string, place) !== negated
  return makeStrict('boolean', [left, right], place, apply)
}
