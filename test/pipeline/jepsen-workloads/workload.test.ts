// Jepsen's counters, banks and monotonic values, read from EDN and JSON: each satisfied, and each
// violated in every way that its authors look for.

import { describe, expect, it } from 'vitest'
import { readOperations } from '../../../src/formats/jepsen/forms.ts'
import type { WorkloadOptions } from '../../../src/pipeline/jepsen-workloads/asked.ts'
import { judgeWorkload } from '../../../src/pipeline/jepsen-workloads/workload.ts'

let index = 0
const event = (type: string, process: number | string, f: string, value: string) =>
  `{:index ${index++}, :type :${type}, :process ${process}, :f :${f}, :value ${value}}`
const add = (process: number, amount: number | string, outcome = 'ok') => [
  event('invoke', process, 'add', `${amount}`),
  event(outcome, process, 'add', `${amount}`),
]
const read = (process: number, value: string, asked = 'nil') => [
  event('invoke', process, 'read', asked),
  event('ok', process, 'read', value),
]
const judged = (lines: readonly unknown[], options: WorkloadOptions = {}) => {
  const text = lines.flat(3).join('\n')
  const { verdict, findings, workload } = judgeWorkload(
    readOperations(new TextEncoder().encode(text)),
    options,
  )
  return [workload, verdict, ...findings.map(({ name }) => name)]
}

describe('judgeWorkload, counters', () => {
  it('holds where every read lies between what was and what may have been added', () => {
    const during = [
      event('invoke', 0, 'add', '5'),
      event('invoke', 1, 'read', 'nil'),
      event('info', 0, 'add', '5'),
      event('ok', 1, 'read', '7'),
    ]
    expect(judged([add(0, 2), during, read(2, '2'), read(2, '7')])).toEqual([
      'counter',
      'satisfied',
    ])
    expect(judged([add(0, 2), add(1, 9, 'fail'), read(2, '2')])).toEqual(['counter', 'satisfied'])
  })

  it('is violated by a read that misses what had been added, or shows what nobody added', () => {
    expect(judged([add(0, 2), read(1, '1')])).toEqual(['counter', 'violated', 'LostIncrement'])
    expect(judged([add(0, 2), read(1, '3')])).toEqual(['counter', 'violated', 'UnknownIncrement'])
    expect(judged([add(1, 9, 'fail'), read(2, '9')])).toEqual([
      'counter',
      'violated',
      'UnknownIncrement',
    ])
  })

  it('counts what was asked for until a read ended, and what was done before it began', () => {
    const begun = [event('invoke', 1, 'read', 'nil'), ...add(0, 4)]
    expect(judged([begun, event('ok', 1, 'read', '0')])).toEqual(['counter', 'satisfied'])
    expect(judged([begun, event('ok', 1, 'read', '4')])).toEqual(['counter', 'satisfied'])
    expect(judged([begun, event('ok', 1, 'read', '5')])[1]).toBe('violated')
  })

  it('is unknown if nothing was read, and refuses negative amounts', () => {
    expect(judged([add(0, 1)])).toEqual(['counter', 'unknown'])
    expect(() => judged([add(0, -1), read(0, '0')])).toThrow('-1 is added')
    expect(() => judged([add(0, ':x'), read(0, '0')])).toThrow('no integer')
  })
})

const transfer = (process: number, from: number, to: number, amount: number) => [
  event('invoke', process, 'transfer', `{:from ${from}, :to ${to}, :amount ${amount}}`),
  event('ok', process, 'transfer', `{:from ${from}, :to ${to}, :amount ${amount}}`),
]

describe('judgeWorkload, banks', () => {
  it('holds where all accounts together always hold the same', () => {
    const lines = [read(0, '{0 60, 1 40}'), transfer(1, 0, 1, 5), read(0, '{0 55, 1 45}')]
    expect(judged(lines)).toEqual(['bank', 'satisfied'])
    expect(judged(lines, { total: 100n })).toEqual(['bank', 'satisfied'])
    expect(judged(lines, { total: 90n })).toEqual(['bank', 'violated', 'WrongTotal', 'WrongTotal'])
  })

  it('is violated by half a transfer, an overdrawn account, and one without a balance', () => {
    const start = [read(0, '{0 60, 1 40}'), read(0, '{0 60, 1 40}'), transfer(1, 0, 1, 5)]
    expect(judged([start, read(0, '{0 55, 1 40}')])).toEqual(['bank', 'violated', 'WrongTotal'])
    expect(judged([start, read(0, '{0 -5, 1 105}')])).toEqual([
      'bank',
      'violated',
      'NegativeBalance',
    ])
    expect(judged([start, read(0, '{0 -5, 1 105}')], { negativeBalances: true })[1]).toBe(
      'satisfied',
    )
    expect(judged([start, read(0, '{0 nil, 1 100}')])).toEqual(['bank', 'violated', 'NilBalance'])
  })
})

