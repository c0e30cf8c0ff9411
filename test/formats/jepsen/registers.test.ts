// Jepsen's tests of single registers: :read, :write and :cas, one register or independent keys, and
// the workloads that are no transactions.

import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { judgeWriters } from '../../../src/check/writers/judge-writers.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import type { History } from '../../../src/history/history.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { check } from '../../../src/index.ts'
import { isAtomic } from '../../small/atomic.ts'
import { dump } from '../histories.ts'

type Event = [process: number, type: string, f: string, value: string]

const edn = (events: readonly Event[]) =>
  events
    .map(([process, type, f, value], index) => {
      return `{:type :${type}, :f :${f}, :value ${value}, :process ${process}, :index ${index}}`
    })
    .join('\n')

const read = (events: readonly Event[], duplicateValues = false): History =>
  parseHistory(edn(events), { format: 'jepsen', duplicateValues })

describe('a register of Jepsen', () => {
  it('is one key that is read, written, compared and set', () => {
    const history = read([
      [0, 'invoke', 'write', '1'],
      [1, 'invoke', 'read', 'nil'],
      [0, 'ok', 'write', '1'],
      [1, 'ok', 'read', 'nil'],
      [0, 'invoke', 'cas', '[1 2]'],
      [1, 'invoke', 'cas', '[1 3]'],
      [0, 'ok', 'cas', '[1 2]'],
      [1, 'fail', 'cas', '[1 3]'],
      [2, 'invoke', 'write', '4'],
      [2, 'info', 'write', '4'],
      [3, 'invoke', 'read', 'nil'],
      [3, 'info', 'read', 'nil'],
      [4, 'invoke', 'read', 'nil'],
      [4, 'ok', 'read', '2'],
    ])
    expect(dump(history)).toEqual([
      'initial null',
      '0 T2 0 0 2 -1 w("register",1)',
      '1 T3 0 1 3 -1 r("register",null)',
      '0 T6 0 4 6 -1 r("register",1) w("register",2)',
      '1 T7 1 5 7 -1 r("register",1) w("register",3)',
      '2 T9 2 8 NaN -1 w("register",4)',
      '3 T11 2 10 NaN -1',
      '4 T13 0 12 13 -1 r("register",2)',
    ])
  })

  it('has a world for every independent key', () => {
    const history = read([
      [0, 'invoke', 'write', '[3 1]'],
      [0, 'ok', 'write', '[3 1]'],
      [0, 'invoke', 'cas', '[:k [nil 1]]'],
      [0, 'ok', 'cas', '[:k [nil 1]]'],
      [0, 'invoke', 'read', '[3 nil]'],
      [0, 'ok', 'read', '[3 1]'],
    ])
    expect(renderNotation(history)).toBe(
      'initial null\n"0 3": w(3,1) [start=0 finish=1] | r(3,1) [start=4 finish=5]\n"0 :k": r(":k",null) w(":k",1) [start=2 finish=3]\n',
    )
  })

  it('is read from JSON as well', () => {
    const text =
      '{"type":"ok","f":"write","value":1,"process":0}\n{"type":"ok","f":"read","value":1,"process":1}\n'
    const history = parseHistory(text)
    expect([history.opCount, history.readFrom[1]]).toEqual([2, 0])
  })

  it('is judged at lin', async () => {
    const stale: Event[] = [
      [0, 'invoke', 'write', '1'],
      [0, 'ok', 'write', '1'],
      [1, 'invoke', 'read', 'nil'],
      [1, 'ok', 'read', 'nil'],
    ]
    expect((await check(edn(stale), 'lin')).verdict).toBe('violated')
    const early = [stale[0]!, stale[2]!, stale[1]!, stale[3]!]
    expect((await check(edn(early), 'lin')).verdict).toBe('satisfied')
  })

  it('may show a write of which nobody knows how it ended, at any later moment', async () => {
    const events: Event[] = [
      [0, 'invoke', 'write', '1'],
      [0, 'info', 'write', '1'],
      [1, 'invoke', 'read', 'nil'],
      [1, 'ok', 'read', 'nil'],
      [1, 'invoke', 'read', 'nil'],
      [1, 'ok', 'read', '1'],
    ]
    expect((await check(edn(events), 'lin')).verdict).toBe('satisfied')
    const back = [...events, [1, 'invoke', 'read', 'nil'], [1, 'ok', 'read', 'nil']] as Event[]
    expect((await check(edn(back), 'lin')).verdict).toBe('violated')
  })

  it('takes few values, so that writers are chosen; brute force agrees', () => {
    let [satisfied, violated] = [0, 0]
    for (let seed = 1; seed <= 150; seed++) {
      const { events, txns } = randomRun(seed)
      const history = read(events, true)
      if (history.writers === null) continue
      const [result] = judgeWriters(history, ['lin'])
      const expected = isAtomic(txns) ? 'satisfied' : 'violated'
      expect(result!.verdict, edn(events)).toBe(expected)
      if (expected === 'satisfied') satisfied++
      else violated++
    }
    expect(satisfied).toBeGreaterThan(20)
    expect(violated).toBeGreaterThan(20)
  })
})

