// Counters, range reads and compare-and-sets that did not tell what they found: how they are read,
// written back and refused, and what verdicts on them say. Brute force: test/small/spans.test.ts.

import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { judge } from '../../src/check/judge.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { check } from '../../src/library/check.ts'
import { certifyResult } from '../../src/verdict/certify.ts'
import { load, save } from '../formats/storage.ts'
import { judgeAt } from '../small/spans.ts'

const native = FORMATS.find(({ id }) => id === 'native')!

/** The levels that hold, of a profile. */
async function holding(text: string, duplicates = false): Promise<string[]> {
  const history = parseNotation(text, undefined, duplicates)
  const results = await judge(history, null)
  for (const result of results) {
    if (result.verdict === 'unknown') continue
    expect(await certifyResult(history, result), result.level).toEqual([])
  }
  return results.filter(({ verdict }) => verdict === 'satisfied').map(({ level }) => level)
}

/** Name -> the first anomaly of each, at a level. */
async function namesAt(text: string, level: 'rc' | 'si' | 'ser'): Promise<string[]> {
  const [result] = await judge(parseNotation(text), [level])
  return result!.anomalies.map(({ name }) => name)
}

const ALL = ['ci', 'rc', 'ra', 'cc', 'pc', 'psi', 'si', 'ser']

