// The operations of a native line: [["r","x",1],["w","y",2],["append","l",3],["r","l",[1,2,3]]],
// and the lightweight ["cas","x",1,2] and ["insert","x",1], with what they saw as one more value if
// they failed; each becomes a read and a write, or a read (see history/light.ts). ["rows","x",[1,2]]
// is a read that did not return one row (history/rows.ts). ["inc","c",2] adds to a counter, and
// ["range",1,5,[[2,7]]] reads integer keys, ["add","s",1] and ["set","s",[1]] are of sets
// (history/spans.ts). {"version":3} may stand behind the value
// of a register (version.ts). Objects are SQL statements (sql.ts). The usual operation (no spaces, a plain key, a value of at most nine digits) is taken by `takeFast`, which
// writes straight into the builder's columns; any other by `takeOp`.

import type { InputError } from '../../base/errors.ts'
import type { IntColumn } from '../../base/grow.ts'
import { type HistoryBuilder, NOT_TOLD } from '../../history/builder.ts'
import { APPEND, NONE, READ, READ_LIST, WRITE } from '../../history/history.ts'
import { showValue } from '../../history/initial.ts'
import { CAS, INSERT } from '../../history/light.ts'
import {
  badElement,
  badRange,
  badReturn,
  INCREMENT_HINT,
  isIncrement,
  RANGE_HINT,
  SET_HINT,
} from '../../history/spans.ts'
import type { SymbolTable } from '../../history/symbols.ts'
import type { Value, ValueTable } from '../../history/values.ts'
import { NO_VERSION, versionHint } from '../../history/versions.ts'
import { beginsNumber, type JsonScanner } from '../json.ts'
import { quote } from '../json-fields.ts'
import { forEachItem } from '../json-walk.ts'
import { CLOSE_LIST, COMMA, OPEN_LIST, OPEN_MAP, QUOTE } from '../scanner.ts'
import { NumberedKeys } from './numbered-keys.ts'
import { typeAt } from './rows.ts'
import { STATEMENT, type StatementReader } from './sql.ts'
import { takeOpVersion } from './version.ts'

export const SHORTEST_OP = 7 // ["cas",1,1,2] and its comma are two operations
const LETTER_R = 114
const LETTER_W = 119
const LETTER_F = 102
const VERBS =
  'there are ["r",key,value], ["w",key,value], ["append",key,value], ["inc",key,number], ["add",key,element], ["set",key,[…]], ["cas",key,old,new], ["insert",key,value], ["range",first,last,[[key,value],…]] and ["rows",key,[…]]'
/** Statements, which somebody may take for operations on registers. */
const STATEMENTS = ['select', 'update', 'delete']

/** byte -> 1 if it may stand in a string as it is */
const PLAIN = Uint8Array.from({ length: 256 }, (_, c) =>
  c >= 32 && c < 127 && c !== QUOTE && c !== 92 ? 1 : 0,
)

export class OpReader {
  private readonly numbered = new NumberedKeys()

  constructor(
    private readonly scanner: JsonScanner,
    private readonly columns: IntColumn, // arrival -> column
    private readonly statements: StatementReader,
  ) {}

  /** Takes the whole list of operations; the builder has room for all that fit into the text. */
  takeOps(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    scanner.need(OPEN_LIST, 'a list of operations')
    scanner.at++
    if (scanner.skipSpace() === CLOSE_LIST) {
      scanner.at++
      return
    }
    for (;;) {
      if (!this.takeFast(builder, txn)) {
        if (scanner.skipSpace() === OPEN_MAP) this.statements.take(txn)
        else this.takeOp(builder, txn)
      }
      const c = scanner.skipSpace()
      if (c === CLOSE_LIST) break
      if (c !== COMMA) throw scanner.unexpected('"," or "]"')
      this.statements.expectMore()
      scanner.at++
      const next = scanner.skipSpace()
      if (next !== OPEN_LIST && next !== OPEN_MAP) throw scanner.unexpected('an operation', VERBS)
    }
    scanner.at++
  }

