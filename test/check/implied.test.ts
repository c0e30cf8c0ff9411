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
