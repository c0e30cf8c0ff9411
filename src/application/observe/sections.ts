// The words of a statement cut at its keywords: WHERE and what belongs to it, ORDER BY and so on.
// All these keywords are reserved in PostgreSQL, so that outside of parentheses an unquoted one is
// what it seems to be; only FROM also stands in IS DISTINCT FROM. Main class: Cursor.

import type { Word } from './words.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

export interface TableRef extends Span {
  /** As it is written: names in quotes as they are, others in lower case. */
  readonly written: string
  /** Without quotes: the last part of the name. */
  readonly name: string
  /** How columns are qualified, as it stands in the text. */
  readonly alias: string
  readonly aliasName: string
}

export interface OrderColumn {
  readonly column: string
  readonly descending: boolean
}

/** Where a keyword stands outside of parentheses; -1 if it does not. */
export function findTop(words: readonly Word[], keyword: string, start = 0): number {
  for (let i = start; i < words.length; i++) if (isTop(words, i, keyword)) return i
  return -1
}

function isTop(words: readonly Word[], i: number, keyword: string): boolean {
  const { kind, value, depth } = words[i]!
  if (kind !== 'word' || depth !== 0 || value !== keyword) return false
  const isDistinctFrom =
    keyword === 'from' &&
    words[i - 1]?.value === 'distinct' &&
    ['is', 'not'].includes(words[i - 2]?.value ?? '')
  // A column may have the name of a keyword: t.order.
  return !isDistinctFrom && words[i - 1]?.value !== '.'
}

/** Goes through the words from left to right. */
export class Cursor {
  constructor(
    private readonly text: string,
    private readonly words: readonly Word[],
    private at: number,
  ) {}

  get word(): Word | undefined {
    return this.words[this.at]
  }

  /** Goes over these words if they come next. */
  skip(...values: string[]): boolean {
    const isNext = values.every((value, i) => this.words[this.at + i]?.value === value)
    if (isNext) this.at += values.length
    return isNext
  }

  /** Goes over a keyword; the words behind it, up to one that ends them. */
  until(isEnd: (words: readonly Word[], i: number) => boolean): Word[] {
    const start = ++this.at
    while (this.at < this.words.length && !isEnd(this.words, this.at)) this.at++
    return this.words.slice(start, this.at)
  }

  private isName(): boolean {
    return this.word?.kind === 'word' || this.word?.kind === 'name'
  }

  /** [ONLY] schema.table [*] [[AS] alias]; null if it is something else. */
  tableRef(keywords: readonly string[], bareAlias = true): TableRef | null {
    if (this.word?.value === 'only' || !this.isName()) return null
    const { start } = this.word!
    let { end, value: name } = this.word!
    const first = this.at++
    while (this.word?.value === '.' && this.words[this.at + 1]) {
      const part = this.words[this.at + 1]!
      if (part.kind !== 'word' && part.kind !== 'name') return null
      ;({ end, value: name } = part)
      this.at += 2
    }
    if (this.at - first > 3 || ['lateral', 'rows'].includes(name)) return null
    if (this.word?.value === '*') this.at++
    const last = this.words[this.at - 1]?.value === '*' ? this.at - 2 : this.at - 1
    let alias = this.words[last]!
    const hasAs = this.word?.kind === 'word' && this.word.value === 'as'
    if (hasAs) this.at++
    const isKeyword = this.word?.kind === 'word' && keywords.includes(this.word.value)
    if (hasAs || (bareAlias && this.isName() && !isKeyword)) {
      if (!this.isName()) return null
      alias = this.word!
      this.at++
    }
    if (bareAlias && this.word?.value === '(') return null
    const qualifier = this.text.slice(alias.start, alias.end)
    const parts = this.words.filter((word) => word.start >= start && word.end <= end)
    const written = parts
      .map(({ kind, value }) => (kind === 'name' ? `"${value.replaceAll('"', '""')}"` : value))
      .join('')
    return { start, end, written, name, alias: qualifier, aliasName: alias.value }
  }

  /** Keyword -> the words behind it, up to the next; null if a keyword comes twice. */
  sections(keywords: readonly string[]): Map<string, Word[]> | null {
    const sections = new Map<string, Word[]>()
    let current: Word[] | null = null
    for (; this.at < this.words.length; this.at++) {
      const keyword = keywords.find((word) => isTop(this.words, this.at, word))
      if (keyword !== undefined) {
        if (sections.has(keyword) && keyword !== 'for') return null
        current = sections.get(keyword) ?? []
        sections.set(keyword, current)
      } else if (SETS.some((word) => isTop(this.words, this.at, word)) || current === null) {
        return null
      } else current.push(this.words[this.at]!)
    }
    return sections
  }
}

/** LIMIT 5, LIMIT $1, FETCH FIRST 5 ROWS ONLY, OFFSET 5 ROWS. */
export function numberIn(words: readonly Word[]): string {
  const value = words.find(({ kind }) => kind === 'number' || kind === 'parameter')
  const isAmount = words[0]?.value === 'first' || words[0]?.value === 'next'
  const isOfRows = words.length === 2 && /^rows?$/.test(words[1]!.value)
  const simple = words.length === 1 || isAmount || isOfRows
  return simple && value !== undefined ? value.value : ''
}

const SETS = ['union', 'intersect', 'except']

/** Cut at the commas outside of parentheses. */
function itemsOf(words: readonly Word[]): Word[][] {
  const items: Word[][] = [[]]
  for (const word of words) {
    if (word.value === ',' && word.kind === 'symbol' && word.depth === 0) items.push([])
    else items.at(-1)!.push(word)
  }
  return items
}

/** The columns that `a = 1, (b, c) = (2, 3)` sets. */
export function setColumns(words: readonly Word[]): string[] {
  const columns: string[] = []
  for (const item of itemsOf(words)) {
    const end = item.findIndex(({ value }) => value === '=')
    for (const { kind, value } of item.slice(0, end))
      if (kind === 'word' || kind === 'name') columns.push(value)
  }
  return columns
}

/**
 * `by a, t.b DESC` as columns; null if something else is in it.
 * @param selected the list of what is selected: a name without its table is first looked for there
 */
export function orderOf(
  words: readonly Word[],
  selected: readonly Word[],
  alias: string,
): OrderColumn[] | null {
  const columns: OrderColumn[] = []
  for (const item of itemsOf(words.slice(1))) {
    const direction = item.at(-1)?.value
    const hasDirection = direction === 'asc' || direction === 'desc'
    if (hasDirection) item.pop()
    const isQualified = item.length === 3 && item[0]!.value === alias && item[1]!.value === '.'
    if (isQualified) item.splice(0, 2)
    const [only] = item
    if (item.length !== 1 || (only!.kind !== 'word' && only!.kind !== 'name')) return null
    const isOther = itemsOf(selected).some((each) => mayBeCalled(each, only!.value))
    if (isOther && !isQualified) return null
    columns.push({ column: only!.value, descending: direction === 'desc' })
  }
  return columns
}

/** Whether something selected that is not the column itself may have its name. */
function mayBeCalled(item: readonly Word[], name: string): boolean {
  const hasAs = item.at(-2)?.value === 'as'
  const selected = hasAs ? item.slice(0, -2) : item
  const isColumn = selected.length === 1 || (selected.length === 3 && selected[1]!.value === '.')
  if (isColumn && selected.at(-1)!.value === name) return false
  // Without AS a cast, a call or parentheses have the name of something in them.
  const named = hasAs ? item.slice(-1) : isColumn ? [] : item
  return named.some(({ kind, value }) => (kind === 'word' || kind === 'name') && value === name)
}
