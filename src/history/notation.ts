// The one-line notation for histories, used by tests, reports and as an input format:
//
//   s1: r(x,0) w(x,1) | r(y,null)
//   s2: append(l,1) r(l,[1]) [aborted]     # comment
//
// One line continues one session; `|` ends a transaction; brackets after the operations hold what
// else is known of it: [id=T7 aborted start=3 finish=9 level=si audit after=T3], or [3,9] for the
// times alone. `w(x,1)@3` has a version (versions.ts). `rows(x,[])` and `rows(x,[1,2])` are reads that
// found no row, or two; `inc(c,2)` adds to a counter, `range(1,5,[2:7])` reads integer keys, and
// `cas(x,1,2,?)` failed without saying what it found. `initial 0`,
// `initial null`, `initial none` before the first session set the initial value (0 if nothing is
// said). Grammar: docs/notation.md. Main functions: parseNotation, renderNotation.

import { InputError, type Place } from '../base/errors.ts'
import { LEVELS } from '../levels/levels.ts'
import { HistoryBuilder, NOT_TOLD, statusOf } from './builder.ts'
import { COMMITTED, type History, NONE, STATUS_NAMES } from './history.ts'
import { CAS, INSERT } from './light.ts'
import { renderValue } from './render-value.ts'
import {
  badElement,
  badRange,
  badReturn,
  INCREMENT_HINT,
  isIncrement,
  RANGE_HINT,
  SET_HINT,
} from './spans.ts'
import { readTime, TIME_HINT } from './times.ts'
import type { Value } from './values.ts'
import { NO_VERSION, VERSION_HINT, versionHint, versionOfLsn, versionOfNumber } from './versions.ts'

/**
 * Parses a whole text in notation.
 * @param onOp called for every operation; may throw to give up
 * @param duplicateValues whether a register may be given one value twice
 */
export function parseNotation(
  text: string,
  onOp: () => void = () => {},
  duplicateValues = false,
): History {
  return new NotationParser(text, onOp).parse(duplicateValues)
}

