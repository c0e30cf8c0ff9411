import { describe, expect, it } from 'vitest'
import { InputError, UsageError } from '../../src/base/errors.ts'
import { cut, inert, inertLines, quote, sentence } from '../../src/base/inert.ts'

const OBEYED =
  '\u0000\u0007\t\r\n\u001b[31m\u007f\u009b2J\u00ad\u061c\u200b\u200f\u2028\u202e\u2066\ufeff'

describe('inert', () => {
  it('spells out whatever a terminal obeys, on one line', () => {
    expect(inert('a\u001b[2J\r\nsatisfied\u202e\u009b\u{e0041}\ud800')).toBe(
      'a\\u001b[2J\\u000d\\u000asatisfied\\u202e\\u009b\\udb40\\udc41\\ud800',
    )
    expect(inert(OBEYED)).toMatch(/^[ -~]*$/)
  })

  it('leaves letters of every script, and pictures, as they are', () => {
    for (const text of ['x', 'ñ 漢字 עברית', '😀', 'a\\nb "c"']) expect(inert(text)).toBe(text)
  })

  it('changes nothing the second time', () => {
    expect(inert(inert(OBEYED))).toBe(inert(OBEYED))
  })
})

describe('inertLines', () => {
  it('keeps line breaks of our own, and nothing else', () => {
    expect(inertLines('a\nb\r\u0085c')).toBe('a\nb\\u000d\\u0085c')
  })
})

describe('cut', () => {
  it('keeps short texts, and never half of a character', () => {
    expect(cut('abc', 3)).toBe('abc')
    expect(cut('abcd', 3)).toBe('ab…')
    expect(cut('a😀bcd', 3)).toBe('a…')
  })
})

describe('sentence', () => {
  it('cuts what is quoted and keeps what is said about it', () => {
    const key = JSON.stringify('k"\\'.repeat(2_000_000))
    const text = sentence(`value 7 of key ${key} is written twice (first at line 4)`)
    expect(text.length).toBeLessThan(200)
    expect(text).toMatch(/^value 7 of key "k.*…" is written twice \(first at line 4\)$/)
  })

  it('keeps the beginning and the end of what is long without quotes', () => {
    const text = sentence(`cannot read ${'x'.repeat(3_000_000)} at line 4`)
    expect(text.length).toBeLessThan(1000)
    expect(text).toMatch(/^cannot read x.*… x.* at line 4$/)
  })

  it('survives quotes that nobody closes', () => {
    expect(sentence(`a "${'\\"'.repeat(100_000)}`).length).toBeLessThan(200)
  })
})

describe('errors', () => {
  it('are inert as soon as they are made', () => {
    const bad = new InputError('x', `key ${OBEYED}`, { line: 1, column: 2 }, `try ${OBEYED}`)
    bad.path = `run\n${OBEYED}.txt`
    const usage = new UsageError(OBEYED, OBEYED)
    for (const text of [bad.describe(), bad.hint!, usage.message, usage.hint!]) {
      expect(text).toMatch(/^[ -~]*$/)
    }
  })

  it('quote words of the user', () => {
    expect(quote('a"\u001b')).toBe('"a\\"\\u001b"')
    expect(quote('x'.repeat(1e6)).length).toBeLessThan(100)
  })
})
