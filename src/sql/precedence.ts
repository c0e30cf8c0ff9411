// PostgreSQL's operator precedence, to hold the parser's grouping against.
// Main function: checkGrouping.

import type { Expr, ExprBinary } from 'pgsql-ast-parser'
import type { Clause } from './clause.ts'

const OR = 1
const AND = 2
const NOT = 3
const IS = 4
const COMPARISON = 5
const RANGE = 6 // BETWEEN, IN, LIKE
const OTHER = 7 // ||, and LIKE where it is written ~~
const SUM = 8
const PRODUCT = 9
const SIGN = 10
const ATOM = 11

const BINARY: Record<string, number> = {
  OR,
  AND,
  '=': COMPARISON,
  '!=': COMPARISON,
  '<': COMPARISON,
  '<=': COMPARISON,
  '>': COMPARISON,
  '>=': COMPARISON,
  IN: RANGE,
  'NOT IN': RANGE,
  LIKE: RANGE,
  'NOT LIKE': RANGE,
  ILIKE: RANGE,
  'NOT ILIKE': RANGE,
  '||': OTHER,
  '+': SUM,
  '-': SUM,
  '*': PRODUCT,
  '/': PRODUCT,
  '%': PRODUCT,
}

const LEFT_ASSOCIATIVE = new Set([OR, AND, OTHER, SUM, PRODUCT])

function precedenceOf(clause: Clause, node: Expr): number {
  if (node.type === 'ternary') return RANGE
  if (node.type === 'unary') {
    if (node.op === 'NOT') return NOT
    return node.op.startsWith('IS') ? IS : SIGN
  }
  if (node.type !== 'binary') return ATOM
  const operator = clause.operatorAfter(node.left)
  if (operator.kind === 'escape') return RANGE
  if (operator.kind === 'distinct' || operator.kind === 'not distinct') return IS
  if (operator.kind === 'symbol' && operator.value.includes('~')) return OTHER
  return BINARY[node.op] ?? OTHER
}

/** The pattern and the escape character of LIKE, if it has one. */
export function escapeOf(clause: Clause, pattern: Expr): ExprBinary | null {
  if (pattern.type !== 'binary' || clause.parentheses(pattern) > 0) return null
  return clause.operatorAfter(pattern.left).kind === 'escape' ? pattern : null
}

/** Throws SqlError if PostgreSQL would give the node's operator other operands. */
export function checkGrouping(clause: Clause, node: Expr): void {
  const own = precedenceOf(clause, node)
  if (own === ATOM) {
    if (node.type === 'cast') check(node.operand, ATOM)
    return
  }
  if (node.type === 'binary') {
    check(node.left, LEFT_ASSOCIATIVE.has(own) ? own : own + 1)
    // ESCAPE belongs to LIKE, and is looked at by itself.
    if (own === RANGE && node.op.endsWith('LIKE') && escapeOf(clause, node.right)) return
    // A list in parentheses, even of one, ends IN.
    check(node.right, own === RANGE && node.op.endsWith('IN') ? ATOM : own + 1)
  } else if (node.type === 'ternary') {
    check(node.value, own + 1)
    check(node.lo, own + 1)
    check(node.hi, own + 1)
  } else if (node.type === 'unary') {
    check(node.operand, own === IS ? own + 1 : own)
  }

  function check(operand: Expr, least: number): void {
    if (precedenceOf(clause, operand) >= least || clause.parentheses(operand) > 0) return
    const problem = 'write parentheses, for PostgreSQL groups this otherwise or not at all'
    throw clause.error(problem, node)
  }
}
