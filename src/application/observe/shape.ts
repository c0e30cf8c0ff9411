// What a statement of the application is, from its words alone: its kind, the one table it speaks
// of if it is as simple as that, and where its clauses stand, so that something can be put into its
// text. What is not understood is said to be so, with what it may do. Main function: shapeOf.

import type { StepKind } from './hooks.ts'
import { type JoinShape, joinOf } from './join/join-shape.ts'
import { type Effect, type Moves, movesNames } from './path.ts'
import {
  Cursor,
  findTop,
  numberIn,
  type OrderColumn,
  orderOf,
  type Span,
  setColumns,
  type TableRef,
} from './sections.ts'
import { functionsIn, type Word, wordsOf } from './words.ts'

export type Verb = 'select' | 'insert' | 'update' | 'delete'

/** A statement on one table. */
export interface OnTable {
  readonly verb: Verb
  readonly table: TableRef
  readonly where: Span | null
  /** Where the statement ends, but for what is no part of it. */
  readonly end: number
  /** Where more columns can be put, and what must stand before them there. */
  readonly columnsAt: number
  readonly before: ', ' | ' RETURNING '
  /** SELECT: rows are made into groups, so that columns of single rows cannot be added. */
  readonly grouped: boolean
  readonly having: boolean
  /** SELECT: `null` none; a number, a parameter ($1), or something else (''). */
  readonly limit: string | null
  /** SELECT: likewise. */
  readonly offset: string | null
  /** SELECT: columns it is ordered by; null if it is ordered by something else, or not. */
  readonly order: readonly OrderColumn[] | null
  readonly ordered: boolean
  /** SELECT: FOR UPDATE, FOR SHARE and the like. */
  readonly locks: boolean
  readonly skipsLocked: boolean
  /** INSERT: how many rows are to be written; null if that is not known. */
  readonly proposed: number | null
  /** INSERT: what becomes of rows that are there. */
  readonly conflict: 'nothing' | 'update' | null
  /** UPDATE, ON CONFLICT DO UPDATE: columns that are set. */
  readonly sets: readonly string[]
  /** It reads other tables too, or this one in another way. */
  readonly more: boolean
}

export interface Shape {
  readonly kind: StepKind
  readonly effect: Effect
  readonly words: readonly Word[]
  readonly on: OnTable | null
  /** It reads tables that it joins, and does nothing else. */
  readonly join: JoinShape | null
  /** Names before a parenthesis, which may be functions. */
  readonly functions: readonly string[]
  /** BEGIN, SET TRANSACTION: the level asked for; null: none. */
  readonly level: string | null
  /** SAVEPOINT, RELEASE, ROLLBACK TO: its name. */
  readonly savepoint: { readonly does: 'set' | 'release' | 'return'; readonly name: string } | null
  /** Several statements in one text. */
  readonly several: boolean
  /** Whether one of several may end the transaction that they began in. */
  readonly endsAmong: boolean
  /** Why it is not recorded, if it is not and does something. */
  readonly reason: string | null
  /** What it may change of the tables that names mean. */
  readonly moves: Moves | null
  /** Whether statements that were prepared may be gone behind it, or mean something else. */
  readonly dropsPrepared: boolean
}

const SAVEPOINTS = 'savepoints among several statements in one'
const CACHED = 2000
const cache = new Map<string, Shape>()

export function shapeOf(text: string): Shape {
  let shape = cache.get(text)
  if (shape) return shape
  const understood = understand(text)
  const { words, effect } = understood
  const drops = words.some(({ value }) => value === 'deallocate' || value === 'discard')
  const dropsPrepared = effect === 'anything' || drops
  shape = { ...understood, moves: movesNames(words, effect), dropsPrepared }
  if (cache.size >= CACHED) cache.clear()
  cache.set(text, shape)
  return shape
}

const NOTHING: Shape = {
  kind: 'other',
  effect: 'nothing',
  words: [],
  on: null,
  join: null,
  functions: [],
  level: null,
  savepoint: null,
  several: false,
  endsAmong: false,
  reason: null,
  moves: null,
  dropsPrepared: false,
}

