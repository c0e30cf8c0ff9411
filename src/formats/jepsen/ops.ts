// The micro-operations of a Jepsen transaction, [[:r :x [1 2]] [:append :y 3] [:w :z 4]], in EDN or
// JSON, and the wrapping of `independent` tests, [key [[:r :x nil] …]], whose keys are worlds of
// their own: key x of world 3 becomes the key "[3 x]".

import type { HistoryBuilder } from '../../history/builder.ts'
import { APPEND, NONE, READ, READ_LIST, WRITE } from '../../history/history.ts'
import { SymbolTable } from '../../history/symbols.ts'
import type { Value, ValueTable } from '../../history/values.ts'
import { CLOSE_PAREN, closingOf, type EdnScanner, HASH, OPEN_PAREN } from '../edn.ts'
import { CLOSE_LIST, COLON, OPEN_LIST, OPEN_MAP, QUOTE } from '../scanner.ts'
import { type JepsenEvents, READ_NIL } from './events.ts'

const VERBS = 'there are [:r key value], [:append key value] and [:w key value]'
const SHAPE = 'a transaction looks like [[:r :x [1 2]] [:append :y 3]]'

const REGISTERS =
  'a register has {:f :read, :value 1}, {:f :write, :value 2}, {:f :cas, :value [1 2]}; with independent keys :value is [key 1] or [key [1 2]]'

/** The key of the register where a test has only one. */
const REGISTER = 'register'

/** What the key of an element holds once it was added. */
const PRESENT = 1

/** What tests of single registers do. */
const REGISTER_VERBS = ['read', 'write', 'cas'] as const
export type RegisterVerb = (typeof REGISTER_VERBS)[number]

export function findRegisterVerb(name: string): RegisterVerb | null {
  return REGISTER_VERBS.find((verb) => verb === name) ?? null
}

export class MicroOpReader {
  /** The world of the transaction last read, NONE if it was not wrapped. */
  group = NONE
  readonly groups = new SymbolTable()
  private groupName = ''
  private readonly symbols = new SymbolTable() // keys that are only part of a name
  private line = 0 // where the next operation stands
  private column = 0

  constructor(
    private readonly scanner: EdnScanner,
    private readonly builder: HistoryBuilder,
    private readonly events: JepsenEvents,
  ) {}

  /** Takes the whole value of an event. Throws InputError if it is no transaction. */
  takeTxn(): void {
    const { scanner } = this
    this.group = NONE
    const close = this.open('a transaction', SHAPE)
    const c = scanner.skipTags()
    if (c === close) {
      scanner.at++
      return
    }
    if (c === OPEN_LIST || c === OPEN_PAREN) return this.takeOps(close)
    // Not an operation: the key that an `independent` test wraps the transaction in.
    if (c === HASH || c === OPEN_MAP) throw scanner.unexpected('a micro-operation', VERBS)
    this.groupName = renderSymbol(this.takeValue('key of an independent test'))
    this.group = this.groups.of(this.groupName)
    const inner = this.open('the transaction of an independent key', SHAPE)
    if (scanner.skipTags() === inner) scanner.at++
    else this.takeOps(inner)
    if (scanner.skipSpace() !== close) throw scanner.unexpected('the end of an independent value')
    scanner.at++
  }

  /**
   * Takes the value of a :read, :write or :cas, which is one step on a register: on the only one,
   * or, as [key value], on that of an independent key. Throws InputError if it is something else.
   */
  takeRegister(verb: RegisterVerb): void {
    const { scanner, builder } = this
    this.group = NONE
    this.beginOp()
    const c = scanner.skipTags()
    const isVector = c === OPEN_LIST || c === OPEN_PAREN
    if (!isVector) return this.takeStep(verb, builder.keys.of(REGISTER))
    const back = scanner.place()
    scanner.at++
    const first = this.takeRegisterValue()
    const second = scanner.skipTags()
    const isPair = second === OPEN_LIST || second === OPEN_PAREN
    if (verb === 'cas' && !isPair) {
      scanner.goBack(back)
      return this.takeStep(verb, builder.keys.of(REGISTER))
    }
    const key = builder.values.get(first)
    this.group = this.groups.of(renderSymbol(key))
    this.takeStep(verb, builder.keys.of(key))
    this.takeEnd(closingOf(c), verb)
  }