describe('spans', () => {
  it.each([
    's1: inc(x,1) r(x,1) | r(x,3)\ns2: inc(x,2)\n',
    's1: inc(x,1) inc(y,1) | inc(x,1)\ns2: r(x,1) [aborted] | r(x,2) r(y,null)\n',
    'initial null\ns1: w(1,a) w(3,b)\ns2: range(1,5,[3:b]) | range(-4,2,[]) range(10,20,[])\n',
    's1: add(s,1) add(s,a) | add(s,"1")\ns2: r(s,{}) | r(s,{a,"1",1}) r(t,{}) | r(s,{9})\n',
    's1: w(x,1) cas(x,1,2,?) | insert(x,7,?) cas(y,0,1)\ns2: w(x,3)\n',
  ])('come back as they were told: %s', (text) => {
    const history = parseNotation(text)
    const shown = text.replace('null', '0')
    expect(renderNotation(history)).toBe(text.startsWith('initial') ? text : shown)
    const back = load(native, save(native, history), 7)
    expect(renderNotation(back)).toBe(renderNotation(history))
  })

  it('are written as the native format has them', () => {
    const text =
      '{"isobar":1,"initial":null}\n' +
      '{"session":0,"ops":[["add","s",1],["add","s","a"],["set","s",["a",1]],["inc","c",2],["range",1,9,[[7,"a"]]],["cas","x",1,2,false]]}\n' +
      '{"session":1,"ops":[["r","c",2],["w",7,"a"],["insert","x",3,false],["range",-1,0,[]]]}\n'
    const bytes = save(native, parseHistory(text)).values().next().value as Uint8Array
    expect(Buffer.from(bytes).toString()).toBe(text)
  })

  it('are plain objects in the library', async () => {
    const result = await check([
      {
        session: 1,
        ops: [
          { inc: 'c', by: 2 },
          { w: 3, v: 'a' },
        ],
      },
      {
        session: 2,
        ops: [
          { r: 'c', v: 2 },
          { range: [1, 5], v: [] },
        ],
      },
      { session: 3, ops: [{ cas: 'x', from: 1, to: 2, found: false }] },
    ])
    expect(result.weakestViolated).toEqual(['rc'])
  })

  it.each([
    ['s1: inc(x,0)', 'cannot be incremented by 0'],
    ['s1: inc(x,-1)', 'cannot be incremented by -1'],
    ['s1: inc(x,"1")', 'cannot be incremented by "1"'],
    ['s1: inc(x,9007199254740993)', 'cannot be incremented by 9007199254740993'],
    ['s1: inc(x,1) w(x,2)', 'key "x" is a counter'],
    ['s1: inc(x,1) append(x,2)', 'key "x" is a counter'],
    ['s1: inc(x,1) | cas(x,1,2)', 'key "x" is a counter'],
    ['s1: inc(x,1) | cas(x,5,2,1)', 'key "x" is a counter'],
    ['s1: inc(x,1) | cas(x,5,2,?)', 'key "x" is a counter'],
    ['s1: inc(x,1) insert(x,5,1)', 'key "x" is a counter'],
    ['s1: inc(x,1)\ns2: r(x,1)@3', 'key "x" is a counter, which has no versions'],
    ['s1: inc(x,1) | r(x,-1)', 'cannot be read as -1'],
    ['s1: inc(x,1) | r(x,a)', 'cannot be read as "a"'],
    ['initial a\ns1: inc(x,1)', 'counters begin with a number'],
    ['initial none\ns1: inc(x,1)', 'counters begin with a number'],
    ['s1: add(s,1) w(s,2)', 'key "s" is a set'],
    ['s1: add(s,1) | r(s,1)', 'key "s" is a set'],
    ['s1: add(s,1) | r(s,[1])', 'key "s" is a set'],
    ['s1: add(s,1) inc(s,1)', 'key "s" is a set'],
    ['s1: r(s,{}) | r(s,0)', 'key "s" is a set'],
    ['s1: add(3,1) range(1,5,[])', 'which is a set'],
    ['s1: add(s,1) | r(s,{1,2,1})', 'the set returned 1 twice'],
    ['s1: add(s,null)', 'null is no element of a set'],
    ['s1: add(s,1) | add(s,1)', 'is written twice'],
    ['initial none\ns1: r(s,{})', 'there is no initial value'],
    ['s1: range(5,1,[])', 'the range from 5 to 1 is empty'],
    ['s1: range(a,b,[])', 'a range is of integer keys'],
    ['s1: range(1,5,[6:1])', 'the range from 1 to 5 has no key 6'],
    ['s1: range(1,5,[2:1,2:1])', 'returned key 2 twice'],
    ['s1: range(1,9,[3:0])', 'returned key 3 with the value of a key that is not there'],
    ['initial null\ns1: range(1,9,[3:null])', 'returned key 3 with the value of a key that is not'],
    ['s1: range(1,5,[]) inc(3,1)', 'which is a counter'],
    ['s1: range(1,5,[]) append(3,1)', 'both as a register and as a list'],
    ['initial none\ns1: range(1,5,[])', 'there is no initial value'],
    ['s1: w(x,1)@1 | cas(x,5,2,?)', 'several possible writers in a history that gives versions'],
  ])('are refused with a reason: %s', (text, reason) => {
    expect(() => parseNotation(text)).toThrow(InputError)
    expect(() => parseNotation(text)).toThrow(reason)
  })

  it.each([
    ['["inc","x",-1]', 'cannot be incremented by -1'],
    ['["inc","x",1.5]', 'is not an integer'],
    ['["inc","x"]', 'lacks its key or its value'],
    ['["add","s",null]', 'a set element cannot be null'],
    ['["set","s",[1,1]]', 'the set returned 1 twice'],
    ['["set","s",7]', 'a list of elements'],
    ['["range",1,5]', 'lacks its key or its value'],
    ['["range",1,5,[[9,1]]]', 'has no key 9'],
    ['["range",1,5,7]', 'a list of pairs'],
    ['["range",7,5,[]]', 'is empty'],
    ['["cas","x",1,2,true]', 'a value cannot be a boolean'],
  ])('are refused in the native format with a place: %s', (op, reason) => {
    const parse = () => parseHistory(`{"session":0,"ops":[["w","y",1],${op}]}\n`)
    expect(parse).toThrow(reason)
    expect(() => parse()).toThrow(
      expect.objectContaining({ place: expect.objectContaining({ line: 1 }) }),
    )
  })

  it('say what other formats cannot hold', () => {
    const told = ['s1: inc(x,1)', 's1: range(1,2,[])', 's1: inc(x,1) range(1,2,[])']
    const [counters, ranges, both] = told.map((text) => {
      const plume = FORMATS.find(({ id }) => id === 'plume')!
      return plume.misfits(parseNotation(text)).join()
    })
    expect(counters).toContain('counters')
    expect(counters).not.toMatch(/"\+1"|x of T1/)
    expect(ranges).toContain('range reads')
    expect(ranges).not.toContain('counters')
    expect(both).toContain('range reads and counters')
  })

  it('let increments commute', async () => {
    const skew = (x: string, y: string) => `s1: r(y,0) ${x}\ns2: r(z,0) ${y}`
    // Both write x, and neither saw the other's z or y.
    const registers = skew('w(z,1) w(x,1)', 'w(y,1) w(x,2)')
    expect(await holding(registers)).not.toContain('si')
    expect(await holding(skew('w(z,1) inc(x,1)', 'w(y,1) inc(x,2)'))).toContain('si')
  })

  it.each([
    ['an order of increments', 's1: inc(x,1)\ns2: inc(x,1)\ns3: r(x,1) | r(x,2)', ALL],
    [
      'a counter that goes back',
      's1: inc(x,1)\ns2: inc(x,1)\ns3: r(x,2) | r(x,1)',
      ['ci', 'rc', 'ra'],
    ],
    [
      'totals of no one order',
      's1: inc(x,1)\ns2: inc(x,2)\ns3: r(x,1)\ns4: r(x,2)',
      ['ci', 'rc', 'ra', 'cc', 'psi'],
    ],
    ['an own increment', 's1: inc(x,1) r(x,1) inc(x,1) r(x,2)', ALL],
    ['an own increment that is missing', 's1: inc(x,1) r(x,0)', []],
    ['half of a transaction', 's1: inc(x,1) inc(x,2)\ns2: r(x,1)', []],
    ['an increment that was aborted', 's1: inc(x,1) [aborted]\ns2: r(x,1)', []],
    ['one that may have been', 's1: inc(x,1) [indeterminate]\ns2: r(x,1)', ALL],
    ['one that may not have been', 's1: inc(x,1) [indeterminate] | r(x,0)', ALL],
    ['an own session', 's1: inc(x,1) | r(x,0)', ['ci', 'rc']],
    ['where counters begin', 'initial 5\ns1: inc(x,1)\ns2: r(x,5) | r(x,6)', ALL],
    ['less than where they begin', 'initial 5\ns1: inc(x,1)\ns2: r(x,4)', []],
    ['a set in order', 's1: add(s,1)\ns2: add(s,2)\ns3: r(s,{1}) | r(s,{2,1})', ALL],
    [
      'a set that two saw grow otherwise',
      's1: add(s,1)\ns2: add(s,2)\ns3: r(s,{1})\ns4: r(s,{2})',
      ['ci', 'rc', 'ra', 'cc', 'psi'],
    ],
    ['a set that lost an element', 's1: add(s,1) | r(s,{})', ['ci', 'rc']],
    ['an element that nobody added', 's1: add(s,1) | r(s,{1,2})', []],
    ['an element that was not added', 's1: add(s,1) [aborted]\ns2: r(s,{1})', []],
    ['half of a transaction of a set', 's1: add(s,1) add(s,2)\ns2: r(s,{1})', ['ci']],
    ['a phantom', 'initial null\ns1: w(1,a) w(2,b)\ns2: range(1,3,[1:a])', ['ci']],
    ['no phantom', 'initial null\ns1: w(1,a) | w(2,b)\ns2: range(1,3,[1:a])', ALL],
    ['an own key that is missing', 'initial null\ns1: w(1,a) range(1,3,[])', []],
    ['a cas that could fail', 's1: w(x,1)\ns2: cas(x,0,2,?)', ALL],
    ['a cas that could not', 's1: w(y,1)\ns2: cas(x,0,2,?)', []],
    ['a cas that saw what its session wrote', 's1: w(x,1) | cas(x,1,2,?)', ['ci', 'rc']],
    ['the same, where somebody wrote later', 's1: w(x,1) | cas(x,1,2,?)\ns2: w(x,3)', ALL],
    ['an insert that could fail', 's1: w(x,1)\ns2: insert(x,2,?)', ALL],
    ['an insert that could not', 's1: insert(x,2,?)', []],
  ])('are judged: %s', async (_, text, levels) => {
    expect(await holding(text)).toEqual(levels)
  })

  it.each([
    ['ser+lin', [], ['s1: inc(x,1) [0,1]', 's2: inc(x,2) [2,3]', 's3: r(x,2) [0,4]']],
    ['wfr', [], ['s0: inc(x,1)', 's1: r(x,1) inc(x,2)', 's2: r(x,2)']],
    ['pl-2l', [], ['s0: inc(x,1)', 's1: r(x,1) inc(x,2)', 's2: r(x,2)']],
    ['mw', [], ['s0: inc(x,1) [id=a]', 's1: inc(x,2) [id=b after=a]', 's2: r(x,2)']],
    ['mw', [], ['s1: inc(x,1) | inc(x,2)', 's2: r(x,2)']],
    ['mw', [], ['s1: inc(x,1) | inc(x,1)', 's2: inc(x,1)', 's3: r(x,2) r(x,1)']],
    [
      'ser+lin',
      ['initial null'],
      [
        's1: range(1,9,[]) r(y,1) [4,5]',
        's2: r(3,null) r(z,null) [6,7]',
        's3: w(z,5) w(a,1) [0,8]',
        's4: r(a,1) w(y,1) [2,3]',
      ],
    ],
  ] as const)('are judged in whatever order they are told, at %s: %j %j', (level, head, lines) => {
    for (const told of [lines, lines.toReversed(), [...lines.slice(1), lines[0]]]) {
      const history = parseNotation([...head, ...told].join('\n'))
      const judged = judgeAt(history, { level })
      expect([judged.verdict, judged.certificate?.verified], told.join()).toEqual([
        'violated',
        true,
      ])
    }
  })

  it.each([
    'initial null\ns1: range(1,9,[]) r(y,1) [4,5]\ns2: r(10,null) r(z,null) [6,7]\ns3: w(z,5) w(a,1) [0,8]\ns4: r(a,1) w(y,1) [2,3]',
    's1: inc(x,1) [0,1]\ns2: inc(y,2) [2,3]\ns3: r(x,0) r(y,2) [0,4]',
    's1: inc(x,1) [0,1]\ns2: inc(x,2) [1,3]\ns3: r(x,2) [0,4]',
  ])('are in no order by time where no key is common, or they overlap: %s', (text) => {
    const judged = judgeAt(parseNotation(text), { level: 'ser+lin' })
    expect([judged.verdict, judged.certificate?.verified]).toEqual(['satisfied', true])
  })

  it('find a deleted key absent, whoever deleted it', async () => {
    const text =
      'initial null\ns1: w(1,a) | w(1,null) | w(1,b) | w(1,null)\ns2: r(1,b) | range(1,3,[])'
    expect(await holding(text, true)).toEqual(ALL)
    const stale = text.replace('range(1,3,[])', 'range(1,3,[1:a])')
    expect(await holding(stale, true)).toEqual(['ci', 'rc', 'ra'])
    expect(() => parseNotation(text)).toThrow('is written twice')
  })

  it('show write skew through ranges, and name what is wrong with counters', async () => {
    const skew = 'initial null\ns1: range(1,9,[]) w(1,a)\ns2: range(1,9,[]) w(2,b)'
    expect(await holding(skew)).toEqual(ALL.slice(0, -1))
    expect(await namesAt(skew, 'ser')).toEqual(['WriteSkew'])
    expect(await namesAt('s1: inc(x,2)\ns2: r(x,1)', 'rc')).toEqual(['ThinAirRead'])
    expect(await namesAt('s1: inc(x,2) r(x,0)\ns2: inc(x,1)', 'rc')).toEqual(['NotMyOwnWrite'])
  })

  it('decide hundreds of increments that are told in order, and end unknown within a budget', async () => {
    const count = 120
    const incs = Array.from({ length: count }, (_, i) => `s${i % 5}: inc(x,1) r(x,${i + 1})`)
    expect(await holding(incs.join('\n'))).toEqual(ALL)
    const shuffled = incs.map((_, i) => `s${i}: inc(x,${1 + (i % 3)}) r(x,${(i * 7) % 120})`)
    const history = parseNotation(shuffled.join('\n'))
    const [result] = await judge(history, ['ser'], { budgetMs: 1500 })
    expect(result!.verdict).not.toBe('satisfied')
  })

  it('say what a case takes them to have seen', async () => {
    const result = await check('s1: inc(x,1)\ns2: inc(x,1)\ns3: r(x,2) | r(x,1)', 'cc')
    const said = JSON.stringify(result.toJSON())
    expect(said).toContain('T4 read the initial \\"x of T1\\"=0')
    expect(said).not.toContain('the initial \\"x of T1\\"=\\"+1')
  })

  it('refuse a certificate whose shares do not add up', async () => {
    const history = parseNotation('s1: inc(x,1)\ns2: inc(x,1)\ns3: r(x,1)')
    const [result] = await judge(history, ['ser'])
    expect(await certifyResult(history, result!)).toEqual([])
    const [first] = result!.sources!
    const other = result!.sources!.map((source) => ({ ...source, write: first!.write }))
    const forged = { ...result!, sources: other }
    // The same shares for both reads: none, or two, and not one.
    expect((await certifyResult(history, forged)).length).toBeGreaterThan(0)
  })
})
