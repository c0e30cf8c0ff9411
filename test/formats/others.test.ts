// The formats of other tools, to the byte.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { findFormat, parseHistory, parseHistoryFiles } from '../../src/formats/formats.ts'
import { historyFilesIn, readHistory } from '../../src/formats/open.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { refusal } from './errors.ts'
import { dump } from './histories.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-others-'))
afterAll(() => rmSync(directory, { recursive: true }))

const history = parseNotation(
  's0: w(1,1) r(2,0) | r(1,1) w(2,3) [aborted]\ns1: r(1,1) w(2,5)\ns1: r(2,5)',
)

function text(format: string, source: History = history): string {
  let out = ''
  findFormat(format)!.write(source, (bytes) => {
    out += Buffer.from(bytes).toString('latin1')
  })
  return out
}

function files(format: string, list: Record<string, string | Uint8Array>): History {
  return parseHistoryFiles(
    Object.entries(list).map(([name, bytes]) => ({ name, chunks: [Buffer.from(bytes)] })),
    findFormat(format)!,
  )
}

function refuseFiles(format: string, list: Record<string, string | Uint8Array>): string {
  try {
    files(format, list)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return `${error.describe()} [${error.code}]`
  }
  return expect.fail('the files were accepted')
}

/** Big-endian 64-bit integers behind a letter. */
function record(letter: string, ...numbers: (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(1 + 8 * numbers.length, letter)
  numbers.forEach((n, i) => {
    bytes.writeBigInt64BE(BigInt.asIntN(64, BigInt(n)), 1 + 8 * i)
  })
  return bytes
}

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

describe('dbcop', () => {
  it('writes five counts, three texts, then sessions, to the byte', () => {
    const i64 = (n: number) => String.fromCharCode(n, 0, 0, 0, 0, 0, 0, 0)
    const event = (isWrite: number, key: number, value: number) =>
      `${String.fromCharCode(isWrite)}${i64(key)}${i64(value)}\x01`
    const start = `${i64(20)}1970-01-01T00:00:00Z`
    const head = [0, 2, 2, 2, 2].map(i64).join('')
    expect(text('dbcop')).toBe(
      `${head}${i64(6)}isobar${start}${start}${i64(2)}` +
        `${i64(2)}${i64(2)}${event(1, 1, 1)}${event(0, 2, 0)}\x01` +
        `${i64(2)}${event(0, 1, 1)}${event(1, 2, 3)}\x00` +
        `${i64(2)}${i64(2)}${event(0, 1, 1)}${event(1, 2, 5)}\x01${i64(1)}${event(0, 2, 5)}\x01`,
    )
  })

  it('leaves out events that failed', () => {
    const bytes = Buffer.from(text('dbcop'), 'latin1')
    const write = bytes.lastIndexOf(Buffer.from('0102000000000000000500', 'hex'))
    bytes[write + 17] = 0
    const read = parseHistory(bytes)
    expect(dump(read)[3]).toBe('1 T3 0 NaN NaN -1 r(1,1)')
    expect(read.readFrom[read.opCount - 1]).toBe(-1)
  })

  it('checks every count against the bytes that are left', () => {
    const bytes = Buffer.from(text('dbcop'), 'latin1')
    for (let length = 1; length < bytes.length; length++) {
      expect(refusal(bytes.subarray(0, length), 'dbcop')).toMatch(/^1:\d+ truncated: /)
    }
    const huge = Buffer.from(bytes)
    huge.writeBigInt64LE(2n ** 40n, 110)
    expect(refusal(huge, 'dbcop')).toMatch(
      /^1:111 truncated: 1099511627776 sessions do not fit into the \d+ bytes that are left \(byte 110\)$/,
    )
    const more = Buffer.concat([bytes, Buffer.alloc(1)])
    expect(refusal(more, 'dbcop')).toMatch(/ malformed: unexpected bytes behind the history/)
  })
})

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

describe('directories', () => {
  it('are one history if they hold logs or a file of a known name', async () => {
    const cobra = join(directory, 'cobra')
    const dbcop = join(directory, 'dbcop')
    const other = join(directory, 'other')
    for (const path of [cobra, dbcop, other]) mkdirSync(path)
    writeFileSync(join(cobra, 'T1.log'), Buffer.concat([record('S', 1), record('C', 1)]))
    writeFileSync(join(cobra, 'T2.log'), '')
    writeFileSync(join(cobra, 'notes.txt'), 'about')
    writeFileSync(join(dbcop, 'history.bincode'), Buffer.from(text('dbcop'), 'latin1'))
    writeFileSync(join(other, 'a.log'), 'Starting up\n')
    expect([cobra, dbcop, other].map((path) => historyFilesIn(path) !== null)).toEqual([
      true,
      true,
      false,
    ])
    const logs = await readHistory(cobra)
    expect([logs.format.id, logs.history.txnCount, logs.bytes]).toEqual(['cobra', 1, 18])
    const file = await readHistory(dbcop)
    expect([file.format.id, file.history.txnCount]).toEqual(['dbcop', 4])
    await expect(readHistory(other)).rejects.toThrow('not a history in a known format')
    await expect(readHistory(other, { format: 'cobra' })).rejects.toThrow('no record begins')
  })
})

describe('a document that is read whole', () => {
  it('is refused when it takes more than a quarter of the memory, before all of it is read', () => {
    let pushed = 0
    function* zeros() {
      for (; pushed < 100; pushed++) yield new Uint8Array(1 << 20)
    }
    const read = () => parseHistory(zeros(), { format: 'dbcop', memoryBytes: 20 << 20 })
    expect(read).toThrow('a document in this format may not be larger than 5 MB')
    expect(pushed).toBe(5)
  })
})