  /** Takes the element that an :add puts into the set: a key that then holds something. */
  takeAdd(): void {
    this.group = NONE
    this.scanner.skipTags()
    this.takePresent(WRITE)
  }

  /** Whether the value that comes next is a set: #{1 2}, or a vector or list of elements. */
  isSet(): boolean {
    const { scanner } = this
    const c = scanner.skipTags()
    return c === HASH || c === OPEN_LIST || c === OPEN_PAREN
  }

  /** Takes the elements of a set that was read. */
  takeSet(): void {
    const { scanner } = this
    this.group = NONE
    const isEdnSet = scanner.skipTags() === HASH
    if (isEdnSet) scanner.at++
    const met = new Set<number>()
    const close = closingOf(scanner.bytes[scanner.at]!)
    scanner.at++
    while (scanner.skipTags() !== close) {
      const at = scanner.at
      const key = this.takePresent(READ)
      if (isEdnSet && met.has(key)) {
        const hint =
          'a set #{…} has each element once; what was read more than once is told by a vector'
        throw scanner.fail('an element stands in a set twice', at, hint)
      }
      met.add(key)
    }
    scanner.at++
  }

  /** Takes an element of a set, which is in it; the element as a key. */
  private takePresent(kind: number): number {
    const { builder } = this
    this.beginOp()
    const key = this.takeSymbol(builder.keys, 'set element')
    this.addOp(kind, key, builder.valueId(PRESENT))
    return key
  }

  /** The next operation stands here. */
  private beginOp(): void {
    this.line = this.scanner.line
    this.column = this.scanner.column()
  }

  private addOp(kind: number, key: number, value: number): void {
    this.events.addOp(kind, key, value, this.line, this.column)
  }

  /** What happens to the register. */
  private takeStep(verb: RegisterVerb, key: number): void {
    const { scanner } = this
    if (verb === 'cas') {
      const close = this.open('what is compared and what is set', REGISTERS)
      this.addOp(READ, key, this.takeRegisterValue())
      this.addOp(WRITE, key, this.takeRegisterValue())
      return this.takeEnd(close, verb)
    }
    // A read that returned nothing is one of the initial value, if it was answered at all.
    scanner.skipTags()
    if (verb === 'read' && scanner.takeNil()) return this.addOp(READ_NIL, key, 0)
    this.addOp(verb === 'read' ? READ : WRITE, key, this.takeRegisterValue())
  }

  private takeRegisterValue(): number {
    const { scanner, builder } = this
    scanner.skipTags()
    return scanner.takeNil() ? builder.valueId(null) : this.takeSymbol(builder.values, 'value')
  }

  private takeEnd(close: number, verb: RegisterVerb): void {
    const { scanner } = this
    if (scanner.skipSpace() !== close) {
      throw scanner.unexpected(`the end of the value of a :${verb}`, REGISTERS)
    }
    scanner.at++
  }

  /** Takes an opening bracket and returns the closing one. */
  private open(wanted: string, hint: string): number {
    const { scanner } = this
    const c = scanner.skipTags()
    if (c !== OPEN_LIST && c !== OPEN_PAREN) throw scanner.unexpected(wanted, hint)
    scanner.at++
    return closingOf(c)
  }

  private takeOps(close: number): void {
    const { scanner } = this
    for (;;) {
      this.takeOp()
      const c = scanner.skipTags()
      if (c === close) break
      if (c !== OPEN_LIST && c !== OPEN_PAREN) throw scanner.unexpected('a micro-operation', VERBS)
    }
    scanner.at++
  }

