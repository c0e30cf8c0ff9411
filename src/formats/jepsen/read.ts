// Jepsen's histories, as Elle reads them: maps such as
//   {:index 3, :type :ok, :process 0, :f :txn, :value [[:r :x [1 2]] [:append :y 3]], :time 812}
// one after another or in one vector, as EDN, JSON or JSON lines, with keys in any order. List
// appends and read-write registers, but not both in one file; also single registers with :read,
// :write and :cas, which are transactions of one step, and sets with :add and :read, whose elements
// are keys. Operations of processes that are not clients (:nemesis) become annotations; keys that
// mean nothing here are read past.
//
// The text may come in pieces of any size: an event that is cut off is read again with the next
// piece. Transactions are made at the end, by pairs.ts.

import { InputError } from '../../base/errors.ts'
import { enlarged } from '../../base/grow.ts'
import { UTF8 } from '../../base/unicode.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { type History, NONE } from '../../history/history.ts'
import { SymbolTable } from '../../history/symbols.ts'
import { closingOf, EdnScanner, END, HASH, OPEN_PAREN, type ScanPlace } from '../edn.ts'
import { beginsNumber } from '../json.ts'
import { CLOSE_MAP, COLON, OPEN_LIST, OPEN_MAP, QUOTE } from '../scanner.ts'
import { type HistoryParser, limitsFor, type ParseOptions, tooLarge } from '../source.ts'
import { EVENT_TYPES, INVOKE, JepsenEvents, OK } from './events.ts'
import { findRegisterVerb, MicroOpReader } from './ops.ts'
import { Pairing } from './pairs.ts'

const SHAPE = 'e.g. {:type :ok, :process 0, :f :txn, :value [[:r :x nil]], :index 1}'
const WORKLOADS =
  'read are transactions of :r, :w and :append (list-append, rw-register, long-fork) and registers with :read, :write and :cas, one or with independent keys, and sets with :add and :read; counters, banks and monotonic values are judged by isobar workload; for queues Jepsen has checkers'
