// A clause as tokens, by PostgreSQL's lexical rules. The parser gets the tokens with a space between
// any two, not the clause: its own lexer takes `a-1` for two operands and `-1::text` for a cast of
// -1, rounds integers to doubles, and knows no identifiers beyond ASCII. So values are read here,
// and a place in what the parser saw is a token, which knows its place in the clause.
//
// Four forms that the parser does not know reach it as one that it knows, marked by their kind: IS
// [NOT] DISTINCT FROM as =, BETWEEN SYMMETRIC as BETWEEN, IS UNKNOWN as IS NULL, ESCAPE as &&,
// which binds as it does.
// Main function: scan.

import { SqlError } from './error.ts'
import { skipGap } from './gap.ts'

export type TokenKind =
  | 'word' // unquoted, folded to lower case: a keyword or a name
  | 'name' // quoted, or beyond what the parser takes for a word
  | 'string'
  | 'integer'
  | 'decimal' // a number that is written with a point or an exponent
  | 'parameter'
  | 'symbol' // operators, brackets, commas
  | 'distinct'
  | 'not distinct'
  | 'symmetric'
  | 'unknown'
  | 'escape'

export interface Token {
  readonly kind: TokenKind
  /** A word or name as folded, a string as decoded, anything else as written. */
  readonly value: string
  /** What the parser sees. */
  readonly shown: string
  readonly start: number
  readonly end: number
}

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y
const PLAIN_WORD = /^[a-z_]\w*$/
const NUMBER = /(?:\d|\.\d)(?:[eE][-+](?=\d)|[\w.])*/y
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/
const QUOTED = /"([^"]*(?:""[^"]*)*)"/y
const STRING = /'([^']*(?:''[^']*)*)'/y
const ESCAPE_STRING = /[eE]'([^'\\]*(?:(?:''|\\.)[^'\\]*)*)'/sy
const DOLLAR_STRING = /(\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)(.*?)\1/sy
const PARAMETER = /\$\d+/y
const OPERATOR = /[-+*/<>=~!@#%^&|`?]+/y
const OTHER_STRING = /(?:[bBxXnN]|[uU]&)'|[uU]&"/y

const OPERATORS = new Set(
  ['=', '<>', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||'].concat(
    ['~~', '!~~', '~~*', '!~~*'], // what LIKE, NOT LIKE, ILIKE, NOT ILIKE stand for
  ),
)

/** Throws SqlError at what is no token, or one that no supported clause contains. */
export function scan(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = nextToken(text, 0); at < text.length; ) {
    const token = scanToken(text, at)
    tokens.push(token)
    at = nextToken(text, token.end)
  }
  return mergeForms(text, tokens)
}

function nextToken(text: string, start: number): number {
  const at = skipGap(text, start)
  if (at < 0) throw new SqlError('unterminated comment', ~at)
  return at
}

function scanToken(text: string, start: number): Token {
  const match = (pattern: RegExp) => {
    pattern.lastIndex = start
    return pattern.exec(text)
  }
  const make = (kind: TokenKind, length: number, value: string, shown: string): Token => {
    return { kind, value, shown, start, end: start + length }
  }
  let found = match(OTHER_STRING)
  if (found) throw new SqlError(`${found[0]}... is not supported`, start)
  found = match(ESCAPE_STRING)
  if (found) return make('string', found[0].length, decodeEscapes(found[1]!, start), `'s'`)
  found = match(STRING)
  if (found) return make('string', found[0].length, found[1]!.replaceAll("''", "'"), `'s'`)
  found = match(DOLLAR_STRING)
  if (found) return make('string', found[0].length, found[2]!, `'s'`)
  found = match(QUOTED)
  if (found) {
    if (found[1] === '') throw new SqlError('an identifier in quotes is empty', start)
    return make('name', found[0].length, found[1]!.replaceAll('""', '"'), '"n"')
  }
  found = match(WORD)
  if (found) {
    // As PostgreSQL in a multi-byte encoding: only ASCII letters fold.
    const value = found[0].replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    const plain = PLAIN_WORD.test(value)
    return make(plain ? 'word' : 'name', found[0].length, value, plain ? value : '"n"')
  }
  found = match(NUMBER)
  if (found) {
    const [digits] = found
    if (/^\d+$/.test(digits)) return make('integer', digits.length, digits, digits)
    if (DECIMAL.test(digits)) return make('decimal', digits.length, digits, '1.5')
    throw new SqlError(`the number ${digits} is not supported`, start)
  }
  found = match(PARAMETER)
  if (found) return make('parameter', found[0].length, found[0], found[0])
  const symbol = scanSymbol(text, start)
  return make('symbol', symbol.length, symbol, symbol)
}

function scanSymbol(text: string, start: number): string {
  OPERATOR.lastIndex = start
  let run = OPERATOR.exec(text)?.[0]
  if (run === undefined) {
    if (text.startsWith('::', start)) return '::'
    if ('().,[]'.includes(text[start]!)) return text[start]!
    const what = /["'$]/.test(text[start]!) ? 'unterminated' : 'unexpected'
    throw new SqlError(`${what} ${text[start]}`, start)
  }
  // A comment ends an operator, and + or - cannot end one that has none of the odder characters.
  const comment = run.search(/--|\/\*/)
  if (comment > 0) run = run.slice(0, comment)
  if (!/[~!@#%^&|`?]/.test(run)) run = run.replace(/(?<=.)[-+]+$/, '')
  if (OPERATORS.has(run)) return run
  const hint = OPERATORS.has(run.replace(/[-+]+$/, '')) ? ': put a space before the sign' : ''
  throw new SqlError(`operator ${run} is not supported${hint}`, start)
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function decodeEscapes(body: string, start: number): string {
  const sequence = /''|\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|(.))/gs
  return body.replace(sequence, (all, octal, hex, unicode, other) => {
    if (all === "''") return "'"
    if (other === 'u' || other === 'U') {
      throw new SqlError('this escape in a string is not supported', start)
    }
    if (other !== undefined) return ESCAPES[other] ?? other
    const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? unicode, 16)
    // Larger octal and hexadecimal escapes are bytes of UTF-8, not characters.
    if (code === 0 || (!unicode && code > 127)) {
      throw new SqlError(`the escape ${all} in a string is not supported`, start)
    }
    return String.fromCharCode(code)
  })
}

const BEFORE_OPERAND = new Set(
  ['and', 'or', 'not', 'like', 'ilike', 'in', 'between', 'symmetric', 'asymmetric'].concat(
    ['case', 'when', 'then', 'else'], // of CASE
    ['from', 'for'], // of substring
  ),
)

/** Whether an operand can end with a token: what follows it is no name then. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false
  if (token.kind === 'word') return !BEFORE_OPERAND.has(token.value)
  return token.kind !== 'symbol' || token.value === ')'
}

/** Joins the words of the forms that the parser does not know into one token each. */
function mergeForms(text: string, tokens: readonly Token[]): Token[] {
  const merged: Token[] = []
  const isWord = (index: number, word: string) =>
    tokens[index]?.kind === 'word' && tokens[index].value === word
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    const not = isWord(i + 1, 'not') ? 1 : 0
    const join = (count: number, kind: TokenKind, shown: string) => {
      const { end } = tokens[i + count - 1]!
      merged.push({ kind, value: text.slice(token.start, end), shown, start: token.start, end })
      i += count - 1
    }
    if (isWord(i, 'is') && isWord(i + 1 + not, 'distinct') && isWord(i + 2 + not, 'from')) {
      join(3 + not, not ? 'not distinct' : 'distinct', '=')
    } else if (isWord(i, 'between') && isWord(i + 1, 'symmetric')) {
      join(2, 'symmetric', 'between')
    } else if (isWord(i, 'between') && isWord(i + 1, 'asymmetric')) {
      join(2, 'word', 'between')
    } else if (isWord(i, 'unknown') && (isWord(i - 1, 'is') || isWord(i - 2, 'is'))) {
      merged.push({ ...token, kind: 'unknown', shown: 'null' })
    } else if (isWord(i, 'escape') && endsOperand(tokens[i - 1])) {
      merged.push({ ...token, kind: 'escape', shown: '&&' })
    } else {
      merged.push(token)
    }
  }
  return merged
}
