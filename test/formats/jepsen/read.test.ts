// Jepsen's histories, in EDN and JSON.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { findFormat } from '../../../src/formats/formats.ts'
import { readHistory } from '../../../src/formats/open.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { refusal } from '../errors.ts'
import { dump } from '../histories.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-jepsen-'))
afterAll(() => rmSync(directory, { recursive: true }))

const EDN = `; a run
{:index 0, :type :invoke, :process 0, :f :txn, :value [[:append :x 1] [:r :y nil]], :time 10}
{:type :invoke :value [[:r :x nil]] :process 1 :index 1 :unknown #{1 [2]} "string" \\]}
{:process :nemesis, :type :info, :f :start, :value [:isolated {"n1" #{"n2"}}], :index 2}
#jepsen.history.Op{:index 3, :time 20, :type :ok, :process 0, :f :txn,
  :value [[:append :x 1] [:r :y []]], :error #inst "2020-01-01"}
{:index 4, :type :ok, :process 1, :f :txn, :value [[:r :x [1]]]}
{:index 5, :type :invoke, :process 0, :f :txn, :value [[:append :x 2] [:append :y 7]]}
{:index 6, :type :info, :process 0, :value [[:append :x 2] [:append :y 7]], :error :timeout}
{:index 7, :type :invoke, :process 1, :f :txn, :value [[:append :x 3] [:r :y nil]]}
{:index 8, :type :fail, :process 1, :f :txn, :value [[:append :x 3] [:r :y nil]]}
{:index 9, :type :invoke, :process 2, :f :txn, :value [[:append :y 8] [:r :x nil]]}
`
const LINES = [
  'initial null',
  '0 T3 0 0 3 -1 a(":x",1) l(":y",)',
  '1 T4 0 1 4 -1 l(":x",1)',
  '0 T6 2 5 NaN -1 a(":x",2) a(":y",7)',
  '1 T8 1 7 8 -1 a(":x",3)',
  '2 T9 2 9 NaN -1 a(":y",8)',
]

describe('events', () => {
  it('become transactions named by their completion, in real time by index', () => {
    const history = parseHistory(EDN)
    expect(dump(history)).toEqual(LINES)
    expect(history.annotations).toEqual([
      { time: 2, source: 'nemesis', text: 'info start [:isolated {"n1" #{"n2"}}]' },
    ])
    expect(history.warnings).toEqual([])
    expect(history.placeOf(0)).toEqual({ line: 6, column: 11 })
    expect(history.placeOf(2)).toEqual({ line: 7, column: 52 })
  })

  it('may stand in a vector or a list', () => {
    expect(dump(parseHistory(`[${EDN}]`))).toEqual(LINES)
    expect(dump(parseHistory(`;x\n( ${EDN} ) ; end`))).toEqual(LINES)
  })

  it('are read in pieces of any size', () => {
    const bytes = new TextEncoder().encode(EDN)
    for (const size of [1, 2, 3, 7, 64, 100]) {
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size))
      const history = parseHistory(pieces, { format: 'jepsen' })
      expect(dump(history)).toEqual(LINES)
      expect(history.placeOf(2)).toEqual({ line: 7, column: 52 })
    }
  })

  it('are put in order by index', () => {
    const lines = EDN.split('\n').filter((line) => line.startsWith('{'))
    const text = (list: string[]) => list.join('\n')
    expect(dump(parseHistory(text(lines.toReversed())))).toEqual(dump(parseHistory(text(lines))))
  })

  it('without an index are numbered by their place', () => {
    const history = parseHistory(EDN.replace(/:index \d+/g, ''))
    expect(dump(history)).toEqual(LINES)
    expect(history.annotations[0]!.time).toBe(2)
    const some = parseHistory(EDN.replace(':index 9', ''))
    expect(dump(some)).toEqual(LINES)
    expect(some.warnings).toEqual([
      'not every operation has an :index: all are numbered by their place instead',
    ])
  })

  it('without a process are paired by what they ask for, in no session order', () => {
    const history = parseHistory(`
      {:type :invoke :value [[:append 1 1]]} {:type :invoke :value [[:r 1 nil]]}
      {:type :ok :value [[:r 1 [1]]]} {:type :ok :value [[:append 1 1]]}`)
    expect(dump(history)).toEqual([
      'initial null',
      '"unnamed 2" T2 0 1 2 -1 l(1,1)',
      '"unnamed 3" T3 0 0 3 -1 a(1,1)',
    ])
  })

  it('that completed without an invocation are accepted with a warning', () => {
    const history = parseHistory('{:type :ok :process 0 :value [[:append 1 1]]}')
    expect(dump(history)).toEqual(['initial null', '0 T0 0 NaN NaN -1 a(1,1)'])
    expect(history.warnings).toEqual([
      '1 operation completed without an :invoke: when they began is not known',
    ])
    expect(check(history, 'sser').verdict).toBe('unknown')
  })

  it('that failed take what they asked for if they do not say', () => {
    const history = parseHistory(`
      {:type :invoke :process 0 :value [[:append 1 1]]}
      {:type :info :process 0 :value :timed-out}
      {:type :invoke :process 1 :value [[:append 1 2]]}
      {:type :fail :process 1 :value nil}`)
    expect(dump(history).slice(1)).toEqual(['0 T1 2 0 NaN -1 a(1,1)', '1 T3 1 2 3 -1 a(1,2)'])
  })
})

