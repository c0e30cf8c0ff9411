// Verdicts that follow from others carry proofs of their own level, which the certifier believes.

import { describe, expect, it } from 'vitest'
import { check, checkModels, profile } from '../../src/check/check.ts'
import { weakened } from '../../src/check/implied.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { some } from '../long.ts'
import { buildHistory } from '../small/draft.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

/** How many of the results follow from others; each is certified anew. */
function countImplied(history: History, results: LevelResult[], seed: number): number {
  for (const result of results) {
    if (result.verdict === 'unknown') continue
    const { problems } = certifyPlain(history, result)
    expect(problems, `${result.level}, seed ${seed}`).toEqual([])
  }
  return results.filter(({ impliedBy, verdict }) => impliedBy && verdict !== 'unknown').length
}

describe.each<[string, (history: History) => LevelResult[]]>([
  ['a profile', (history) => profile(history)],
  ['a profile in real time', (history) => profile(history, { realTime: true })],
  ['all models', (history) => checkModels(history)],
])('what follows in %s', (_, judge) => {
  it('is proved like what was judged', () => {
    let count = 0
    for (let seed = 1; seed <= some(1200); seed++) {
      const history = buildHistory(randomHistory(seed, shapeOf(seed, { lists: 0, times: true })))
      count += countImplied(history, judge(history), seed)
    }
    expect(count).toBeGreaterThan(some(1200))
  })
})

describe('a violation that follows from a weaker level', () => {
  const causality = 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)\n'
  const namesAt = (level: string, text: string) =>
    profile(parseNotation(`initial 0\n${causality}${text}`))
      .find((result) => result.level === level)
      ?.anomalies.map(({ name }) => name)

  it('does not hide a lost update at psi', () => {
    const lost = 's4: r(z,0) w(z,1)\ns5: r(z,0) w(z,2)\n'
    expect(namesAt('psi', lost)).toEqual(['CausalityViolation', 'LostUpdate'])
  })

  it('names nothing at psi that psi allows', () => {
    const fork = 's4: w(p,1)\ns5: w(q,1)\ns6: r(p,1) r(q,0)\ns7: r(p,0) r(q,1)\n'
    expect(namesAt('si', fork)).toContain('LongFork')
    expect(namesAt('psi', fork)).toEqual(['CausalityViolation'])
  })
})

describe('weakened', () => {
  it('says that real time counts only where it can', () => {
    const history = parseNotation('s1: w(x,1) [start=1 finish=2]')
    const timed = check(history, { level: 'cc', realTime: true })
    expect(weakened('ra', timed)).toMatchObject({ level: 'ra', realTime: true })
    expect(weakened('ci', timed)).not.toHaveProperty('realTime')
    const results = profile(history, { realTime: true })
    expect(results.find(({ level }) => level === 'ci')).not.toHaveProperty('realTime')
  })
})
