// Viper's JSON lines, to the byte.

import { describe, expect, it } from 'vitest'
import { files, refuseFiles } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('viper', () => {
  it('reads one session a file; what failed never happened', () => {
    const read = files('viper', {
      'J1.json':
        '{"value":[["w","x",1,true],["w","y",2,false],["i","z",3,true]]}\n{"t":1,"value":[]}\n',
      'J0.json':
        '{"value":[["r","x",1,false],["d","z",4,true],["r","z",4,true],["r","q",null,false]]}',
    })
    expect(dump(read)).toEqual([
      'initial null',
      '0 T1 0 NaN NaN -1 r("x",1) w("z",4) r("z",4) r("q",null)',
      '1 T2 0 NaN NaN -1 w("x",1) w("z",3)',
      '1 T3 0 NaN NaN -1',
    ])
  })

  it('makes the initial transaction the initial state', () => {
    const read = files('viper', {
      'init.json': '{"isInitial":true,"value":[["w","x",5,true],["w","y",6,true]]}',
      'J1.json': '{"value":[["r","x",5,false],["w","x",6,true],["r","y",null,false]]}',
    })
    expect(dump(read)).toEqual([
      'initial null',
      '1 T1 0 NaN NaN -1 r("x",null) w("x",6) r("y","(nothing)")',
    ])
    expect(Array.from(read.readFrom)).toEqual([-2, -1, -1])
  })

  it.each([
    [
      '{"value":[["range","a","b",[]]]}',
      'J1.json:1:12: range operations are not supported [unsupported]',
    ],
    ['{"value":[]}\n{"x":1}', 'J1.json:2:1: the line has no "value" [malformed]'],
    ['{"value":[["w","x"]]}', 'J1.json:1:20: the operation lacks its key or its value [malformed]'],
    ['{"value":[["q","x",1]]}', 'J1.json:1:12: unknown operation [malformed]'],
    ['{"value":[["w","x",1.5,true]]}', 'J1.json:1:20: the value is not an integer [malformed]'],
    ['{"value":[["w","x",1,tr', 'J1.json:1:24: the line ends where true must stand [truncated]'],
  ])('refuses %j', (input, message) => {
    expect(refuseFiles('viper', { 'J1.json': input })).toBe(message)
  })
})
