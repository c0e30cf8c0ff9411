// The verdict with Elle's keys, as EDN and JSON.

import { describe, expect, it } from 'vitest'
import { checkModels } from '../../src/check/check.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { findJepsenModel, JEPSEN_MODELS, weakerModels } from '../../src/levels/jepsen.ts'
import { ednToJson, keyword, renderEdn } from '../../src/report/edn.ts'
import { describeElle } from '../../src/report/elle.ts'

interface Outcome {
  'valid?': boolean | string
  'anomaly-types': string[]
  anomalies: Record<string, Record<string, unknown>[]>
  not: string[]
  'also-not': string[]
  reason?: string
}

function judge(history: History, ...models: string[]): Outcome {
  const asked = models.map((name) => findJepsenModel(name)!)
  return ednToJson(describeElle(history, asked, checkModels(history))) as Outcome
}

const ok = (process: number, invoked: number, finished: number, value: string) =>
  `{:index ${invoked} :type :invoke :process ${process} :value ${value}}
   {:index ${finished} :type :ok :process ${process} :value ${value}}\n`

/** A read that misses an append which had completed before. */
const STALE = parseHistory(
  `${ok(0, 0, 1, '[[:append :x 1]]')}${ok(1, 2, 3, '[[:r :x []]]')}${ok(1, 4, 5, '[[:r :x [1]]]')}`,
)

describe('describeElle', () => {
  it('tells a cycle once, wherever the levels that find it begin it', () => {
    const circle = parseNotation(
      's0: append(x,1) r(y,[1])\ns1: append(x,2) append(y,1)\ns2: r(x,[1,2])',
    )
    const { anomalies } = judge(circle, 'strict-serializable')
    expect(Object.keys(anomalies)).toEqual(['G1c'])
    expect(anomalies['G1c']).toHaveLength(1)
  })

  it('shows a stale read by its two transactions', () => {
    const outcome = judge(STALE, 'strict-serializable')
    expect(outcome).toMatchObject({
      'valid?': false,
      'anomaly-types': ['G-single-item-realtime'],
      not: ['strong-snapshot-isolation'],
      'also-not': ['strict-serializable'],
    })
    const [anomaly] = outcome.anomalies['G-single-item-realtime']!
    expect(anomaly!['steps']).toEqual([
      { type: 'realtime', completed: 1, invoked: 2 },
      { type: 'rw', key: 'x', value: null, "value'": 1, 'a-mop-index': 0, 'b-mop-index': 0 },
    ])
    expect(anomaly!['cycle']).toEqual([
      { index: 1, type: 'ok', process: 0, f: 'txn', value: [['append', 'x', 1]] },
      { index: 3, type: 'ok', process: 1, f: 'txn', value: [['r', 'x', []]] },
      { index: 1, type: 'ok', process: 0, f: 'txn', value: [['append', 'x', 1]] },
    ])
    expect(anomaly!['explanation']).toBe(
      'T1 < T3, because T1 completed at index 1, before the invocation of T3, at index 2.\n' +
        'However, T3 < T1, because T3 observed the initial state of key :x, ' +
        "before T1's append of 1 to :x: a contradiction!",
    )
  })

  it('is about the models in question, and tells of all that fail', () => {
    const outcome = judge(STALE, 'serializable')
    expect(outcome['valid?']).toBe(true)
    expect(outcome.anomalies).toEqual({})
    expect(outcome.not).toEqual(['strong-snapshot-isolation'])
    expect(outcome['also-not']).toEqual(['strict-serializable'])
  })

  it('names the weakest models that fail, then the others', () => {
    const history = parseNotation('s0: r(x,0) w(y,1)\ns1: r(y,0) w(x,2)')
    const outcome = judge(history, 'serializable')
    expect(outcome).toMatchObject({
      'valid?': false,
      'anomaly-types': ['G2-item'],
      not: ['update-serializable', 'repeatable-read'],
      'also-not': ['serializable', 'strong-session-serializable', 'strict-serializable'],
    })
    expect(judge(history, 'snapshot-isolation')['valid?']).toBe(true)
  })

  it('tells single reads with their operation', () => {
    const history = parseNotation('s0: w(x,1) [aborted]\ns1: r(x,1)')
    const { anomalies, not } = judge(history, 'read-committed')
    expect(anomalies['G1a']).toMatchObject([{ mop: ['r', 'x', 1], type: 'G1a' }])
    expect(not).toEqual(['read-committed'])
  })

  it('says unknown where it cannot tell', () => {
    const outcome = judge(parseNotation('s0: w(x,1)'), 'strict-serializable')
    expect(outcome['valid?']).toBe('unknown')
    expect(outcome.reason).toBe('the history has no times')
    expect(outcome.not).toEqual([])
  })
})

describe('renderEdn', () => {
  it('writes every kind of data', () => {
    const data = {
      a: [null, true, 1.5, 2n ** 64n, 'q"\n\b', keyword('k')],
      'b?': { set: [keyword('x'), 1] },
      c: {},
    }
    expect(renderEdn(data)).toBe(
      '{:a [nil true 1.5 18446744073709551616 "q\\"\\n\\u0008" :k], :b? #{:x 1}, :c {}}',
    )
  })

  it('breaks what is long', () => {
    const item = { key: 'x'.repeat(60) }
    expect(renderEdn({ all: [item, item] }).split('\n')).toEqual([
      `{:all [{:key "${item.key}"}`,
      `       {:key "${item.key}"}]}`,
    ])
  })
})

describe('weakerModels', () => {
  it('orders the models', () => {
    const names = (name: string) => weakerModels(findJepsenModel(name)!).map((model) => model.name)
    expect(names('read-uncommitted')).toEqual([])
    expect(names('read-committed')).toEqual(['read-uncommitted'])
    expect(names('causal-cerone')).toEqual([
      'read-uncommitted',
      'read-committed',
      'monotonic-atomic-view',
      'read-atomic',
    ])
    expect(names('causal')).toEqual([
      ...names('causal-cerone'),
      'causal-cerone',
      'strong-session-read-uncommitted',
      'strong-session-read-committed',
    ])
    expect(names('serializable')).not.toContain('causal')
    expect(names('strong-session-serializable')).toContain('causal')
    expect(names('strong-snapshot-isolation')).toContain('strong-read-committed')
    expect(names('strong-session-serializable')).not.toContain('strong-read-uncommitted')
    expect(names('snapshot-isolation')).toContain('forward-consistent-view')
    expect(names('consistent-view')).not.toContain('forward-consistent-view')
    expect(names('repeatable-read')).not.toContain('update-serializable')
    expect(names('serializable')).not.toContain('strong-session-snapshot-isolation')
    expect(names('pl-ss')).toHaveLength(JEPSEN_MODELS.length - 1)
  })
})
