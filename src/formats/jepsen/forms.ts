// A Jepsen history as it is, for workloads that are no transactions: every operation of a client
// with its value as plain data. Maps become Map, vectors, lists and sets become arrays, integers of
// any size bigints, keywords and strings text, nil null; a vector around all operations is looked
// into. Main function: readOperations.

import type { InputError } from '../../base/errors.ts'
import { enlarged } from '../../base/grow.ts'
import { UTF8 } from '../../base/unicode.ts'
import { CLOSE_PAREN, EdnScanner, END, HASH, OPEN_PAREN } from '../edn.ts'
import { CLOSE_LIST, CLOSE_MAP, COLON, OPEN_LIST, OPEN_MAP, QUOTE } from '../scanner.ts'
import { looksLikeJson } from './read.ts'

export type Form = null | bigint | string | readonly Form[] | ReadonlyMap<Form, Form>

export interface JepsenOperation {
  readonly type: string
  readonly f: string
  readonly process: bigint
  readonly value: Form
  readonly line: number
}

const MAX_DEPTH = 100

/** Operations of clients, in the order of the file. Throws InputError. */
export function readOperations(bytes: Uint8Array): JepsenOperation[] {
  return new FormReader(bytes).operations()
}

class FormReader {
  private readonly scanner = new EdnScanner()

  constructor(bytes: Uint8Array) {
    const ended = enlarged(bytes, bytes.length + 1)
    this.scanner.load(ended, bytes.length, 0, true)
    this.scanner.json = looksLikeJson(ended, bytes.length)
  }

  operations(): JepsenOperation[] {
    const { scanner } = this
    const found: JepsenOperation[] = []
    const first = scanner.skipTags()
    const closing = first === OPEN_LIST ? CLOSE_LIST : first === OPEN_PAREN ? CLOSE_PAREN : END
    if (closing !== END) scanner.at++
    for (let c = scanner.skipTags(); c !== closing; c = scanner.skipTags()) {
      scanner.mark()
      const { line } = scanner
      if (c !== OPEN_MAP) throw scanner.unexpected('an operation')
      const operation = this.operation(this.form(0) as ReadonlyMap<Form, Form>, line)
      if (operation !== null) found.push(operation)
    }
    return found
  }

  private operation(fields: ReadonlyMap<Form, Form>, line: number): JepsenOperation | null {
    const process = fields.get('process') ?? null
    if (typeof process !== 'bigint') return null // the nemesis
    const type = fields.get('type')
    const f = fields.get('f')
    if (typeof type !== 'string' || typeof f !== 'string') {
      throw this.malformed('the operation has no :type and :f')
    }
    return { type, f, process, value: fields.get('value') ?? null, line }
  }

  private malformed(message: string): InputError {
    return this.scanner.fail(message)
  }

  /** Whatever stands next. */
  private form(depth: number): Form {
    const { scanner } = this
    if (depth > MAX_DEPTH) throw this.malformed(`more than ${MAX_DEPTH} brackets are open`)
    let c = scanner.skipTags()
    if (c === HASH && scanner.bytes[scanner.at + 1] === OPEN_MAP) {
      scanner.at += 2
      return this.list(CLOSE_MAP, depth)
    }
    if (c === HASH) {
      scanner.skipForm()
      return null
    }
    c = scanner.bytes[scanner.at]!
    if (c === OPEN_MAP) return this.map(depth)
    if (c === OPEN_LIST || c === OPEN_PAREN) {
      scanner.at++
      return this.list(c === OPEN_LIST ? CLOSE_LIST : CLOSE_PAREN, depth)
    }
    if (c === QUOTE || c === COLON) {
      scanner.scanName('a name')
      return scanner.text()
    }
    if (scanner.takeNil()) return null
    const from = scanner.at
    scanner.skipToken()
    const token = UTF8.decode(scanner.bytes.subarray(from, scanner.at))
    return /^[+-]?\d+N?$/.test(token) ? BigInt(token.replace(/^\+|N$/g, '')) : token
  }

  private list(closing: number, depth: number): Form[] {
    const { scanner } = this
    const list: Form[] = []
    while (scanner.skipTags() !== closing) list.push(this.form(depth + 1))
    scanner.at++
    return list
  }

  private map(depth: number): ReadonlyMap<Form, Form> {
    const { scanner } = this
    const map = new Map<Form, Form>()
    scanner.at++
    while (scanner.skipTags() !== CLOSE_MAP) {
      const key = this.form(depth + 1)
      map.set(key, this.form(depth + 1))
    }
    scanner.at++
    return map
  }
}
