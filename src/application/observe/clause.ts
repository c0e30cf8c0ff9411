// The WHERE clause of an application's statement as a history has it: without the names of tables,
// with its parameters as values, and only if it can be judged exactly (docs/sql-predicates.md).
// Main functions: clauseOf, keysClause, limitClause.

import { obtain, TupleMap } from '../../base/maps.ts'
import { clauseOfKeys, quoteColumn } from '../../history/clause-of-keys.ts'
import { EVERY_ROW } from '../../history/sql-events.ts'
import { parsePredicate, SqlError } from '../../sql/predicate.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../../sql/value.ts'
import type { OrderColumn, Span } from './sections.ts'
import type { Column, Table } from './table.ts'
import type { Word } from './words.ts'

export interface Clause {
  readonly text: string
  readonly params: readonly SqlValue[]
}

/** Why a clause cannot be judged. */
export class Unjudged {
  constructor(readonly reason: string) {}
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LIKE_UUID = /^\{?[0-9a-f-]{32,}\}?$/i
const ASCII = /^[\0-\x7f]*$/
const DATE = /^\d{4}-\d\d-\d\d$/

/** A clause in which only numbers and truth values may differ from one time to the next. */
interface Settled {
  readonly text: string
  readonly indexes: readonly number[] // parameter -> that of the statement
}

const settled = new WeakMap<Span, TupleMap<[table: number, kinds: string], Settled>>()

/** The kinds of the values; null if what they are may matter, and not only their kinds. */
function kindsOf(values: readonly unknown[]): string | null {
  let kinds = ''
  for (const value of values) {
    if (Number.isSafeInteger(value)) kinds += 'i'
    else if (typeof value === 'boolean') kinds += 'b'
    else return null
  }
  return kinds
}

/** A clause as a statement of the application has it. */
export interface AskedClause {
  readonly table: Table
  /** The statement, and its words. */
  readonly text: string
  readonly words: readonly Word[]
  readonly where: Span | null
  /** How its table may be called in it. */
  readonly qualifiers: readonly string[]
  /** Of its parameters, as the application gave them. */
  readonly values: readonly unknown[]
}

/** As judgedClause, which takes its time; what was found out before is used again. */
export function clauseOf(asked: AskedClause): Clause | Unjudged {
  const { table, where, values } = asked
  const kinds = where === null ? null : kindsOf(values)
  if (where === null || kinds === null) {
    return judgedClause(asked).clause
  }
  const known = obtain(settled, where, () => new TupleMap())
  const found = known.get([table.number, kinds])
  if (found) {
    const params = found.indexes.map((index): SqlValue => {
      const value = values[index]
      return typeof value === 'boolean' ? value : BigInt(value as number)
    })
    return { text: found.text, params }
  }
  const { clause, indexes } = judgedClause(asked)
  if (clause instanceof Unjudged || clause.params.some((param) => typeof param === 'string'))
    return clause
  known.set([table.number, kinds], { text: clause.text, indexes })
  return clause
}

interface Judged {
  readonly clause: Clause | Unjudged
  readonly indexes: readonly number[]
}

function judgedClause({ table, text, words, where, qualifiers, values }: AskedClause): Judged {
  const unjudged = (reason: string): Judged => ({ clause: new Unjudged(reason), indexes: [] })
  if (where === null) return { clause: { text: EVERY_ROW, params: [] }, indexes: [] }
  const inside = words.filter(({ start, end }) => start >= where.start && end <= where.end)
  const mentioned = mentionedColumns(table, inside)
  const order = findOrder(inside)
  const unordered = mentioned.find(({ judging }) => judging === 'equality')
  if (order !== null && unordered !== undefined) {
    return unjudged(`the order of values of "${unordered.name}"`)
  }
  const translation = new Translation(text, inside, qualifiers, values)
  const rendered = translation.render()
  if (rendered === null) return unjudged('a parameter that is no simple value')
  const sent = [...translation.params, ...translation.listed].filter((p) => typeof p === 'string')
  const strings = [...stringsIn(inside), ...sent]
  // What has no column beside it goes by the database's own collation.
  if (inside.some(isCasing) && strings.some((one) => !ASCII.test(one))) {
    return unjudged('letters beyond ASCII in lower or upper')
  }
  const odd = findOdd(mentioned, strings)
  if (odd !== null) return unjudged(odd)
  const columns = table.declared.columns.filter((_, i) => table.columns[i]!.judging !== 'none')
  let failure = ''
  for (const params of [translation.numbers(), translation.params]) {
    try {
      // Whether the checker will be able to judge it, which does not know our list of columns.
      parsePredicate(rendered, columns, params, table.declared.name)
      return { clause: { text: rendered, params }, indexes: translation.indexes }
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      failure = error.message
    }
  }
  return unjudged(`the clause: ${failure}`)
}

/** The clause that only rows with these keys satisfy. */
export function keysClause({ declared }: Table, keys: readonly SqlRow[]): Clause {
  return { text: clauseOfKeys(declared, keys), params: [] }
}

/**
 * What ORDER BY and LIMIT say of rows passed over: none that comes before the last one returned was
 * there. Null if the order cannot be judged.
 */
export function limitClause(
  table: Table,
  clause: Clause,
  order: readonly OrderColumn[],
  rows: readonly SqlRow[],
): Clause | null {
  const last = rows.at(-1)!
  const same: string[] = []
  const before: string[] = []
  for (const { column, descending } of order) {
    const at = table.columns.findIndex(({ name }) => name === column)
    const found = table.columns[at]
    if (!found?.notNull || (found.judging !== 'all' && found.judging !== 'date')) return null
    const value = renderSqlValue(last[at]!)
    const name = quoteColumn(column)
    before.push(`(${[...same, `${name} ${descending ? '>' : '<'} ${value}`].join(' AND ')})`)
    same.push(`${name} = ${value}`)
  }
  const { keyColumns } = table.declared
  const returned = keysClause(
    table,
    rows.map((row) => keyColumns.map((column) => row[column]!)),
  )
  const sought = `${before.join(' OR ')} OR ${returned.text}`
  const { text, params } = clause
  return text === EVERY_ROW
    ? { text: sought, params }
    : { text: `(${text}) AND (${sought})`, params }
}

/** A value as the driver sends it; undefined if that is more than we know. */
function sentAs(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  const isPlain =
    typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  return isPlain ? String(value) : undefined
}

/** Writes a clause anew: names without their table, parameters numbered from 1, ANY as a list. */
class Translation {
  readonly params: (string | null)[] = []
  readonly listed: (string | null)[] = [] // what stands in lists
  readonly indexes: number[] = [] // parameter -> that of the statement
  private readonly numbering = new Map<string, number>()
  private readonly given: unknown[] = []
  private failed = false

