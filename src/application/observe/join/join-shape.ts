// A SELECT that joins tables, from its words alone: its tables in order, and the conditions that
// must all hold, one by one. Main function: joinOf.

import { Cursor, findTop, numberIn, type Span, type TableRef } from '../sections.ts'
import type { Word } from '../words.ts'

/** One of the conditions that AND holds together. */
export interface Condition extends Span {
  readonly words: readonly Word[]
}

export interface JoinedTable {
  readonly ref: TableRef
  /** Behind LEFT JOIN: rows before it stay where it has none. */
  readonly isOptional: boolean
  readonly on: readonly Condition[]
}

export interface JoinShape {
  readonly tables: readonly JoinedTable[]
  readonly where: readonly Condition[]
  readonly end: number
  /** As in OnTable. */
  readonly limit: string | null
  readonly offset: string | null
  readonly locks: boolean
  /** Rows are made into groups, so that it is not known how many were joined. */
  readonly isGrouped: boolean
}

const SECTIONS = 'where group having window order limit offset fetch for'.split(' ')
const JOINS = 'join inner left right full cross natural on using'.split(' ')

/** Null if it is no SELECT of tables and nothing else, each by INNER, CROSS or LEFT JOIN. */
export function joinOf(text: string, words: readonly Word[]): JoinShape | null {
  const from = findTop(words, 'from')
  const isInto = words.slice(0, from).some(({ value, depth }) => value === 'into' && depth === 0)
  if (words[0]?.value !== 'select' || from < 0 || isInto) return null
  const cursor = new Cursor(text, words, from + 1)
  const tables: JoinedTable[] = []
  for (let kind: 'inner' | 'left' | null = 'inner'; kind !== null; kind = nextJoin(cursor)) {
    const ref = cursor.tableRef([...SECTIONS, ...JOINS])
    if (ref === null) return null
    const on = cursor.word?.value === 'on' ? conditionsOf(cursor.until(isBehindOn)) : []
    tables.push({ ref, isOptional: kind === 'left', on })
  }
  if (tables.length < 2 || hasTwins(tables)) return null
  if (cursor.word !== undefined && !SECTIONS.includes(cursor.word.value)) return null
  const sections = cursor.sections(SECTIONS)
  if (sections === null) return null
  const limit = sections.get('limit') ?? sections.get('fetch')
  const offset = sections.get('offset')
  return {
    tables,
    where: conditionsOf(sections.get('where') ?? []),
    end: words.at(-1)!.end,
    limit: limit === undefined ? null : numberIn(limit),
    offset: offset === undefined ? null : numberIn(offset),
    locks: sections.has('for'),
    isGrouped: words[1]?.value === 'distinct' || sections.has('group') || sections.has('having'),
  }
}

function hasTwins(tables: readonly JoinedTable[]): boolean {
  return new Set(tables.map(({ ref }) => ref.aliasName)).size < tables.length
}

/** Goes to behind the next JOIN; null if there is none, or one of another kind. */
function nextJoin(cursor: Cursor): 'inner' | 'left' | null {
  const { word } = cursor
  if (word?.kind === 'symbol') return cursor.skip(',') ? 'inner' : null
  if (word?.kind !== 'word') return null
  if (cursor.skip('join') || cursor.skip('inner', 'join') || cursor.skip('cross', 'join'))
    return 'inner'
  return cursor.skip('left', 'join') || cursor.skip('left', 'outer', 'join') ? 'left' : null
}

/** What ends the condition behind ON. `left` may be a function. */
function isBehindOn(words: readonly Word[], i: number): boolean {
  const { kind, value, depth } = words[i]!
  if (depth > 0 || words[i - 1]?.value === '.') return false
  if (kind === 'symbol') return value === ','
  const isFunction = (value === 'left' || value === 'right') && words[i + 1]?.value === '('
  return kind === 'word' && !isFunction && [...SECTIONS, ...JOINS].includes(value)
}

/** The parts of a condition that AND holds together, out of their parentheses. */
function conditionsOf(words: readonly Word[]): Condition[] {
  if (words.length === 0) return []
  const depth = words[0]!.depth
  const isClosed = words[0]!.value === '(' && words.at(-1)!.value === ')'
  if (isClosed && words.findIndex((word, i) => i > 0 && word.depth === depth) === words.length - 1)
    return conditionsOf(words.slice(1, -1))
  const parts = splitAt(words, depth)
  if (parts.length > 1) return parts.flatMap(conditionsOf)
  return [{ words, start: words[0]!.start, end: words.at(-1)!.end }]
}

function splitAt(words: readonly Word[], depth: number): Word[][] {
  const isHere = ({ kind, depth: at }: Word) => kind === 'word' && at === depth
  const parts: Word[][] = [[]]
  if (words.some((word) => isHere(word) && (word.value === 'or' || word.value === 'case')))
    return [[...words]]
  let isBetween = false
  for (const word of words) {
    if (isHere(word) && word.value === 'between') isBetween = true
    if (isHere(word) && word.value === 'and') {
      if (!isBetween) {
        parts.push([])
        continue
      }
      isBetween = false
    }
    parts.at(-1)!.push(word)
  }
  return parts
}