const JSON_KEY = /^[\s,[(]*\{\s*"[^"\\]*"\s*:(\s|["[{\d-]|(true|false|null)\b)/
const MAX_ANNOTATION = 200

/** Fields of an event. */
const NAMES = ['value', 'type', 'process', 'index', 'f']
const VALUE = 0
const TYPE = 1
const INDEX = 3
const F = 4
const OTHER = 5

export class JepsenParser implements HistoryParser {
  private readonly builder = new HistoryBuilder(null)
  private readonly events = new JepsenEvents()
  private readonly processes = new SymbolTable()
  private readonly scanner = new EdnScanner()
  private readonly ops: MicroOpReader
  private readonly eventBytes: number
  private buffer = new Uint8Array(1 << 16)
  private length = 0 // bytes in the buffer
  private nextTry = 1 // length from which reading on is worth while
  private closing = 0 // bracket that ends the vector around all events, 0 if there is none
  private closed = false
  private begun = false
  private eventCount = 0 // of clients and others
  private hasAdds = false // whether it is about a set
  private registerAt = NONE // where a register was read or written last
  private fields = new EventFields(0)

  constructor(private readonly options: ParseOptions = {}) {
    this.eventBytes = limitsFor(options.memoryBytes).lineBytes
    this.ops = new MicroOpReader(this.scanner, this.builder, this.events)
  }

  push(bytes: Uint8Array): void {
    const length = this.length + bytes.length
    if (length + 1 > this.buffer.length) {
      this.buffer = enlarged(this.buffer, Math.max(length + 1, this.buffer.length * 2))
    }
    this.buffer.set(bytes, this.length)
    this.length = length
    if (length >= this.nextTry) this.readOn(false)
  }

  finish(): History {
    this.readOn(true)
    const { builder, events, processes, ops, options } = this
    const how = { hasSet: this.hasAdds, duplicateValues: options.duplicateValues === true }
    return new Pairing(builder, events, processes, ops.groups, how).build()
  }

  place() {
    return { line: this.scanner.line, column: this.scanner.column() }
  }

  /** Reads the events that are complete, and keeps the rest. */
  private readOn(final: boolean): void {
    const { scanner, buffer } = this
    buffer[this.length] = 0
    scanner.load(buffer, this.length, 0, final)
    if (!this.begun) scanner.json = looksLikeJson(buffer, this.length)
    let opCount = this.events.opCount
    try {
      for (let more = true; more; ) {
        scanner.mark()
        opCount = this.events.opCount
        more = this.readNext()
      }
    } catch (error) {
      if (final || !(error instanceof InputError) || error.code !== 'truncated') throw error
      scanner.goBack()
      this.events.dropOps(opCount)
    }
    const rest = this.length - scanner.at
    if (rest > this.eventBytes) throw tooLarge('the operation', this.eventBytes, this.place())
    buffer.copyWithin(0, scanner.at, this.length)
    this.length = rest
    scanner.load(buffer, rest, scanner.at, final)
    // Reading a long event again and again would take quadratic time.
    this.nextTry = rest + (rest >> 1) + 1
  }

  /** Reads one event, or a bracket around all of them; false at the end of the text. */
  private readNext(): boolean {
    const { scanner } = this
    const c = scanner.skipTags()
    if (c === END) {
      if (scanner.final && this.closing !== 0 && !this.closed) {
        throw scanner.unexpected('the end of the vector')
      }
      return false
    }
    if (this.closed) throw scanner.unexpected('the end of the file')
    if (c === OPEN_MAP) this.readEvent()
    else if (!this.begun && (c === OPEN_LIST || c === OPEN_PAREN)) {
      this.closing = closingOf(c)
      scanner.at++
    } else if (c === this.closing) {
      this.closed = true
      scanner.at++
    } else throw scanner.unexpected('an operation', SHAPE)
    this.begun = true
    return true
  }

  private readEvent(): void {
    const { scanner } = this
    const begin = scanner.at
    this.fields = new EventFields(this.events.opCount)
    scanner.at++
    let seen = 0 // bits of the fields that were there
    while (scanner.skipSpace() !== CLOSE_MAP) {
      const field = this.takeField()
      if ((seen & (1 << field)) !== 0) {
        throw scanner.fail(`the operation has two fields ${NAMES[field]}`, begin)
      }
      if (field !== OTHER) seen |= 1 << field
      this.takeValue(field)
    }
    scanner.at++
    const position = this.eventCount++
    if (this.fields.source === null) this.keep(begin, position)
    else this.annotate(position)
  }

  private takeField(): number {
    const { scanner } = this
    const c = scanner.bytes[scanner.at]!
    if (c !== COLON && c !== QUOTE) {
      scanner.skipForm() // a number, a symbol, anything
      return OTHER
    }
    scanner.scanName('the name of a field')
    const field = findName(scanner, NAMES, OTHER)
    return field < 0 ? OTHER : field
  }

  private takeValue(field: number): void {
    const { scanner, fields } = this
    if (field === OTHER) return scanner.skipForm()
    if (scanner.skipTags() === CLOSE_MAP) throw scanner.unexpected('a value')
    if (field === VALUE) return this.takeTxn()
    if (scanner.takeNil()) return
    if (field === TYPE) {
      fields.typeAt = scanner.at
      scanner.scanName('the type of an operation')
      fields.type = findName(scanner, EVENT_TYPES, EVENT_TYPES.length)
    } else if (field === INDEX) fields.index = this.takeIndex()
    else if (field === F) {
      fields.fFrom = scanner.at
      scanner.skipForm()
      fields.fTo = scanner.at
    } else if (beginsNumber(scanner.bytes[scanner.at]!)) {
      scanner.scanInteger('process')
      fields.process = this.processes.ofWords(scanner.low, scanner.high, scanner.negative)
    } else {
      const from = scanner.at
      scanner.skipForm()
      fields.source = this.wordAt(from, scanner.at)
    }
  }

  /** The value of an event; if it is no transaction, that may yet turn out not to matter. */
  private takeTxn(): void {
    const { scanner, fields, ops, events } = this
    fields.valueFrom = scanner.at
    const back = scanner.place()
    fields.valuePlace = back
    fields.isNil = scanner.takeNil()
    if (!fields.isNil) {
      try {
        ops.takeTxn()
        fields.hasOps = 1
      } catch (error) {
        if (!(error instanceof InputError) || error.code === 'truncated') throw error
        fields.trouble = error
        events.dropOps(fields.opStart)
        scanner.goBack(back)
        scanner.skipForm()
      }
    }
    fields.valueTo = scanner.at
  }

  /** Where the value is no transaction, by :f it may be one step on a register or a set. */
  private takeStep(type: number, begin: number): void {
    const { fields, ops } = this
    const name = this.wordAt(fields.fFrom, fields.fTo)
    if (name === 'add') {
      this.refuseCounter(begin, this.registerAt >= 0)
      this.hasAdds = true
      return this.takeAgain(() => ops.takeAdd())
    }
    const verb = findRegisterVerb(name)
    if (verb === null) {
      const { trouble } = fields
      if (trouble === null || name === '' || name === 'txn') return
      const message = `the operation :${name} is no transaction: ${trouble.message}`
      fields.trouble = new InputError('not-a-transaction', message, trouble.place, WORKLOADS)
      return
    }
    if (type !== OK && fields.isNil) return
    this.takeAgain(() => {
      const isEdnSet = this.scanner.skipTags() === HASH
      const isSet = verb === 'read' && (isEdnSet || (this.hasAdds && ops.isSet()))
      if (isSet) {
        ops.takeSet()
        fields.isSetRead = 1
        return
      }
      if (type === OK) this.refuseCounter(begin, this.hasAdds && !fields.isNil)
      this.registerAt = begin
      ops.takeRegister(verb)
    })
  }

  private refuseCounter(begin: number, isCounter: boolean): void {
    if (!isCounter) return
    const message = 'the operations :add and :read of a number are those of a counter'
    throw this.scanner.fail(message, begin, WORKLOADS, 'not-a-transaction')
  }

  /** Reads the value once more, as something else. */
  private takeAgain(take: () => void): void {
    const { scanner, fields, events } = this
    if (fields.valuePlace === null) return
    const end = scanner.place()
    scanner.goBack(fields.valuePlace)
    try {
      take()
      fields.hasOps = 1
      fields.trouble = null
    } catch (error) {
      if (!(error instanceof InputError) || error.code === 'truncated') throw error
      if (error.code === 'not-a-transaction') throw error
      events.dropOps(fields.opStart)
      const hint = error.hint === null ? WORKLOADS : `${error.hint}; ${WORKLOADS}`
      fields.trouble = new InputError(error.code, error.message, error.place, hint)
    }
    scanner.goBack(end)
  }

  private takeIndex(): number {
    const { scanner } = this
    const from = scanner.at
    scanner.scanInteger('index')
    const index = scanner.high * 4294967296 + (scanner.low >>> 0)
    if (index < 0 || !Number.isSafeInteger(index)) {
      throw scanner.fail('the index is not a number from 0 to 2^53', from)
    }
    return index
  }

  /** A name that is only for people: whatever stands there. */
  private wordAt(from: number, to: number): string {
    return this.textOf(from, to).replace(/^[:"]|"$/g, '')
  }

  /** @param from NONE if nothing stood there */
  private textOf(from: number, to: number): string {
    if (from === NONE) return ''
    const text = UTF8.decode(this.buffer.subarray(from, Math.min(to, from + MAX_ANNOTATION)))
    return to - from > MAX_ANNOTATION ? `${text}…` : text
  }

  private annotate(position: number): void {
    const { fields, builder, events } = this
    events.dropOps(fields.opStart)
    const value = this.textOf(fields.valueFrom, fields.valueTo)
    const type = fields.type < 0 ? '' : EVENT_TYPES[fields.type]!
    const name = this.wordAt(fields.fFrom, fields.fTo)
    const text = [type, name, value].filter((part) => part !== '').join(' ')
    const time = Number.isNaN(fields.index) ? position : fields.index
    builder.annotations.push({ time, source: fields.source!, text })
  }

  /** An event of a client. */
  private keep(begin: number, position: number): void {
    const { fields, scanner, events, ops } = this
    const { type } = fields
    if (type < 0) {
      if (fields.typeAt < 0) throw scanner.fail('the operation has no :type', begin, SHAPE)
      const hint = 'there are :invoke, :ok, :fail and :info'
      throw scanner.fail('unknown type of operation', fields.typeAt, hint)
    }
    if (!fields.hasOps) this.takeStep(type, begin)
    else if (type === OK && events.opCount === fields.opStart) fields.isSetRead = 1 // of nothing
    // What a client was told when it failed need not be a transaction; what it asked for is.
    if (fields.trouble !== null && (type === INVOKE || type === OK)) throw fields.trouble
    if (type === OK && !fields.hasOps) {
      throw scanner.fail('the :ok operation has no transaction as its :value', begin, SHAPE)
    }
    const place = scanner.placeOf(begin)
    events.type.push(type)
    events.process.push(fields.process)
    events.index.push(fields.index)
    events.position.push(position)
    events.group.push(fields.hasOps ? ops.group : NONE)
    events.hasOps.push(fields.hasOps)
    events.isSetRead.push(fields.isSetRead)
    events.opStart.push(fields.opStart)
    events.line.push(place.line)
    events.column.push(place.column)
  }
}

/** What is known of the event that is being read. */
class EventFields {
  type = NONE
  typeAt = NONE
  process = NONE // symbol of a client's process
  source: string | null = null // name of a process that is no client
  index = Number.NaN
  fFrom = NONE
  fTo = NONE
  hasOps = 0
  valueFrom = NONE
  valueTo = NONE
  valuePlace: ScanPlace | null = null // where the value begins
  isNil = false
  isSetRead = 0
  trouble: InputError | null = null // why the value is no transaction

  constructor(readonly opStart: number) {}
}

/** Which of the names was just read, or NONE. */
function findName(scanner: EdnScanner, names: readonly string[], count: number): number {
  for (let i = 0; i < count; i++) if (scanner.textIs(names[i]!)) return i
  return NONE
}

export function looksLikeJson(bytes: Uint8Array, length: number): boolean {
  return JSON_KEY.test(new TextDecoder('latin1').decode(bytes.subarray(0, Math.min(length, 4096))))
}