describe('list-append', () => {
  const ok = (process: number, value: string) =>
    `{:type :invoke :process ${process} :value ${value}} {:type :ok :process ${process} :value ${value}}\n`

  it('keeps every element, not only the last', () => {
    const writes = `${ok(0, '[[:append 1 1]]')}${ok(1, '[[:append 1 2]]')}`
    const good = parseHistory(`${writes}${ok(2, '[[:r 1 [1 2]]]')}${ok(3, '[[:r 1 [1]]]')}`)
    expect(check(good, 'ser').verdict).toBe('satisfied')
    const swapped = parseHistory(`${writes}${ok(2, '[[:r 1 [1 2]]]')}${ok(3, '[[:r 1 [2]]]')}`)
    expect(check(swapped, 'rc').anomalies[0]!.name).toBe('IncompatibleOrder')
    const twice = parseHistory(`${writes}${ok(2, '[[:r 1 [1 1 2]]]')}`)
    expect(check(twice, 'rc').anomalies[0]!.name).toBe('DuplicateElements')
    const alien = parseHistory(`${writes}${ok(2, '[[:r 1 [1 9 2]]]')}`)
    expect(check(alien, 'rc').anomalies[0]!.name).toBe('ThinAirRead')
  })

  it('takes an observed :info for committed, not for thin air', () => {
    const history = parseHistory(`
      {:type :invoke :process 0 :value [[:append 1 1]]}
      {:type :info :process 0 :value [[:append 1 1]]}
      ${ok(1, '[[:r 1 [1]]]')}`)
    expect(check(history, 'sser').verdict).toBe('satisfied')
    const failed = parseHistory(`
      {:type :invoke :process 0 :value [[:append 1 1]]}
      {:type :fail :process 0 :value [[:append 1 1]]}
      ${ok(1, '[[:r 1 [1]]]')}`)
    expect(check(failed, 'rc').anomalies[0]!.name).toBe('AbortedRead')
  })
})

describe('rw-register', () => {
  it('reads nil as the initial value', () => {
    const history = parseHistory(
      `
      {:type :ok :process 0 :value [[:w x 1] [:r :y nil]]}`.replace('x', '"x"'),
    )
    expect(dump(history)[1]).toBe('0 T0 0 NaN NaN -1 w("x",1) r(":y",null)')
  })

  it('tells thin-air reads from reads of :info', () => {
    const read = '{:type :ok :process 1 :value [[:r 1 5]]}'
    expect(check(parseHistory(read), 'rc').anomalies[0]!.name).toBe('ThinAirRead')
    const info = `{:type :info :process 0 :value [[:w 1 5]]}${read}`
    expect(check(parseHistory(info), 'rc').verdict).toBe('satisfied')
  })
})

