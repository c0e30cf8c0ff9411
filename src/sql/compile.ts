// From the parser's tree to a typed expression. Whatever is not listed here is refused by name.
// Main function: compile.

import type {
  Expr,
  ExprBinary,
  ExprCall,
  ExprCase,
  ExprCast,
  ExprRef,
  ExprSubstring,
  ExprTernary,
  ExprUnary,
} from 'pgsql-ast-parser'
import { makeCase } from './choices.ts'
import { type Clause, MAX_NESTING } from './clause.ts'
import { Decimal, limitDecimal, readDecimal } from './decimal.ts'
import { type Place, SqlError } from './error.ts'
import { castTo, type Expression, makeConstant, makeResult, resolve } from './expression.ts'
import { makeCall } from './functions.ts'
import { makeIs, makeIsNull, makeLogic, makeNot } from './logic.ts'
import {
  ARITHMETICS,
  COMPARISONS,
  makeArithmetic,
  makeComparison,
  makeConcat,
  makeDistinct,
  makeEscape,
  makeLike,
  makeSign,
} from './operators.ts'
import { checkGrouping, escapeOf } from './precedence.ts'
import { makeBetween, makeIn } from './ranges.ts'
import type { Token } from './scan.ts'
import { COLUMN_TYPES, findType, integerTypeOf } from './types.ts'
import { type SqlColumn, type SqlValue, typeOfValue } from './value.ts'

/** What names and parameters in a clause stand for. */
export interface Scope {
  readonly clause: Clause
  readonly columns: readonly SqlColumn[]
  readonly params: readonly SqlValue[]
  /** The only qualifier that columns may have; null: any. */
  readonly table: string | null
}

/** Where in a clause a node stands, and how deep. */
interface Spot {
  readonly scope: Scope
  readonly place: Place
  readonly depth: number
}

export function compile(scope: Scope, node: Expr, depth = 0): Expression {
  const { clause } = scope
  const place = placeOf(clause, node)
  if (depth > MAX_NESTING) {
    throw new SqlError(`expressions nest more than ${MAX_NESTING} deep`, clause.offsetOf(node))
  }
  checkGrouping(clause, node)
  const make = COMPILERS[node.type] as ((spot: Spot, node: Expr) => Expression) | undefined
  if (make) return make({ scope, place, depth }, node)
  throw place.error(`${WHAT[node.type] ?? 'this expression'} is not supported`)
}

const compileInside = ({ scope, depth }: Spot, node: Expr) => compile(scope, node, depth + 1)
const firstOf = ({ scope: { clause } }: Spot, node: Expr) => clause.tokens[clause.first(node)]!

/** How nodes of each type are compiled: those that are not listed are refused by name. */
const COMPILERS: {
  readonly [T in Expr['type']]?: (spot: Spot, node: Extract<Expr, { type: T }>) => Expression
} = {
  ref: compileColumn,
  integer: (spot, node) => makeInteger(literalOf(spot.scope.clause, node)!, spot.place),
  numeric: (spot, node) => makeDecimal(firstOf(spot, node), spot.place),
  string: (spot, node) => makeConstant(firstOf(spot, node).value, 'unknown', spot.place),
  boolean: ({ place }, node) => makeConstant(node.value, 'boolean', place),
  null: ({ place }) => makeConstant(null, 'unknown', place),
  parameter: (spot, node) => compileParameter(spot.scope, firstOf(spot, node), spot.place),
  cast: compileCast,
  unary: compileUnary,
  binary: compileBinary,
  ternary: compileBetween,
  call: compileCall,
  substring: compileSubstring,
  case: compileCase,
}

const WHAT: Record<string, string> = {
  select: 'a subquery',
  union: 'a subquery',
  'union all': 'a subquery',
  with: 'a subquery',
  values: 'VALUES',
  list: 'a row of values here',
  array: 'an array',
  arrayIndex: 'an array',
  'array select': 'an array',
  keyword: 'this name without quotes',
}

