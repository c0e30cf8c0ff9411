// Bounded staleness against brute force, on every timing of small histories and on random ones, and
// on histories that tell what counts as newer. Every verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check, checkLevels } from '../../src/check/check.ts'
import { judge } from '../../src/check/judge.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { certifyResult } from '../../src/verdict/certify.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { type CompareOptions, draftsFor, SAMPLED, sampled } from './compare.ts'
import { Confirmed, isDrawn } from './confirmed.ts'
import { buildHistory, renderDraft } from './draft.ts'
import { everyTiming } from './enumerate.ts'
import { disagreementOnStaleness, stalenessOf } from './staleness.ts'
import { allVersionOrders, randomVersions } from './versions.ts'

const times = { times: true }
const TXNS = { maxTotalOps: 4, maxOps: 3, keys: 2 }
const CHOICES: [string, CompareOptions][] = [
  [
    'every timing of small histories',
    {
      families: [
        { ...TXNS, txns: 2, statuses: ['committed', 'indeterminate'] },
        { ...TXNS, txns: 3 },
        { ...TXNS, txns: 4, keys: 1 },
      ],
      stride: SAMPLED === 1 ? 1 : 40,
      variants: everyTiming,
    },
  ],
  ['random histories, 20,000 if asked', { seeds: 20_000 / SAMPLED, shape: times }],
  ['lists', { seeds: sampled(2000), firstSeed: 30_000, shape: { ...times, lists: 1 } }],
  ['named orders', { seeds: sampled(2000), firstSeed: 40_000, shape: { ...times, after: 0.3 } }],
  [
    'versions',
    {
      seeds: sampled(1500),
      firstSeed: 50_000,
      shape: times,
      variants: (draft, number) => [randomVersions(draft, number)],
    },
  ],
  [
    'every order of versions',
    {
      seeds: sampled(800),
      firstSeed: 60_000,
      shape: { ...times, txns: 4 },
      variants: allVersionOrders,
    },
  ],
  ['no times', { seeds: sampled(400), firstSeed: 70_000, shape: { times: false } }],
  [
    'no session order',
    { seeds: sampled(2000), firstSeed: 80_000, shape: times, sessionOrder: false },
  ],
]

