// The one-line notation for histories, used by tests, reports and as an input format:
//
//   s1: r(x,0) w(x,1) | r(y,null)
//   s2: append(l,1) r(l,[1]) [aborted]     # comment
//
// One line continues one session; `|` ends a transaction; brackets after the operations hold what
// else is known of it: [id=T7 aborted start=3 finish=9 level=si audit], or [3,9] for the times
// alone. `rows(x,[])` and `rows(x,[1,2])` are reads that found no row, or two. `initial 0`,
// `initial null`, `initial none` before the first session set the initial value (0 if nothing is
// said). SQL statements are rendered (sql-notation.ts), but not parsed. Grammar: docs/notation.md.
// Main functions: parseNotation, renderNotation.

import { InputError, type Place } from '../base/errors.ts'
import { inert } from '../base/inert.ts'
import { LEVELS } from '../levels/levels.ts'
import { afterAmong } from './after-as-reads.ts'
import { HistoryBuilder, statusOf } from './builder.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  listOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  STATUS_NAMES,
  WRITE,
} from './history.ts'
import { findStray } from './initial.ts'
import { CAS, type LightOps } from './light.ts'
import { forEachStep, type SqlEvents } from './sql-events.ts'
import { renderPreamble, renderStatement } from './sql-notation.ts'
import { readTime, TIME_HINT } from './times.ts'
import type { Value } from './values.ts'

/** Parses a whole text in notation. */
export function parseNotation(text: string): History {
  return new NotationParser(text).parse()
}

const VERBS = ['r', 'w', 'append', 'cas', 'insert', 'rows']
const BARE = /[A-Za-z_][\w.$@-]*/y
const INTEGER = /-?\d+(?![\w.])/y
const NUMBERED = /s?-?\d+(?![\w.$@-])/y
const STRING = /"(?:[^"\\\n]|\\.)*"/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r]+/y

class NotationParser {
  private at = 0
  private line = 1
  private lineStart = 0
  private builder = new HistoryBuilder(0)
  private time = Number.NaN // the time last read
  private timeText: string | null = null // it, if a double is not exactly it
  private readonly lines: number[] = [] // arrival -> line
  private readonly columns: number[] = [] // arrival -> column
  private readonly ids = new Map<string, number>() // explicit transaction id -> line
  private readonly txnOf = new Map<string, number>() // explicit transaction id -> txn
  private readonly named: { txn: number; id: string; place: Place }[] = [] // by after=

  constructor(private readonly text: string) {}

  parse(): History {
    while (this.at < this.text.length) {
      this.parseLine()
      if (this.text[this.at] === '\n') {
        this.at++
        this.line++
        this.lineStart = this.at
      }
    }
    this.resolveAfter()
    const { lines, columns } = this
    return this.builder.finish({
      place: (arrival) => ({ line: lines[arrival]!, column: columns[arrival]! }),
    })
  }

  private parseLine(): void {
    this.skipSpace()
    if (this.atLineEnd()) return this.skipRest()
    const name = this.parseSession()
    this.skipSpace()
    if (name === 'initial' && this.text[this.at] !== ':') return this.parseInitial()
    this.expect(':')
    const session = this.builder.session(name)
    this.skipSpace()
    if (this.atLineEnd()) return this.skipRest()
    for (;;) {
      this.parseTxn(session)
      if (this.text[this.at] !== '|') break
      this.at++
    }
    this.skipSpace()
    if (!this.atLineEnd()) this.fail(`unexpected ${this.next()}`, `operations are r(key,value), …`)
    this.skipRest()
  }

  /** A word, a string, or a number with or without an s before it: s7 is session 7. */
  private parseSession(): Value {
    const start = this.at
    const numbered = this.match(NUMBERED)
    if (numbered !== null) {
      this.at = start + (numbered.startsWith('s') ? 1 : 0)
      return this.parseValue()
    }
    const name = this.text[this.at] === '"' ? this.parseValue() : this.match(BARE)
    if (name === null) this.fail(`expected a session name`, `a line looks like: s1: r(x,0) w(x,1)`)
    return name
  }