  /** Takes usual operations; false if it stopped at one that is not, true if behind one. */
  private takeFast(builder: HistoryBuilder, txn: number): boolean {
    const { scanner, numbered } = this
    const b = scanner.bytes
    const keys = builder.keys
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const opColumn = this.columns.data
    const base = scanner.at - scanner.column()
    let n = builder.opCount
    let p = scanner.at
    let behind = false
    while (b[p] === OPEN_LIST && b[p + 1] === QUOTE && b[p + 3] === QUOTE && b[p + 4] === COMMA) {
      const verb = b[p + 2]!
      if (verb !== LETTER_R && verb !== LETTER_W) break
      let q = p + 5
      let key = 0
      let c = b[q]!
      if (c === QUOTE) {
        const from = q + 1
        key = numbered.find(b, from)
        if (key < 0) {
          for (q = from; PLAIN[b[q]!] === 1; ) q++
          if (b[q] !== QUOTE) break
          key = numbered.intern(keys, b, from, q)
        } else {
          q = numbered.end
        }
        if (b[q + 1] !== COMMA) break
        q += 2
      } else {
        const from = q
        for (; (c - 48) >>> 0 <= 9; c = b[++q]!) key = (Math.imul(key, 10) + c - 48) | 0
        // One to nine digits, the first not a zero unless it is alone.
        if (c !== COMMA || (q - from - 1) >>> 0 > 8 || (b[from] === 48 && q > from + 1)) break
        key = keys.ofSmall(key)
        q++
      }
      const from = q
      let value = 0
      c = b[q]!
      for (; (c - 48) >>> 0 <= 9; c = b[++q]!) value = (Math.imul(value, 10) + c - 48) | 0
      if (c !== CLOSE_LIST || (q - from - 1) >>> 0 > 8 || (b[from] === 48 && q > from + 1)) break
      opTxn[n] = txn
      opKind[n] = verb === LETTER_R ? READ : WRITE
      opKey[n] = key
      opValue[n] = value
      opColumn[n] = p - base
      n++
      p = q + 1
      behind = b[p] !== COMMA || b[p + 1] !== OPEN_LIST
      if (behind) break
      p++
    }
    builder.opTxn.length = n
    builder.opKind.length = n
    builder.opKey.length = n
    builder.opValue.length = n
    this.columns.length = n
    scanner.at = p
    return behind
  }

  /** Takes one operation of any kind. */
  private takeOp(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    this.columns.push(scanner.column())
    scanner.expect(OPEN_LIST)
    scanner.need(QUOTE, 'the name of an operation', VERBS)
    const verbAt = scanner.at
    scanner.scanString()
    if (scanner.textIs('cas')) return this.takeLight(builder, txn, CAS)
    if (scanner.textIs('insert')) return this.takeLight(builder, txn, INSERT)
    if (scanner.textIs('inc')) return this.takeIncrement(builder, txn)
    if (scanner.textIs('add')) return this.takeAdd(builder, txn)
    if (scanner.textIs('set')) return this.takeSet(builder, txn)
    if (scanner.textIs('range')) return this.takeRange(builder, txn)
    if (scanner.textIs('rows')) return this.takeRows(builder, txn)
    const kind = this.kindOf()
    if (kind < 0) throw this.unknownVerb(verbAt)
    const key = this.takeKey(builder)
    if (kind === READ && scanner.skipSpace() === OPEN_LIST) {
      builder.addOp(txn, READ_LIST, key, this.takeList(builder))
    } else {
      builder.addOp(txn, kind, key, this.takeValueId(builder, kind === APPEND))
    }
    const isRegister = builder.opKind.data[builder.opCount - 1]! <= WRITE
    this.close(builder, isRegister ? null : 'append')
  }

  /** Takes the end of the operation, and its version. @param verb what has none */
  private close(builder: HistoryBuilder, verb: string | null): void {
    const { scanner } = this
    const hint = verb === null ? null : versionHint(verb)
    if (scanner.skipSpace() === COMMA) takeOpVersion(scanner, builder, hint)
    scanner.expect(CLOSE_LIST)
  }