describe('judgeWorkload, monotonic values', () => {
  const row = (val: number, sts: number | string) => `{:val ${val}, :sts ${sts}, :node 1, :tb 0}`
  const rows = (...all: string[]) => read(9, `[${all.join(' ')}]`)

  it('holds where values rise with timestamps', () => {
    const late = '1489012345123456789012345678N'
    expect(
      judged([add(0, row(1, 10)), add(1, row(2, late)), rows(row(1, 10), row(2, late))]),
    ).toEqual(['monotonic', 'satisfied'])
  })

  it.each([
    ['NonMonotonicValue', [row(2, 10), row(1, 11)], []],
    ['TimestampOrder', [row(1, 11), row(2, 10)], []],
    ['LostInsert', [row(1, 10)], [add(0, row(2, 12))]],
    ['FailedInsert', [row(1, 10), row(2, 12)], [add(0, row(2, 12), 'fail')]],
  ])('is violated: %s', (name, shown, added) => {
    const lines = [add(0, row(1, 10), 'info'), ...added, rows(...shown)]
    expect(judged(lines)).toEqual(['monotonic', 'violated', name])
  })

  it('finds values that are there twice', () => {
    const found = judged([add(0, row(1, 10)), rows(row(1, 10), row(1, 10))])
    expect(found).toEqual(['monotonic', 'violated', 'NonMonotonicValue', 'DuplicateValue'])
  })

  const inc = (process: number, key: number, value: number) => [
    event('invoke', process, 'inc', `${key}`),
    event('ok', process, 'inc', `{${key} ${value}}`),
  ]

  it('holds where all see several values grow in one order', () => {
    const lines = [inc(0, 0, 0), inc(1, 1, 0), read(2, '{0 0, 1 -1}'), read(3, '{0 0, 1 0}')]
    expect(judged(lines)).toEqual(['monotonic', 'satisfied'])
  })

  it('is violated where two saw x and y grow in other orders, or one saw a value shrink', () => {
    const fork = [inc(0, 0, 0), inc(1, 1, 0), read(2, '{0 0, 1 -1}'), read(3, '{0 -1, 1 0}')]
    expect(judged(fork)).toEqual(['monotonic', 'violated', 'NonMonotonicCycle'])
    const back = [inc(0, 0, 0), inc(0, 0, 1), read(2, '{0 1}'), read(2, '{0 0}')]
    expect(judged(back)).toEqual(['monotonic', 'violated', 'NonMonotonicCycle'])
  })
})

describe('readOperations', () => {
  it('reads vectors, tags, JSON, and passes over whoever is no client', () => {
    const nemesis = '{:type :info, :process :nemesis, :f :kill, :value #{"n1"}}'
    const edn = `[${nemesis} #jepsen.history.Op${event('ok', 3, 'read', '#{1 [2 "a"]}')}]`
    const told = readOperations(new TextEncoder().encode(edn))
    expect(told).toMatchObject([{ type: 'ok', f: 'read', process: 3n, value: [1n, [2n, 'a']] }])
    const json = '{"type":"ok","process":0,"f":"read","value":{"0":5}}'
    const [operation] = readOperations(new TextEncoder().encode(json))
    expect(operation!.value).toEqual(new Map([['0', 5n]]))
  })

  it('refuses what is cut off, what is no operation, and workloads that it does not know', () => {
    const read = (text: string) => readOperations(new TextEncoder().encode(text))
    expect(() => read('{:type :ok, :process 0')).toThrow('ends where')
    expect(() => read('[1]')).toThrow('an operation')
    expect(() => read('{:process 1}')).toThrow('no :type and :f')
    expect(() => judged([event('ok', 0, 'enqueue', '1')])).toThrow(':enqueue are no workload')
    const ofSet = [add(0, 1), event('ok', 0, 'read', '#{1}')]
    expect(() => judged(ofSet)).toThrow('are of a set')
  })
})