describe('independent tests', () => {
  it('have keys and sessions of their own', () => {
    const history = parseHistory(`
      {:type :invoke :process 0 :value [3 [[:append 1 1] [:r :x nil]]]}
      {:type :ok :process 0 :value [3 [[:append 1 1] [:r :x []]]]}
      {:type :ok :process 0 :value ["k" [[:append 1 1]]]}
      {:type :ok :process 1 :value [:k []]}`)
    expect(dump(history).slice(1)).toEqual([
      '"0 3" T1 0 0 1 -1 a("[3 1]",1) l("[3 :x]",)',
      '"0 \\"k\\"" T2 0 NaN NaN -1 a("[\\"k\\" 1]",1)',
      '"1 :k" T3 0 NaN NaN -1',
    ])
  })
})

describe('JSON', () => {
  const lines = [
    '{"index":0,"type":"invoke","process":0,"f":"txn","value":[["append","x",1],["r","y",null]]}',
    '{"value":[["append","x",1],["r","y",[]]],"index":1,"type":"ok","process":0,"time":1.5e3}',
    '{"index":2,"type":"info","process":"nemesis","f":"start","value":{"a":[null,true,"}"]}}',
    '{ "index" : 3 , "type" : ":ok" , "process" : 1 , "value" : [ [ "r" , "x" , [ 1 ] ] ] }',
  ]
  const expected = ['initial null', '0 T1 0 0 1 -1 a("x",1) l("y",)', '1 T3 0 NaN NaN -1 l("x",1)']

  it('is read as lines and as one array', () => {
    expect(dump(parseHistory(`${lines.join('\n')}\n`))).toEqual(expected)
    const history = parseHistory(`[\n${lines.join(',\n')}\n]`)
    expect(dump(history)).toEqual(expected)
    expect(history.annotations).toEqual([
      { time: 2, source: 'nemesis', text: 'info start {"a":[null,true,"}"]}' },
    ])
  })
})

describe('bad input', () => {
  it.each([
    ['{:type :ok :process 0 :value [[:cas 1 2]]}', '1:32 malformed: unknown micro-operation "cas"'],
    [
      '{:type :ok :process 0 :value [[:r 1]]}',
      '1:36 malformed: the micro-operation lacks its value',
    ],
    ['{:type :ok :process 0 :value 5}', '1:30 malformed: expected a transaction, found "5"'],
    ['{:type :ok :process 0}', '1:1 malformed: the :ok operation has no transaction as its :value'],
    ['{:process 0 :value []}', '1:1 malformed: the operation has no :type'],
    ['{:type :done :process 0}', '1:8 malformed: unknown type of operation'],
    ['{:type :ok :type :ok}', '1:1 malformed: the operation has two fields type'],
    ['\n {:type :ok', '2:12 truncated: the file ends where the rest of a name must stand'],
    [
      '[{:type :ok :value []}',
      '1:23 truncated: the file ends where the end of the vector must stand',
    ],
    ['[{:type :ok :value []}] 1', '1:25 malformed: expected the end of the file, found "1"'],
    ['{:type :ok :value [[:r 1.5 2]]}', '1:24 malformed: the key is not an integer'],
    ['{:type :ok :value [[:r 1 [2 010]]]}', '1:29 malformed: an integer cannot begin with 0'],
    ['{:type :ok :value [[:append 1 01]]}', '1:31 malformed: an integer cannot begin with 0'],
    ['{:type :ok :value [[:r {} 2]]}', '1:24 malformed: expected a key, found "{"'],
    [
      '{:type :ok :value [[:append 1 1]] :index 1} {:type :ok :value [[:append 2 1]] :index 1}',
      '1:45 malformed: index 1 is given twice (first at line 1)',
    ],
    [
      '{:type :ok :value [[:append 1 1]]}\n{:type :ok :value [[:w 2 1]]}',
      '2:20 mixed-workload: list-append and register operations are mixed (the first of the other kind at line 1)',
    ],
    [
      '{:type :ok :value [[:append 1 1]]}\n{:type :ok :value [[:append 1 1]]}',
      '2:20 duplicate-value: value 1 of key 1 is written twice (first at line 1)',
    ],
  ])('refuses %s', (text, message) => {
    expect(refusal(text, 'jepsen')).toBe(message)
  })
})

