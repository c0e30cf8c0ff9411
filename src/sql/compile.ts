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
  isArithmetic,
  isComparison,
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

/** A node of a clause: where it stands, and how its operands are compiled. */
interface Site {
  readonly scope: Scope
  readonly clause: Clause
  readonly place: Place
  part(operand: Expr): Expression
}

export function compile(scope: Scope, node: Expr, depth = 0): Expression {
  const { clause } = scope
  const place = placeOf(clause, node)
  if (depth > MAX_NESTING) {
    throw new SqlError(`expressions nest more than ${MAX_NESTING} deep`, clause.offsetOf(node))
  }
  checkGrouping(clause, node)
  switch (node.type) {
    case 'ref':
      return compileColumn(scope, node, place)
    case 'integer':
      return makeInteger(literalOf(clause, node)!, place)
    case 'numeric':
      return makeDecimal(clause.tokens[clause.first(node)]!, place)
    case 'string':
      return makeConstant(clause.tokens[clause.first(node)]!.value, 'unknown', place)
    case 'boolean':
      return makeConstant(node.value, 'boolean', place)
    case 'null':
      return makeConstant(null, 'unknown', place)
    case 'parameter':
      return compileParameter(scope, clause.tokens[clause.first(node)]!, place)
  }
  const part = (operand: Expr) => compile(scope, operand, depth + 1)
  const site: Site = { scope, clause, place, part }
  switch (node.type) {
    case 'cast':
      return compileCast(site, node)
    case 'unary':
      return compileUnary(site, node)
    case 'binary':
      return compileBinary(site, node)
    case 'ternary':
      return compileBetween(site, node)
    case 'call':
      return compileCall(site, node)
    case 'substring':
      return compileSubstring(site, node)
    case 'case':
      return compileCase(site, node)
    default:
      throw place.error(`${WHAT[node.type] ?? 'this expression'} is not supported`)
  }
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

function compileColumn(scope: Scope, node: ExprRef, place: Place): Expression {
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

function compileCast({ place, part }: Site, { to, operand }: ExprCast): Expression {
  const simple = to.kind !== 'array' && !to.schema && !to.doubleQuoted
  const name = simple ? to.name : ''
  const type = findType(name)
  const limits = simple ? (to.config ?? []) : []
  const mayHaveLimits = type === 'numeric' || (type === 'text' && name !== 'text')
  if (type === null || (limits.length > 0 && !mayHaveLimits)) {
    throw place.error('this type is not supported')
  }
  const cast = castTo(part(operand), type, place)
  return limits.length === 0 ? cast : limitTo(cast, limits, place)
}

/** A cast to numeric(10, 2), or to varchar(5), which cuts what is longer. */
function limitTo(cast: Expression, limits: readonly number[], place: Place): Expression {
  const [size, scale = 0] = limits
  const isText = cast.type === 'text'
  const least = isText ? 0 : scale
  const isSound = size! >= Math.max(1, least) && size! <= 1000 && scale >= 0
  if (!isSound || limits.length > (isText ? 1 : 2)) {
    throw place.error('this type is not supported')
  }
  return makeResult(cast.type, [cast], place, (row) => {
    const value = cast.evaluate(row)
    if (value === null) return null
    if (value instanceof Decimal) return limitDecimal(value, size!, scale, place)
    return [...(value as string)].slice(0, size!).join('')
  })
}

function compileCall({ clause, place, part }: Site, node: ExprCall): Expression {
  const word = clause.tokens[clause.first(node)]!
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
    checkGrouping(clause, only)
    given = [only.left, only.right]
  }
  return makeCall(name, given.map(part), place)
}

/** substring(text FROM 2 FOR 3). */
function compileSubstring({ place, part }: Site, node: ExprSubstring): Expression {
  const value = part(node.value)
  const from = node.from ? part(node.from) : makeConstant(1n, 'integer', place)
  return makeCall('substring', [value, from, ...(node.for ? [part(node.for)] : [])], place)
}

/** CASE WHEN condition …, or CASE value WHEN what it is compared with …. */
function compileCase({ place, part }: Site, node: ExprCase): Expression {
  const value = node.value ? resolve(part(node.value), 'text') : null
  const conditions = node.whens.map(({ when }) =>
    value === null ? part(when) : makeComparison('=', value, part(when), place),
  )
  const values = node.whens.map((when) => part(when.value))
  const otherwise = node.else ? part(node.else) : makeConstant(null, 'unknown', place)
  return makeCase(conditions, values, otherwise, place)
}

function compileUnary({ clause, place, part }: Site, node: ExprUnary): Expression {
  // The sign belongs to the number: 9223372036854775808 exists only with it.
  const literal = literalOf(clause, node)
  if (literal !== null) return makeInteger(literal, place)
  const operand = part(node.operand)
  const negated = node.op.startsWith('IS NOT')
  switch (node.op) {
    case '+':
    case '-':
      return makeSign(node.op, operand, place)
    case 'NOT':
      return makeNot(operand, place)
    case 'IS NULL':
    case 'IS NOT NULL':
      return clause.tokens[clause.last(node)]!.kind === 'unknown'
        ? makeIs(operand, null, negated, place)
        : makeIsNull(operand, negated, place)
    case 'IS TRUE':
    case 'IS NOT TRUE':
      return makeIs(operand, true, negated, place)
    case 'IS FALSE':
    case 'IS NOT FALSE':
      return makeIs(operand, false, negated, place)
    default:
      throw place.error(`operator ${node.op} is not supported`)
  }
}

function compileBinary(site: Site, node: ExprBinary): Expression {
  const { clause, place, part } = site
  const { op } = node
  if (op === 'AND' || op === 'OR') return compileChain(site, node, op)
  const left = part(node.left)
  if (op === 'IN' || op === 'NOT IN') {
    const list = listOf(clause, node)
    const literals = clause.literals(list)
    const items = literals?.map((token) => compileLiteral(site.scope, token)) ?? list.map(part)
    return makeIn(left, items, op === 'NOT IN', place)
  }
  const escaped = op.endsWith('LIKE') ? escapeOf(clause, node.right) : null
  if (escaped !== null) return compileEscape(site, node, left, escaped)
  const right = part(node.right)
  const { kind } = clause.operatorAfter(node.left)
  if (kind === 'distinct' || kind === 'not distinct') {
    return makeDistinct(left, right, kind === 'not distinct', place)
  }
  if (node.opSchema) throw place.error('an operator with a schema is not supported')
  if (isComparison(op)) return makeComparison(op, left, right, place)
  if (isArithmetic(op)) return makeArithmetic(op, left, right, place)
  if (op === '||') return makeConcat(left, right, place)
  if (op.endsWith('LIKE')) return makeLike(left, right, likeOptions(node), place)
  throw place.error(
    op === '&&'
      ? 'ESCAPE stands behind the pattern of LIKE, without parentheses around both'
      : `operator ${op} is not supported`,
  )
}

function likeOptions({ op }: ExprBinary): { negated: boolean; ignoreCase: boolean } {
  return { negated: op.startsWith('NOT'), ignoreCase: op.endsWith('ILIKE') }
}

/** LIKE … ESCAPE …. */
function compileEscape(site: Site, like: ExprBinary, left: Expression, by: ExprBinary): Expression {
  const { clause, place, part } = site
  checkGrouping(clause, by)
  const escaped = makeEscape(part(by.left), part(by.right), placeOf(clause, by))
  return makeLike(left, escaped, likeOptions(like), place)
}

/** a AND b AND c ... is one operation however long: only its operands are a level deeper. */
function compileChain({ clause, place, part }: Site, node: ExprBinary, op: 'AND' | 'OR') {
  const operands: Expr[] = []
  let spine: Expr = node
  while (spine.type === 'binary' && spine.op === op) {
    checkGrouping(clause, spine)
    operands.push(spine.right)
    spine = spine.left
  }
  operands.push(spine)
  return makeLogic(op, operands.reverse().map(part), place)
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

function compileBetween({ clause, place, part }: Site, node: ExprTernary): Expression {
  const negated = node.op === 'NOT BETWEEN'
  // NOT stands before BETWEEN where there is one.
  const { kind } = clause.operatorAfter(node.value, negated ? 1 : 0)
  const options = { negated, symmetric: kind === 'symmetric' }
  return makeBetween(part(node.value), part(node.lo), part(node.hi), options, place)
}
