// Histories of registers and of key-value stores as tests of linearizability have them, by hand:
// what clients of one register may see of one another, repeated values, operations whose outcome is
// unknown, keys that do not matter to each other.

import { describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { parseNotation } from '../../src/history/notation.ts'

const HISTORIES: readonly [name: string, verdict: 'satisfied' | 'violated', text: string][] = [
  ['nothing at all', 'satisfied', ''],
  [
    'reads on both sides of a write that takes long',
    'satisfied',
    `a: w(x,1) [0,9]
b: r(x,0) [1,2] | r(x,1) [3,4]`,
  ],
  [
    'a read that goes back behind another one',
    'violated',
    `a: w(x,1) [0,9]
b: r(x,1) [1,2]
c: r(x,0) [3,4]`,
  ],
  [
    'the same where the two reads overlap',
    'satisfied',
    `a: w(x,1) [0,9]
b: r(x,1) [1,3]
c: r(x,0) [2,4]`,
  ],
  [
    'two who disagree about the order of two writes',
    'violated',
    `a: w(x,1) [0,1]
b: w(x,2) [0,1]
c: r(x,1) [2,3] | r(x,2) [4,5]
d: r(x,2) [2,3] | r(x,1) [4,5]`,
  ],
  [
    'a value that was written again',
    'satisfied',
    `a: w(x,1) [0,1] | w(x,2) [2,3] | w(x,1) [4,5]
b: r(x,1) [1,2] | r(x,2) [3,4] | r(x,1) [5,6]`,
  ],
  [
    'a value that was written again too late',
    'violated',
    `a: w(x,1) [0,1] | w(x,2) [2,3] | w(x,1) [8,9]
b: r(x,1) [4,5] | r(x,2) [6,7]`,
  ],
  [
    'an equal value, of whichever of two writers',
    'satisfied',
    `a: w(x,1) [0,4]
b: w(x,2) [1,5]
c: w(x,1) [6,9]
d: r(x,2) [6,6] | r(x,1) [7,7]`,
  ],
  [
    'a lost write that is seen late',
    'satisfied',
    `a: w(x,1) [indeterminate start=0]
b: r(x,0) [5,6] | r(x,1) [7,8]`,
  ],
  [
    'a lost write that is seen and is gone',
    'violated',
    `a: w(x,1) [indeterminate start=0]
b: r(x,0) [5,6] | r(x,1) [7,8] | r(x,0) [9,10]`,
  ],
  [
    'two lost writes of one value, each seen once',
    'satisfied',
    `a: w(x,1) [indeterminate start=0]
b: w(x,1) [indeterminate start=0]
c: r(x,1) [1,2] | w(x,2) [3,4] | r(x,1) [5,6]`,
  ],
  [
    'one lost write, seen twice',
    'violated',
    `a: w(x,1) [indeterminate start=0]
c: r(x,1) [1,2] | w(x,2) [3,4] | r(x,1) [5,6]
d: w(x,2) [8,9]`,
  ],
  [
    'keys of a store, each by itself',
    'satisfied',
    `a: w(x,1) [0,9]
b: r(x,1) [1,2] | r(y,0) [3,4]
c: w(y,1) [0,9]
d: r(y,1) [4,5] | r(x,1) [6,7]`,
  ],
  [
    'keys of a store, of which one goes back',
    'violated',
    `a: w(x,1) [0,9]
b: r(x,1) [1,2] | r(y,0) [3,4]
c: w(y,1) [0,9]
d: r(y,1) [4,5] | r(x,0) [6,7]`,
  ],
  [
    'a write to two keys at once',
    'satisfied',
    `a: w(x,1) w(y,1) [0,9]
b: r(x,0) [1,2] | r(y,1) [3,4]`,
  ],
  [
    'a write to two keys, seen in part',
    'violated',
    `a: w(x,1) w(y,1) [0,9]
b: r(x,1) [1,2] | r(y,0) [3,4]`,
  ],
  [
    'a compare-and-set after an equal value came back',
    'satisfied',
    `a: w(x,1) [0,1] | w(x,2) [2,3] | w(x,1) [4,5]
b: cas(x,1,3) [6,7] | r(x,3) [8,9]`,
  ],
  [
    'two compare-and-sets of one value',
    'violated',
    `a: w(x,1) [0,1]
b: cas(x,1,2) [2,9]
c: cas(x,1,2) [2,9]`,
  ],
]

describe('judge at lin', () => {
  it.each(HISTORIES)('judges %s: %s', async (_, verdict, text) => {
    const history = parseNotation(`initial 0\n${text}`, undefined, true)
    const [result] = await judge(history, ['lin'])
    expect(result!.verdict).toBe(verdict)
    expect(result!.certificate?.verified).toBe(true)
  })
})