  private parseInitial(): void {
    if (this.builder.txnCount > 0) this.fail('`initial` must stand before the first session')
    const none = this.text.startsWith('none', this.at)
    if (none) this.at += 4
    this.builder = new HistoryBuilder(none ? undefined : this.parseValue())
    this.skipSpace()
    if (!this.atLineEnd()) this.fail(`unexpected ${this.next()}`)
    this.skipRest()
  }

  private parseTxn(session: number): void {
    const txn = this.builder.addTxn(session, COMMITTED)
    let empty = true
    for (;;) {
      this.skipSpace()
      const c = this.text[this.at]
      if (c === '[') {
        this.parseAttributes(txn)
        empty = false
        this.skipSpace()
        break
      }
      if (c === undefined || c === '\n' || c === '|' || c === '#' || c === '-') break
      this.parseOp(txn)
      empty = false
    }
    if (empty) this.fail('a transaction needs an operation, or [committed] if it did nothing')
  }

  private parseOp(txn: number): void {
    const startColumn = this.at - this.lineStart + 1
    const verb = this.match(BARE)
    if (verb === null || !VERBS.includes(verb)) {
      this.at = this.lineStart + startColumn - 1
      this.fail(
        `unknown operation ${this.next()}`,
        'there are r(key,value), w(…), append(…), cas(key,old,new), insert(key,value), rows(key,[…])',
      )
    }
    this.expect('(')
    const key = this.parseKey()
    this.expect(',')
    this.lines.push(this.line)
    this.columns.push(startColumn)
    this.skipSpace()
    if (verb === 'cas' || verb === 'insert') {
      this.parseLight(txn, verb, key, startColumn)
    } else if (verb === 'rows') {
      this.builder.readRows(txn, key, this.parseRows())
    } else if (verb === 'r' && this.text[this.at] === '[') {
      this.builder.readList(
        txn,
        key,
        this.parseList(() => this.parseValue()),
      )
    } else {
      const value = this.parseValue()
      if (verb === 'r') this.builder.read(txn, key, value)
      else if (verb === 'w') this.builder.write(txn, key, value)
      else this.builder.append(txn, key, value)
    }
    this.expect(')')
  }

  /** What follows the key; one more value than needed is what a failed operation saw. */
  private parseLight(txn: number, verb: 'cas' | 'insert', key: Value, column: number): void {
    const expected = verb === 'cas' ? this.parseValue() : null
    if (verb === 'cas') this.expect(',')
    const value = this.parseValue()
    this.skipSpace()
    let seen: Value | undefined
    if (this.text[this.at] === ',') {
      this.at++
      seen = this.parseValue()
    } else {
      // It is two operations, a read and a write, which stand in one place.
      this.lines.push(this.line)
      this.columns.push(column)
    }
    if (verb === 'cas') this.builder.cas(txn, key, expected, value, seen)
    else this.builder.insert(txn, key, value, seen)
  }

  /** The rows that a read returned: all values, or all lists. */
  private parseRows(): (Value | Value[])[] {
    const rows = this.parseList(() => {
      this.skipSpace()
      const isList = this.text[this.at] === '['
      return isList ? this.parseList(() => this.parseValue()) : this.parseValue()
    })
    if (rows.every((row) => Array.isArray(row) === Array.isArray(rows[0]))) return rows
    this.fail('rows of one key hold lists, or values, not both')
  }

  private parseList<Item>(parse: () => Item): Item[] {
    const values: Item[] = []
    this.expect('[')
    this.skipSpace()
    while (this.text[this.at] !== ']') {
      values.push(parse())
      this.skipSpace()
      if (this.text[this.at] !== ',') break
      this.at++
      this.skipSpace()
    }
    this.expect(']')
    return values
  }

