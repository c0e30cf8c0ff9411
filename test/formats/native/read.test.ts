import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { writeNative } from '../../../src/formats/native/write.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { refusal } from '../errors.ts'
import { dump } from '../histories.ts'

const parse = (text: string) => parseHistory(text, { format: 'native' })

describe('NativeParser', () => {
  it('reads every field, in any order, with any white space', () => {
    const history = parse(
      '{"isobar":1,"initial":null,"recorder":"mine"}\n' +
        '{"session":0,"id":"T7","status":"aborted","start":12,"finish":15.5,"level":"ser",' +
        '"ops":[["r","x",1],["w","y",2],["append","l",3],["r","l",[1,2,3]]]}\r\n' +
        '\n' +
        ' { "ops" : [ [ "r" , "x" , null ] , ["w",-5,"a\\u0062\\n"] ] , "extra":{"a":[1,{}]}, "session" : "b" } ',
    )
    expect(dump(history)).toEqual([
      'initial null',
      '0 T7 1 12 15.5 ser r("x",1) w("y",2) a("l",3) l("l",1,2,3)',
      '"b" #2 0 NaN NaN -1 r("x",null) w(-5,"ab\\n")',
    ])
    expect(history.placeOf(1)).toEqual({ line: 2, column: 101 })
    expect(history.placeOf(5)).toEqual({ line: 4, column: 37 })
  })

  it('reads lists whose elements are not all small integers, and in which there is white space', () => {
    const list = '[0,999999999,1000000000,7 , 8,-1,2,"a",3,null,4 ]'
    const history = parse(`{"session":0,"ops":[["r","x",${list}],["r","y",[5]],["r","z",[ ]]]}\n`)
    const shown = 'l("x",0,999999999,1000000000,7,8,-1,2,"a",3,null,4) l("y",5) l("z",)'
    expect(dump(history)[1]).toBe(`0 T1 0 NaN NaN -1 ${shown}`)
  })

  it('counts columns in characters', () => {
    const history = parse('{"session":0,"ops":[["w","äö",1],["w","x",2],["w","y",3]]}\n')
    expect([0, 1, 2].map((op) => history.placeOf(op)!.column)).toEqual([21, 34, 46])
  })

  it('counts columns in characters where the session comes last, too', () => {
    const history = parse('{"ops":[["w","äö",1],["w","x",2]],"session":"ü"}\n')
    expect([0, 1].map((op) => history.placeOf(op)!.column)).toEqual([9, 22])
  })

  it('reads lightweight operations as what they amount to, and writes them back', () => {
    const text =
      '{"isobar":1,"initial":null}\n' +
      '{"session":0,"ops":[["insert","x",1]]}\n' +
      '{"session":0,"ops":[["cas","x",1,2],["r","x",2]]}\n' +
      '{"session":1,"ops":[["cas","x",1,"b",2]]}\n' +
      '{"session":1,"status":"aborted","ops":[["cas",7,null,3]]}\n' +
      '{"session":1,"ops":[["insert","x",9,null]]}\n'
    const history = parse(text)
    expect(
      dump(history)
        .slice(1)
        .map((line) => line.split('-1 ')[1]),
    ).toEqual([
      'r("x",null) w("x",1)',
      'r("x",1) w("x",2) r("x",2)',
      'r("x",2)',
      'r(7,null) w(7,3)',
      'r("x",null)',
    ])
    expect([0, 1, 2, 3, 4].map((op) => history.placeOf(op)!.column)).toEqual([21, 21, 21, 21, 37])
    let written = ''
    writeNative(history, (bytes) => {
      written += new TextDecoder().decode(bytes)
    })
    expect(written).toBe(text)
  })

  it('reads many short lightweight operations without losing any', () => {
    const line = '{"session":0,"ops":[["cas",1,1,2]]}'
    const lines = Array.from({ length: 30_000 }, (_, i) => line.replace('1,2', `${i},${i + 1}`))
    const history = parse(`{"isobar":1,"initial":0}\n${lines.join('\n')}`)
    expect(history.opCount).toBe(60_000)
    expect(history.readFrom.subarray(2).every((write, i) => i % 2 === 1 || write === i + 1)).toBe(
      true,
    )
  })

  it('keeps integers of 64 bits exactly, and apart from strings', () => {
    const history = parse(
      '{"session":0,"ops":[["w",1,18446744073709551615],["w","1",-9223372036854775808],' +
        '["w",9007199254740993,1],["w",9007199254740992,1],["w",2,-0],["w",2,-1]]}',
    )
    expect(history.keyCount).toBe(5)
    expect(Array.from({ length: 6 }, (_, op) => history.valueOf(op))).toEqual([
      18446744073709551615n,
      -9223372036854775808n,
      1,
      1,
      0,
      -1,
    ])
  })

  it('tells keys apart that differ only in how their number is written', () => {
    const names = [
      'k7',
      'k07',
      'k',
      'k0',
      'k00',
      'kk7',
      'k7k',
      '7',
      'k12345678',
      'k99999999',
      'k70',
    ]
    const ops = [...names, ...names, ...names].map((name) => ['r', name, null])
    const history = parse(`${JSON.stringify({ session: 0, ops })}\n`)
    expect(history.keyCount).toBe(names.length)
    const read = Array.from(history.opKey, (key) => history.keyName(key))
    expect(read).toEqual([...names, ...names, ...names])
    const plain = ops.map(([, name]) => ['r', name, 5])
    const fast = parse(`${JSON.stringify({ session: 0, ops: plain })}\n`)
    expect(Array.from(fast.opKey, (key) => fast.keyName(key))).toEqual(read)
  })

  it('joins pending lines with their outcomes; without one they are indeterminate', () => {
    const history = parse(
      '{"pending":"a","session":0,"start":1,"ops":[["w","x",1]]}\n' +
        '{"pending":7,"session":1,"start":2,"ops":[["w","x",2]]}\n' +
        '{"outcome":"a","status":"committed","finish":3}\n' +
        '{"pending":"7","session":0,"start":3,"ops":[["w","x",3]]}\n' +
        '{"outcome":"7","status":"aborted"}\n',
    )
    expect(dump(history).slice(1)).toEqual([
      '0 a 0 1 3 -1 w("x",1)',
      '1 T7 2 2 NaN -1 w("x",2)',
      '0 7 1 3 NaN -1 w("x",3)',
    ])
  })

  it('warns of a torn last line, wherever it is torn, and leaves it out', () => {
    const last =
      '{"session":0,"id":"Tä","start":-1.5e1,"level":"si","x":[true,null],"ops":[["w","\\u00e9",-12]]}'
    const bytes = Buffer.from(last)
    const first = Buffer.from('{"session":1,"ops":[["r","x",null]]}\n')
    for (let length = 1; length < bytes.length; length++) {
      const history = parseHistory(Buffer.concat([first, bytes.subarray(0, length)]), {
        format: 'native',
      })
      expect(history.txnCount).toBe(1)
      expect(history.warnings).toHaveLength(1)
      expect(history.warnings[0]).toMatch(/^line 2 is torn, and left out: /)
    }
    expect(parse(first + last).warnings).toEqual([])
    expect(parse(first + last).txnCount).toBe(2)
  })

  it('takes the initial value from the header, and null for it in reads and writes', () => {
    const zero = parse('{"isobar":1,"initial":0}\n{"session":0,"ops":[["r","x",null],["r","x",0]]}')
    expect(Array.from(zero.readFrom)).toEqual([-2, -2])
    const none = parse('{"isobar":1,"initial":false}\n{"session":0,"ops":[["r","x",0]]}')
    expect(none.initial).toBeUndefined()
    expect(none.readFrom[0]).toBe(-1)
  })

  it.each([
    ['[1]', '1:1 malformed: expected a JSON object, found "["'],
    ['{"session":0,"ops":[["r","x",1]}\n', '1:32 malformed: expected "," or "]", found "}"'],
    ['{"session":0,"ops":[["r","x",1],]}', '1:33 malformed: expected an operation, found "]"'],
    [
      '{"session":0,"ops":[["r","x",1]["w","x",2]]}',
      '1:32 malformed: expected "," or "]", found "["',
    ],
    ['{"session":0,"ops":[["r","x"]]}', '1:29 malformed: the operation lacks its key or its value'],
    ['{"session":0,"ops":[["r","x",1,2]]}', '1:32 malformed: the operation has one value too many'],
    ['{"session":0,"ops":[["r","x",01]]}', '1:30 malformed: a number cannot begin with 0'],
    ['{"session":0,"ops":[["r",007,1]]}', '1:26 malformed: a number cannot begin with 0'],
    ['{"session":0,"ops":[["r","x",1.5]]}', '1:30 malformed: the value is not an integer'],
    ['{"session":0,"ops":[["r","x",1e3]]}', '1:30 malformed: the value is not an integer'],
    ['{"session":0,"ops":[["w","x",{}]]}', '1:30 malformed: a value cannot be an object'],
    ['{"session":0,"ops":[["w","x",true]]}', '1:30 malformed: a value cannot be a boolean'],
    ['{"session":0,"ops":[["w","x",[1]]]}', '1:30 malformed: a value cannot be a list'],
    ['{"session":0,"ops":[["r","x",[[1]]]]}', '1:31 malformed: a value cannot be a list'],
    ['{"session":0,"ops":[["r",null,1]]}', '1:26 malformed: a key cannot be null'],
    ['{"session":0,"ops":[["r",1.5,1]]}', '1:26 malformed: the key is not an integer'],
    ['{"session":0,"ops":[["q","x",1]]}', '1:22 malformed: unknown operation "q"'],
    [
      '{"session":0,"ops":[["select","x",1]]}',
      '1:22 malformed: "select" is a statement, which is an object',
    ],
    [
      '{"session":0,"ops":[["cas","x",1]]}',
      '1:33 malformed: the operation lacks its key or its value',
    ],
    [
      '{"session":0,"ops":[["cas","x",1,2,3,4]]}',
      '1:38 malformed: the operation has one value too many',
    ],
    ['{"session":0,"ops":[["r","x",[1,02]]]}', '1:33 malformed: a number cannot begin with 0'],
    ['{"session":0,"ops":[["r","x",[1,]]]}', '1:33 malformed: expected a value, found "]"'],
    ['{"session":0,"ops":[["r","x",[1,,2]]]}', '1:33 malformed: expected a value, found ","'],
    ['{"session":0,"ops":[["insert","x",[1]]]}', '1:35 malformed: a value cannot be a list'],
    ['{"session":0,"ops":{}}', '1:20 malformed: expected a list of operations, found "{"'],
    ['{"session":1.5,"ops":[]}', '1:12 malformed: the session is not an integer'],
    ['{"session":null,"ops":[]}', '1:12 malformed: a session cannot be null'],
    ['{"ops":[]}', '1:1 malformed: the line has no "session"'],
    ['{"session":0}', '1:1 malformed: the line has no "ops"'],
    ['{"session":0,"session":1,"ops":[]}', '1:14 malformed: "session" is given twice'],
    ['{"session":0,"opps":[],"ops":[]}', '1:14 unknown-field: unknown field "opps"'],
    ['{"session":0,"end":3,"ops":[]}', '1:14 unknown-field: unknown field "end"'],
    ['{"session":0,"status":"done","ops":[]}', '1:23 malformed: unknown status "done"'],
    ['{"session":0,"level":"strict","ops":[]}', '1:22 malformed: unknown level "strict"'],
    ['{"session":0,"start":1e309,"ops":[]}', '1:22 out-of-range: the start is out of range'],
    [
      '{"session":0,"start":"1","ops":[]}',
      '1:22 malformed: expected a number (the start), found "\\""',
    ],
    [
      '{"session":0,"ops":[["w","x",18446744073709551616]]}',
      '1:30 out-of-range: the value does not fit into 64 bits',
    ],
    [
      '{"session":0,"ops":[["w","x",-9223372036854775809]]}',
      '1:30 out-of-range: the value does not fit into 64 bits',
    ],
    [
      '{"session":0,"ops":[["w","x\t",1]]}',
      '1:28 malformed: a control character must be escaped in a string',
    ],
    ['{"session":0,"ops":[["w","\\x",1]]}', '1:27 malformed: no such escape in JSON'],
    [
      '{"session":0,"ops":[["w","\\ud800",1]]}',
      '1:27 malformed: half of a surrogate pair is not a character',
    ],
    ['{"session":0,"ops":[]} x', '1:24 malformed: expected the end of the line, found "x"'],
    ['{"session":0,"ops":[]\n', '1:22 truncated: the line ends where "," or "}" must stand'],
    ['{"isobar":2}', '1:11 malformed: this version reads native histories of version 1'],
    ['{"session":0,"ops":[]}\n{"isobar":1}', '2:1 malformed: the header must be the first line'],
    ['{"initial":0,"session":0,"ops":[]}', '1:1 malformed: "initial" belongs into the header'],
    [
      '{"session":0,"id":"a","ops":[]}\n{"session":1,"id":"a","ops":[]}',
      '2:1 duplicate-id: transaction id "a" is used twice (first at line 1)',
    ],
    [
      '{"outcome":"a","status":"committed"}',
      '1:1 unknown-id: the outcome of transaction "a", which is not pending before this line',
    ],
    [
      '{"pending":"a","session":0,"ops":[]}\n{"outcome":"a","status":"aborted"}\n{"outcome":"a","status":"aborted"}',
      '3:1 duplicate-id: transaction "a" (line 1) has an outcome already',
    ],
    [
      '{"pending":"a","session":0,"status":"aborted","ops":[]}',
      '1:1 malformed: a pending transaction has no "status" yet',
    ],
    [
      '{"session":0,"ops":[["w","x",1]]}\n{"session":0,"ops":[["r","x",1],["w","x",1]]}',
      '2:33 duplicate-value: value 1 of key "x" is written twice (first at line 1)',
    ],
    [
      '{"session":0,"start":1,"finish":5,"ops":[["w","x",1]]}\n{"session":0,"start":4,"ops":[["r","x",1]]}',
      "2:31 impossible-times: transaction T2 starts at 4, before its session's previous one ended (5)",
    ],
    [`{"session":0,"x":${'['.repeat(100)}`, '1:82 too-large: more than 64 brackets are open'],
  ])('refuses %j', (text, message) => {
    expect(refusal(text, 'native')).toBe(message)
  })

  it('refuses strings that are not UTF-8, also in fields it skips', () => {
    for (const field of ['"ops":[["w","', '"note":[{"']) {
      const bytes = Buffer.from(`{"session":0,${field}\xff"`, 'latin1')
      const column = 14 + field.length
      expect(refusal(Buffer.concat([bytes, Buffer.from('\n')]), 'native')).toBe(
        `1:${column} bad-utf8: the text is not valid UTF-8 here`,
      )
    }
  })

  it('reads what JSON.parse reads, and refuses what it refuses, on mutated lines', () => {
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(fc.nat(99), fc.constantFrom(...'{}[]",:01-e. \\un', ''), (at, c) => {
        const text = `${LINE.slice(0, at) + c + LINE.slice(at + 1)}\n`
        let parsed = true
        try {
          JSON.parse(text)
        } catch {
          parsed = false
        }
        try {
          parse(text)
          accepted++
          expect(parsed).toBe(true)
        } catch (error) {
          if (!(error instanceof InputError)) throw error
          expect(error.place).not.toBeNull()
          refused++
        }
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(accepted, refused)).toBeGreaterThan(100)
  })
})

const LINE =
  '{"session":0,"note":[1,{"a":"b"},-2.5e3],"id":"T1","start":12,"ops":[["r","x",1],["w","y",[2]]]}'.replace(
    '[2]',
    '2',
  )

describe('unknown fields', () => {
  const line = (count: number) =>
    `{"session":0,"ops":[],${Array.from({ length: count }, (_, i) => `"f${i}":${i}`).join()}}\n`

  it('are skipped, the same ones in every line', () => {
    expect(parse(line(1000).repeat(3)).txnCount).toBe(3)
  })

  it('are refused where they are too many', () => {
    const error = refusal(line(200_000), 'native')
    expect(error).toContain('there are more than 1000 different unknown fields')
  })
})
