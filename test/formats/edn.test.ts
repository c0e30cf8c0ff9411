// The EDN scanner: every kind of form is read past, in one piece or many.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { EdnScanner, END } from '../../src/formats/edn.ts'
import { parseHistory } from '../../src/formats/parse.ts'

function scannerOf(text: string, json = false): EdnScanner {
  const bytes = new TextEncoder().encode(text)
  const buffer = new Uint8Array(bytes.length + 1)
  buffer.set(bytes)
  const scanner = new EdnScanner()
  scanner.json = json
  scanner.load(buffer, bytes.length, 0, true)
  return scanner
}

/** What is left of the text behind its first form. */
function behindForm(text: string): string {
  const scanner = scannerOf(text)
  scanner.skipForm()
  return new TextDecoder().decode(scanner.bytes.subarray(scanner.at, scanner.end))
}

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return `${error.place?.line}:${error.place?.column} ${error.code}: ${error.message}`
  }
  throw new Error('it was accepted')
}

describe('skipForm', () => {
  it.each([
    'nil',
    ':a/b',
    '-12N',
    '1.5e3M',
    '"a \\" ; [ b"',
    '\\[',
    '\\newline',
    '\\u0041',
    '##Inf',
    '#{1 2}',
    '#inst "2020-01-01"',
    '#jepsen.history.Op{:a 1}',
    '#_ 1 2',
    '#_ #_ 1 2 3',
    '#_ [1 #_ 2] :x',
    '; a comment ]\n(1, (2))',
    '{:a [1 {:b #{"]"}}] #_ } "c" :d}'.replace('#_ } ', '#_ ) '.replace(')', 'x')),
    '[[[[]]]]',
    'ä€😀',
  ])('reads past %s', (form) => {
    expect(behindForm(`${form} rest`)).toBe(' rest')
  })

  it.each([
    ['[1 2', '1:5 truncated: the file ends where a value must stand'],
    ['[1 }', '1:4 malformed: expected a value, found "}"'],
    ['\n ]', '2:2 malformed: expected a value, found "]"'],
    ['#_', '1:3 truncated: the file ends where a value must stand'],
    ['"ab', '1:4 truncated: the file ends where the end of the string must stand'],
    ['"ab\\', '1:5 truncated: the file ends where the end of the string must stand'],
  ])('refuses %j', (form, message) => {
    expect(refusal(() => scannerOf(form).skipForm())).toBe(message)
  })

  it('needs no stack for brackets inside brackets', () => {
    expect(behindForm(`${'['.repeat(9000)}${']'.repeat(9000)} rest`)).toBe(' rest')
    expect(behindForm(`${'#_'.repeat(90000)}${' a'.repeat(90001)} rest`)).toBe(' rest')
    const deep = '['.repeat(20000)
    expect(refusal(() => scannerOf(deep).skipForm())).toMatch(/too-large: more than 10000/)
  })
})

describe('EdnScanner', () => {
  it('skips comments, commas and discarded forms between values', () => {
    const scanner = scannerOf(' ,\t; one\n #_[x y] ;; two\n,7 ')
    expect(scanner.skipSpace()).toBe(55)
    expect([scanner.line, scanner.column()]).toEqual([3, 2])
    scanner.at++
    expect(scanner.skipSpace()).toBe(END)
  })

  it('counts columns in characters', () => {
    const scanner = scannerOf('"ä\n€😀" :é x')
    scanner.skipForm()
    scanner.skipForm()
    scanner.skipSpace()
    expect([scanner.line, scanner.column()]).toEqual([2, 8])
  })

  it('undoes escapes of EDN and JSON', () => {
    const scanner = scannerOf('"a\\n\\t\\\\\\"\\u00e4\\/"')
    scanner.scanString()
    expect(scanner.text()).toBe('a\n\t\\"ä/')
    const bad = scannerOf('"\\q"')
    bad.scanString()
    expect(refusal(() => bad.text())).toBe('1:2 malformed: no such escape in a string: \\q')
    const half = scannerOf('"\\ud800"')
    half.scanString()
    expect(refusal(() => half.text())).toMatch(/surrogate/)
  })

  it.each([
    ['12 ', 12n],
    ['+7]', 7n],
    ['-9223372036854775808,', -(2n ** 63n)],
    ['18446744073709551615N}', 2n ** 64n - 1n],
    ['-0 ', 0n],
  ])('reads the integer %s', (text, value) => {
    const scanner = scannerOf(text)
    scanner.scanInteger('value')
    const high = BigInt(scanner.negative ? scanner.high : scanner.high >>> 0)
    expect((high << 32n) | BigInt(scanner.low >>> 0)).toBe(value)
  })

  it.each(['1.5', '1/2', '-', '+x', '1e3', '1M', '12a'])('takes %s for no integer', (text) => {
    const found = refusal(() => scannerOf(`${text} `).scanInteger('value'))
    expect(found).toBe('1:1 malformed: the value is not an integer')
  })

  it('keeps integers within 64 bits', () => {
    for (const text of ['18446744073709551616', '-9223372036854775809']) {
      const found = refusal(() => scannerOf(`${text} `).scanInteger('value'))
      expect(found).toBe('1:1 out-of-range: the value does not fit into 64 bits')
    }
  })
})

describe('any bytes', () => {
  const word = fc.constantFrom(
    ...'{ } [ ] ( ) #{ #_ #x " \\ ; : , nil true 1 -2 1.5 :type :ok :invoke :info :value'.split(
      ' ',
    ),
    ...[
      ':process',
      ':index',
      '[:r 1 [1 2]]',
      '[:append 1 2]',
      '[:w 1 3]',
      '\n',
      ' ',
      'ä',
      '\u0000',
    ],
    '{:type :ok :process 0 :value [[:append 1 9]] :index 3}',
  )

  it('give a history or an error with a place, the same in pieces of any size', () => {
    let accepted = 0
    let refused = 0
    const check = (words: string[], size: number) => {
      const bytes = new TextEncoder().encode(words.join(' '))
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const whole = outcome([bytes])
      expect(outcome(pieces)).toBe(whole)
      if (whole.startsWith('history')) accepted++
      else refused++
    }
    fc.assert(
      fc.property(fc.array(word, { maxLength: 14 }), fc.integer({ min: 1, max: 9 }), check),
      {
        numRuns: 1500,
      },
    )
    expect(accepted).toBeGreaterThan(20)
    expect(refused).toBeGreaterThan(200)
  })
})

function outcome(pieces: Uint8Array[]): string {
  try {
    const history = parseHistory(pieces, { format: 'jepsen' })
    return `history of ${history.txnCount} transactions, ${history.opCount} operations`
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    expect(error.place).not.toBeNull()
    return `${error.describe()} [${error.code}]`
  }
}
