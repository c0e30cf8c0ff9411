// Comparison, arithmetic, concatenation and LIKE: which types each takes, and what it computes. An
// operand of type unknown takes the type that PostgreSQL's rules give it. All are strict: both sides
// are evaluated, then NULL on either side makes NULL. LIKE is ~~ in errors, as in PostgreSQL.

import { compareValues } from './compare.ts'
import type { Place } from './error.ts'
import {
  castTo,
  commonType,
  constantValue,
  type Expression,
  type Fix,
  makeResult,
  resolve,
} from './expression.ts'
import { matchIlike, matchLike } from './like.ts'
import { type ExprType, fitted, isInteger } from './types.ts'
import type { SqlValue } from './value.ts'

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

const COMPARE: Record<Comparison, (left: SqlValue, right: SqlValue) => boolean> = {
  '=': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => compareValues(left, right) < 0,
  '<=': (left, right) => compareValues(left, right) <= 0,
  '>': (left, right) => compareValues(left, right) > 0,
  '>=': (left, right) => compareValues(left, right) >= 0,
}

type Apply = (left: SqlValue, right: SqlValue) => SqlValue

function makeStrict(
  type: ExprType,
  left: Expression,
  right: Expression,
  place: Place,
  apply: Apply,
  fixes: readonly Fix[] = [],
): Expression {
  const [evaluateLeft, evaluateRight] = [left.evaluate, right.evaluate]
  const evaluate: Expression['evaluate'] = (row) => {
    const a = evaluateLeft(row)
    const b = evaluateRight(row)
    return a === null || b === null ? null : apply(a, b)
  }
  return makeResult(type, [left, right], place, evaluate, fixes)
}

function refuse(operator: string, left: Expression, right: Expression, place: Place): Error {
  const shown = operator === '!=' ? '<>' : operator
  return place.error(`operator does not exist: ${left.type} ${shown} ${right.type}`)
}

/** Both operands as one type, in which they can be compared. */
function pairUp(
  operator: string,
  left: Expression,
  right: Expression,
  place: Place,
): [Expression, Expression] {
  const type = commonType(left.type, right.type)
  if (type === null) throw refuse(operator, left, right, place)
  return [resolve(left, type), resolve(right, type)]
}

export function makeComparison(
  operator: Comparison,
  given: Expression,
  other: Expression,
  place: Place,
): Expression {
  const [left, right] = pairUp(operator, given, other, place)
  const fixes = operator === '=' ? [...fixOf(left, right), ...fixOf(right, left)] : []
  return makeStrict('boolean', left, right, place, COMPARE[operator], fixes)
}

/** What `side = constant` says of a column; nothing if the constant is NULL: it is never TRUE. */
function fixOf(side: Expression, constant: Expression): Fix[] {
  if (side.column < 0 || !constant.constant) return []
  const value = constantValue(constant)
  return value === undefined || value === null ? [] : [{ column: side.column, value }]
}

/** IS [NOT] DISTINCT FROM: (in)equality for which NULL is a value like others. */
export function makeDistinct(
  given: Expression,
  other: Expression,
  negated: boolean,
  place: Place,
): Expression {
  const [left, right] = pairUp('=', given, other, place)
  const fixes = negated ? [...fixOf(left, right), ...fixOf(right, left)] : []
  const evaluate: Expression['evaluate'] = (row) =>
    (left.evaluate(row) !== right.evaluate(row)) !== negated
  return makeResult('boolean', [left, right], place, evaluate, fixes)
}

export type Arithmetic = '+' | '-' | '*' | '/' | '%'

export function makeArithmetic(
  operator: Arithmetic,
  given: Expression,
  other: Expression,
  place: Place,
): Expression {
  const type = commonType(given.type, other.type)
  if (given.type === 'unknown' && other.type === 'unknown') {
    throw place.error(`operator is not unique: unknown ${operator} unknown`)
  }
  if (type === null || !isInteger(type)) throw refuse(operator, given, other, place)
  const [left, right] = [resolve(given, type), resolve(other, type)]
  const compute = computeOf(operator, place)
  return makeStrict(type, left, right, place, (a, b) =>
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
  if (!isInteger(type)) throw place.error(`operator does not exist: ${operator} ${type}`)
  if (operator === '+') return { ...operand, place }
  return makeResult(type, [operand], place, (row) => {
    const value = evaluate(row)
    return value === null ? null : fitted(-(value as bigint), type, place)
  })
}

/** || of two texts, or of a text and anything. */
export function makeConcat(given: Expression, other: Expression, place: Place): Expression {
  const isText = ({ type }: Expression) => type === 'text' || type === 'unknown'
  if (!isText(given) && !isText(other)) throw refuse('||', given, other, place)
  const [left, right] = [castTo(given, 'text', place), castTo(other, 'text', place)]
  return makeStrict('text', left, right, place, (a, b) => `${a}${b}`)
}

export function makeLike(
  given: Expression,
  other: Expression,
  options: { readonly negated: boolean; readonly ignoreCase: boolean },
  place: Place,
): Expression {
  const { negated, ignoreCase } = options
  const [left, right] = [resolve(given, 'text'), resolve(other, 'text')]
  if (left.type !== 'text' || right.type !== 'text') {
    const sign = `${negated ? '!' : ''}~~${ignoreCase ? '*' : ''}`
    throw refuse(sign, given, other, place)
  }
  const match = ignoreCase ? matchIlike : matchLike
  return makeStrict(
    'boolean',
    left,
    right,
    place,
    (text, pattern) => match(text as string, pattern as string, place) !== negated,
  )
}
