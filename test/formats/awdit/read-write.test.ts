// AWDIT's test text, to the byte.

import { describe, expect, it } from 'vitest'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { refusal } from '../errors.ts'
import { history, text } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('awdit', () => {
  it('reads sessions, transactions, and no initial value', () => {
    const read = parseHistory('w 1 1\nr 2 0\n---\nr 1 1\n===\r\n\nr  1\t18446744073709551615 \n-\n')
    expect(dump(read)).toEqual([
      'initial undefined',
      '0 T1 0 NaN NaN -1 w(1,1) r(2,0)',
      '0 T2 0 NaN NaN -1 r(1,1)',
      '1 T3 0 NaN NaN -1 r(1,18446744073709551615)',
    ])
    expect(Array.from(read.readFrom)).toEqual([-1, -1, 0, -1])
    expect(read.placeOf(3)).toEqual({ line: 7, column: 1 })
  })

  it('writes the initial state as a session of its own where it must', () => {
    expect(text('awdit')).toBe('w 2 0\n===\nw 1 2\nr 2 0\n===\nr 1 2\nw 2 6\n---\nr 2 6\n')
    expect(findFormat('awdit')!.misfits(history)).toEqual([
      'the initial state',
      'aborted transactions (T2)',
    ])
  })

  it.each([
    ['r 1', '1:4 malformed: expected a value (decimal digits), found the end of the line'],
    ['r1 1', '1:2 malformed: expected a key (decimal digits), found "1"'],
    ['w 1 1\n\nw 1 x', '3:5 malformed: expected a value (decimal digits), found "x"'],
    ['w 1 1 1', '1:7 malformed: unexpected "1"'],
    ['w 99999999999999999999 1', '1:3 out-of-range: the key does not fit into 64 bits'],
    ['w 1 1\n=-\n', '2:2 malformed: unexpected "-"'],
    ['w 1 1\n-\nw 1 1', '3:1 duplicate-value: value 1 of key 1 is written twice (first at line 1)'],
  ])('refuses %j', (input, message) => {
    expect(refusal(input, 'awdit')).toBe(message)
  })
})