/** Three processes on one register with two values; what reads return is made up half of the time. */
function randomRun(seed: number) {
  let state = seed
  const below = (n: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % n
  }
  const events: Event[] = []
  const txns: Parameters<typeof isAtomic>[0][number][] = []
  const open = new Map<number, { f: string; start: number; from: number; to: number }>()
  let value = 0
  for (let step = 0; step < 14; step++) {
    const process = below(3)
    const running = open.get(process)
    if (running === undefined) {
      const f = ['read', 'write', 'cas'][below(3)]!
      const next = { f, start: events.length, from: below(3), to: 1 + below(2) }
      open.set(process, next)
      events.push([process, 'invoke', f, asked(next)])
      continue
    }
    open.delete(process)
    const { f, start, from, to } = running
    const finish = events.length
    const seen = below(4) === 0 ? below(3) : value
    if (f === 'read') {
      events.push([process, 'ok', f, seen === 0 ? 'nil' : String(seen)])
      txns.push({ ops: [['r', 'x', seen]], status: 'committed', start, finish })
    } else {
      const done = f === 'write' || from === value
      events.push([process, done ? 'ok' : 'fail', f, asked(running)])
      if (!done) continue
      value = to
      const write = ['w', 'x', to] as const
      const ops = f === 'write' ? [write] : [['r', 'x', from] as const, write]
      txns.push({ ops, status: 'committed', start, finish })
    }
  }
  // What never completed did not ask for anything that others saw.
  const closed = events.filter(([process], i) => {
    const running = open.get(process)
    return running === undefined || running.start !== i
  })
  const place = new Map(closed.map((event, i) => [events.indexOf(event), i]))
  return {
    events: closed,
    txns: txns.map((txn) => ({
      ...txn,
      start: place.get(txn.start)!,
      finish: place.get(txn.finish)!,
    })),
  }
}

function asked({ f, from, to }: { f: string; from: number; to: number }): string {
  if (f === 'read') return 'nil'
  return f === 'write' ? String(to) : `[${from === 0 ? 'nil' : from} ${to}]`
}

function hintOf(event: Event): string | null {
  try {
    read([event])
  } catch (error) {
    if (error instanceof InputError) return error.hint
    throw error
  }
  return null
}

describe('a set of Jepsen', () => {
  const run: Event[] = [
    [0, 'invoke', 'add', '1'],
    [0, 'ok', 'add', '1'],
    [1, 'invoke', 'add', '2'],
    [1, 'info', 'add', '2'],
    [0, 'invoke', 'add', '3'],
    [0, 'fail', 'add', '3'],
  ]
  const reads = (value: string): Event[] => [
    ...run,
    [0, 'invoke', 'read', 'nil'],
    [0, 'ok', 'read', value],
  ]
  const verdict = async (value: string) => {
    const result = await check(edn(reads(value)), 'sser')
    return [result.verdict, ...result.levels[0]!.anomalies.map(({ name }) => name)]
  }

  it('is a key for every element, and a read tells of all', () => {
    expect(dump(read(reads('#{1}')))).toEqual([
      'initial null',
      '0 T1 0 0 1 -1 w(1,1)',
      '1 T3 2 2 NaN -1 w(2,1)',
      '0 T5 1 4 5 -1 w(3,1)',
      '0 T7 0 6 7 -1 r(1,1) r(2,null) r(3,null)',
    ])
    expect(dump(read(reads('[1]')))).toEqual(dump(read(reads('#{1}'))))
    expect(dump(read(reads('[]'))).at(-1)).toBe('0 T7 0 6 7 -1 r(1,null) r(2,null) r(3,null)')
  })

  it('has lost what was added and is not read', async () => {
    expect(await verdict('#{1}')).toEqual(['satisfied'])
    expect(await verdict('#{1 2}')).toEqual(['satisfied'])
    expect((await verdict('#{2}'))[0]).toBe('violated')
    expect((await verdict('[]'))[0]).toBe('violated')
  })

  it('must not show what nobody added, or what failed', async () => {
    expect(await verdict('#{1 9}')).toEqual(['violated', 'ThinAirRead'])
    expect(await verdict('#{1 3}')).toEqual(['violated', 'AbortedRead'])
  })

  it('has no element twice', async () => {
    expect(await verdict('[1 1]')).toEqual(['violated', 'DuplicateRow'])
    expect(await verdict('(1 2 1 1)')).toEqual(['violated', 'DuplicateRow'])
    expect(() => read(reads('#{1 2 1}'))).toThrow('an element stands in a set twice')
  })

  it('is told from a counter', () => {
    expect(() => read(reads('1'))).toThrow('are those of a counter')
    expect(() => read([[0, 'ok', 'read', '1'], ...run])).toThrow('are those of a counter')
  })
})

describe('workloads that are no transactions', () => {
  it.each<[string, Event]>([
    ['a set of pairs', [0, 'invoke', 'add', '{1 2}']],
    ['a bank', [0, 'invoke', 'transfer', '{:from 0, :to 1, :amount 5}']],
    ['a queue', [0, 'invoke', 'enqueue', '7']],
    ['a read of a map', [0, 'ok', 'read', '{0 10, 1 90}']],
  ])('are refused, and the error says which are read: %s', (_, event) => {
    expect(hintOf(event)).toContain('list-append, rw-register, long-fork')
  })

  it('leave long-fork, which is one of transactions', async () => {
    const fork = [
      [0, 'ok', 'write', '[[:w 0 1]]'],
      [1, 'ok', 'write', '[[:w 1 1]]'],
      [2, 'ok', 'read', '[[:r 0 1] [:r 1 nil]]'],
      [3, 'ok', 'read', '[[:r 1 1] [:r 0 nil]]'],
    ] as Event[]
    expect((await check(edn(fork), 'prefix')).verdict).toBe('violated')
    expect((await check(edn(fork), 'parallel-snapshot-isolation')).verdict).toBe('satisfied')
  })
})
