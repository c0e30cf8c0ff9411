// Histories of registers and of key-value stores as tests of linearizability have them, by hand:
// what clients of one register may see of one another, repeated values, operations whose outcome is
// unknown, keys that do not matter to each other.

import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
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
  [
    'reads that took no time, in the middle of a write',
    'satisfied',
    `a: w(x,1) [0,20]
b: r(x,1) [5,15]
c: r(x,0) [6,6]
d: r(x,0) [6,6]`,
  ],
  [
    'reads that took no time, and one that goes back behind them',
    'violated',
    `a: w(x,2) [0,20]
b: r(x,2) [4,4]
c: r(x,2) [4,4]
d: r(x,0) [8,18]`,
  ],
  [
    'five clients of a register, some of whose operations timed out',
    'satisfied',
    `s0: r(x,0) [0,3] | cas(x,0,3) [4,8] | r(x,2) [20,23] | w(x,1) [24,29] | r(x,4) [40,44]
s1: w(x,4) [indeterminate start=5]
s2: w(x,2) [9,14] | cas(x,2,1) [indeterminate start=15]
s3: cas(x,3,0) [aborted start=10 finish=16] | r(x,2) [17,19] | w(x,3) [30,35]
s4: r(x,3) [6,12] | w(x,2) [indeterminate start=18] | r(x,3) [36,39]`,
  ],
  [
    'five clients of a register, of whom one sees what had been replaced before a time-out',
    'violated',
    `s0: r(x,0) [0,3] | cas(x,0,3) [4,8] | r(x,2) [20,23] | w(x,1) [24,29] | r(x,3) [40,44]
s1: w(x,4) [indeterminate start=5]
s2: w(x,2) [9,14] | cas(x,2,1) [indeterminate start=15]
s3: w(x,0) [indeterminate start=10] | r(x,2) [17,19] | w(x,4) [30,35]
s4: r(x,3) [6,12] | w(x,2) [indeterminate start=18] | r(x,4) [36,39]`,
  ],
  [
    'one client that appends and reads what it appended',
    'satisfied',
    `a: append(x,1) [0,1] | r(x,[1]) [2,3] | append(x,2) [4,5] | r(x,[1,2]) [6,7]`,
  ],
  [
    'one client that does not see what it appended',
    'violated',
    `a: append(x,1) [0,1] | r(x,[1]) [2,3] | append(x,2) [4,5] | r(x,[1]) [6,7]`,
  ],
  [
    'clients whose appends overlap, seen in one order, on two keys',
    'satisfied',
    `a: append(x,1) [0,9] | append(y,3) [10,19]
b: append(x,2) [1,8] | r(y,[]) [11,12]
c: r(x,[2]) [2,3] | r(x,[2,1]) [4,5] | r(y,[3]) [13,14]`,
  ],
  [
    'clients whose appends overlap, seen in two orders',
    'violated',
    `a: append(x,1) [0,9] | r(x,[1,2]) [10,11]
b: append(x,2) [1,8] | r(x,[2,1]) [10,11]`,
  ],
  [
    'a list that is empty again',
    'violated',
    `a: append(x,1) [0,9]
b: append(x,2) [1,8] | r(x,[2,1]) [10,11]
c: r(x,[2,1]) [12,13] | r(x,[]) [14,15]`,
  ],
  [
    'additions to a set that overlap, one of which is seen',
    'satisfied',
    `a: add(s,1) [0,9]
b: add(s,2) [1,8]
c: r(s,{1}) [2,3] | r(s,{1,2}) [4,5]`,
  ],
  [
    'additions to a set, each seen without the other',
    'violated',
    `a: add(s,1) [0,9]
b: add(s,2) [1,8]
c: r(s,{1}) [2,3]
d: r(s,{2}) [4,5]`,
  ],
]

describe('judge at lin', () => {
  it.each(HISTORIES)('judges %s: %s', async (_, verdict, text) => {
    const initial = /append|add/.test(text) ? '' : 'initial 0\n'
    const history = parseNotation(`${initial}${text}`, undefined, true)
    const [result] = await judge(history, ['lin'])
    expect(result!.verdict).toBe(verdict)
    expect(result!.certificate?.verified).toBe(true)
  })

  it('finds who wrote what 20 clients read of 100 values', async () => {
    const history = parseNotation(manyClients(6000, 20, 100), undefined, true)
    expect(history.writers!.reads.length).toBeGreaterThan(1000)
    const [result] = await judge(history, ['lin'])
    expect(result!.verdict).toBe('satisfied')
    expect(result!.certificate?.verified).toBe(true)
  })
})

/** Half reads, half writes of one register, one after the other within their intervals. */
function manyClients(operations: number, clients: number, values: number): string {
  const random = new Random(1)
  const sessions = Array.from({ length: clients }, (): string[] => [])
  let value = 0
  for (let at = 0; at < operations; at++) {
    const isWrite = random.chance(0.5)
    if (isWrite) value = random.below(values)
    const times = `[${2 * at - random.below(clients)},${2 * at + random.below(clients)}]`
    sessions[at % clients]!.push(`${isWrite ? 'w' : 'r'}(x,${value}) ${times}`)
  }
  return ['initial 0', ...sessions.map((txns, i) => `s${i}: ${txns.join(' | ')}`)].join('\n')
}
