// WHERE clauses drawn at random over a table's columns: comparisons, arithmetic, BETWEEN, IN, LIKE,
// IS NULL, joined by AND, OR, NOT. Small constants, so that clauses and rows meet often. Nothing
// drawn here can fail on a row: no division, no overflow.

import type { Random } from '../../base/random.ts'
import { renderSqlValue, type SqlColumn, type SqlType, type SqlValue } from '../../sql/value.ts'

/** Integers lie between 0 and here. */
const MAX_INTEGER = 5
const TEXTS = ['a', 'b', 'ab', 'ba', "it's"]

export interface RandomPredicate {
  readonly where: string
  readonly params: readonly SqlValue[]
}

export function randomPredicate(columns: readonly SqlColumn[], random: Random): RandomPredicate {
  const params: SqlValue[] = []
  const condition = (depth: number): string => {
    const draw = random.below(8)
    if (depth === 0 || draw < 4) return comparison(random.pick(columns), random, params)
    const left = condition(depth - 1)
    if (draw === 4) return `NOT (${left})`
    return `(${left}) ${draw === 5 ? 'OR' : 'AND'} (${condition(depth - 1)})`
  }
  return { where: condition(2), params }
}

export function randomValue(type: SqlType, random: Random): SqlValue {
  if (type === 'boolean') return random.chance(0.5)
  return type === 'integer' ? BigInt(random.below(MAX_INTEGER + 1)) : random.pick(TEXTS)
}

const COMPARISONS = ['=', '<>', '<', '<=', '>', '>=']

function comparison({ name, type }: SqlColumn, random: Random, params: SqlValue[]): string {
  const constant = () => {
    const value = randomValue(type, random)
    if (random.chance(0.5)) return renderSqlValue(value)
    params.push(value)
    return `$${params.length}`
  }
  const draw = random.below(10)
  if (draw === 0) return `${name} IS ${random.chance(0.5) ? 'NOT ' : ''}NULL`
  if (type === 'boolean') return random.chance(0.5) ? name : `${name} = ${constant()}`
  const not = random.chance(0.3) ? 'NOT ' : ''
  if (draw === 1) return `${name} ${not}IN (${constant()}, ${constant()})`
  if (draw === 2) return `${name} ${not}BETWEEN ${constant()} AND ${constant()}`
  const operator = random.pick(COMPARISONS)
  if (draw === 3) {
    if (type === 'text') return `${name} ${not}LIKE ${random.pick(["'a%'", "'%b'", "'_'", "'%'"])}`
    const arithmetic = random.pick([`${name} + 1`, `${name} - 2`, `${name} * 2`])
    return `${arithmetic} ${operator} ${constant()}`
  }
  return `${name} ${operator} ${constant()}`
}
