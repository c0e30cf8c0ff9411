// Viper's JSON lines: one file a session, one transaction a line,
// {"value":[["w",key,value,ok],["r",key,value,isDead],["i",key,value],["d",key,value]]}. Inserts
// and deletes are writes of a value of their own (a deleted row has a version too, and a read that
// is dead saw it); a write that is not ok never happened. Range operations are not supported.
//
// One file may hold the initial transaction, {"isInitial":true,…}. It comes before all others, so
// its values become the initial state: reads of them are reads of null, the initial value here.

import { HistoryBuilder } from '../../history/builder.ts'
import { COMMITTED, type History, NONE, READ, WRITE } from '../../history/history.ts'
import { openSession } from '../files.ts'
import { beginsNumber, JsonScanner } from '../json.ts'
import { forEachField, forEachItem, takeFlag } from '../json-walk.ts'
import { LineParser, NEWLINE } from '../lines.ts'
import { OPEN_MAP, QUOTE } from '../scanner.ts'

const SHAPE = 'a line looks like {"value":[["w","x",1,true],["r","y",2,false]]}'

interface Op {
  kind: number
  key: number
  value: number
}

export class ViperParser extends LineParser {
  private readonly builder = new HistoryBuilder(null)
  private readonly scanner = new JsonScanner(false)
  private readonly initial = new Map<number, number>() // key -> value of the initial transaction
  private session = NONE
  private line = 1
  private fileName = 'T0.jsonl'

  /** Begins the next file, which is another session. */
  beginFile(name: string): void {
    this.line = 1
    this.session = NONE
    this.fileName = name
  }

  endFile(): void {
    this.endLines()
  }

  protected nextLine(): number {
    return this.line
  }

  protected parseLines(bytes: Uint8Array, from: number, to: number): void {
    const { scanner } = this
    let at = from
    while (at < to) {
      scanner.load(bytes, at, this.line)
      if (scanner.skipSpace() !== NEWLINE) this.parseLine()
      if (scanner.skipSpace() !== NEWLINE) throw scanner.unexpected('the end of the line')
      at = scanner.at + 1
      this.line++
    }
  }

  protected build(): History {
    if (this.initial.size > 0) this.readInitially()
    return this.builder.finish(null, this.duplicateValues)
  }

  private parseLine(): void {
    const { scanner } = this
    const begin = scanner.at
    let ops: Op[] | null = null
    let isInitial = false
    scanner.need(OPEN_MAP, 'a JSON object', SHAPE)
    forEachField(scanner, (name) => {
      if (name === 'value') ops = this.parseOps()
      else if (name !== 'isInitial') scanner.skipValue()
      else isInitial = takeFlag(scanner)
    })
    if (ops === null) throw scanner.fail('the line has no "value"', begin, SHAPE)
    if (isInitial) return this.takeInitial(ops, begin)
    if (this.session === NONE) this.session = openSession(this.builder, this.fileName)
    const txn = this.builder.addTxn(this.session, COMMITTED)
    for (const { kind, key, value } of ops as Op[]) this.builder.addOp(txn, kind, key, value)
  }

  private takeInitial(ops: Op[], begin: number): void {
    for (const { kind, key, value } of ops) {
      if (kind === READ || this.initial.has(key)) {
        const message = 'the initial transaction writes each key once, and reads nothing'
        throw this.scanner.fail(message, begin)
      }
      this.initial.set(key, value)
    }
  }

  /** Turns reads of what the initial transaction wrote into reads of the initial value, null. */
  private readInitially(): void {
    const { opKind, opKey, opValue, values } = this.builder
    const initial = this.builder.valueId(null)
    const nothing = values.of('(nothing)')
    for (let op = 0; op < opKind.length; op++) {
      const value = this.initial.get(opKey.data[op]!)
      if (value === undefined) continue
      if (opKind.data[op] === WRITE) {
        if (opValue.data[op] === value) opValue.data[op] = initial // written twice: an error
      } else if (opValue.data[op] === value) {
        opValue.data[op] = initial
      } else if (opValue.data[op] === initial) {
        opValue.data[op] = nothing // the key was there from the start: nobody wrote this
      }
    }
  }

  private parseOps(): Op[] {
    const ops: Op[] = []
    forEachItem(this.scanner, () => {
      const op = this.parseOp()
      if (op) ops.push(op)
    })
    return ops
  }

  /** One operation; null for a write that failed. */
  private parseOp(): Op | null {
    const { scanner, builder } = this
    const op: Op = { kind: NONE, key: NONE, value: NONE }
    let flag: boolean | null = null
    let count = 0
    forEachItem(scanner, (position) => {
      count = position + 1
      if (position === 0) op.kind = this.parseVerb()
      else if (position === 1) op.key = this.parseSymbol('key')
      else if (position === 2) op.value = this.parseSymbol('value')
      else if (position === 3) flag = takeFlag(scanner)
      else scanner.skipValue()
    })
    if (count < 3) throw scanner.fail('the operation lacks its key or its value', scanner.at, SHAPE)
    if (op.value === NONE) op.value = builder.valueId(null)
    return op.kind === WRITE && flag === false ? null : op
  }

  private parseVerb(): number {
    const { scanner } = this
    const at = scanner.at
    scanner.scanString()
    if (scanner.textIs('r')) return READ
    if (scanner.textIs('w') || scanner.textIs('i') || scanner.textIs('d')) return WRITE
    if (scanner.textIs('range')) {
      const message = 'range operations are not supported'
      throw scanner.fail(message, at, 'record point reads and writes', 'unsupported')
    }
    throw scanner.fail('unknown operation', at, 'there are "r", "w", "i" and "d"')
  }

  /** A key or value, interned; NONE for null, which only a value may be. */
  private parseSymbol(what: 'key' | 'value'): number {
    const { scanner } = this
    const table = what === 'key' ? this.builder.keys : this.builder.values
    const c = scanner.skipSpace()
    if (c === QUOTE) {
      scanner.scanString()
      return table.of(scanner.text())
    }
    if (c === 110 && what === 'value') {
      scanner.expectWord('null')
      return NONE
    }
    if (!beginsNumber(c)) throw scanner.unexpected(`a ${what} (an integer or a string)`)
    scanner.scanInteger(what)
    return table.ofWords(scanner.low, scanner.high, scanner.negative)
  }
}
