// AND, OR, NOT and the tests with IS: SQL's three truth values, NULL being the third.
//
// AND and OR go from left to right and stop where the answer is settled. PostgreSQL promises no
// order, so a clause whose right side raises an error only sometimes may fail there and not here.

import type { Place } from './error.ts'
import { asBoolean, type Expression, makeResult } from './expression.ts'

/** AND of any number of operands; OR likewise. */
export function makeLogic(
  operator: 'AND' | 'OR',
  given: readonly Expression[],
  place: Place,
): Expression {
  const operands = given.map((operand) => asBoolean(operand, operator))
  const parts = operands.map((operand) => operand.evaluate)
  const decisive = operator === 'OR'
  const fixes = operator === 'AND' ? operands.flatMap((operand) => operand.fixes) : []
  const evaluate: Expression['evaluate'] = (row) => {
    let result: boolean | null = !decisive
    for (const part of parts) {
      const value = part(row)
      if (value === decisive) return decisive
      if (value === null) result = null
    }
    return result
  }
  const result = makeResult('boolean', operands, place, evaluate, fixes)
  const among = operator === 'AND' && operands.find((operand) => operand.among)?.among
  return among ? { ...result, among } : result
}

export function makeNot(given: Expression, place: Place): Expression {
  const operand = asBoolean(given, 'NOT')
  const { evaluate, column } = operand
  const fixes = column >= 0 ? [{ column, value: false }] : []
  const not: Expression['evaluate'] = (row) => {
    const value = evaluate(row)
    return value === null ? null : !value
  }
  return makeResult('boolean', [operand], place, not, fixes)
}

/** IS NULL of anything. */
export function makeIsNull(operand: Expression, negated: boolean, place: Place): Expression {
  const { evaluate } = operand
  return makeResult('boolean', [operand], place, (row) => (evaluate(row) === null) !== negated)
}

/** IS TRUE, IS FALSE, IS UNKNOWN of a boolean. */
export function makeIs(
  given: Expression,
  truth: boolean | null,
  negated: boolean,
  place: Place,
): Expression {
  const word = truth === null ? 'UNKNOWN' : truth ? 'TRUE' : 'FALSE'
  const operand = asBoolean(given, `IS ${negated ? 'NOT ' : ''}${word}`)
  const { evaluate, column } = operand
  const fixes = () => {
    if (negated || truth === null) return []
    if (truth) return operand.fixes
    return column >= 0 ? [{ column, value: false }] : []
  }
  const is: Expression['evaluate'] = (row) => (evaluate(row) === truth) !== negated
  return makeResult('boolean', [operand], place, is, fixes())
}
