// Histories that once ended in a failed assertion instead of a verdict or an error.

import { describe, expect, it } from 'vitest'
import { check, checkLevels, checkModels } from '../../src/check/check.ts'
import { parseHistory } from '../../src/formats/formats.ts'
import { parseNotation } from '../../src/history/notation.ts'

describe('parseNotation', () => {
  it('refuses a list that is read as a register, also where no list was read', () => {
    const text = 's0: append(x,1)\ns1: r(x,1)'
    expect(() => parseNotation(text)).toThrow('key "x" is used both as a register and as a list')
    expect(() => parseNotation(text.replace('r(x,1)', 'r(y,0)'))).not.toThrow()
  })
})

describe('check', () => {
  it('knows that what a transaction reads of its own future is no matter of pl-2', () => {
    const history = parseNotation('s0: r(l,[1]) append(l,1)')
    expect(check(history, 'pl-2').verdict).toBe('satisfied')
    expect(check(history, 'rc').verdict).toBe('violated')
    expect(checkModels(history)).toHaveLength(checkModels(parseNotation('s0: w(x,1)')).length)
  })

  it('judges lin although an aborted transaction read a list', () => {
    const text =
      's0: r(x,0) w(x,1) [0,1]\ns1: r(x,1) [2,3]\ns2: r(l,[7]) [aborted start=0 finish=9]'
    const levels = ['lin', 'ser', 'si', 'pc', 'cc', 'rc'] as const
    for (const { verdict } of checkLevels(parseNotation(text), levels)) {
      expect(verdict).toBe('satisfied')
    }
    // Where some times are missing, the others count for nothing.
    const partly = 's1: r(y,1) w(y,2) [0,1]\ns2: r(y,2)\ns3: r(y,0) w(y,1) [6,7]'
    expect(check(parseNotation(partly), 'lin').verdict).toBe('unknown')
    const stale = text.replace('r(x,1) [2,3]', 'r(x,0) [2,3]')
    expect(check(parseNotation(stale), 'lin').verdict).toBe('violated')
  })
})

describe('parseHistory', () => {
  it('names integer ids beyond 2^53 that are used twice', () => {
    const line = '{"id":9007199254740993,"session":1,"ops":[["w",1,1]]}'
    const other = line.replace('["w",1,1]', '["w",1,2]')
    expect(() => parseHistory(`{"isobar":1}\n${line}\n${other}\n`)).toThrow('9007199254740993')
  })

  it('takes a byte order mark inside the text for a character', () => {
    for (const [format, text] of [
      ['plume', 'r(1,0,0,1)\nw(1,\ufeff1,0,1)\n'],
      ['jepsen', '{:type :ok, :f :txn, :value [[:r \ufeff x 1]], :process 0, :index 1}\n'],
      ['native', '{"isobar":1}\n{"id":1,"session":1,"ops":[["w",\ufeff1,1]]}\n'],
    ]) {
      expect(() => parseHistory(text!, { format: format! })).toThrow('U+FEFF')
    }
  })

  it('tells keys apart that differ in a byte order mark', () => {
    const history = parseHistory(
      '{"isobar":1}\n{"id":1,"session":1,"ops":[["w","x",1],["w","\ufeffx",2]]}\n',
    )
    expect([0, 1].map((key) => history.keyName(key))).toEqual(['x', '\ufeffx'])
  })
})
