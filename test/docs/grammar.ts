// A grammar as the documentation writes it (name = "literal" other [ may be ] { any number } a | b,
// with a comment behind two spaces), read so that texts can be made from it and compared with it.
// What the page says in words only is given as a Terminal. Main class: Grammar.

import type { Random } from '../../src/base/random.ts'

/** What a rule in words means: how to make one, and what one looks like. */
export interface Terminal {
  make(random: Random): string
  readonly pattern: RegExp
}

type Node =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[]; readonly id: number } // of the first
  | { readonly kind: 'maybe' | 'many'; readonly part: Node }

/** Rules between whose parts no white space stands; before some of them neither. */
export type Tight = Readonly<Record<string, 'inside' | 'before and inside'>>

/** Between two of these stands something, or they would be one. */
const WORD_ENDS = /[\w.$@+-]$/
const WORD_BEGINS = /^[\w.$@-]/

export class Grammar {
  private readonly rules = new Map<string, Node>()
  /** Names that rules use. */
  readonly used = new Set<string>()
  private choices = 0
  private tokens: string[] = []
  private at = 0

  constructor(
    block: string,
    private readonly terminals: Readonly<Record<string, Terminal>>,
    private readonly tight: Tight,
  ) {
    for (const [name, body] of readRules(block)) {
      if (name in terminals) continue
      // White space may stand before a bracket, and around an equals sign.
      const apart = body.replaceAll(/"(\w+)([(=])"/g, '"$1" "$2"')
      this.tokens = apart.match(/"[^"]*"|[\w-]+|[[\]{}()|]/g) ?? []
      this.at = 0
      this.rules.set(name, this.parseAny())
      if (this.at < this.tokens.length) throw new Error(`rule ${name}: ${this.tokens[this.at]}`)
    }
  }

  /** Names that neither a rule nor a terminal explains, and terminals that no rule uses. */
  findGaps(): string[] {
    const known = new Set([...this.rules.keys(), ...Object.keys(this.terminals)])
    return [
      ...[...this.used].filter((name) => !known.has(name)),
      ...Object.keys(this.terminals).filter((name) => !this.used.has(name)),
    ]
  }

  private parseAny(): Node {
    const parts = [this.parseAll()]
    while (this.tokens[this.at] === '|') {
      this.at++
      parts.push(this.parseAll())
    }
    return parts.length === 1 ? parts[0]! : { kind: 'any', parts, id: this.number(parts.length) }
  }

  private number(count: number): number {
    this.choices += count
    return this.choices - count
  }