  /** The rest of a lightweight operation: its key, what it asks for, what it saw if it failed. */
  private takeLight(builder: HistoryBuilder, txn: number, kind: number): void {
    const { scanner } = this
    const key = this.takeKey(builder)
    const first = this.takeValueId(builder)
    let value = first
    if (kind === CAS) {
      this.comma()
      value = this.takeValueId(builder)
    }
    const expected = kind === CAS ? first : builder.valueId(null)
    let seen = NONE
    if (scanner.skipSpace() === COMMA) {
      scanner.at++
      if (scanner.skipSpace() === OPEN_MAP) {
        throw scanner.fail(NO_VERSION, scanner.at, versionHint('cas'))
      }
      seen = this.takeSeen(builder)
    } else this.columns.push(this.columns.data[this.columns.length - 1]!)
    builder.addLight(txn, kind, key, expected, value, seen)
    this.close(builder, 'cas')
  }

  /** What an operation that failed found instead; false if it did not say. */
  private takeSeen(builder: HistoryBuilder): number {
    if (this.scanner.skipSpace() !== LETTER_F) return this.takeValueId(builder)
    this.scanner.expectWord('false')
    return NOT_TOLD
  }

  /** Takes the rest of an increment: its counter, and by how much. */
  private takeIncrement(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    const key = this.takeKey(builder)
    const at = scanner.at
    const by = this.takeSymbol(builder.values, 'number')
    if (!isIncrement(builder.values.get(by))) {
      const shown = showValue(builder.values.get(by))
      throw scanner.fail(`a counter cannot be incremented by ${shown}`, at, INCREMENT_HINT)
    }
    builder.addIncrement(txn, key, by)
    this.close(builder, 'inc')
  }

  /** Takes the rest of what adds to a set: its key, and the element. */
  private takeAdd(builder: HistoryBuilder, txn: number): void {
    const key = this.takeKey(builder)
    builder.addToSet(txn, key, this.takeSymbol(builder.values, 'set element'))
    this.close(builder, 'add')
  }

  /** Takes the rest of a read of a set: its key, and its elements. */
  private takeSet(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    const key = this.takeKey(builder)
    const set = builder.addSet(txn, key)
    const met = new Set<Value>()
    scanner.need(OPEN_LIST, 'a list of elements', SET_HINT)
    forEachItem(scanner, () => {
      scanner.skipSpace()
      const at = scanner.at
      const element = this.takeSymbol(builder.values, 'set element')
      const why = badElement(builder.values.get(element), met)
      if (why !== null) throw scanner.fail(why, at, SET_HINT)
      set.addPair(key, element)
    })
    this.close(builder, 'set')
  }

  /** Takes the rest of a range read: its first and its last key, and what was there. */
  private takeRange(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    const { keys, values } = builder
    this.comma()
    const at = scanner.at
    const first = this.takeValue('first key')
    this.comma()
    const last = this.takeValue('last key')
    const problem = badRange(first, last)
    if (problem !== null) throw scanner.fail(problem, at, RANGE_HINT)
    this.comma()
    const range = builder.addRange(txn, values.of(first), values.of(last))
    const returned = new Set<Value>()
    scanner.need(OPEN_LIST, 'a list of pairs', RANGE_HINT)
    forEachItem(scanner, () => {
      const pairAt = scanner.at
      scanner.expect(OPEN_LIST)
      const key = this.takeValue('key')
      const why = badReturn(first, last, key, returned)
      if (why !== null) throw scanner.fail(why, pairAt, RANGE_HINT)
      scanner.expect(COMMA)
      range.addPair(keys.of(key), this.takeValueId(builder))
      scanner.expect(CLOSE_LIST)
    })
    this.close(builder, 'range')
  }

  /** Takes the rest of a read that did not return one row: its key, and what each row held. */
  private takeRows(builder: HistoryBuilder, txn: number): void {
    const { scanner } = this
    const key = this.takeKey(builder)
    const hint = '["rows","x",[]] found none, ["rows","x",[1,2]] two'
    scanner.need(OPEN_LIST, 'a list of rows', hint)
    const lists: number[] = []
    let isList = false
    forEachItem(scanner, (position) => {
      const ofList = scanner.skipSpace() === OPEN_LIST
      if (position > 0 && ofList !== isList) {
        throw scanner.fail('rows of one key hold lists, or values, not both')
      }
      isList = ofList
      if (ofList) lists.push(this.takeList(builder))
      else {
        const value = this.takeValueId(builder)
        lists.push(builder.beginList())
        builder.addElement(value)
      }
    })
    builder.addRows(txn, key, lists, isList)
    this.close(builder, 'rows')
  }