function placeOf(clause: Clause, node: Expr): Place {
  return { error: (message) => clause.error(message, node) }
}

function makeInteger(value: bigint, place: Place): Expression {
  const type = integerTypeOf(value)
  if (type === null) return makeConstant(new Decimal(value, 0), 'numeric', place)
  return makeConstant(value, type, place)
}

function makeDecimal({ value }: Token, place: Place): Expression {
  return makeConstant(readDecimal(value, place), 'numeric', place)
}

/** The integer that a literal with any minus signs before it is, or null. */
function literalOf(clause: Clause, node: Expr): bigint | null {
  let unsigned = node
  let sign = 1n
  for (; unsigned.type === 'unary' && unsigned.op === '-'; unsigned = unsigned.operand) sign = -sign
  if (unsigned.type !== 'integer') return null
  return sign * BigInt(clause.tokens[clause.first(unsigned)]!.value)
}

function compileColumn({ scope, place }: Spot, node: ExprRef): Expression {
  const { clause, columns, table } = scope
  // The words are read from our tokens: what the parser saw may stand for them.
  const word = clause.tokens[clause.last(node)]!
  const name = word.value
  if (node.name === '*' && word.kind === 'symbol') throw place.error('* is not supported')
  if (node.table && table !== null) {
    const qualifier = clause.tokens[clause.last(node) - 2]!
    if (qualifier.value !== table) {
      throw new SqlError(`no table "${qualifier.value}" in ${clause.textOf(node)}`, qualifier.start)
    }
  }
  const column = columns.findIndex((candidate) => candidate.name === name)
  if (column < 0) {
    const other = columns.find((one) => one.name.toLowerCase() === name.toLowerCase())
    const hint = other ? `; there is "${other.name}", to be written in double quotes` : ''
    throw new SqlError(`no column "${name}"${hint}`, word.start)
  }
  const type = COLUMN_TYPES[columns[column]!.type]
  if (type === 'numeric') return makeNumericColumn(column, place)
  const fixes = type === 'boolean' ? [{ column, value: true }] : []
  return { type, evaluate: (row) => row[column]!, constant: false, column, fixes, place }
}

/** Rows hold numerics as text, and several texts for one number: so it is no column to others. */
function makeNumericColumn(column: number, place: Place): Expression {
  const read = (text: string) => readDecimal(text, place)
  const evaluate: Expression['evaluate'] = (row) => {
    const text = row[column] as string | null
    return text === null ? null : read(text)
  }
  return { type: 'numeric', evaluate, constant: false, column: -1, fixes: [], place }
}

/** An item of a list that the parser did not see in full. */
function compileLiteral(scope: Scope, token: Token): Expression {
  const { text } = scope.clause
  const place: Place = {
    error: (message) =>
      new SqlError(`${message}: ${text.slice(token.start, token.end)}`, token.start),
  }
  if (token.kind === 'parameter') return compileParameter(scope, token, place)
  if (token.kind === 'string') return makeConstant(token.value, 'unknown', place)
  if (token.kind === 'decimal') return makeDecimal(token, place)
  return makeInteger(BigInt(token.value), place)
}

/** Strings are of type unknown, as when a driver sends them without a type. */
function compileParameter({ params }: Scope, token: Token, place: Place): Expression {
  const index = Number(token.value.slice(1)) - 1
  if (index < 0 || index >= params.length) {
    const count = params.length === 1 ? '1 parameter' : `${params.length} parameters`
    throw new SqlError(`no parameter ${token.value}: the statement has ${count}`, token.start)
  }
  const value = params[index]!
  const type = typeOfValue(value)
  if (type === null || type === 'text') return makeConstant(value, 'unknown', place)
  return makeConstant(value, COLUMN_TYPES[type], place)
}

