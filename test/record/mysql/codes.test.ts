import { describe, expect, it } from 'vitest'
import { fateOf, isHopeless, isLastWord } from '../../../src/record/mysql/codes.ts'

describe('fateOf', () => {
  it('believes nothing but a known refusal once COMMIT is sent', () => {
    for (const code of [1213, 1205, 1020, 2013, null]) expect(fateOf('work', code)).toBe('aborted')
    expect(fateOf('commit', 1213)).toBe('aborted')
    expect(fateOf('commit', 3101)).toBe('aborted')
    for (const code of [1205, 1180, 1317, 1053, 1927, null]) {
      expect(fateOf('commit', code)).toBe('indeterminate')
    }
    expect(fateOf('alone', 1205)).toBe('aborted')
    expect(fateOf('alone', 1020)).toBe('aborted')
    expect(fateOf('alone', 1317)).toBe('indeterminate')
    expect(fateOf('alone', null)).toBe('indeterminate')
  })

  it('tells what ends a run, and what ends a connection', () => {
    expect([1146, 1290, 1213].map(isHopeless)).toEqual([true, true, false])
    expect([null, 1053, 1927, 1213].map(isLastWord)).toEqual([true, true, true, false])
  })
})
