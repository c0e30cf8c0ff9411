// Times are exact: however many digits they have, they are compared, kept and written as given.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { findFormat } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { refusal } from '../formats/errors.ts'
import { subHistory } from './sub-history.ts'

/** T2 reads what was there before T1: real time decides, by the last digit of the two times. */
const notation = (finish: string, start: string) =>
  `s1: w(x,1) [0,${finish}]\ns2: r(x,0) [${start},9e99]`
const native = (finish: string, start: string) =>
  `{"isobar":1,"initial":0}\n{"session":1,"start":0,"finish":${finish},"ops":[["w","x",1]]}\n` +
  `{"session":2,"start":${start},"finish":9e99,"ops":[["r","x",0]]}\n`

function write(history: History, id: string): string {
  const chunks: Uint8Array[] = []
  findFormat(id)!.write(history, (bytes) => chunks.push(bytes.slice()))
  return Buffer.concat(chunks).toString()
}

describe('readTime', () => {
  it.each([
    ['9007199254740992', '9007199254740993'],
    ['1700000000123456700', '1700000000123456750'],
    ['1700000000.123456700', '1700000000.123456750'],
    ['0.1', '0.10000000000000000001'],
    ['0', '1e-350'],
    ['5', `5.${'0'.repeat(300)}1`],
    ['18446744073709551615', '18446744073709551616'],
  ])('tells %s from %s, in every format and at both levels', (less, more) => {
    for (const make of [notation, native]) {
      const verdicts = (a: string, b: string) => check(parseHistory(make(a, b)), 'sser').verdict
      expect(verdicts(less, more)).toBe('violated')
      expect(verdicts(less, less)).toBe('satisfied')
      expect(verdicts(more, less)).toBe('satisfied')
    }
  })

  it('takes different spellings of one time for the same', () => {
    for (const [a, b] of [
      ['9007199254740993', '9007199254740993.000'],
      ['9007199254740993', '9007199254740993e0'],
      ['9007199254740993', '9007199254740.993e3'],
      ['1000000000000000000000', '1e21'],
    ] as const) {
      expect(check(parseNotation(notation(a, b)), 'sser').verdict).toBe('satisfied')
      expect(check(parseNotation(notation(b, a)), 'sser').verdict).toBe('satisfied')
    }
  })

  it('refuses what is no finite time', () => {
    expect(refusal(notation('1', '1e400'), 'notation')).toBe(
      '2:13 bad-notation: the time 1e400 is out of range',
    )
    expect(refusal(native('1', '1e400'), 'native')).toBe(
      '3:22 out-of-range: the start is out of range',
    )
    expect(refusal(notation('1', '1e-500'), 'notation')).toMatch(/out of range/)
    expect(refusal('s1: w(x,1) [0,1e400]', 'notation')).toMatch(/out of range/)
  })

  it('writes back what it read, in parts of a history too', () => {
    const text =
      's1: w(x,1) [start=0.1 finish=9007199254740993]\ns2: r(x,1) [start=9007199254740993.5]\n'
    const history = parseNotation(text)
    expect(renderNotation(history)).toBe(text)
    expect(renderNotation(subHistory(history, [0, 1]))).toContain('finish=9007199254740993]')
    const again = parseHistory(write(history, 'native'))
    expect(renderNotation(again)).toBe(text)
    expect(renderNotation(parseNotation('s1: w(x,1) [start=0009007199254740993]'))).toBe(
      's1: w(x,1) [start=9007199254740993]\n',
    )
  })

  it('keeps the order of any decimals', () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,22}$/)
    const decimal = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(digits, fc.constant('9007199254740993')),
        fc.option(digits),
      )
      .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`)
    const scaled = (text: string) => {
      const [whole, fraction = ''] = text.split('.')
      return BigInt(`${whole}${fraction.padEnd(30, '0')}`)
    }
    const near = decimal.chain((text) =>
      fc.array(fc.nat(9), { maxLength: 9 }).map((tails) => {
        const open = text.includes('.') ? text : `${text}.`
        return [
          text,
          ...tails.map((tail) => `${open}${tail}`),
          ...tails.map((tail) => `${text}${tail}`),
        ]
      }),
    )
    fc.assert(
      fc.property(fc.oneof(fc.array(decimal, { maxLength: 20 }), near), (texts) => {
        const lines = texts.map((text, i) => `s${i}: w(x,${i + 1}) [start=${text}]`)
        const history = parseNotation(lines.join('\n'))
        const times = history.txnStartTime ?? []
        for (let a = 0; a < texts.length; a++) {
          for (let b = 0; b < texts.length; b++) {
            const [x, y] = [scaled(texts[a]!), scaled(texts[b]!)]
            expect(times[a]! < times[b]!).toBe(x < y)
            expect(times[a]! === times[b]!).toBe(x === y)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})
