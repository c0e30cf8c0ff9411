// A whole statement as words, by PostgreSQL's lexical rules: enough to find its clauses, and where
// something can be put into its text. Unlike the scanner of clauses (sql/scan.ts) it takes whatever
// PostgreSQL takes. Main functions: wordsOf,
// functionsIn.

import { skipGap } from '../../sql/gap.ts'

export type WordKind = 'word' | 'name' | 'string' | 'number' | 'parameter' | 'symbol'

export interface Word {
  readonly kind: WordKind
  /** An unquoted word in lower case, a quoted name without its quotes, anything else as written. */
  readonly value: string
  readonly start: number
  readonly end: number
  /** How many parentheses it stands in; those themselves stand outside. */
  readonly depth: number
}

const PATTERNS: readonly [kind: WordKind, pattern: RegExp][] = [
  ['string', /[eE]'[^'\\]*(?:(?:''|\\.)[^'\\]*)*'/sy],
  ['string', /(?:[bBxXnN]|[uU]&)?'[^']*(?:''[^']*)*'/y],
  ['string', /(\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$).*?\1/sy],
  ['name', /(?:[uU]&)?"[^"]*(?:""[^"]*)*"/y],
  ['word', /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y],
  ['number', /(?:\d|\.\d)[\w.]*(?:(?<=[eE])[-+]\d+)?/y],
  ['parameter', /\$\d+/y],
  ['symbol', /::|:=|[-+*/<>=~!@#%^&|`?]|[^\s\w]/y],
]

/** Null if a string, a name or a comment has no end. */
export function wordsOf(text: string): Word[] | null {
  const words: Word[] = []
  let depth = 0
  let at = skipGap(text, 0)
  while (at >= 0 && at < text.length) {
    const found = match(text, at)
    if (found === null) return null
    const [kind, end] = found
    const written = text.slice(at, end)
    if (written === ')' || written === ']') depth--
    words.push({ kind, value: readWord(kind, written), start: at, end, depth })
    if (written === '(' || written === '[') depth++
    at = skipGap(text, end)
  }
  return at < 0 ? null : words
}

function match(text: string, at: number): [kind: WordKind, end: number] | null {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    // A quote that only a symbol matches has no end.
    if (kind === 'symbol' && /["']/.test(text[at]!)) return null
    return [kind, pattern.lastIndex]
  }
  return null
}

function readWord(kind: WordKind, written: string): string {
  if (kind === 'word') return written.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return kind === 'name' ? written.slice(1, -1).replaceAll('""', '"') : written
}

const NO_FUNCTIONS = new Set(
  'in values and or not any all some exists as from select where on using over filter group cast'
    .concat(' coalesce nullif greatest least extract overlay position substring trim row array')
    .concat(' returning set conflict partition by limit offset case when then else is like ilike')
    .concat(' between distinct lateral with materialized into interval varchar numeric decimal')
    .concat(' char character bit time timestamp int integer bigint normalize treat only')
    .split(' '),
)

/** Names before a parenthesis, which may be functions. */
export function functionsIn(words: readonly Word[]): string[] {
  const names = new Set<string>()
  words.forEach((word, i) => {
    const isName = word.kind === 'name' || (word.kind === 'word' && !NO_FUNCTIONS.has(word.value))
    if (!isName || words[i + 1]?.value !== '(') return
    const before = words[i - 1]?.value
    if (before !== 'into' && !(before === '.' && words[i - 3]?.value === 'into'))
      names.add(word.value)
  })
  return [...names]
}