  private parseKey(): Value {
    this.skipSpace()
    const key = this.parseValue()
    if (key === null) this.fail('a key cannot be null')
    return key
  }

  private parseValue(): Value {
    this.skipSpace()
    const integer = this.match(INTEGER)
    if (integer !== null) {
      const big = BigInt(integer)
      if (big < -(2n ** 63n) || big >= 2n ** 64n) this.fail(`${integer} does not fit into 64 bits`)
      const near = Number(big)
      return Number.isSafeInteger(near) ? near : big
    }
    const quoted = this.match(STRING)
    if (quoted !== null) {
      try {
        return JSON.parse(quoted) as string
      } catch {
        this.fail(`bad escape in ${quoted}`)
      }
    }
    const bare = this.match(BARE)
    if (bare === null) this.fail(`expected a value, found ${this.next()}`)
    return bare === 'null' ? null : bare
  }

  private parseAttributes(txn: number): void {
    this.expect('[')
    for (;;) {
      this.skipSpace()
      if (this.text[this.at] === ']') break
      this.parseAttribute(txn)
    }
    this.expect(']')
  }

  private parseAttribute(txn: number): void {
    if (this.matchTime()) {
      this.builder.setStart(txn, this.time, this.timeText)
      this.expect(',')
      this.skipSpace()
      if (!this.matchTime()) this.fail(`expected a finish time, found ${this.next()}`)
      this.builder.setFinish(txn, this.time, this.timeText)
      return
    }
    const name = this.match(BARE) ?? ''
    if (statusOf(name) >= 0) return this.builder.setStatus(txn, statusOf(name))
    if (name === 'audit') return this.builder.setAudit(txn)
    if (name === 'id' || name === 'level' || name === 'after') {
      this.expect('=')
      if (name === 'after') return this.parseAfter(txn)
      return name === 'id' ? this.parseId(txn) : this.parseLevel(txn)
    }
    if (name !== 'start' && name !== 'finish') {
      this.fail(
        `unknown attribute ${name || this.next()}`,
        `there are ${STATUS_NAMES.join(', ')}, audit, id=, start=, finish=, level=, after=`,
      )
    }
    this.expect('=')
    if (!this.matchTime()) this.fail(`expected a time, found ${this.next()}`)
    if (name === 'start') this.builder.setStart(txn, this.time, this.timeText)
    else this.builder.setFinish(txn, this.time, this.timeText)
  }

  /** Takes a number, if one comes next, into `time` and `timeText`. */
  private matchTime(): boolean {
    const start = this.at
    const text = this.match(NUMBER)
    if (text === null) return false
    const time = readTime(text)
    if (time === null) {
      this.at = start
      this.fail(`the time ${text.slice(0, 40)} is out of range`, TIME_HINT)
    }
    this.time = time.value
    this.timeText = time.text
    return true
  }

  private parseId(txn: number): void {
    const id = String(this.parseValue())
    const first = this.ids.get(id)
    if (first !== undefined)
      this.fail(`transaction id ${id} is used twice (first at line ${first})`)
    this.ids.set(id, this.line)
    this.txnOf.set(id, txn)
    this.builder.setLabel(txn, id)
  }

  /** Ids of transactions anywhere in the text, with commas between them. */
  private parseAfter(txn: number): void {
    for (;;) {
      this.skipSpace()
      const place = { line: this.line, column: this.at - this.lineStart + 1 }
      this.named.push({ txn, id: String(this.parseValue()), place })
      this.skipSpace()
      if (this.text[this.at] !== ',') return
      this.at++
    }
  }

  private resolveAfter(): void {
    for (const { txn, id, place } of this.named) {
      const earlier = this.txnOf.get(id)
      if (earlier === undefined) {
        const message = `no transaction has the id ${id}`
        throw new InputError('bad-notation', message, place, 'ids are given by [id=T1]')
      }
      this.builder.addAfter(txn, earlier)
    }
  }

