import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { ABORTED, COMMITTED } from '../../../src/history/history.ts'
import { some } from '../../long.ts'
import { refusal } from '../errors.ts'
import { dump } from '../histories.ts'

const parse = (text: string) => parseHistory(text, { format: 'plume' })

describe('PlumeParser', () => {
  it('reads transactions whose lines are interleaved, in the order they first appear', () => {
    const history = parse('w(1,1,5,7)\nr(2,0,3,9)\nw(2,2,5,7)\nr(1,1,3,9)\nw(1,3,5,8)\n')
    expect(dump(history)).toEqual([
      'initial 0',
      '5 T7 0 NaN NaN -1 w(1,1) w(2,2)',
      '3 T9 0 NaN NaN -1 r(2,0) r(1,1)',
      '5 T8 0 NaN NaN -1 w(1,3)',
    ])
    expect(Array.from({ length: 5 }, (_, op) => history.placeOf(op)?.line)).toEqual([1, 3, 2, 4, 5])
  })

  it('keeps numbers of 64 bits exactly', () => {
    const history = parse('w(18446744073709551615,9007199254740993,4294967296,1234567890123)\n')
    expect(history.keyName(0)).toBe(18446744073709551615n)
    expect(history.valueOf(0)).toBe(9007199254740993n)
    expect(history.sessionLabel(0)).toBe(4294967296)
    expect(history.txnLabel(0)).toBe(1234567890123)
  })

  it('tells values apart that are equal as doubles', () => {
    const history = parse('w(1,9007199254740993,0,0)\nr(1,9007199254740992,1,1)\n')
    expect(history.readFrom[1]).toBe(-1)
  })

  it('finds who wrote a value among very many that lie anywhere in 64 bits', () => {
    const random = new Random(1)
    const writes: [key: number, value: bigint][] = []
    const lines: string[] = []
    const writer: number[] = [] // op -> the write that a read saw, or the write itself
    const opOf: number[] = [] // write -> op
    for (let op = 0; op < 90_000; op++) {
      const readsNewest = random.below(2) === 0
      if (writes.length > 0 && random.below(3) === 0) {
        const write = readsNewest ? writes.length - 1 : random.below(writes.length)
        const [key, value] = writes[write]!
        lines.push(`r(${key},${value},${op % 7},${op % 7_000})`)
        writer.push(opOf[write]!)
        continue
      }
      const value = (BigInt(random.below(2 ** 31)) << 31n) | BigInt(random.below(2 ** 31))
      opOf.push(op)
      writes.push([random.below(100), value])
      lines.push(`w(${writes.at(-1)![0]},${value},${op % 7},${op % 7_000})`)
      writer.push(op)
    }
    const history = parse(`${lines.join('\n')}\n`)
    const lineOf = (op: number) => history.placeOf(op)!.line - 1
    for (let op = 0; op < history.opCount; op++) {
      const line = lineOf(op)
      const isRead = lines[line]!.startsWith('r')
      const from = isRead ? lineOf(history.readFrom[op]!) : line
      const text = lines[line]!.split(',')[1]
      if (from !== writer[line] || `${history.valueOf(op)}` !== text) expect.fail(lines[line])
    }
    const again = `${lines.join('\n')}\n${lines[0]!.replace(/,\d+,\d+\)/, ',8,9000)')}\n`
    expect(refusal(again, 'plume')).toContain('duplicate-value')
  })

  it('takes a run of -1 lines of a session for one aborted transaction without its reads', () => {
    const history = parse(
      'w(1,1,0,-1)\nr(1,5,0,-1)\nw(9,9,1,1)\nw(2,2,0,-1)\nw(1,3,0,4)\nw(1,4,0,-1)\nr(1,3,1,-1)\n',
    )
    expect(Array.from(history.txnStatus)).toEqual([ABORTED, COMMITTED, COMMITTED, ABORTED, ABORTED])
    expect(Array.from(history.txnOpStart)).toEqual([0, 2, 3, 4, 5, 5])
    expect(history.placeOf(1)).toEqual({ line: 4, column: 1 })
    expect(history.placeOf(4)).toEqual({ line: 6, column: 1 })
  })

  it('accepts CRLF, blank lines, a missing last newline, a byte order mark and leading zeros', () => {
    const plain = parse('w(1,1,0,0)\nr(1,1,1,1)\n')
    const odd = parse('\uFEFF\r\nw(1,1,0,0)\r\n \t\r\n\nr(01,1,1,001)')
    expect(dump(odd)).toEqual(dump(plain))
    expect(odd.placeOf(1)).toEqual({ line: 5, column: 1 })
  })

  it('takes an empty file for an empty history', () => {
    expect(parse('').txnCount).toBe(0)
    expect(parseHistory('').txnCount).toBe(0)
    expect(parseHistory('\n\n').txnCount).toBe(0)
  })

  it.each([
    ['x(1,1,0,0)', '1:1 malformed: expected "r" or "w", found "x"'],
    ['r(1,1,0,0)\n r(1,1,0,0)', '2:1 malformed: expected "r" or "w", found a space'],
    ['r[1,1,0,0)', '1:2 malformed: expected "(", found "["'],
    ['r(,1,0,0)', '1:3 malformed: expected a key (decimal digits), found ","'],
    ['r(-1,1,0,0)', '1:3 malformed: expected a key (decimal digits), found "-"'],
    ['r(1;1,0,0)', '1:4 malformed: expected ",", found ";"'],
    ['r(1,a,0,0)', '1:5 malformed: expected a value (decimal digits), found "a"'],
    ['r(1,1:,0,0)', '1:6 malformed: expected ",", found ":"'],
    ['r(1,1,,0)', '1:7 malformed: expected a session (decimal digits), found ","'],
    ['r(1,1,0)', '1:8 malformed: expected ",", found ")"'],
    ['r(1,1,0,0', '1:10 malformed: expected ")", found the end of the line'],
    ['r(1,1,0,-2)', '1:9 malformed: a transaction id cannot be negative'],
    ['r(1,1,0,-01)', '1:9 malformed: a transaction id cannot be negative'],
    ['r(1,1,0,0) ', '1:11 malformed: unexpected a space after the operation'],
    ['r(1,1,0,0)\rr', '1:12 malformed: unexpected "r" after the operation'],
    [
      'r(1,1,0,0)\n\nw(1,é,0,0)',
      '3:5 malformed: expected a value (decimal digits), found the character U+00E9',
    ],
    ['r(1,18446744073709551616,0,0)', '1:5 out-of-range: the value does not fit into 64 bits'],
    [
      'w(1,1,0,5)\n\nw(1,2,1,5)',
      '3:1 txn-in-two-sessions: transaction 5 is in session 1 here, in session 0 at line 1',
    ],
    [
      'w(1,7,0,1)\nr(1,7,0,1)\nw(1,7,1,2)',
      '3:1 duplicate-value: value 7 of key 1 is written twice (first at line 1)',
    ],
    [
      'w(1,5,0,1)\nw(1,0,0,1)',
      '2:1 duplicate-value: value 0 of key 1 is written twice: it is the initial value, which every key has first',
    ],
  ])('refuses %j', (text, message) => {
    expect(refusal(text, 'plume')).toBe(message)
  })

  it('refuses bytes that are no UTF-8 at their place', () => {
    const bytes = Uint8Array.of(...Buffer.from('r(1,'), 0xff, ...Buffer.from(',0,0)\n'))
    expect(refusal(bytes, 'plume')).toBe(
      '1:5 malformed: expected a value (decimal digits), found the byte 0xff',
    )
  })

  it('bounds the length of a line', () => {
    const endless = (function* () {
      for (;;) yield new Uint8Array(65536).fill(49)
    })()
    expect(refusal(endless, 'plume')).toMatch(/^1:1 too-large: the line is larger than/)
  })

  it('agrees with a plain reading of any mutated text, on what is right and what is not', () => {
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 30 }), (text, size) => {
        const expected = readPlainly(text)
        const bytes = Buffer.from(text, 'latin1')
        const chunks: Uint8Array[] = []
        for (let i = 0; i < bytes.length; i += size) chunks.push(bytes.subarray(i, i + size))
        let found: string[] | null = null
        try {
          found = dump(parseHistory(chunks, { format: 'plume' }))
        } catch (error) {
          if (!(error instanceof InputError)) throw error
          expect(error.place).not.toBeNull()
        }
        expect(found).toEqual(expected)
        if (expected) accepted++
        else refused++
      }),
      { numRuns: some(5000) },
    )
    expect(Math.min(accepted, refused)).toBeGreaterThan(some(200))
  })
})

