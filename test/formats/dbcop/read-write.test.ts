// dbcop's bincode, to the byte.

import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../src/formats/parse.ts'
import { refusal } from '../errors.ts'
import { text } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('dbcop', () => {
  it('writes five counts, three texts, then sessions, to the byte', () => {
    const i64 = (n: number) => String.fromCharCode(n, 0, 0, 0, 0, 0, 0, 0)
    const event = (isWrite: number, key: number, value: number) =>
      `${String.fromCharCode(isWrite)}${i64(key)}${i64(value)}\x01`
    const start = `${i64(20)}1970-01-01T00:00:00Z`
    const head = [0, 2, 2, 2, 2].map(i64).join('')
    expect(text('dbcop')).toBe(
      `${head}${i64(6)}isobar${start}${start}${i64(2)}` +
        `${i64(2)}${i64(2)}${event(1, 1, 1)}${event(0, 2, 0)}\x01` +
        `${i64(2)}${event(0, 1, 1)}${event(1, 2, 3)}\x00` +
        `${i64(2)}${i64(2)}${event(0, 1, 1)}${event(1, 2, 5)}\x01${i64(1)}${event(0, 2, 5)}\x01`,
    )
  })

  it('leaves out events that failed', () => {
    const bytes = Buffer.from(text('dbcop'), 'latin1')
    const write = bytes.lastIndexOf(Buffer.from('0102000000000000000500', 'hex'))
    bytes[write + 17] = 0
    const read = parseHistory(bytes)
    expect(dump(read)[3]).toBe('1 T3 0 NaN NaN -1 r(1,1)')
    expect(read.readFrom[read.opCount - 1]).toBe(-1)
  })

  it('checks every count against the bytes that are left', () => {
    const bytes = Buffer.from(text('dbcop'), 'latin1')
    for (let length = 1; length < bytes.length; length++) {
      expect(refusal(bytes.subarray(0, length), 'dbcop')).toMatch(/^1:\d+ truncated: /)
    }
    const huge = Buffer.from(bytes)
    huge.writeBigInt64LE(2n ** 40n, 110)
    expect(refusal(huge, 'dbcop')).toMatch(
      /^1:111 truncated: 1099511627776 sessions do not fit into the \d+ bytes that are left \(byte 110\)$/,
    )
    const more = Buffer.concat([bytes, Buffer.alloc(1)])
    expect(refusal(more, 'dbcop')).toMatch(/ malformed: unexpected bytes behind the history/)
  })
})