describe('a store directory', () => {
  it('is read through its latest run', async () => {
    const run = join(directory, 'store', 'test', '20200101T000000')
    mkdirSync(run, { recursive: true })
    writeFileSync(join(run, 'history.edn'), EDN)
    writeFileSync(join(run, 'jepsen.log'), 'noise')
    symlinkSync(run, join(directory, 'store', 'latest'))
    symlinkSync('20200101T000000', join(directory, 'store', 'test', 'latest'))
    for (const path of [run, join(directory, 'store'), join(directory, 'store', 'test')]) {
      const { history, format } = await readHistory(path)
      expect(format.id).toBe('jepsen')
      expect(dump(history)).toEqual(LINES)
    }
  })
})

describe('the writers', () => {
  const text = (format: string, history: History) => {
    let out = ''
    findFormat(format)!.write(history, (bytes) => {
      out += Buffer.from(bytes).toString()
    })
    return out
  }

  it('write EDN and JSON that come back the same', () => {
    const history = parseHistory(EDN)
    for (const format of ['jepsen', 'jepsen-json']) {
      expect(findFormat(format)!.misfits(history)).toEqual([])
      expect(dump(parseHistory(text(format, history)))).toEqual(dump(history))
    }
    expect(text('jepsen', history).split('\n')[2]).toBe(
      '{:index 3, :type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :y []]]}',
    )
    expect(text('jepsen-json', history).split('\n')[0]).toBe(
      '{"index":0,"type":"invoke","process":0,"f":"txn","value":[["append",":x",1],["r",":y",null]]}',
    )
  })

  it('keep who finished before whom started', () => {
    const history = parseNotation(
      's0: w(x,1) [start=0 finish=10] | r(x,1) [start=10 finish=20]\n' +
        's1: r(x,1) [start=10 finish=11] | w(y,2) [indeterminate start=12]\n' +
        's2: r(y,2) [start=11 finish=30]',
    )
    // s0 alone does two things at the instant 10.
    expect(findFormat('jepsen')!.misfits(history)).toEqual([
      'transactions that begin as others end',
    ])
    const back = parseHistory(text('jepsen', history))
    const before = (h: History, a: number, b: number) => h.txnFinishTime![a]! < h.txnStartTime![b]!
    const find = (h: History, session: number, index: number) =>
      h.sessionTxns[h.sessionTxnStart[session]! + index]!
    const places = [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0],
    ]
    const byLabel = (h: History) =>
      Array.from({ length: 3 }, (_, s) => s).sort((a, b) =>
        String(h.sessionLabel(a)) < String(h.sessionLabel(b)) ? -1 : 1,
      )
    const relation = (h: History) =>
      places.flatMap(([s, i]) =>
        places.map(([t, j]) => {
          const sessions = byLabel(h)
          return s !== t && before(h, find(h, sessions[s!]!, i!), find(h, sessions[t!]!, j!))
        }),
      )
    expect(relation(back)).toEqual(relation(history))
  })

  it('say what they cannot hold', () => {
    const misfits = (notation: string) => findFormat('jepsen')!.misfits(parseNotation(notation))
    expect(misfits('s0: w(x,1)')).toEqual(['transactions whose start and finish are not known'])
    expect(misfits('s0: w(x,1) append(y,2) [start=0 finish=1]')).toEqual([
      'lists and registers in one history',
    ])
    expect(misfits('s0: w(x,1) [id=T9 start=0 finish=1]')).toEqual(['names of transactions (T9)'])
    expect(misfits('s0: w(x,1) r(y,null) [aborted start=0 finish=1]')[0]).toMatch(/did not commit/)
    // At lin those of one session overlap; a process does one thing at a time.
    const inTurn = (start: number) =>
      `s0: w(x,1) [start=0 finish=2] | r(x,1) [start=${start} finish=4]`
    expect(misfits(inTurn(2))).toEqual(['transactions that begin as others end'])
    expect(misfits(inTurn(3))).toEqual([])
  })

  it('bring any list of integers back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n })), (list) => {
        const read = `{:type :ok :process 0 :value [[:r 1 [${list.join(' ')}]]]}`
        const history = parseHistory(read)
        expect(dump(parseHistory(text('jepsen', history)))[1]).toContain(`l(1,${list.join(',')})`)
      }),
    )
  })
})
