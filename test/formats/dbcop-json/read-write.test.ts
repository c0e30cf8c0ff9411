// dbcop's JSON, to the byte.

import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../src/formats/parse.ts'
import { refusal } from '../errors.ts'
import { text } from '../files-in-memory.ts'
import { dump } from '../histories.ts'

describe('dbcop-json', () => {
  it('reads long and compact events', () => {
    const read = parseHistory(
      '{"params":{"id":0},"info":"x","start":"s","end":"e","data":[[{"events":[' +
        '{"Write":{"variable":0,"version":1}},{"Read":{"version":null,"variable":3}}],"committed":true}],\n' +
        '[{"committed":false,"events":[["r",0,1],["w",0,2]]},{"events":[],"committed":true}]]}',
    )
    expect(dump(read)).toEqual([
      'initial 0',
      '0 T1 0 NaN NaN -1 w(0,1) r(3,0)',
      '1 T2 1 NaN NaN -1 r(0,1) w(0,2)',
      '1 T3 0 NaN NaN -1',
    ])
    expect(read.placeOf(3)).toEqual({ line: 2, column: 41 })
  })

  it('writes what it reads', () => {
    expect(text('dbcop-json')).toBe(
      '{"params":{"n_node":2,"n_variable":2},"info":"isobar","start":"1970-01-01T00:00:00Z",' +
        '"end":"1970-01-01T00:00:00Z","data":[\n[\n' +
        '{"events":[{"Write":{"variable":1,"version":1}},{"Read":{"variable":2,"version":null}}],"committed":true},\n' +
        '{"events":[{"Read":{"variable":1,"version":1}},{"Write":{"variable":2,"version":3}}],"committed":false}],\n' +
        '[\n{"events":[{"Read":{"variable":1,"version":1}},{"Write":{"variable":2,"version":5}}],"committed":true},\n' +
        '{"events":[{"Read":{"variable":2,"version":5}}],"committed":true}]]}\n',
    )
  })

  it.each([
    ['{"info":1}', '1:1 malformed: the document has no "data"'],
    ['{"data":[]', '1:11 truncated: the file ends where "," must stand'],
    ['{"data":[]} 1', '1:13 malformed: expected the end of the file, found "1"'],
    ['{"data":[[{"events":[]}]]}', '1:11 malformed: the transaction has no "committed"'],
    [
      '{"data":[[{"events":[{"Write":{"variable":"x","version":1}}],"committed":true}]]}',
      '1:43 malformed: expected a variable (an integer), found "\\""',
    ],
    [
      '{"data":[[{"events":[\n["x",1,1]],"committed":true}]]}',
      '2:3 malformed: an event begins with "r" or "w"',
    ],
    [
      '{"data":[[{"events":[["r",1]],"committed":true}]]}',
      '1:29 malformed: an event looks like ["r",variable,version]',
    ],
    [
      '{"data":[[{"events":[{"Cas":1}],"committed":true}]]}',
      '1:29 malformed: an event is either {"Read":…} or {"Write":…}',
    ],
  ])('refuses %j', (input, message) => {
    expect(refusal(input, 'dbcop-json')).toBe(message)
  })
})