function compileCast(spot: Spot, node: ExprCast): Expression {
  const { place } = spot
  const { to } = node
  const simple = to.kind !== 'array' && !to.schema && !to.doubleQuoted
  const name = simple ? to.name : ''
  const type = findType(name)
  const limits = simple ? (to.config ?? []) : []
  const mayHaveLimits = type === 'numeric' || (type === 'text' && name !== 'text')
  if (type === null || (limits.length > 0 && !mayHaveLimits)) {
    throw place.error('this type is not supported')
  }
  const cast = castTo(compileInside(spot, node.operand), type, place)
  return limits.length === 0 ? cast : limitTo(cast, limits, place)
}

/** A cast to numeric(10, 2), or to varchar(5), which cuts what is longer. */
function limitTo(cast: Expression, limits: readonly number[], place: Place): Expression {
  const [size, scale = 0] = limits
  const isText = cast.type === 'text'
  const least = isText ? 0 : scale
  const isSound = size! >= Math.max(1, least) && size! <= 1000 && scale >= 0
  if (!isSound || limits.length > (isText ? 1 : 2)) throw place.error('this type is not supported')
  return makeResult(cast.type, [cast], place, (row) => {
    const value = cast.evaluate(row)
    if (value === null) return null
    if (value instanceof Decimal) return limitDecimal(value, size!, scale, place)
    return [...(value as string)].slice(0, size!).join('')
  })
}

function compileCall(spot: Spot, node: ExprCall): Expression {
  const { place } = spot
  const word = firstOf(spot, node)
  const isPlain = !(node.distinct || node.orderBy || node.filter || node.over || node.withinGroup)
  if (!isPlain || node.function.schema || word.kind !== 'word') {
    throw place.error('this call of a function is not supported')
  }
  const name = word.value
  let given: readonly Expr[] = node.args
  const [only] = given
  if (name === 'position') {
    if (given.length !== 1 || only?.type !== 'binary' || only.op !== 'IN') {
      throw place.error('position takes a text IN another')
    }
    checkGrouping(spot.scope.clause, only)
    given = [only.left, only.right]
  }
  const args = given.map((arg) => compileInside(spot, arg))
  return makeCall(name, args, place)
}

/** substring(text FROM 2 FOR 3). */
function compileSubstring(spot: Spot, node: ExprSubstring): Expression {
  const from = node.from ?? null
  const parts = [node.value, ...(from ? [from] : []), ...(node.for ? [node.for] : [])]
  const args = parts.map((part) => compileInside(spot, part))
  if (from === null) args.splice(1, 0, makeConstant(1n, 'integer', spot.place))
  return makeCall('substring', args, spot.place)
}

/** CASE WHEN condition …, or CASE value WHEN what it is compared with …. */
function compileCase(spot: Spot, node: ExprCase): Expression {
  const { place } = spot
  const part = (one: Expr) => compileInside(spot, one)
  const value = node.value ? resolve(part(node.value), 'text') : null
  const conditions = node.whens.map(({ when }) =>
    value === null ? part(when) : makeComparison('=', [value, part(when)], place),
  )
  const values = node.whens.map((when) => part(when.value))
  const otherwise = node.else ? part(node.else) : makeConstant(null, 'unknown', place)
  return makeCase(conditions, values, otherwise, place)
}

function compileUnary(spot: Spot, node: ExprUnary): Expression {
  const { place, scope } = spot
  const { clause } = scope
  // The sign belongs to the number: 9223372036854775808 exists only with it.
  const literal = literalOf(clause, node)
  if (literal !== null) return makeInteger(literal, place)
  const operand = compileInside(spot, node.operand)
  if (node.op === '+' || node.op === '-') return makeSign(node.op, operand, place)
  if (node.op === 'NOT') return makeNot(operand, place)
  const [, not, what] = /^IS( NOT)? (NULL|TRUE|FALSE)$/.exec(node.op) ?? []
  if (what === undefined) throw place.error(`operator ${node.op} is not supported`)
  const negated = not !== undefined
  if (what !== 'NULL') return makeIs(operand, what === 'TRUE', negated, place)
  return clause.tokens[clause.last(node)]!.kind === 'unknown'
    ? makeIs(operand, null, negated, place)
    : makeIsNull(operand, negated, place)
}