  private parseLevel(txn: number): void {
    const level = this.match(BARE)
    const index = LEVELS.findIndex((known) => known.id === level)
    if (index < 0) this.fail(`unknown level ${level ?? this.next()}`)
    this.builder.setLevel(txn, index)
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (!found) return null
    this.at += found[0].length
    return found[0]
  }

  private expect(character: string): void {
    this.skipSpace()
    if (this.text[this.at] !== character) this.fail(`expected '${character}', found ${this.next()}`)
    this.at++
  }

  private skipSpace(): void {
    this.match(SPACE)
  }

  /** At the end of the line, or at a comment (# … or -> …). */
  private atLineEnd(): boolean {
    const c = this.text[this.at]
    return c === undefined || c === '\n' || c === '#' || this.text.startsWith('->', this.at)
  }

  private skipRest(): void {
    while (this.at < this.text.length && this.text[this.at] !== '\n') this.at++
  }

  private next(): string {
    const c = this.text[this.at]
    return c === undefined || c === '\n' ? 'the end of the line' : JSON.stringify(c)
  }

  private fail(message: string, hint: string | null = null): never {
    const place = { line: this.line, column: this.at - this.lineStart + 1 }
    throw new InputError('bad-notation', message, place, hint)
  }
}

export interface TxnOptions {
  /** Show names, which are also shown where transactions come after others. */
  readonly ids?: boolean
  /** txn -> whom it comes after beyond its session */
  readonly after?: ReadonlyMap<number, readonly number[]>
}

/** The notation of the given transactions (all by default), session by session. */
export function renderNotation(
  history: History,
  txns: Iterable<number> | null = null,
  options: TxnOptions = {},
): string {
  const bySession = txns === null ? history.sessionTxns : inSessionOrder(history, txns)
  const chosen = initialFirst(history, bySession)
  const after = afterAmong(history, txns === null ? null : chosen)
  const { sql } = history
  const lines: string[] = []
  if (sql) {
    lines.push(...renderPreamble(history, sql, chosen))
  } else if (history.initial !== 0) {
    lines.push(`initial ${history.initial === undefined ? 'none' : renderValue(history.initial)}`)
  }
  for (let from = 0; from < chosen.length; ) {
    const session = history.txnSession[chosen[from]!]!
    const parts: string[] = []
    for (; from < chosen.length && history.txnSession[chosen[from]!] === session; from++) {
      parts.push(renderTxn(history, chosen[from]!, { ...options, after }))
    }
    // Statements are long: they get a line for each transaction.
    for (const text of sql ? parts : [parts.join(' | ')]) {
      lines.push(`${renderSession(history, session)}: ${text}`)
    }
  }
  return lines.join('\n') + (lines.length > 0 ? '\n' : '')
}

/** The transactions, each once, session by session. */
function inSessionOrder({ txnSession, txnIndex }: History, txns: Iterable<number>): number[] {
  return [...new Set(txns)].sort(
    (a, b) => txnSession[a]! - txnSession[b]! || txnIndex[a]! - txnIndex[b]!,
  )
}

/** What spells out the initial state comes before all else. */
function initialFirst(history: History, txns: number[] | Int32Array): number[] | Int32Array {
  if (!history.txnIsInitial.includes(1)) return txns
  const all = Array.from(txns)
  if (findStray(history, all) === NONE) return txns
  const isInitial = (txn: number) => history.txnIsInitial[txn] === 1
  return [...all.filter(isInitial), ...all.filter((txn) => !isInitial(txn))]
}

function renderSession(history: History, session: number): string {
  const label = history.sessionLabel(session)
  if (typeof label !== 'string') return `s${label}`
  return /^(s-?\d+|initial)$/.test(label) ? JSON.stringify(label) : renderValue(label)
}

