import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { stringify, stringifyPieces } from '../../src/base/json.ts'
import { check, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { JEPSEN_MODELS } from '../../src/levels/jepsen.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { describeElle } from '../../src/report/elle.ts'
import { renderJunit } from '../../src/report/junit.ts'
import { renderText } from '../../src/report/text.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import type { Edge } from '../../src/verdict/verdict.ts'

const CONTEXT = { path: 'h', format: 'notation', parseMs: 0 }
/** n reads of values that nobody wrote, and one of an aborted write. */
const thin = (n: number) =>
  parseNotation(
    `${Array.from({ length: n }, (_, i) => `s${i % 9}: r(k${i},${i + 1})`).join('\n')}\na: w(z,1) [aborted]\ns0: r(z,1)\n`,
  )
/** A budget that was used up before anything was told. */
const late = () => new Deadline(1, null, null, { fromMs: -1000 })

describe('anomalies that are listed', () => {
  it('are as many of each kind as asked for, and the last one counts the others', () => {
    const { anomalies } = check(thin(50), 'rc', { all: true, limit: 5 })
    expect(anomalies.map(({ name, count }) => `${name} ${count}`)).toEqual([
      ...Array(4).fill('ThinAirRead 1'),
      'ThinAirRead 46',
      'AbortedRead 1',
    ])
    expect(check(thin(50), 'rc', { all: true }).anomalies.length).toBe(51)
    expect(check(thin(50), 'rc').anomalies.map(({ count }) => count)).toEqual([50, 1])
  })

  it('say in the text how many are not listed', () => {
    const result = check(thin(50), 'rc', { all: true, limit: 5 })
    const text = renderText(thin(50), [result], { all: true })
    expect(text).toContain('… and 45 more of ThinAirRead, counted but not listed')
    expect(text.match(/^ThinAirRead/gm)?.length).toBe(5)
  })
})

describe('timeToTell', () => {
  const history = thin(50)
  const results = profile(history, { all: true })

  it('leaves one of each kind when the budget has run out, in text, JSON and Elle’s words', () => {
    const text = renderText(history, results, { all: true, deadline: late() })
    expect(text).toContain('… and 49 more at rc that there is no budget to tell of')
    const { anomalies } = describeVerdict(history, results, { ...CONTEXT, deadline: late() })
      .results[0]!
    expect(anomalies.map(({ name, count }) => `${name} ${count}`)).toEqual([
      'ThinAirRead 50',
      'AbortedRead 1',
    ])
    const models = JEPSEN_MODELS.map(() => results[0]!)
    const elle = stringify(describeElle(history, JEPSEN_MODELS, models, late()) as object)
    expect(elle.match(/"explanation"/g)?.length).toBe(2)
  })

  it('leaves all where there is time', () => {
    const { anomalies } = describeVerdict(history, results, CONTEXT).results[0]!
    expect(anomalies.length).toBe(51)
  })
})

describe('stringifyPieces', () => {
  it('gives what stringify gives', () => {
    const verdict = describeVerdict(thin(3), profile(thin(3), { all: true }), CONTEXT)
    expect([...stringifyPieces(verdict)].join('')).toBe(stringify(verdict))
    expect(
      [...stringifyPieces({ a: [], b: {}, c: undefined, d: [2n ** 60n, null] })].join(''),
    ).toBe('{"a":[],"b":{},"d":[1152921504606846976,null]}')
  })
})

describe('renderJunit', () => {
  it('tells a hundred stories of a level and counts the rest', () => {
    const verdict = describeVerdict(thin(150), [check(thin(150), 'rc', { all: true })], CONTEXT)
    const text = renderJunit([verdict])
    expect(text).toContain('… and 51 more findings.')
    expect(text.match(/^(?:<.*>)?ThinAirRead:/gm)?.length).toBe(100)
  })
})

describe('evidence about one large transaction', () => {
  /** One reader that saw half of what each of n writers did. */
  const fractured = (n: number) => {
    const writers = Array.from({ length: n }, (_, i) => `s${i % 9}: w(a${i},1) w(b${i},1)`)
    const reads = Array.from({ length: n }, (_, i) => `r(a${i},1) r(b${i},0)`)
    return parseNotation(`${writers.join('\n')}\nreader: ${reads.join(' ')}\n`)
  }

  it('is told in so much more room as there is more evidence, in text and JSON', () => {
    const [small, large] = [300, 600].map((n) => {
      const history = fractured(n)
      const results = [check(history, 'ra', { all: true })]
      expect(results[0]!.anomalies.length).toBeGreaterThanOrEqual(n)
      const json = stringify(describeVerdict(history, results, CONTEXT))
      return [json.length / n, renderText(history, results, { all: true }).length / n]
    })
    for (const i of [0, 1]) expect(large![i]! / small![i]!).toBeLessThan(1.2)
  })
})

describe('reasons of reasons', () => {
  it('are told to any depth', () => {
    const history = parseNotation('s1: w(x,1)\ns2: w(x,2)')
    const depth = 50_000
    let edge: Edge = { from: 0, to: 1, kind: 'WW', key: 0, ops: [0, 1], premises: [] }
    for (let i = 0; i < depth; i++) edge = { ...edge, premises: [edge] }
    const result = check(history, 'ser')
    const parts = { count: 1, txns: [0, 1], earlier: [], ops: [], cases: [] }
    result.anomalies = [{ name: 'G0', ...parts, edges: [edge] }]
    const text = renderText(history, [result])
    expect(text.match(/- both write x|- T2 read/g)?.length).toBe(depth)
    const json = stringify(describeVerdict(history, [result], CONTEXT))
    expect(json.match(/"premises":\[\{/g)?.length).toBe(depth)
    expect(parseVerdicts(json)).toHaveLength(1)
  })
})
