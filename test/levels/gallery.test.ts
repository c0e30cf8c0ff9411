// The gallery is complete: counted from what it is to have, not from itself. Each of the 14
// patterns, each anomaly that MTC names, each small history of the definitions, each with all that
// is to be told of it.

import { describe, expect, it } from 'vitest'
import { ANOMALIES, letterOf } from '../../src/levels/anomalies.ts'
import { findTopic, TOPICS, type Topic } from '../../src/levels/glossary.ts'
import { LEVELS } from '../../src/levels/levels.ts'

const withHistory = TOPICS.flatMap((topic) => (topic.kind === 'level' ? [] : [topic]))
const anomalyOf = (name: string): Topic & { kind: 'anomaly' } => {
  const topic = findTopic(name)
  if (topic?.kind !== 'anomaly') throw new Error(`${name} is not in the gallery`)
  return topic
}

/** Table of the anomalies that mini-transactions show (MTC, 2025), under our names. */
const MTC = [
  ...['ThinAirRead', 'AbortedRead', 'FutureRead', 'NotMyLastWrite', 'NotMyOwnWrite'],
  ...['IntermediateRead', 'NonRepeatableRead', 'SessionGuaranteeViolation', 'NonMonotonicRead'],
  ...['FracturedRead', 'CausalityViolation', 'LongFork', 'LostUpdate', 'WriteSkew'],
]

/** As they stand in the definitions; the last is a cycle in so ∪ wr. */
const DEFINITIONS = [
  's1: w(x,1) | r(x,0)',
  's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
  's0: w(x,1) | w(x,2) w(y,2) | r(y,3)\ns1: r(x,1) w(y,3)',
  's0: w(x,1)\ns1: r(x,1) w(x,2)\ns2: r(x,1) w(x,3) [aborted]',
  's0: r(x,0) w(x,1) | r(x,0)',
  's0: w(x,1) | w(x,2) | w(y,9) | r(x,1)',
  's0: w(x,1) [indeterminate]\ns1: r(x,1)',
  's0: w(a,1) w(x,1) w(z,1)\ns1: w(b,1) w(x,2) w(y,1)\ns2: w(c,1) w(y,2) w(z,2)\n' +
    's3: r(a,1) r(x,2)\ns4: r(b,1) r(y,2)\ns5: r(c,1) r(z,1)',
  's1: w(x,1) r(y,1)\ns2: w(y,1) r(x,1)',
]

describe('the gallery', () => {
  it('has every level and, under one name or another, every anomaly', () => {
    for (const { id } of LEVELS) expect(findTopic(id)?.kind, id).toBe('level')
    for (const { name } of ANOMALIES) expect(anomalyOf(name), name).toBeTruthy()
  })

  it('has each of the 14 patterns, an entry of its own', () => {
    const letters = [...'abcdefghijklmn']
    expect(ANOMALIES.flatMap(({ tap }) => tap ?? []).sort()).toEqual(letters)
    const found = letters.map((letter) => anomalyOf(letter))
    expect(new Set(found).size).toBe(14)
    expect(found.map(({ anomaly }) => letterOf(anomaly))).toEqual(letters)
  })

  it('has each anomaly of MTC', () => {
    expect(MTC.length).toBe(14)
    for (const name of MTC) expect(anomalyOf(name).entry.name).toBe(name)
  })

  it('has each small history of the definitions', () => {
    const cases = withHistory.filter(({ kind }) => kind === 'case')
    expect(cases.map(({ entry }) => entry.history)).toEqual(DEFINITIONS)
  })

  it.each(withHistory)('tells all there is to tell of $entry.name', ({ entry }) => {
    for (const text of [entry.history, entry.harm, entry.where, entry.cure]) {
      expect(text.length).toBeGreaterThan(3)
    }
    expect(entry.sql.length).toBeGreaterThan(0)
  })
})
