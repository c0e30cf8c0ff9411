// Parallel snapshot isolation against brute force, and on the histories that tell it from its
// neighbours. Every verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { type CompareOptions, compareWithOracle, type Decide, SAMPLED, sampled } from './compare.ts'

const decide: Decide = (history, level) => {
  const result = check(history, level)
  if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
  return result.verdict
}

const CHOICES: [string, CompareOptions][] = [
  ['small histories', { stride: 5 * SAMPLED }],
  ['random histories, 20,000 if asked', { families: [], seeds: 20_000 / SAMPLED }],
  [
    'random histories of lists',
    { families: [], seeds: sampled(1500), firstSeed: 50_000, shape: { lists: 1 } },
  ],
  [
    'random histories without session order',
    { families: [], seeds: sampled(1500), firstSeed: 70_000, sessionOrder: false },
  ],
]

describe('check at psi', () => {
  it.each(CHOICES)('agrees with brute force on %s', (_, options) => {
    const { sessionOrder = true } = options
    const decideSo: Decide = (history, level) =>
      sessionOrder ? decide(history, level) : check(history, { level, sessionOrder }).verdict
    const outcome = compareWithOracle(decideSo, ['psi'], options)
    expect(outcome.disagreement).toBeNull()
    expect(outcome.satisfied.psi).toBeGreaterThan(50)
    expect(outcome.violated.psi).toBeGreaterThan(50)
  })

  it.each<[string, string, readonly LevelId[], readonly LevelId[]]>([
    [
      'a long fork',
      's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
      ['psi', 'cc'],
      ['pc', 'si'],
    ],
    ['write skew', 's1: r(x,0) w(y,1)\ns2: r(y,0) w(x,2)', ['psi', 'si'], ['ser']],
    ['a lost update', 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', ['pc', 'cc'], ['psi', 'si']],
    [
      'a lost update between writers of two keys',
      's1: r(x,0) w(y,1) w(z,1)\ns2: w(x,1) w(z,2)\ns3: r(z,2) r(y,0)',
      ['cc'],
      ['psi'],
    ],
    ['a session that forgets', 's1: w(x,1) | r(x,0)', ['rc'], ['psi', 'cc']],
  ])('judges %s', (_, text, satisfied, violated) => {
    const history = parseNotation(`initial 0\n${text}`)
    for (const level of satisfied) expect(decide(history, level as 'psi'), level).toBe('satisfied')
    for (const level of violated) expect(decide(history, level as 'psi'), level).toBe('violated')
  })
})