  constructor(
    private readonly text: string,
    private readonly words: readonly Word[],
    private readonly qualifiers: readonly string[],
    private readonly values: readonly unknown[],
  ) {}

  render(): string | null {
    const { words, text } = this
    let out = ''
    let end = words[0]!.start
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const gap = word.start > end ? ' ' : ''
      end = word.end
      const qualified = this.qualifiedBy(i)
      if (qualified > 0) {
        out += gap
        i += qualified - 1
        end = words[i]!.end
        continue
      }
      const list = this.listAt(i)
      if (list !== null) {
        out += `${gap}IN (${list.items})`
        i = list.last
        end = words[i]!.end
      } else if (word.kind === 'parameter') out += gap + this.parameter(word.value)
      else out += gap + text.slice(word.start, word.end)
    }
    return this.failed ? null : out
  }

  /** Parameters, with whole numbers as such. */
  numbers(): SqlValue[] {
    return this.params.map((param, i) => {
      const given = this.given[i]
      if (typeof given === 'boolean') return given
      const isInteger = typeof given === 'bigint' || Number.isSafeInteger(given)
      return isInteger ? BigInt(given as number) : param
    })
  }

  /** How many words say whose column comes: `stock.`, `public.stock.`. */
  private qualifiedBy(i: number): number {
    if (!this.isPrefix(i)) return 0
    if (this.qualifiers.includes(this.words[i]!.value)) return 2
    return this.isPrefix(i + 2) && this.qualifiers.includes(this.words[i + 2]!.value) ? 4 : 0
  }

