// dbcop's JSON (its version of 2026): one document,
// {"params":{…},"info":…,"start":…,"end":…,"data":[[{"events":[…],"committed":true}, …], …]}, where
// an event is {"Write":{"variable":0,"version":1}}, {"Read":{"variable":0,"version":null}}, or
// compact, ["w",0,1], ["r",0,null]. The version null is the initial state, as is 0. What did not
// commit is aborted. Only `data` is looked at.

import { HistoryBuilder } from '../../history/builder.ts'
import { ABORTED, COMMITTED, type History, READ, WRITE } from '../../history/history.ts'
import { beginsNumber, JsonScanner } from '../json.ts'
import { forEachField, forEachItem, takeFlag } from '../json-walk.ts'
import { TextPlaces } from '../places.ts'
import { OPEN_LIST, QUOTE } from '../scanner.ts'
import { DocumentParser } from '../source.ts'

export class DbcopJsonParser extends DocumentParser {
  private readonly builder = new HistoryBuilder(0)
  private readonly scanner = new JsonScanner(true)
  private readonly places = new TextPlaces()

  finish(): History {
    const { scanner } = this
    scanner.load(this.all(), 0, 1)
    scanner.skipSpace()
    if (scanner.isEnd(scanner.at)) return this.builder.finish()
    let found = false
    forEachField(scanner, (name) => {
      if (name !== 'data') return scanner.skipValue()
      if (found) throw scanner.fail('"data" is given twice')
      found = true
      let session = 0
      forEachItem(scanner, () => {
        const id = this.builder.session(session++)
        forEachItem(scanner, () => this.readTxn(id))
      })
    })
    if (!found) throw scanner.fail('the document has no "data"', 0)
    scanner.skipSpace()
    if (!scanner.isEnd(scanner.at)) throw scanner.unexpected('the end of the file')
    return this.builder.finish(this.places, this.options.duplicateValues)
  }

  private readTxn(session: number): void {
    const { scanner } = this
    const begin = scanner.at
    const txn = this.builder.addTxn(session, COMMITTED)
    const seen = new Set<string>()
    forEachField(scanner, (name) => {
      if (seen.has(name)) throw scanner.fail(`"${name}" is given twice`)
      if (name === 'events') forEachItem(scanner, () => this.readEvent(txn))
      else if (name !== 'committed') return scanner.skipValue()
      else if (!takeFlag(scanner)) this.builder.setStatus(txn, ABORTED)
      seen.add(name)
    })
    for (const name of ['events', 'committed']) {
      if (!seen.has(name)) throw scanner.fail(`the transaction has no "${name}"`, begin)
    }
  }

  private readEvent(txn: number): void {
    const { scanner } = this
    const shape = 'an event is either {"Read":…} or {"Write":…}'
    this.step()
    this.places.add(scanner.bytes, scanner.at)
    if (scanner.skipSpace() === OPEN_LIST) return this.readCompact(txn)
    let kind = -1
    forEachField(scanner, (name) => {
      if (kind >= 0 || (name !== 'Read' && name !== 'Write')) throw scanner.fail(shape)
      kind = name === 'Read' ? READ : WRITE
      this.readVersion(txn, kind)
    })
    if (kind < 0) throw scanner.fail(shape)
  }

  private readVersion(txn: number, kind: number): void {
    const { scanner } = this
    const begin = scanner.at
    let key = -1
    let value = -1
    forEachField(scanner, (name) => {
      if (name === 'variable') key = this.readNumber(false, 'variable')
      else if (name === 'version') value = this.readNumber(true, 'version')
      else scanner.skipValue()
    })
    if (key < 0 || value < 0) {
      throw scanner.fail('the event lacks its "variable" or its "version"', begin)
    }
    this.builder.addOp(txn, kind, key, value)
  }

  private readCompact(txn: number): void {
    const { scanner } = this
    const parts = [-1, -1, -1]
    let count = 0
    forEachItem(scanner, (position) => {
      count = position + 1
      if (position === 0) {
        scanner.need(QUOTE, '"r" or "w"')
        scanner.scanString()
        if (!scanner.textIs('r') && !scanner.textIs('w')) {
          throw scanner.fail('an event begins with "r" or "w"', scanner.textFrom)
        }
        parts[0] = scanner.textIs('r') ? READ : WRITE
      } else parts[position] = this.readNumber(position > 1, position > 1 ? 'version' : 'variable')
    })
    if (count !== 3) throw scanner.fail('an event looks like ["r",variable,version]')
    this.builder.addOp(txn, parts[0]!, parts[1]!, parts[2]!)
  }

  /** The id of a key or a value; null only as a value. */
  private readNumber(isValue: boolean, what: string): number {
    const { scanner, builder } = this
    const c = scanner.skipSpace()
    if (isValue && c === 110) {
      scanner.expectWord('null')
      return builder.valueId(null)
    }
    if (!beginsNumber(c)) throw scanner.unexpected(`a ${what} (an integer)`)
    scanner.scanInteger(what)
    const table = isValue ? builder.values : builder.keys
    return table.ofWords(scanner.low, scanner.high, scanner.negative)
  }
}
