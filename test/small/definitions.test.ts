// The small histories that defend the definitions, held against the oracle.

import { describe, expect, test } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { assertionsOf, CASES, LIST_CASES } from './cases.ts'
import { draftOf } from './draft.ts'
import { judge, settle } from './judge.ts'
import { decideHistory, profileOf } from './oracle.ts'

describe('decideHistory', () => {
  for (const one of [...CASES, ...LIST_CASES]) {
    test(`judges ${one.name}`, () => {
      const history = parseNotation(one.notation)
      for (const [level, verdict] of assertionsOf(one)) {
        expect(`${level} ${decideHistory(history, level)}`).toBe(`${level} ${verdict}`)
      }
    })
  }

  test('forgets session order when told to', () => {
    const { draft } = draftOf(parseNotation('s1: w(x,1) | r(x,0)'))
    expect(profileOf(draft, { sessionOrder: true }).ra).toBe('violated')
    expect(profileOf(draft, { sessionOrder: false }).ser).toBe('satisfied')
  })

  test('keeps real time when session order is off', () => {
    const { draft } = draftOf(parseNotation('s1: w(x,1) [0,1] | r(x,0) [2,3]'))
    expect(profileOf(draft, { sessionOrder: false }).ser).toBe('satisfied')
    expect(profileOf(draft, { sessionOrder: false }).sser).toBe('violated')
  })
})

describe('judge', () => {
  const namesIn = (notation: string) => {
    const { draft } = draftOf(parseNotation(notation))
    return judge(draft, settle(draft), { sessionOrder: true }).offences.map(({ name }) => name)
  }
  const table: [string, string[]][] = [
    ['s1: r(x,1)', ['ThinAirRead']],
    ['initial none\ns1: r(x,0)', ['ThinAirRead']],
    ['initial null\ns1: r(x,null)', []],
    ['s1: w(x,1) [aborted]\ns2: w(x,2) r(x,1)', ['AbortedRead']],
    ['s1: r(x,1) w(x,1)', ['FutureRead']],
    ['s1: w(x,2) r(x,1) w(x,1)', ['FutureRead']],
    ['s1: w(x,1) w(x,2) r(x,1)', ['NotMyLastWrite']],
    ['s1: w(x,1) w(x,2) r(x,2)', []],
    ['s1: w(x,1) r(x,0)', ['NotMyOwnWrite']],
    ['s1: r(x,0) w(x,1)', []],
    ['s1: w(x,1) w(x,2)\ns2: w(x,3) r(x,1)', ['NotMyOwnWrite']],
    ['s1: w(x,1) w(x,2)\ns2: r(x,1) w(x,3)', ['IntermediateRead']],
    ['s1: w(x,1) w(x,2)\ns2: r(x,2) r(x,1)', ['IntermediateRead']],
    ['s1: r(x,7) r(y,1)\ns2: w(y,1) [aborted]', ['ThinAirRead', 'AbortedRead']],
    ['s1: r(x,7) [aborted]', []],
    ['s1: r(x,7) [indeterminate]', []],
    ['s1: r(x,7) w(y,1) [indeterminate]\ns2: r(y,1)', ['ThinAirRead']],
    ['s1: w(y,1) w(y,2) [indeterminate]\ns2: r(y,1)', ['IntermediateRead']],
  ]
  for (const [notation, names] of table) {
    test(`finds ${names.join(', ') || 'nothing'} in ${notation.replaceAll('\n', ' / ')}`, () => {
      expect(namesIn(notation)).toEqual(names)
    })
  }
})
