// Session order as any partial order, against brute force: transactions that name others, in every
// way in small histories and at random in larger ones, at every level and by both deciders.

import { describe, expect, test } from 'vitest'
import { check } from '../../src/check/check.ts'
import { Checker } from '../../src/check/checker.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { because } from '../../src/report/words.ts'
import { findEdges } from '../../src/verdict/verdict.ts'
import { compareWithOracle, type Decide, FEWER } from './compare.ts'
import { ORACLE_LEVELS, type OracleLevel } from './oracle.ts'

let checker = new Checker(parseNotation(''))
let checked: History | null = null // the history of the checker

const decide: Decide = (history: History, level: OracleLevel) => {
  if (history !== checked) checker = new Checker(history)
  checked = history
  const result = checker.check(level)
  const isOpen = result.verdict === 'unknown'
  if (!isOpen && result.certificate?.verified !== true) throw new Error('no certificate')
  return result.verdict
}

const FAMILIES = [
  { txns: 2, maxOps: 3, maxTotalOps: 4, keys: 2, after: true },
  { txns: 3, maxOps: 2, maxTotalOps: 4, keys: 1, after: true },
  { txns: 3, maxOps: 2, maxTotalOps: 3, keys: 2, after: true },
  { txns: 4, maxOps: 1, maxTotalOps: 4, keys: 1, after: true },
  {
    txns: 3,
    maxOps: 1,
    maxTotalOps: 3,
    keys: 1,
    after: true,
    statuses: ['committed', 'aborted', 'indeterminate'] as const,
  },
]

describe('check of transactions that come after others', () => {
  test('agrees with brute force on small histories', () => {
    const outcome = compareWithOracle(decide, ORACLE_LEVELS, {
      families: FAMILIES,
      stride: 8 * FEWER,
    })
    expect(outcome.disagreement).toBeNull()
    expect(outcome.compared).toBeGreaterThan(2000 / FEWER)
    for (const level of ORACLE_LEVELS) {
      if (level !== 'sser') expect(outcome.satisfied[level]).toBeGreaterThan(100 / FEWER)
      expect(outcome.violated[level]).toBeGreaterThan(100 / FEWER)
    }
  })

  test.each([0, 0.5])('agrees with brute force on seeded histories, lists %d', (lists) => {
    const shape = { after: 0.3, lists }
    const outcome = compareWithOracle(decide, ORACLE_LEVELS, {
      families: [],
      seeds: 1500 / FEWER,
      shape,
    })
    expect(outcome.disagreement).toBeNull()
  })

  test('agrees with brute force where the search decides, and without session order', () => {
    const search: Decide = (history, level) =>
      check(history, level, { algorithm: 'search' }).verdict
    const shape = { after: 0.3 }
    const strong = compareWithOracle(search, ['pc', 'si', 'ser', 'sser'], {
      families: [],
      seeds: 300 / FEWER,
      shape,
    })
    expect(strong.disagreement).toBeNull()
    const off: Decide = (history, level) => check(history, level, { sessionOrder: false }).verdict
    const options = { families: [], seeds: 300 / FEWER, shape, sessionOrder: false }
    expect(compareWithOracle(off, ORACLE_LEVELS, options).disagreement).toBeNull()
  })

  test('catches a checker that forgets what transactions name', () => {
    const forgetful: Decide = (history, level) => decide({ ...history, after: null }, level)
    for (const level of ['ra', 'cc', 'pc', 'si', 'ser'] as const) {
      const outcome = compareWithOracle(forgetful, [level], { families: FAMILIES })
      expect(outcome.disagreement).toMatch(/decided satisfied, the oracle says violated/)
    }
  })

  const verdicts = (notation: string) =>
    (['rc', 'ra', 'cc', 'ser'] as const).map((level) => decide(parseNotation(notation), level))

  test('makes visible what is named, also by way of others and of aborted ones', () => {
    const VIOLATED = ['satisfied', 'violated', 'violated', 'violated']
    const SATISFIED = ['satisfied', 'satisfied', 'satisfied', 'satisfied']
    const [write, between, read] = ['s1: w(x,1) [id=A]', 's2: w(y,1) [id=B', 's3: r(x,0) [id=C']
    expect(verdicts(`${write}\n${read} after=A]`)).toEqual(VIOLATED)
    expect(verdicts(`${write}\n${read}]`)).toEqual(SATISFIED)
    expect(verdicts(`${write}\n${between} after=A]\n${read} after=B]`)).toEqual(VIOLATED)
    expect(verdicts(`${write}\n${between}]\n${read} after=B]`)).toEqual(SATISFIED)
    expect(verdicts(`${write}\n${between} after=A aborted]\n${read} after=B]`)).toEqual(VIOLATED)
    expect(verdicts(`${write}\n${between} after=A indeterminate]\n${read} after=B]`)).toEqual(
      VIOLATED,
    )
    expect(verdicts(`${read} after=A]\n${write}`)).toEqual(VIOLATED)
  })

  test('counts reads of the history only', () => {
    const notation = 's1: r(x,1) [id=A] | w(x,1) [id=B after=C]\ns2: [id=C committed after=A]'
    const { anomalies } = check(parseNotation(notation), 'rc')
    expect(anomalies.map(({ name, count }) => `${count} ${name}`)).toEqual([
      '1 CircularInformationFlow',
    ])
  })

  test('says who names whom', () => {
    const history = parseNotation('s1: w(x,1) [id=A]\ns2: r(x,0) [id=B after=A]')
    const [anomaly] = check(history, 'ser').anomalies
    const edges = [...findEdges(anomaly!.edges, anomaly!.cases)].filter(({ kind }) => kind === 'SO')
    expect(edges.map((edge) => because(history, edge))).toContain('B names A in after')
  })

  test('refuses circles and times that cannot be', () => {
    const parse = (notation: string) => () => parseNotation(notation)
    expect(parse('s1: w(x,1) [id=A after=B]\ns2: w(x,2) [id=B after=A]')).toThrow(
      'transactions come after one another in a circle',
    )
    expect(parse('s1: w(x,1) [id=A after=A]')).toThrow('A after A')
    expect(parse('s1: w(x,1) [id=A after=B] | w(x,2) [id=B]')).toThrow('A after B after A')
    expect(parse('s1: w(x,1) [id=A after=C]')).toThrow('no transaction has the id C')
    expect(parse('s1: w(x,1) [id=A 0,5]\ns2: w(x,2) [id=B after=A 4,6]')).toThrow(
      'before A finished',
    )
    expect(parse('s1: w(x,1) [id=A 0,5]\ns2: w(x,2) [id=B after=A 5,6]')).not.toThrow()
  })

  test('writes it back', () => {
    const text = 's1: w(x,1) [id=A] | w(x,2) [id=B]\ns2: r(x,1) [id=C after=A,B]\n'
    expect(renderNotation(parseNotation(text))).toBe(text)
    const history = parseNotation(
      's1: w(x,1) [id=A]\ns2: w(y,1) [id=B after=A]\ns3: r(x,0) [id=C after=B]',
    )
    expect(renderNotation(history, [0, 2])).toBe('s1: w(x,1) [id=A]\ns3: r(x,0) [id=C after=A]\n')
  })
})