  private takeOp(): void {
    const { scanner } = this
    this.beginOp()
    const close = this.open('a micro-operation', VERBS)
    const kind = this.takeVerb()
    const key = this.takeKey()
    const c = scanner.skipTags()
    if (c === CLOSE_LIST || c === CLOSE_PAREN) {
      throw scanner.fail('the micro-operation lacks its value', scanner.at, VERBS)
    }
    if (kind === APPEND) this.addOp(APPEND, key, this.takeElement())
    else if (kind === WRITE) this.addOp(WRITE, key, this.takeRegisterValue())
    else if (c === OPEN_LIST || c === OPEN_PAREN) {
      this.addOp(READ_LIST, key, this.takeList(closingOf(c)))
    } else if (scanner.takeNil()) this.addOp(READ_NIL, key, 0)
    else this.addOp(READ, key, this.takeRegisterValue())
    if (scanner.skipSpace() !== close) {
      throw scanner.unexpected('the end of the micro-operation', VERBS)
    }
    scanner.at++
  }

  private takeVerb(): number {
    const { scanner } = this
    scanner.skipTags()
    const at = scanner.at
    scanner.scanName('the name of a micro-operation')
    if (scanner.textIs('r')) return READ
    if (scanner.textIs('append')) return APPEND
    if (scanner.textIs('w')) return WRITE
    const name = JSON.stringify(scanner.text().slice(0, 40))
    throw scanner.fail(`unknown micro-operation ${name}`, at, VERBS)
  }

  private takeKey(): number {
    const { scanner, builder } = this
    if (this.group === NONE) {
      scanner.skipTags()
      return this.takeSymbol(builder.keys, 'key')
    }
    const key = renderSymbol(this.takeValue('key'))
    return builder.keys.of(`[${this.groupName} ${key}]`)
  }

  /** The elements of a list that was read; `at` is at its bracket. */
  private takeList(close: number): number {
    const { scanner, builder } = this
    const list = builder.beginList()
    scanner.at++
    for (;;) {
      this.takeSmall()
      const c = scanner.skipTags()
      if (c === close) break
      builder.addElement(this.takeElement())
    }
    scanner.at++
    return list
  }

  /** An element of a list, where nil is a value like any other. */
  private takeElement(): number {
    const { values } = this.builder
    return this.scanner.takeNil() ? values.of(null) : this.takeSymbol(values, 'value')
  }

  /** Takes the usual elements: up to nine digits, the first not 0, one space or comma between them. */
  private takeSmall(): void {
    const { scanner, builder } = this
    const { bytes } = scanner
    let p = scanner.at
    for (;;) {
      let q = p
      let value = 0
      let c = bytes[q]!
      if (c === 48) break
      for (; (c - 48) >>> 0 <= 9; c = bytes[++q]!) value = (Math.imul(value, 10) + c - 48) | 0
      if ((q - p - 1) >>> 0 > 8 || (c !== 32 && c !== 44 && c !== CLOSE_LIST)) break
      builder.addElement(value)
      p = q
      if (c === CLOSE_LIST) break
      p++
    }
    scanner.at = p
  }

  /** A keyword, string or integer, interned. */
  private takeSymbol(table: SymbolTable | ValueTable, what: string): number {
    const { scanner } = this
    const c = scanner.bytes[scanner.at]!
    if ((c >= 48 && c <= 57) || c === 45 || c === 43) {
      scanner.scanInteger(what)
      return table.ofWords(scanner.low, scanner.high, scanner.negative)
    }
    if (c === COLON) {
      const from = scanner.at
      scanner.scanName(`a ${what}`)
      return table.ofBytes(scanner.bytes, from, scanner.textTo)
    }
    if (c === QUOTE) {
      scanner.scanString()
      if (scanner.escaped) return table.of(scanner.text())
      return table.ofBytes(scanner.bytes, scanner.textFrom, scanner.textTo)
    }
    throw scanner.unexpected(`a ${what}`, `a ${what} is an integer, a keyword or a string`)
  }

  /** A keyword, string or integer, as it is. */
  private takeValue(what: string): Value {
    this.scanner.skipTags()
    return this.symbols.get(this.takeSymbol(this.symbols, what))
  }
}

/** A key inside the name of another: strings in quotes, keywords and integers as they are. */
function renderSymbol(value: Value): string {
  if (typeof value !== 'string') return String(value)
  return value.startsWith(':') ? value : JSON.stringify(value)
}