function understand(text: string): Shape {
  const words = wordsOf(text)
  if (words === null) return { ...NOTHING, effect: 'anything', reason: 'text that has no end' }
  while (words.at(-1)?.value === ';') words.pop()
  if (words.length === 0) return NOTHING
  const base = { ...NOTHING, words, functions: functionsIn(words) }
  if (words.some(({ value, depth }) => value === ';' && depth === 0)) {
    const firsts = words.filter((_, i) => isFirst(words, i))
    const several = { ...base, several: true, endsAmong: words.some((_, i) => isEnd(words, i)) }
    const isPlain = firsts.every(({ value }) => HARMLESS.has(value) || CONTROL.has(value))
    const takesBack = words.some(({ value }) => value === 'to' || value === 'savepoint')
    if (takesBack) return { ...several, effect: 'anything', reason: SAVEPOINTS }
    if (isPlain) return several
    return { ...several, effect: effectOf(words), reason: 'several statements in one' }
  }
  return controlOf(words, base) ?? statementOf(text, words, base)
}

const WRITING = new Set(['insert', 'update', 'delete', 'merge', 'into', 'truncate', 'copy'])
const ANYTHING = new Set(
  'do call execute prepare create alter drop import reindex grant'.split(' '),
)

/** What a statement does that is not recorded, by the words it contains. */
function effectOf(words: readonly Word[]): Effect {
  const unquoted = words.filter(({ kind }) => kind === 'word')
  if (words.some((word, i) => isFirst(words, i) && ANYTHING.has(word.value))) return 'anything'
  const writes = unquoted.some(({ value }, i) => {
    const locks = value === 'update' && ['for', 'key'].includes(unquoted[i - 1]?.value ?? '')
    return WRITING.has(value) && !locks
  })
  return writes ? 'writes' : 'reads'
}

export function isFirst(words: readonly Word[], i: number): boolean {
  return i === 0 || words[i - 1]!.value === ';'
}

/** COMMIT, ROLLBACK, PREPARE TRANSACTION and the like, but not ROLLBACK TO. */
function isEnd(words: readonly Word[], i: number): boolean {
  if (!isFirst(words, i)) return false
  const [first, second, third] = words.slice(i, i + 3).map(({ value }) => value)
  if (first === 'rollback') return second !== 'to' && third !== 'to'
  if (first === 'prepare') return second === 'transaction'
  return first === 'commit' || first === 'end' || first === 'abort'
}

const HARMLESS = new Set(
  'show reset discard listen unlisten notify deallocate lock analyze vacuum checkpoint comment'
    .concat(' close set refresh cluster')
    .split(' '),
)

const CONTROL = new Set(['begin', 'start', 'commit', 'end', 'rollback', ';'])

/** Transactions, savepoints, settings; null: something else. */
function controlOf(words: readonly Word[], base: Shape): Shape | null {
  const [first, second, third] = words.map(({ value }) => value)
  const last = words.at(-1)!.value
  const level = levelIn(words)
  switch (first) {
    case 'begin':
    case 'start':
      return { ...base, kind: 'begin', level }
    case 'commit':
    case 'end':
    case 'abort':
    case 'rollback':
      if (second === 'prepared') return { ...base, effect: 'anything', reason: 'two-phase commit' }
      if (first === 'rollback' && words.some(({ value }) => value === 'to')) {
        return { ...base, kind: 'savepoint', savepoint: { does: 'return', name: last } }
      }
      return { ...base, kind: first === 'commit' || first === 'end' ? 'commit' : 'rollback' }
    case 'savepoint':
      return { ...base, kind: 'savepoint', savepoint: { does: 'set', name: last } }
    case 'release':
      return { ...base, kind: 'savepoint', savepoint: { does: 'release', name: last } }
    case 'set':
      // What was put off is looked at now, or will be: nothing that only a setting is.
      if (second === 'constraints') return base
      return { ...base, kind: 'set', level: second === 'transaction' ? level : null }
    case 'prepare':
      if (second !== 'transaction') return null
      return { ...base, effect: 'anything', reason: 'two-phase commit' }
    default:
      return HARMLESS.has(first!) && third !== 'into' ? base : null
  }
}