const number = fc.oneof(
  fc.nat(3).map(String),
  fc.constantFrom('1234567890', '999999999', '18446744073709551615', '4294967297', '000000000001'),
)
const line = fc
  .tuple(fc.constantFrom('r', 'w'), number, number, fc.nat(2), fc.oneof(fc.nat(5), fc.constant(-1)))
  .map(([verb, key, value, session, txn]) => `${verb}(${key},${value},${session},${txn})`)
const texts = fc
  .tuple(
    fc.array(line, { maxLength: 6 }),
    fc.array(fc.tuple(fc.nat(200), fc.constantFrom(...'rw(),-:/09 \r\n\xff', ''))),
    fc.integer({ min: 0, max: 2 }),
  )
  .map(([lines, edits, count]) => {
    let text = lines.join('\n')
    for (const [at, c] of edits.slice(0, count)) text = text.slice(0, at) + c + text.slice(at + 1)
    return text
  })

/** The format read with a regular expression: what `dump` must show, or null if it is wrong. */
function readPlainly(text: string): string[] | null {
  const txns: { session: string; id: string; ops: string[] }[] = []
  const lastOf = new Map<string, (typeof txns)[number]>()
  const written = new Set<string>()
  const byId = new Map<string, (typeof txns)[number]>()
  for (const row of text.split('\n')) {
    if (/^[ \t\r]*$/.test(row)) continue
    const parts = /^([rw])\((\d+),(\d+),(\d+),(-1|\d+)\)\r?$/.exec(row)
    if (!parts) return null
    const [key, value, session] = parts.slice(2, 5).map(BigInt) as [bigint, bigint, bigint]
    const id = String(BigInt(parts[5]!))
    if ([key, value, session, BigInt(id)].some((n) => n >= 2n ** 64n)) return null
    let txn = id === '-1' ? lastOf.get(String(session)) : byId.get(id)
    if (txn === undefined || (id === '-1' && txn.id !== '-1')) {
      txn = { session: String(session), id, ops: [] }
      txns.push(txn)
      if (id !== '-1') byId.set(id, txn)
    }
    if (txn.session !== String(session)) return null
    lastOf.set(String(session), txn)
    if (parts[1] === 'w' && value !== 0n && written.has(`${key} ${value}`)) return null
    if (parts[1] === 'w') written.add(`${key} ${value}`)
    if (id !== '-1' || parts[1] === 'w') txn.ops.push(`${parts[1]}(${key},${value})`)
  }
  const zero = (op: string) => /^w\(\d+,0\)$/.test(op)
  const other = txns.findIndex(({ id, ops }) => id === '-1' || !ops.every(zero))
  if (other >= 0 && txns.slice(other).some(({ ops }) => ops.some(zero))) return null
  const named = txns.some((txn) => txn.id !== '-1')
  return [
    'initial 0',
    ...txns.map((txn, i) => {
      const name = txn.id === '-1' ? `${named ? '#' : 'T'}${i + 1}` : `T${txn.id}`
      const status = txn.id === '-1' ? ABORTED : COMMITTED
      return [txn.session, name, status, 'NaN NaN -1', ...txn.ops].join(' ')
    }),
  ]
}