  private parseAll(): Node {
    const parts: Node[] = []
    for (;;) {
      const token = this.tokens[this.at]
      if (token === undefined || /^[|)\]}]$/.test(token)) return { kind: 'all', parts }
      this.at++
      if (token.startsWith('"')) parts.push({ kind: 'literal', text: token.slice(1, -1) })
      else if (/^[[{(]$/.test(token)) {
        const part = this.parseAny()
        this.at++ // its closing bracket
        parts.push(token === '(' ? part : { kind: token === '[' ? 'maybe' : 'many', part })
      } else {
        this.used.add(token)
        parts.push({ kind: 'rule', name: token })
      }
    }
  }

  /** How many alternatives there are. */
  get alternatives(): number {
    return this.choices
  }

  /** A text that the rule allows, and the alternatives that were taken. */
  derive(rule: string, random: Random): { text: string; taken: Set<number> } {
    const taken = new Set<number>()
    let text = ''
    const pending: { node: Node; isTight: boolean }[] = [
      { node: { kind: 'rule', name: rule }, isTight: false },
    ]
    const add = (word: string, isTight: boolean) => {
      const must = WORD_ENDS.test(text) && WORD_BEGINS.test(word)
      text += (!isTight && (must || random.below(3) === 0) ? ' ' : '') + word
    }
    while (pending.length > 0) {
      const { node, isTight } = pending.pop()!
      if (node.kind === 'literal') add(node.text, isTight)
      else if (node.kind === 'rule') {
        const terminal = this.terminals[node.name]
        if (terminal) add(terminal.make(random), isTight)
        else {
          const how = this.tight[node.name]
          if (how === 'inside') add('', false) // where there may be some, there is now and then
          pending.push({ node: this.rules.get(node.name)!, isTight: isTight || how !== undefined })
        }
      } else if (node.kind === 'all') {
        for (const part of node.parts.toReversed()) pending.push({ node: part, isTight })
      } else if (node.kind === 'any') {
        const choice = random.below(node.parts.length)
        taken.add(node.id + choice)
        pending.push({ node: node.parts[choice]!, isTight })
      } else {
        const count = random.below(node.kind === 'maybe' ? 2 : 3)
        for (let i = 0; i < count; i++) pending.push({ node: node.part, isTight })
      }
    }
    return { text, taken }
  }

  /** Whether the rule allows the whole text, white space at its end included. */
  allows(rule: string, text: string): boolean {
    const ends = this.endsOf({ kind: 'rule', name: rule }, text, new Set([0]), false)
    return [...ends].some((end) => skipSpaces(text, end) === text.length)
  }

  /** Where what a node stands for can end, for all places where it can begin. */
  private endsOf(
    node: Node,
    text: string,
    starts: ReadonlySet<number>,
    isTight: boolean,
  ): Set<number> {
    if (node.kind === 'literal') return literalEnds(node.text, text, starts, isTight)
    if (node.kind === 'rule') {
      const terminal = this.terminals[node.name]
      if (terminal) return patternEnds(terminal.pattern, text, starts, isTight)
      const how = this.tight[node.name]
      const from =
        how === 'inside' ? new Set([...starts].map((at) => skipSpaces(text, at))) : starts
      return this.endsOf(this.rules.get(node.name)!, text, from, isTight || how !== undefined)
    }
    if (node.kind === 'all') {
      let ends = new Set(starts)
      for (const part of node.parts)
        if (ends.size > 0) ends = this.endsOf(part, text, ends, isTight)
      return ends
    }
    if (node.kind === 'any') {
      return new Set(node.parts.flatMap((part) => [...this.endsOf(part, text, starts, isTight)]))
    }
    const ends = new Set(starts)
    let fresh = new Set(starts)
    while (fresh.size > 0) {
      const further = this.endsOf(node.part, text, fresh, isTight)
      fresh = new Set([...further].filter((end) => !ends.has(end)))
      for (const end of fresh) ends.add(end)
      if (node.kind === 'maybe') break
    }
    return ends
  }
}

/** Name -> what stands behind the equals sign, comments left out, further lines joined. */
function readRules(block: string): Map<string, string> {
  const rules = new Map<string, string>()
  let name = ''
  for (const line of block.trimEnd().split('\n')) {
    const begin = /^([a-z]+) +=\s+/.exec(line)
    if (begin) name = begin[1]!
    const rest = begin ? line.slice(begin[0].length) : line.trim()
    const body = rest.split(/ {2,}/)[0]!
    rules.set(name, `${rules.get(name) ?? ''} ${body}`)
  }
  return rules
}

const skipSpaces = (text: string, from: number): number => {
  let at = from
  while (text[at] === ' ') at++
  return at
}

function literalEnds(
  literal: string,
  text: string,
  starts: ReadonlySet<number>,
  isTight: boolean,
): Set<number> {
  const ends = new Set<number>()
  for (const start of starts) {
    const from = isTight ? start : skipSpaces(text, start)
    const end = from + literal.length
    if (!text.startsWith(literal, from)) continue
    const runsOn = !isTight && WORD_ENDS.test(literal) && WORD_BEGINS.test(text.slice(end))
    if (!runsOn) ends.add(end)
  }
  return ends
}

function patternEnds(
  pattern: RegExp,
  text: string,
  starts: ReadonlySet<number>,
  isTight: boolean,
): Set<number> {
  const ends = new Set<number>()
  for (const start of starts) {
    const found = new RegExp(pattern.source, 'y')
    found.lastIndex = isTight ? start : skipSpaces(text, start)
    if (found.test(text)) ends.add(found.lastIndex)
  }
  return ends
}