function compileBinary(spot: Spot, node: ExprBinary): Expression {
  const { place, scope } = spot
  const { op } = node
  if (op === 'AND' || op === 'OR') return compileChain(spot, node, op)
  const left = compileInside(spot, node.left)
  if (op === 'IN' || op === 'NOT IN') {
    const list = listOf(scope.clause, node)
    const items =
      scope.clause.literals(list)?.map((token) => compileLiteral(scope, token)) ??
      list.map((item) => compileInside(spot, item))
    return makeIn(left, items, op === 'NOT IN', place)
  }
  const escaped = op.endsWith('LIKE') ? escapeOf(scope.clause, node.right) : null
  if (escaped !== null) return compileEscape(spot, node, left, escaped)
  const sides = [left, compileInside(spot, node.right)] as const
  const { kind } = scope.clause.operatorAfter(node.left)
  if (kind === 'distinct' || kind === 'not distinct') {
    return makeDistinct(sides, kind === 'not distinct', place)
  }
  if (node.opSchema) throw place.error('an operator with a schema is not supported')
  const comparison = COMPARISONS.find((each) => each === op)
  if (comparison) return makeComparison(comparison, sides, place)
  const arithmetic = ARITHMETICS.find((each) => each === op)
  if (arithmetic) return makeArithmetic(arithmetic, sides, place)
  if (op === '||') return makeConcat(sides, place)
  if (op.endsWith('LIKE')) return makeLike(sides, likeOptions(node), place)
  if (op !== '&&') throw place.error(`operator ${op} is not supported`)
  throw place.error('ESCAPE stands behind the pattern of LIKE, without parentheses around both')
}

function likeOptions({ op }: ExprBinary): { negated: boolean; ignoreCase: boolean } {
  return { negated: op.startsWith('NOT'), ignoreCase: op.endsWith('ILIKE') }
}

/** LIKE … ESCAPE …. */
function compileEscape(spot: Spot, like: ExprBinary, left: Expression, by: ExprBinary): Expression {
  const { clause } = spot.scope
  checkGrouping(clause, by)
  const [pattern, character] = [by.left, by.right].map((part) => compileInside(spot, part))
  const escaped = makeEscape(pattern!, character!, placeOf(clause, by))
  return makeLike([left, escaped], likeOptions(like), spot.place)
}

/** a AND b AND c ... is one operation however long: only its operands are a level deeper. */
function compileChain(spot: Spot, node: ExprBinary, op: 'AND' | 'OR'): Expression {
  const operands: Expr[] = []
  let spine: Expr = node
  while (spine.type === 'binary' && spine.op === op) {
    checkGrouping(spot.scope.clause, spine)
    operands.push(spine.right)
    spine = spine.left
  }
  const parts = [spine, ...operands.reverse()].map((part) => compileInside(spot, part))
  return makeLogic(op, parts, spot.place)
}

/** The items of IN: a list in one pair of parentheses, or a single item in one. */
function listOf(clause: Clause, node: ExprBinary): readonly Expr[] {
  const list = node.right
  const pairs = clause.parentheses(list)
  if (list.type === 'list' ? pairs !== 1 : pairs === 0) {
    throw clause.error('IN needs a list in parentheses', node)
  }
  return list.type === 'list' ? list.expressions : [list]
}

function compileBetween(spot: Spot, node: ExprTernary): Expression {
  const parts = [node.value, node.lo, node.hi] as const
  const [value, low, high] = parts.map((part) => compileInside(spot, part))
  // NOT stands before BETWEEN where there is one.
  const operator = spot.scope.clause.operatorAfter(node.value, node.op === 'NOT BETWEEN' ? 1 : 0)
  const options = { negated: node.op === 'NOT BETWEEN', symmetric: operator.kind === 'symmetric' }
  return makeBetween(value!, low!, high!, options, spot.place)
}