describe('check at stale', () => {
  it.each(CHOICES)('agrees with brute force: %s', (name, options) => {
    let [fresh, stale, broken] = [0, 0, 0]
    const confirmed = new Confirmed('registers and lists')
    for (const { draft, source } of draftsFor({ families: [], ...options })) {
      const { sessionOrder = true } = options
      expect(disagreementOnStaleness(draft, sessionOrder), source).toBeNull()
      const truth = stalenessOf(draft, sessionOrder)
      if (truth === null) broken++
      else if (truth !== 'unknown') truth.versions > 0 ? stale++ : fresh++
      const verdict = truth === null ? 'violated' : truth === 'unknown' ? truth : 'satisfied'
      confirmed.add('stale', isDrawn(source), verdict)
    }
    confirmed.tell()
    expect(broken).toBeGreaterThan(3)
    if (name === 'no times') return
    expect(fresh).toBeGreaterThan(10)
    expect(stale).toBeGreaterThan(10)
  })

  const judged = (text: string, level: LevelId | 'least', bound?: string) => {
    const history = { ...parseNotation(`initial 0\n${text}`), timeUnit: 'ms' as const }
    const result = check(history, { level: level as 'stale', ...(bound ? { bound } : {}) })
    expect(result.certificate?.verified).toBe(true)
    return result
  }

  it.each([
    ['nothing newer', 's1: w(x,1) [0,1]\ns2: r(x,1) [2,3]', '0ms', 0],
    ['the initial state, long replaced', 's1: w(x,1) [0,1]\ns2: r(x,0) [5,6]', '4ms', 1],
    [
      'two newer versions, the first for 7 ms',
      's1: w(x,1) [0,1] | w(x,2) [2,3] | w(x,3) [4,5]\ns2: r(x,1) [10,11]',
      '7ms',
      2,
    ],
    ['writers that overlap', 's1: w(x,1) [0,3]\ns2: w(x,2) [1,4]\ns3: r(x,1) [9,9]', '0ms', 0],
    [
      'writers that overlap, one of which replaced the other',
      's1: w(x,1) [0,3]\ns2: r(x,1) w(x,2) [1,4]\ns3: r(x,1) [9,9]',
      '5ms',
      1,
    ],
    [
      'writers that overlap, one of which saw the other by another key',
      's1: w(x,1) w(y,1) [0,3]\ns2: r(y,1) w(x,2) [1,4]\ns3: r(x,1) [9,9]',
      '5ms',
      1,
    ],
    [
      'an older one that was seen before the newer one began',
      's1: w(x,1) [0,8]\ns2: r(x,1) [1,2]\ns3: w(x,2) [3,4]\ns4: r(x,1) [9,9]',
      '5ms',
      1,
    ],
    ['what its own session wrote', 's1: w(x,1) [0,1] | r(x,0) [1,2] | r(x,0) [4,5]', '3ms', 1],
    [
      'a writer that never finished',
      's1: w(x,1) [start=0 indeterminate]\ns2: r(x,0) [8,9] | r(x,1) [10,11]',
      '0ms',
      0,
    ],
  ])('tells how stale reads are: %s', (_, text, time, versions) => {
    const timed = text.replace(/\[(\d+),(\d+)\]/g, '[start=$1 finish=$2]')
    expect(judged(timed, 'stale').staleness).toEqual({ time, versions })
    expect(judged(timed, 'stale', time).verdict).toBe('satisfied')
    expect(judged(timed, 'stale', `${versions}`).verdict).toBe('satisfied')
    if (versions > 0) {
      expect(judged(timed, 'stale', `${versions - 1}`).anomalies[0]!.name).toBe('StaleRead')
      expect(judged(timed, 'stale', `${Number.parseInt(time, 10) - 1}.999ms`).verdict).toBe(
        'violated',
      )
    }
  })

  const BEHIND = {
    ...parseNotation(
      'initial 0\ns1: w(x,1) [start=0 finish=1] | w(x,2) [start=2 finish=3]\ns2: r(x,1) [start=7 finish=8]',
    ),
    timeUnit: 's' as const,
  }

  it.each([
    ['4s', 'satisfied'],
    ['4000ms', 'satisfied'],
    ['3.9s', 'violated'],
    ['1m', 'satisfied'],
    ['0', 'violated'],
    ['1', 'satisfied'],
  ])('counts in the unit of the history: stale:%s', (bound, verdict) => {
    expect(check(BEHIND, { level: 'stale', bound })).toMatchObject({ verdict, bound })
  })

  it('shows the read, what it saw, and all that it missed beyond a number', () => {
    const [anomaly] = check(BEHIND, { level: 'stale', bound: '0' }).anomalies
    expect(anomaly).toMatchObject({ name: 'StaleRead', txns: [2, 0, 1] })
    expect(anomaly!.edges.at(-1)!.premises.map(({ kind }) => kind)).toEqual(['WR', 'RT'])
  })

  it('refuses a bound by time where nobody says what times are', () => {
    const untold = { ...BEHIND, timeUnit: null }
    expect(() => check(untold, { level: 'stale', bound: '5s' })).toThrow('needs the unit of times')
    expect(check(untold, { level: 'stale', bound: '1' }).verdict).toBe('satisfied')
    expect(check(untold, 'stale').staleness).toEqual({ time: '4', versions: 1 })
  })

  it('holds where nothing is judged but the initial state', () => {
    const spelledOut = parseNotation('initial 0\ns1: w(x,0)')
    expect(check(spelledOut, 'stale').staleness).toEqual({ time: '0', versions: 0 })
  })

  it('bounds what is missed of counters by time alone', () => {
    const text =
      '{"isobar":1,"unit":"s"}\n' +
      [
        '{"session":1,"start":0,"finish":1,"ops":[["inc","x",1]]}',
        '{"session":1,"start":2,"finish":3,"ops":[["inc","x",2]]}',
        '{"session":1,"start":4,"finish":5,"ops":[["inc","x",4]]}',
        '{"session":2,"start":6,"finish":7,"ops":[["r","x",0]]}',
      ].join('\n')
    const history = parseHistory(text)
    const told = check(history, 'stale')
    expect([told.staleness, told.certificate?.verified]).toEqual([{ time: '5s' }, true])
    const verdicts = ['4s', '5s'].map(
      (bound) => checkLevels(history, [{ level: 'stale', bound }])[0]!.verdict,
    )
    expect(verdicts).toEqual(['violated', 'satisfied'])
    expect(() => checkLevels(history, [{ level: 'stale', bound: '3' }])).toThrow(
      'counters have none',
    )
    const forged = { ...told, bound: '3' }
    expect(certifyPlain(history, forged).problems).toEqual(['counters have no versions to count'])
  })

  it('is unknown without times', () => {
    expect(check(parseNotation('s1: w(x,1)'), 'stale')).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times',
    })
    expect(check(parseNotation('s1: r(x,7)'), 'stale').verdict).toBe('violated')
  })

  it('refuses values written twice and SQL statements', async () => {
    const twice = parseNotation('s1: w(x,1) | w(x,1)\ns2: r(x,1)', undefined, true)
    await expect(judge(twice, ['stale'])).rejects.toThrow('level stale needs unique values')
  })

  it.each<[string, (result: LevelResult) => LevelResult]>([
    ['a smaller time', (result) => ({ ...result, staleness: { time: '3s', versions: 1 } })],
    ['fewer versions', (result) => ({ ...result, staleness: { time: '4s', versions: 0 } })],
    ['nothing', ({ staleness, ...result }) => result],
    ['a bound that does not hold', (result) => ({ ...result, bound: '3s' })],
    ['a bound in versions that does not hold', (result) => ({ ...result, bound: '0' })],
    [
      'an order against the clock',
      (result) => ({
        ...result,
        proof: { kind: 'commit-order', order: Int32Array.of(2, 0, 1) },
      }),
    ],
    ['another level', (result) => ({ ...result, level: 'strong-pl-2', bound: '4s' })],
  ])('is not certified if it says %s', async (_, forge) => {
    const result = check(BEHIND, 'stale')
    expect(await certifyResult(BEHIND, result)).toEqual([])
    expect(await certifyResult(BEHIND, forge(result))).not.toEqual([])
  })

  it('takes no evidence that is within the bound, or names what is not newer', async () => {
    const result = check(BEHIND, { level: 'stale', bound: '0' })
    expect(await certifyResult(BEHIND, result)).toEqual([])
    for (const bound of ['1', '4s', '10s']) {
      expect(await certifyResult(BEHIND, { ...result, bound })).not.toEqual([])
    }
    const twice = structuredClone(result)
    const { premises } = twice.anomalies[0]!.edges.at(-1)!
    premises.push(premises.at(-1)!)
    expect(await certifyResult(BEHIND, { ...twice, bound: '1' })).not.toEqual([])
    premises.splice(2, 1, { ...premises[1]!, from: 0 })
    expect(await certifyResult(BEHIND, { ...twice, bound: '1' })).not.toEqual([])
  })

  it('follows from strict serializability, with a bound of nothing', () => {
    for (const { draft } of draftsFor({ families: [], seeds: 200, shape: times })) {
      const history = buildHistory(draft)
      const strong = checkLevels(history, [
        'sser',
        'strong-si',
        'ser+lin',
        { level: 'cc', realTime: true },
      ])
      const [stale] = checkLevels(history, [{ level: 'stale', bound: '0' }])
      if (strong.some(({ verdict }) => verdict === 'satisfied')) {
        expect(stale!.verdict, renderDraft(draft)).toBe('satisfied')
      }
    }
  })
})