/** One transaction: its operations, then what else is known of it in brackets. */
export function renderTxn(history: History, txn: number, options: TxnOptions = {}): string {
  const words = history.sql ? [renderSteps(history, history.sql, txn)] : renderOps(history, txn)
  const attributes: string[] = []
  const status = history.txnStatus[txn]!
  const name = (each: number) => renderValue(history.txnName(each))
  if (options.ids || history.after) attributes.push(`id=${name(txn)}`)
  const isEmpty = words.length === 0 || words[0] === ''
  if (status !== COMMITTED || isEmpty) attributes.push(STATUS_NAMES[status]!)
  const [start, finish] = [history.startText(txn), history.finishText(txn)]
  if (start !== null) attributes.push(`start=${start}`)
  if (finish !== null) attributes.push(`finish=${finish}`)
  const level = history.txnLevel?.[txn] ?? NONE
  if (level !== NONE) attributes.push(`level=${LEVELS[level]!.id}`)
  if (history.txnAudit?.[txn]) attributes.push('audit')
  const named = options.after?.get(txn) ?? []
  if (named.length > 0) attributes.push(`after=${named.map(name).join(',')}`)
  if (attributes.length > 0) words.push(`[${attributes.join(' ')}]`)
  return words.join(' ').trimStart()
}

function renderOps(history: History, txn: number): string[] {
  const words: string[] = []
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    words.push(renderStep(history, op))
    const light = history.light?.opLight[op] ?? NONE
    if (light !== NONE && !history.light!.failed[light]) op++ // its write is part of it
  }
  return words
}

/** A lightweight operation as a whole, any other as it is. */
function renderStep(history: History, op: number): string {
  const light = history.light?.opLight[op] ?? NONE
  return light === NONE ? renderOp(history, op) : renderLight(history, history.light!, light, op)
}

/** Statements and operations on registers, in program order. */
function renderSteps(history: History, sql: SqlEvents, txn: number): string {
  const steps: string[] = []
  forEachStep(history, sql, txn, (op, event) => {
    if (event === NONE) steps.push(renderStep(history, op))
    else steps.push(renderStatement(history, sql, event, renderValue))
  })
  return steps.join('; ')
}

function renderLight(history: History, lights: LightOps, light: number, read: number): string {
  const show = (value: number) => renderValue(history.values.get(value))
  const parts = [renderValue(history.keyName(history.opKey[read]!))]
  const isCas = lights.kind[light] === CAS
  if (isCas) parts.push(show(lights.expected[light]!))
  parts.push(show(lights.value[light]!))
  if (lights.failed[light]) parts.push(show(history.opValue[read]!))
  return `${isCas ? 'cas' : 'insert'}(${parts.join(',')})`
}

export function renderOp(history: History, op: number): string {
  const key = renderValue(history.keyName(history.opKey[op]!))
  switch (history.opKind[op]) {
    case READ:
      return `r(${key},${renderValue(history.valueOf(op))})`
    case WRITE:
      return `w(${key},${renderValue(history.valueOf(op))})`
    case APPEND:
      return `append(${key},${renderValue(history.valueOf(op))})`
    case READ_LIST:
      return `r(${key},${renderValues(listOf(history, op))})`
    case READ_ROWS: {
      const rows = rowsOf(history, op)
      const each = rows.map((row) => (Array.isArray(row) ? renderValues(row) : renderValue(row)))
      return `rows(${key},[${each.join(',')}])`
    }
    default:
      return '?'
  }
}

function renderValues(values: readonly Value[]): string {
  return `[${values.map(renderValue).join(',')}]`
}

/** A key or value as the notation writes it; strings that are not plain words are quoted. */
export function renderValue(value: Value): string {
  if (typeof value !== 'string') return String(value)
  if (value !== 'null' && /^[A-Za-z_][\w.$@-]*$/.test(value)) return value
  return inert(JSON.stringify(value))
}