  private isPrefix(i: number): boolean {
    const kind = this.words[i]?.kind
    return (kind === 'word' || kind === 'name') && this.words[i + 1]?.value === '.'
  }

  /** `= ANY ($1)` with a list for the parameter. */
  private listAt(i: number): { items: string; last: number } | null {
    const [equals, any, open, param] = this.words.slice(i, i + 4)
    if (equals?.value !== '=' || any?.value !== 'any' || open?.value !== '(') return null
    let last = i + 4
    if (this.words[last]?.value === '::') {
      last += 2
      if (this.words[last]?.value === '[') last += 2
    }
    if (param?.kind !== 'parameter' || this.words[last]?.value !== ')') return null
    const list = this.values[Number(param.value.slice(1)) - 1]
    if (!Array.isArray(list) || list.length === 0) return null
    const items = list.map(sentAs)
    if (items.includes(undefined)) return null
    this.listed.push(...(items as (string | null)[]))
    const texts = items.map((item, k) => {
      const isNumber = typeof list[k] === 'number' || typeof list[k] === 'bigint'
      return isNumber ? String(item) : renderSqlValue(item!)
    })
    return { items: texts.join(', '), last }
  }

  private parameter(name: string): string {
    let number = this.numbering.get(name)
    if (number === undefined) {
      const given = this.values[Number(name.slice(1)) - 1]
      const sent = sentAs(given)
      if (sent === undefined) this.failed = true
      number = this.params.push(sent ?? null)
      this.given.push(given)
      this.indexes.push(Number(name.slice(1)) - 1)
      this.numbering.set(name, number)
    }
    return `$${number}`
  }
}

function mentionedColumns(table: Table, words: readonly Word[]): Column[] {
  const names = new Set(
    words.filter(({ kind }) => kind === 'word' || kind === 'name').map(({ value }) => value),
  )
  return table.columns.filter(({ name }) => names.has(name))
}

const BY_ORDER = new Set(['between', 'ilike', 'greatest', 'least', 'lower', 'upper'])

/** An operator or function that needs the order of values, or the case of letters. */
function findOrder(words: readonly Word[]): string | null {
  for (const [i, { kind, value, end }] of words.entries()) {
    if (kind === 'word' && BY_ORDER.has(value)) return value
    if (kind !== 'symbol' || (value !== '<' && value !== '>')) continue
    const isUnequal =
      value === '<'
        ? words[i + 1]?.value === '>' && words[i + 1]!.start === end
        : words[i - 1]?.value === '<' && words[i - 1]!.end === end - 1
    if (!isUnequal) return value
  }
  return null
}

function isCasing({ kind, value }: Word): boolean {
  return kind === 'word' && (value === 'lower' || value === 'upper')
}

function stringsIn(words: readonly Word[]): string[] {
  return words.filter(({ kind }) => kind === 'string').map(({ value }) => value.slice(1, -1))
}

/** Constants that are spelt otherwise than PostgreSQL spells the values of these columns. */
function findOdd(columns: readonly Column[], strings: readonly string[]): string | null {
  const oddUuid = (text: string) => LIKE_UUID.test(text) && !UUID.test(text)
  if (columns.some(({ isUuid }) => isUuid) && strings.some(oddUuid))
    return 'a UUID in another spelling'
  const oddDate = (text: string) => !DATE.test(text)
  if (columns.some(({ judging }) => judging === 'date') && strings.some(oddDate)) {
    return 'a date in another spelling'
  }
  return null
}
