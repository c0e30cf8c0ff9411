// COALESCE, NULLIF, GREATEST, LEAST and CASE: one of several values of a common type.

import { compareValues } from './compare.ts'
import type { Place } from './error.ts'
import { asBoolean, coerce, commonType, type Expression, makeResult } from './expression.ts'
import { makeComparison } from './operators.ts'
import type { ExprType, Value } from './types.ts'

/** All of them as one type: text if none has one. */
function alike(what: string, args: readonly Expression[], place: Place): [ExprType, Expression[]] {
  if (args.length === 0) throw place.error(`${what} needs arguments`)
  let shared: ExprType = 'unknown'
  for (const { type } of args) {
    const next: ExprType | null = shared === 'unknown' ? type : commonType(shared, type)
    if (next === null) throw place.error(`${what} types ${shared} and ${type} cannot be matched`)
    shared = next
  }
  const type = shared === 'unknown' ? 'text' : shared
  return [type, args.map((arg) => coerce(arg, type))]
}

/** The first that is not NULL; what comes after it is not evaluated. */
export function makeCoalesce(given: readonly Expression[], place: Place): Expression {
  const [type, args] = alike('COALESCE', given, place)
  return makeResult(type, args, place, (row) => {
    for (const { evaluate } of args) {
      const value = evaluate(row)
      if (value !== null) return value
    }
    return null
  })
}

/** The first, unless it is equal to the second: NULL then. */
export function makeNullif(given: readonly Expression[], place: Place): Expression {
  const [first, second] = given
  if (first === undefined || second === undefined || given.length > 2) {
    throw place.error('NULLIF takes two arguments')
  }
  const { evaluate: isEqual } = makeComparison('=', [first, second], place)
  const type = commonType(first.type, second.type)!
  const value = coerce(first, type)
  return makeResult(value.type, given, place, (row) =>
    isEqual(row) === true ? null : value.evaluate(row),
  )
}

/** The largest or smallest of those that are not NULL; of equal ones the first. */
export function makeExtreme(
  what: 'GREATEST' | 'LEAST',
  given: readonly Expression[],
  place: Place,
): Expression {
  const [type, args] = alike(what, given, place)
  const sign = what === 'GREATEST' ? 1 : -1
  return makeResult(type, args, place, (row) => {
    let best: Value = null
    for (const { evaluate } of args) {
      const value = evaluate(row)
      if (value === null) continue
      if (best === null || sign * compareValues(value, best) > 0) best = value
    }
    return best
  })
}

/** CASE WHEN … THEN …: conditions from the first on, and only the value of the one that is TRUE. */
export function makeCase(
  conditions: readonly Expression[],
  values: readonly Expression[],
  otherwise: Expression,
  place: Place,
): Expression {
  const [type, [last, ...results]] = alike('CASE', [otherwise, ...values], place)
  const whens = conditions.map((condition) => asBoolean(condition, 'CASE/WHEN'))
  return makeResult(type, [...whens, ...results, last!], place, (row) => {
    const found = whens.findIndex(({ evaluate }) => evaluate(row) === true)
    return (found < 0 ? last! : results[found]!).evaluate(row)
  })
}
