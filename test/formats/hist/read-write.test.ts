// dbcop's .hist text, to the byte.

import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../src/formats/parse.ts'
import { refusal } from '../errors.ts'
import { text } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('hist', () => {
  it('reads transactions, sessions, comments and uncommitted ones', () => {
    const read = parseHistory('// two\n[x:=1 y==2 z==?] [ ]!\n---\n[x==1\n 7:=9]! // end')
    expect(dump(read)).toEqual([
      'initial 0',
      '0 T1 0 NaN NaN -1 w("x",1) r("y",2) r("z",0)',
      '0 T2 1 NaN NaN -1',
      '1 T3 1 NaN NaN -1 r("x",1) w(7,9)',
    ])
    expect(read.placeOf(4)).toEqual({ line: 5, column: 2 })
  })

  it('writes what it reads', () => {
    expect(text('hist')).toBe('[1:=1 2==?]\n[1==1 2:=3]!\n---\n[1==1 2:=5]\n[2==5]\n')
  })

  it.each([
    ['[x:=1', '1:6 truncated: the file ends where a variable must stand'],
    ['[x=1]', '1:3 malformed: expected ":=" or "==", found "="'],
    ['[x:=?]', '1:5 malformed: expected a version, found "?"'],
    ['[x:=1a]', '1:6 malformed: expected the end of the version, found "a"'],
    ['[x:=1]\n--\n', '2:3 malformed: expected "---", found the end of the line'],
    ['[x:=1] y', '1:8 malformed: expected a transaction, found "y"'],
    ['[x:=1][x:=1]', '1:8 duplicate-value: value 1 of key "x" is written twice (first at line 1)'],
  ])('refuses %j', (input, message) => {
    expect(refusal(input, 'hist')).toBe(message)
  })
})