/** What follows ISOLATION LEVEL, as PostgreSQL calls it. */
function levelIn(words: readonly Word[]): string | null {
  const at = words.findIndex(
    ({ value }, i) => value === 'level' && words[i - 1]?.value === 'isolation',
  )
  if (at < 0) return null
  const [one, two] = [words[at + 1]?.value, words[at + 2]?.value]
  return one === 'serializable' ? one : `${one} ${two}`
}

function statementOf(text: string, words: readonly Word[], base: Shape): Shape {
  const verb = words[0]!.value
  const effect = effectOf(words)
  const on = onTable(text, words)
  if (on !== null) return { ...base, kind: on.verb === 'select' ? 'read' : 'write', effect, on }
  const kind: StepKind = effect === 'reads' ? 'read' : effect === 'writes' ? 'write' : 'other'
  if (verb === 'select' && findTop(words, 'from') < 0 && !words.some((w) => isSelect(w, words))) {
    return {
      ...base,
      kind: effect === 'reads' ? 'other' : kind,
      effect: effect === 'reads' ? 'nothing' : effect,
    }
  }
  const isRead = effect === 'reads' && !words.some((word) => isSelect(word, words))
  const join = isRead ? joinOf(text, words) : null
  return { ...base, kind, effect, join, reason: reasonOf(verb, words) }
}

/** The tables that a statement names, if it was understood. */
export function tablesIn({ on, join }: Shape): readonly TableRef[] {
  return on ? [on.table] : (join?.tables.map(({ ref }) => ref) ?? [])
}

/** Another SELECT than the statement's own first word. */
function isSelect(word: Word, words: readonly Word[]): boolean {
  return (
    word !== words[0] && word.kind === 'word' && ['select', 'table', 'values'].includes(word.value)
  )
}

function reasonOf(verb: string, words: readonly Word[]): string {
  if (verb === 'with') return 'WITH'
  if (verb !== 'select') return verb.toUpperCase()
  const isSet = ['union', 'intersect', 'except'].find((word) => findTop(words, word) >= 0)
  if (isSet !== undefined) return isSet.toUpperCase()
  if (words.some((word, i) => isBare(word) && words[i + 1]?.value === 'from'))
    return 'a SELECT without columns'
  return words.filter((word) => isSelect(word, words)).length > 0 ? 'a subquery' : 'a join'
}

function onTable(text: string, words: readonly Word[]): OnTable | null {
  switch (words[0]!.value) {
    case 'select':
      return selectOf(text, words)
    case 'insert':
      return insertOf(text, words)
    case 'update':
      return changeOf(text, words, 'update')
    case 'delete':
      return changeOf(text, words, 'delete')
    default:
      return null
  }
}

const PLAIN = {
  grouped: false,
  having: false,
  limit: null,
  offset: null,
  order: null,
  ordered: false,
  locks: false,
  skipsLocked: false,
  proposed: null,
  conflict: null,
  sets: [],
}

const SECTIONS = 'where group having window order limit offset fetch for'.split(' ')

function selectOf(text: string, words: readonly Word[]): OnTable | null {
  const from = findTop(words, 'from')
  if (
    from < 0 ||
    isBare(words[from - 1]!) ||
    words.slice(0, from).some(({ value, depth }) => value === 'into' && depth === 0)
  ) {
    return null
  }
  const cursor = new Cursor(text, words, from + 1)
  const table = cursor.tableRef(SECTIONS)
  if (table === null || (cursor.word !== undefined && !SECTIONS.includes(cursor.word.value)))
    return null
  const sections = cursor.sections(SECTIONS)
  if (sections === null) return null
  const more = words.some((word) => isSelect(word, words))
  const limit = sections.get('limit') ?? sections.get('fetch')
  const order = sections.get('order')
  const offset = sections.get('offset')
  const locks = sections.get('for') ?? []
  return {
    ...PLAIN,
    verb: 'select',
    table,
    where: spanOf(sections.get('where')),
    end: words.at(-1)!.end,
    columnsAt: words[from - 1]!.end,
    before: ', ',
    grouped: words[1]?.value === 'distinct' || sections.has('group') || sections.has('having'),
    having: sections.has('having'),
    limit: limit === undefined ? null : numberIn(limit),
    offset: offset === undefined ? null : numberIn(offset),
    order: order === undefined ? null : orderOf(order, words.slice(1, from), table.aliasName),
    ordered: order !== undefined,
    locks: locks.length > 0,
    skipsLocked: locks.some(({ value }) => value === 'skip'),
    more,
  }
}