  /** Takes the key, and the commas around it. */
  private takeKey(builder: HistoryBuilder): number {
    this.comma()
    const key = this.takeSymbol(builder.keys, 'key')
    this.comma()
    return key
  }

  /** Of an element of a list, where null is a value like any other, or of anything else. */
  private takeValueId(builder: HistoryBuilder, isElement = false): number {
    if (this.scanner.skipSpace() !== 110) return this.takeSymbol(builder.values, 'value')
    this.scanner.expectWord('null')
    return isElement ? builder.values.of(null) : builder.valueId(null)
  }

  private takeList(builder: HistoryBuilder): number {
    const { scanner } = this
    const list = builder.beginList()
    scanner.expect(OPEN_LIST)
    if (scanner.skipSpace() === CLOSE_LIST) {
      scanner.at++
      return list
    }
    for (;;) {
      if (this.takeSmall(builder)) break
      builder.addElement(this.takeValueId(builder, true))
      if (scanner.skipSpace() === CLOSE_LIST) break
      scanner.expect(COMMA)
    }
    scanner.at++
    return list
  }

  /** Takes the usual elements, up to nine digits each; true if the list ends behind them. */
  private takeSmall(builder: HistoryBuilder): boolean {
    const { scanner } = this
    const { bytes } = scanner
    let p = scanner.at
    let isEnd = false
    while (!isEnd) {
      let q = p
      let value = 0
      let c = bytes[q]!
      for (; (c - 48) >>> 0 <= 9; c = bytes[++q]!) value = (Math.imul(value, 10) + c - 48) | 0
      isEnd = c === CLOSE_LIST
      // As in takeFast; what is not so is left to those who say what is wrong with it.
      if ((q - p - 1) >>> 0 > 8 || (bytes[p] === 48 && q > p + 1) || !(isEnd || c === COMMA)) {
        scanner.at = p
        return false
      }
      builder.addElement(value)
      p = isEnd ? q : q + 1
    }
    scanner.at = p
    return true
  }

  /** A string or an integer, interned. */
  takeSymbol(table: SymbolTable | ValueTable, what: string): number {
    const { scanner } = this
    const c = scanner.skipSpace()
    if (c === QUOTE) {
      scanner.scanString()
      if (scanner.escaped) return table.of(scanner.text())
      return table.ofBytes(scanner.bytes, scanner.textFrom, scanner.textTo)
    }
    if (beginsNumber(c)) {
      scanner.scanInteger(what)
      return table.ofWords(scanner.low, scanner.high, scanner.negative)
    }
    const found = typeAt(c)
    const hint = `a ${what} is an integer or a string${what === 'value' ? ', or null' : ''}`
    if (found) throw scanner.fail(`a ${what} cannot be ${found}`, scanner.at, hint)
    throw scanner.unexpected(`a ${what}`, hint)
  }

  /** A string, an integer, or null, as it is. */
  takeValue(what: string): Value {
    const { scanner } = this
    const c = scanner.skipSpace()
    if (c === 110) {
      scanner.expectWord('null')
      return null
    }
    if (c === QUOTE) {
      scanner.scanString()
      return scanner.text()
    }
    if (!beginsNumber(c)) throw scanner.unexpected(`the ${what}`)
    return scanner.takeInteger(what)
  }

  private comma(): void {
    const { scanner } = this
    if (scanner.skipSpace() === CLOSE_LIST) {
      throw scanner.fail('the operation lacks its key or its value', scanner.at, VERBS)
    }
    scanner.expect(COMMA)
  }

  private kindOf(): number {
    const { scanner } = this
    if (scanner.textIs('r')) return READ
    if (scanner.textIs('w')) return WRITE
    return scanner.textIs('append') ? APPEND : -1
  }

  private unknownVerb(at: number): InputError {
    const { scanner } = this
    const verb = scanner.text()
    const shown = quote(verb)
    if (STATEMENTS.includes(verb)) {
      return scanner.fail(`${shown} is a statement, which is an object`, at, STATEMENT)
    }
    return scanner.fail(`unknown operation ${shown}`, at, VERBS)
  }
}
