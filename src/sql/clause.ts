// A clause parsed: the parser's tree, and where each node of it stands in the text.
//
// The parser's precedence is not PostgreSQL's everywhere: it reads `b = a IS NULL` as
// `b = (a IS NULL)`, `a || b + c` as `(a || b) + c`, and chains comparisons. So every operand that
// stands without parentheses is held against PostgreSQL's table, and where the two differ the clause
// is refused, with the request to write parentheses. Main function: parseClause.

import { type Expr, parse } from 'pgsql-ast-parser'
import { SqlError } from './error.ts'
import { scan, type Token } from './scan.ts'

/** Deeper clauses are refused: the tree is walked by recursion. */
export const MAX_NESTING = 250

/** Longer clauses are refused: the parser takes a tenth of a millisecond and 10 kB for each word. */
const MAX_SHOWN = 8000

const MAX_CACHED = 1000

export class Clause {
  readonly tokens: readonly Token[]
  readonly root: Expr
  private readonly tokenAt = new Map<number, number>() // start in what the parser saw -> token
  private readonly tokenTo = new Map<number, number>() // end in what the parser saw -> token
  private readonly literalsTo = new Map<number, number>() // first token of a list -> its last one

  constructor(readonly text: string) {
    this.tokens = scan(text)
    if (this.tokens.length === 0) throw new SqlError('the clause is empty', 0)
    this.checkParentheses()
    this.root = this.parseShown(this.show())
  }

  /** What the parser gets: the tokens; for a list of literals, two that are always the same. */
  private show(): string {
    const parts: string[] = []
    let length = 0
    let lastOfList = -1
    for (let index = 0; index < this.tokens.length; index++) {
      const { start } = this.tokens[index]!
      const last = this.endOfLiterals(index)
      const isLong = last >= index + 4
      if (isLong) lastOfList = last
      const shown = isLong || index === lastOfList ? '0' : this.tokens[index]!.shown
      if (parts.length === MAX_SHOWN) {
        throw new SqlError(`a clause of more than ${MAX_SHOWN} words is not supported`, start)
      }
      this.tokenAt.set(length, index)
      this.tokenTo.set(length + shown.length, index)
      parts.push(shown)
      length += shown.length + 1
      if (!isLong) continue
      this.literalsTo.set(index, last)
      index = last - 2 // the comma and the last literal come next
    }
    return parts.join(' ')
  }

  /** Where the list of literals that begins at a token, right after IN (, ends; -1 if none does. */
  private endOfLiterals(index: number): number {
    const before = this.tokens[index - 2]
    if (!this.isSymbol(index - 1, '(') || before?.kind !== 'word' || before.value !== 'in')
      return -1
    let last = index
    while (this.isLiteral(last) && this.isSymbol(last + 1, ',')) last += 2
    return this.isLiteral(last) && this.isSymbol(last + 1, ')') ? last : -1
  }

  private isLiteral(index: number): boolean {
    const kind = this.tokens[index]?.kind
    return kind === 'integer' || kind === 'decimal' || kind === 'string' || kind === 'parameter'
  }

  /** The literals of a list of which the parser saw the first and the last; null for others. */
  literals(list: readonly Expr[]): Token[] | null {
    const first = list.length === 2 ? this.first(list[0]!) : -1
    const last = this.literalsTo.get(first)
    if (last === undefined) return null
    return this.tokens.slice(first, last + 1).filter((_, i) => i % 2 === 0)
  }

  /** First token of a node, without the parentheses around it. */
  first(node: Expr): number {
    return this.tokenAt.get(node._location!.start)!
  }

  /** Last token of a node, without parentheses that close at its end. */
  last(node: Expr): number {
    return this.tokenTo.get(node._location!.end)!
  }

  /** A token of the operator that follows an operand; from 0. */
  operatorAfter(left: Expr, index = 0): Token {
    return this.tokens[this.extent(left).last + 1 + index]!
  }

  /** What a node says, with its own parentheses only where they are within it. */
  textOf(node: Expr): string {
    const { first, last } = this.balanced(node)
    return this.text.slice(this.tokens[first]!.start, this.tokens[last]!.end)
  }

  offsetOf(node: Expr): number {
    return this.tokens[this.balanced(node).first]!.start
  }

  error(message: string, node: Expr): SqlError {
    return new SqlError(`${message}: ${this.textOf(node)}`, this.offsetOf(node))
  }

  /** How many pairs of parentheses stand around a node. */
  parentheses(node: Expr): number {
    return this.balanced(node).first - this.extent(node).first
  }

  private isSymbol(index: number, symbol: string): boolean {
    const token = this.tokens[index]
    return token !== undefined && token.kind === 'symbol' && token.value === symbol
  }

  /** A node's tokens, with the parentheses that its first and last operands stand in. */
  private balanced(node: Expr): { first: number; last: number } {
    let first = this.first(node)
    let last = this.last(node)
    let depth = 0
    let lowest = 0
    for (let index = first; index <= last; index++) {
      if (this.isSymbol(index, '(')) depth++
      else if (this.isSymbol(index, ')')) lowest = Math.min(lowest, --depth)
    }
    first += lowest
    last += depth - lowest
    return { first, last }
  }

  /** As balanced, with the parentheses around the node itself. */
  private extent(node: Expr): { first: number; last: number } {
    let { first, last } = this.balanced(node)
    while (this.isSymbol(first - 1, '(') && this.isSymbol(last + 1, ')')) {
      first--
      last++
    }
    return { first, last }
  }

  private checkParentheses(): void {
    let depth = 0
    for (const [index, token] of this.tokens.entries()) {
      if (this.isSymbol(index, '(')) depth++
      else if (this.isSymbol(index, ')')) depth--
      if (depth > MAX_NESTING) {
        throw new SqlError(`parentheses nest more than ${MAX_NESTING} deep`, token.start)
      }
      if (depth < 0) throw new SqlError('syntax error at )', token.start)
    }
    if (depth > 0) throw new SqlError('a parenthesis is not closed', this.text.length)
  }

  private parseShown(shown: string): Expr {
    try {
      return keep(trees, shown, () => {
        const options = { entry: 'expr', locationTracking: true }
        return (parse(shown, options) as unknown as [Expr])[0]
      })
    } catch (error) {
      const at = (error as { token?: { offset: number } }).token?.offset
      const token = at === undefined ? undefined : this.tokens[this.tokenAt.get(at) ?? -1]
      if (!token) throw new SqlError(`not a complete expression: ${this.text}`, this.text.length)
      const near = this.text.slice(token.start, token.end)
      const message = `syntax error, or not supported without parentheses, at ${near}`
      throw new SqlError(message, token.start)
    }
  }
}

const trees = new Map<string, Expr>() // lists of any length are shown alike
const clauses = new Map<string, Clause>()

/** Statements repeat their clauses with other parameters, and parsing takes a millisecond. */
export function parseClause(text: string): Clause {
  return keep(clauses, text, () => new Clause(text))
}

function keep<Value>(kept: Map<string, Value>, text: string, make: () => Value): Value {
  let value = kept.get(text)
  if (value !== undefined) return value
  value = make()
  if (kept.size >= MAX_CACHED) kept.clear()
  kept.set(text, value)
  return value
}