/** A SELECT without columns, behind which none can be put. */
function isBare({ kind, value }: Word): boolean {
  return kind === 'word' && ['select', 'all', 'distinct'].includes(value)
}

function spanOf(words: readonly Word[] | undefined): Span | null {
  if (words === undefined || words.length === 0) return null
  return { start: words[0]!.start, end: words.at(-1)!.end }
}

function changeOf(text: string, words: readonly Word[], verb: 'update' | 'delete'): OnTable | null {
  const cursor = new Cursor(text, words, verb === 'update' ? 1 : 2)
  if (verb === 'delete' && words[1]?.value !== 'from') return null
  const after = ['set', 'using', 'from', 'where', 'returning']
  const table = cursor.tableRef(after)
  if (table === null || (cursor.word !== undefined && !after.includes(cursor.word.value)))
    return null
  const sections = cursor.sections(after)
  if (sections === null || renamesOld(words)) return null
  const where = sections.get('where')
  if (where?.[0]?.value === 'current' && where[1]?.value === 'of') return null
  const more =
    sections.has('using') || sections.has('from') || words.some((word) => isSelect(word, words))
  const sets = setColumns(sections.get('set') ?? [])
  return { ...PLAIN, verb, table, where: spanOf(where), ...returning(words), sets, more }
}

/** RETURNING WITH (OLD AS …), behind which `old` means nothing. */
function renamesOld(words: readonly Word[]): boolean {
  const at = findTop(words, 'returning')
  return at >= 0 && words[at + 1]?.value === 'with'
}

/** Where RETURNING stands, or can be put. */
function returning(words: readonly Word[]): Pick<OnTable, 'columnsAt' | 'before' | 'end'> {
  const before = findTop(words, 'returning') < 0 ? ' RETURNING ' : ', '
  const { end } = words.at(-1)!
  return { columnsAt: end, before, end }
}

function insertOf(text: string, words: readonly Word[]): OnTable | null {
  if (words[1]?.value !== 'into') return null
  const cursor = new Cursor(text, words, 2)
  const table = cursor.tableRef(
    ['default', 'values', 'overriding', 'select', 'table', 'with'],
    false,
  )
  if (table === null) return null
  const values = findTop(words, 'values')
  const select = findTop(words, 'select')
  const end =
    ['on', 'returning'].map((word) => findTop(words, word)).find((at) => at >= 0) ?? words.length
  if (findTop(words, 'with') >= 0 || (values < 0 && select < 0)) return null
  const set = Math.max(0, findTop(words, 'set'))
  const setEnd = ['where', 'returning']
    .map((word) => findTop(words, word, set))
    .find((at) => at > 0)
  const rows = words.slice(values + 1, end)
  const tuples = rows.filter(({ value, depth }) => value === '(' && depth === 0).length
  const isDefault = words[values - 1]?.value === 'default'
  const conflictAt = words.findIndex(({ value, depth }) => value === 'do' && depth === 0)
  const conflict = conflictAt < 0 ? null : words[conflictAt + 1]!.value
  const inner = words.filter((word) => isSelect(word, words) && word !== words[values])
  return {
    ...PLAIN,
    verb: 'insert',
    table,
    where: null,
    ...returning(words),
    proposed: select >= 0 ? null : isDefault ? 1 : tuples,
    conflict: conflict === null ? null : conflict === 'nothing' ? 'nothing' : 'update',
    sets: conflict === 'update' ? setColumns(words.slice(set + 1, setEnd)) : [],
    more: inner.length > 0,
  }
}