const VERBS = ['r', 'w', 'append', 'inc', 'add', 'cas', 'insert', 'range', 'rows']
const UNTOLD = /\s*\?/y
const BARE = /[A-Za-z_][\w.$@-]*/y
const LEVEL = /[a-z][\w.+-]*/y
const INTEGER = /-?\d+(?![\w.])/y
const NUMBERED = /s?-?\d+(?![\w.$@-])/y
const STRING = /"(?:[^"\\\n]|\\.)*"/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LSN = /[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}/y
const NO_VALUE = /none(?![\w.$@-])/y
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
  private readonly ids = new Map<string, { txn: number; line: number }>() // explicit ones
  private readonly named: { txn: number; id: string; place: Place }[] = [] // by after=

  constructor(
    private readonly text: string,
    private readonly onOp: () => void,
  ) {}

  parse(duplicateValues: boolean): History {
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
    const place = (arrival: number) => ({ line: lines[arrival]!, column: columns[arrival]! })
    return this.builder.finish({ place }, duplicateValues)
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
    do this.parseTxn(session)
    while (this.take('|'))
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
    const none = this.match(NO_VALUE) !== null
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
        'there are r(key,value), w(…), append(…), inc(key,number), add(key,element), cas(key,old,new), insert(key,value), range(from,to,[key:value,…]), rows(key,[…])',
      )
    }
    this.expect('(')
    const key = this.parseKey()
    this.expect(',')
    this.onOp()
    this.lines.push(this.line)
    this.columns.push(startColumn)
    this.skipSpace()
    if (verb === 'cas' || verb === 'insert') {
      this.parseLight(txn, verb, key, startColumn)
    } else if (verb === 'inc') {
      this.parseIncrement(txn, key)
    } else if (verb === 'add') {
      this.builder.addToSet(txn, this.builder.keys.of(key), this.parseElement(new Set()))
    } else if (verb === 'r' && this.text[this.at] === '{') {
      this.parseSet(txn, this.builder.keys.of(key))
    } else if (verb === 'range') {
      this.parseRange(txn, key)
    } else if (verb === 'rows') {
      this.builder.readRows(txn, key, this.parseRows())
    } else if (verb === 'r' && this.text[this.at] === '[') {
      this.builder.readList(txn, key, this.parseValues())
    } else {
      const value = this.parseValue()
      if (verb === 'r') this.builder.read(txn, key, value)
      else if (verb === 'w') this.builder.write(txn, key, value)
      else this.builder.append(txn, key, value)
      this.expect(')')
      if (verb !== 'append' && this.text[this.at] === '@') return this.parseVersion()
      return this.expectNoVersion(verb)
    }
    this.expect(')')
    this.expectNoVersion(verb)
  }

  private expectNoVersion(verb: string): void {
    if (this.text[this.at] === '@') this.fail(NO_VERSION, versionHint(verb))
  }

  /** w(x,1)@3, or with an LSN r(x,1)@16/B374D848. */
  private parseVersion(): void {
    const start = this.at++
    const text = this.match(LSN) ?? this.match(NUMBER)
    const version = text === null ? null : (versionOfLsn(text) ?? versionOfNumber(text))
    if (version === null) this.fail(`expected a version, found ${this.next()}`, VERSION_HINT)
    if (this.builder.setVersion(version)) return
    this.at = start
    this.fail('versions are numbers here and LSNs there', 'let all be numbers, or all LSNs')
  }

  /** What follows the key; one more value than needed is what a failed operation saw. */
  private parseLight(txn: number, verb: 'cas' | 'insert', key: Value, column: number): void {
    const expected = verb === 'cas' ? this.parseValue() : null
    if (verb === 'cas') this.expect(',')
    const value = this.parseValue()
    const { builder } = this
    let seen: number = NONE
    if (this.take(',')) {
      seen = this.match(UNTOLD) === null ? builder.valueId(this.parseValue()) : NOT_TOLD
    } else {
      // It is two operations, a read and a write, which stand in one place.
      this.lines.push(this.line)
      this.columns.push(column)
    }
    const ids = [builder.keys.of(key), builder.valueId(expected), builder.valueId(value)] as const
    builder.addLight(txn, verb === 'cas' ? CAS : INSERT, ...ids, seen)
  }

  /** How much is added to a counter. */
  private parseIncrement(txn: number, key: Value): void {
    const start = this.at
    const by = this.parseValue()
    if (!isIncrement(by)) {
      this.at = start
      this.fail(`a counter cannot be incremented by ${renderValue(by)}`, INCREMENT_HINT)
    }
    this.builder.addIncrement(txn, this.builder.keys.of(key), this.builder.valueId(by))
  }

  /** r(s,{1,2}): what was in the set. */
  private parseSet(txn: number, key: number): void {
    const set = this.builder.addSet(txn, key)
    const met = new Set<Value>()
    this.parseList(() => set.addPair(key, this.parseElement(met)), '{', '}')
  }

  private parseElement(met: Set<Value>): number {
    const element = this.parseValue()
    const why = badElement(element, met)
    if (why !== null) this.fail(why, SET_HINT)
    return this.builder.values.of(element)
  }

  /** range(1,5,[2:7,3:8]): where it ends, and what was there. */
  private parseRange(txn: number, first: Value): void {
    const { builder } = this
    const last = this.parseValue()
    const problem = badRange(first, last)
    if (problem !== null) this.fail(problem, RANGE_HINT)
    this.expect(',')
    const range = builder.addRange(txn, builder.values.of(first), builder.values.of(last))
    const returned = new Set<Value>()
    this.parseList(() => {
      const key = this.parseKey()
      const why = badReturn(first, last, key, returned)
      if (why !== null) this.fail(why, RANGE_HINT)
      this.expect(':')
      range.addPair(builder.keys.of(key), builder.valueId(this.parseValue()))
    })
  }

  /** The rows that a read returned: all values, or all lists. */
  private parseRows(): (Value | Value[])[] {
    const rows = this.parseList(() => {
      this.skipSpace()
      const isList = this.text[this.at] === '['
      return isList ? this.parseValues() : this.parseValue()
    })
    if (rows.every((row) => Array.isArray(row) === Array.isArray(rows[0]))) return rows
    this.fail('rows of one key hold lists, or values, not both')
  }

  private parseValues(): Value[] {
    return this.parseList(() => this.parseValue())
  }

  private parseList<Item>(parse: () => Item, open = '[', close = ']'): Item[] {
    const values: Item[] = []
    this.expect(open)
    if (this.take(close)) return values
    do values.push(parse())
    while (this.take(','))
    this.expect(close)
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
    while (!this.take(']')) this.parseAttribute(txn)
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
      this.expectEquals()
      if (name === 'after') return this.parseAfter(txn)
      return name === 'id' ? this.parseId(txn) : this.parseLevel(txn)
    }
    if (name !== 'start' && name !== 'finish') {
      const hint = `there are ${STATUS_NAMES.join(', ')}, audit, id=, start=, finish=, level=, after=`
      this.fail(`unknown attribute ${name || this.next()}`, hint)
    }
    this.expectEquals()
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
    if (first) this.fail(`transaction id ${id} is used twice (first at line ${first.line})`)
    this.ids.set(id, { txn, line: this.line })
    this.builder.setLabel(txn, id)
  }

  /** Ids of transactions anywhere in the text, with commas between them. */
  private parseAfter(txn: number): void {
    do {
      this.skipSpace()
      const place = this.place()
      this.named.push({ txn, id: String(this.parseValue()), place })
    } while (this.take(','))
  }

  private resolveAfter(): void {
    for (const { txn, id, place } of this.named) {
      const earlier = this.ids.get(id)
      if (!earlier) {
        const message = `no transaction has the id ${id}`
        throw new InputError('bad-notation', message, place, 'ids are given by [id=T1]')
      }
      this.builder.addAfter(txn, earlier.txn)
    }
  }

  private parseLevel(txn: number): void {
    const level = this.match(LEVEL)
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

  /** Goes past a character, if it comes next. */
  private take(character: string): boolean {
    this.skipSpace()
    if (this.text[this.at] !== character) return false
    this.at++
    return true
  }

  private expect(character: string): void {
    if (!this.take(character)) this.fail(`expected '${character}', found ${this.next()}`)
  }

  private expectEquals(): void {
    this.expect('=')
    this.skipSpace()
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

  private place(): Place {
    return { line: this.line, column: this.at - this.lineStart + 1 }
  }

  private fail(message: string, hint: string | null = null): never {
    throw new InputError('bad-notation', message, this.place(), hint)
  }
}
