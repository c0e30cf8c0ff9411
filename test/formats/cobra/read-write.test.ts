// Cobra's logs, to the byte.

import { describe, expect, it } from 'vitest'
import { files, record, refuseFiles } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('cobra', () => {
  const initial = 0xbebeebee
  const one = Buffer.concat([
    record('S', 11),
    record('W', 101, 7, 1),
    record('R', initial, initial, 8, 0),
    record('R', 0, 0xdeadbeef, 9, 0),
    record('C', 11),
  ])

  it('reads sessions in the natural order of their names', () => {
    const read = files('cobra', {
      'T10.log': Buffer.concat([record('S', 12), record('R', 11, 101, 7, 1), record('C', 12)]),
      'T2.log': one,
    })
    expect(dump(read)).toEqual([
      'initial null',
      '2 T11 0 NaN NaN -1 w(7,101) r(8,null) r(9,null)',
      '10 T12 0 NaN NaN -1 r(7,101)',
    ])
    expect(read.readFrom[3]).toBe(0)
  })

  it('takes an open transaction and a torn record for a client that died', () => {
    const read = files('cobra', {
      'T1.log': Buffer.concat([one, record('S', 12), record('W', 5, -7, 1), Buffer.from('R123')]),
    })
    expect(dump(read)[2]).toBe('1 T12 2 NaN NaN -1 w(-7,5)')
    expect(read.warnings).toEqual([
      'T1.log: the last record is torn, and left out',
      'T1.log: a transaction is open at the end, so indeterminate',
    ])
  })

  it('stops at 0xff, and leaves out marks of garbage collection', () => {
    const marked = Buffer.concat([
      record('S', 1),
      record('W', 0x23332333, 7, 1),
      record('R', 0, 0x66666666, 7, 1),
      record('C', 1),
      Buffer.from([255, 1, 2, 3]),
    ])
    const read = files('cobra', { 'T1.log': marked })
    expect(dump(read)).toEqual(['initial null', '1 T1 0 NaN NaN -1'])
    expect(read.warnings).toEqual(['2 operations that mark garbage collection are left out'])
  })

  it.each([
    [[record('W', 1, 2, 3)], 'T1.log:1:1: a record outside of any transaction (byte 0)'],
    [
      [record('S', 1), record('S', 2)],
      'T1.log:1:10: a transaction begins while another is open (byte 9)',
    ],
    [
      [record('S', 1), record('C', 2)],
      'T1.log:1:10: transaction 2 commits, but another is open (byte 9)',
    ],
    [[record('S', 1), record('X', 2)], 'T1.log:1:10: no record begins with 0x58 (byte 9)'],
    [
      [record('S', 1), record('C', 1), record('S', 1)],
      'T1.log:1:19: transaction 1 begins a second time, the first was in this file (byte 18)',
    ],
  ])('refuses records in the wrong order', (records, message) => {
    expect(refuseFiles('cobra', { 'T1.log': Buffer.concat(records) })).toContain(message)
  })

  it('names both transactions of a value written twice', () => {
    const two = Buffer.concat([record('S', 12), record('W', 101, 7, 1), record('C', 12)])
    expect(refuseFiles('cobra', { 'T1.log': one, 'T2.log': two })).toBe(
      'input: value 101 of key 7 is written twice, by T11 and by T12 [duplicate-value]',
    )
  })
})
