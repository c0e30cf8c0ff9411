// BETWEEN and IN, which PostgreSQL takes apart into comparisons.

import { Decimal } from './decimal.ts'
import type { Place } from './error.ts'
import { coerce, commonType, constantValue, type Expression, makeResult } from './expression.ts'
import { makeLogic, makeNot } from './logic.ts'
import { makeComparison } from './operators.ts'
import type { ExprType, Value } from './types.ts'
import type { SqlValue } from './value.ts'

/** `value >= low AND value <= high`, each comparison typed by itself; SYMMETRIC: or exchanged. */
export function makeBetween(
  value: Expression,
  low: Expression,
  high: Expression,
  options: { readonly negated: boolean; readonly symmetric: boolean },
  place: Place,
): Expression {
  const within = (from: Expression, to: Expression) =>
    makeLogic(
      'AND',
      [makeComparison('>=', [value, from], place), makeComparison('<=', [value, to], place)],
      place,
    )
  const asked = options.symmetric
    ? makeLogic('OR', [within(low, high), within(high, low)], place)
    : within(low, high)
  return options.negated ? makeNot(asked, place) : asked
}

/** TRUE if one is equal, else NULL if a comparison is NULL, else FALSE. */
export function makeIn(
  value: Expression,
  items: readonly Expression[],
  negated: boolean,
  place: Place,
): Expression {
  const asked = makeMembership(value, items, place)
  return negated ? makeNot(asked, place) : asked
}

function makeMembership(value: Expression, items: readonly Expression[], place: Place): Expression {
  const shared = arrayType(value, items)
  const compare = (item: Expression) =>
    shared !== null && item.constant
      ? makeComparison('=', [coerce(value, shared), coerce(item, shared)], place)
      : makeComparison('=', [value, item], place)
  const [first, ...others] = items.map(compare)
  if (others.length === 0) return first!
  if (shared !== null && items.every((item) => item.constant)) {
    const constants = items.map((item) => constantValue(coerce(item, shared)))
    if (!constants.includes(undefined)) {
      return makeLookup(coerce(value, shared), constants as Value[], place)
    }
  }
  return makeLogic('OR', [first!, ...others], place)
}

/**
 * PostgreSQL makes an array of the items without columns if there are two or more; then they and
 * the value share one type, which matters to literals: '5' IN ('05', 6) is TRUE.
 */
function arrayType(value: Expression, items: readonly Expression[]): ExprType | null {
  const array = items.filter((item) => item.constant)
  if (array.length < 2) return null
  const types = [value, ...array].map(({ type }) => type).filter((type) => type !== 'unknown')
  let shared: ExprType | null = types[0] ?? 'text'
  for (const type of types) {
    shared = commonType(shared, type)
    if (shared === null) return null
  }
  return shared
}

/** A list of constants by hashing: lists of keys are long. */
function makeLookup(value: Expression, constants: readonly Value[], place: Place): Expression {
  const keyOf = (one: Value) => (one instanceof Decimal ? one.key() : one)
  const members = new Set(constants.map(keyOf))
  const otherwise = members.has(null) ? null : false
  const { evaluate } = value
  const result = makeResult('boolean', [value], place, (row) => {
    const found = evaluate(row)
    if (found === null) return null
    return members.has(keyOf(found)) ? true : otherwise
  })
  if (value.column < 0) return result
  const values = constants.filter((constant) => constant !== null) as SqlValue[]
  return { ...result, among: { column: value.column, values } }
}
