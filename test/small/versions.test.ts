// Every level against brute force over all orders that agree with the versions that the store gave:
// each order of the versions of small histories, and versions at random, which reads report,
// rightly or not. Every verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check, checkLevels } from '../../src/check/check.ts'
import { ADYA_LEVELS } from '../../src/levels/levels.ts'
import { adyaProfile, ORDERED_LEVELS, orderedProfile } from './adya.ts'
import {
  type CompareOptions,
  compareWithOracle,
  type Decide,
  draftsFor,
  SAMPLED,
  sampled,
} from './compare.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { ORACLE_LEVELS } from './oracle.ts'
import { allVersionOrders, randomVersions } from './versions.ts'

const decideWith =
  (sessionOrder: boolean, realTime = false): Decide =>
  (history, level) => {
    const result = check(history, { level, sessionOrder, realTime })
    if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
    return result.verdict
  }

const variants = (draft: Draft, number: number) => [randomVersions(draft, number)]

const CHOICES: [string, CompareOptions][] = [
  ['every order of small histories', { stride: 40 * SAMPLED, variants: allVersionOrders }],
  ['random histories, 20,000 if asked', { families: [], seeds: 20_000 / SAMPLED, variants }],
  [
    'random histories that write keys twice and read wildly',
    {
      families: [],
      seeds: sampled(1500),
      firstSeed: 40_000,
      shape: { rewrites: true, wild: 0.2, maxOps: 4, keys: 2 },
      variants,
    },
  ],
  [
    'random histories with lists among registers',
    { families: [], seeds: sampled(1500), firstSeed: 50_000, shape: { lists: 0.4 }, variants },
  ],
  [
    'random histories whose transactions name others',
    { families: [], seeds: sampled(1500), firstSeed: 60_000, shape: { after: 0.3 }, variants },
  ],
  [
    'random histories without session order',
    { families: [], seeds: sampled(1500), firstSeed: 70_000, sessionOrder: false, variants },
  ],
  [
    'random histories with real time',
    {
      families: [],
      seeds: sampled(1000),
      firstSeed: 80_000,
      shape: { times: true },
      realTime: true,
      variants,
    },
  ],
]

describe('check of histories with versions', () => {
  it.each(CHOICES)('agrees with brute force on %s', (_, options) => {
    const decide = decideWith(options.sessionOrder ?? true, options.realTime)
    const outcome = compareWithOracle(decide, ORACLE_LEVELS, options)
    expect(outcome.disagreement).toBeNull()
    for (const level of ORACLE_LEVELS) {
      expect(outcome.satisfied[level] + outcome.violated[level], level).toBeGreaterThan(20)
      expect(outcome.violated[level], level).toBeGreaterThan(10)
    }
  })

  it.each(CHOICES.slice(0, 5))("agrees at Adya's levels on %s", (_, options) => {
    const levels = [...ADYA_LEVELS, ...ORDERED_LEVELS]
    const counts = new Map<string, number>()
    const fewer = { ...options, seeds: (options.seeds ?? 0) / 4, stride: 4 * (options.stride ?? 1) }
    for (const { draft, source } of draftsFor(fewer)) {
      if (draft.sessions.flat().length > 6) continue
      const adya = adyaProfile(draft)
      const ordered = orderedProfile(draft)
      for (const { level, verdict, certificate } of checkLevels(buildHistory(draft), levels)) {
        const known = adya[level as 'pl-1']
        const expected =
          known === undefined ? ordered[level as 'strong-pl-1'] : known ? 'satisfied' : 'violated'
        expect(verdict, `${source} at ${level}\n${renderDraft(draft)}`).toBe(expected)
        if (verdict !== 'unknown') expect(certificate?.verified, level).toBe(true)
        counts.set(`${level} ${verdict}`, (counts.get(`${level} ${verdict}`) ?? 0) + 1)
      }
    }
    for (const level of ADYA_LEVELS) {
      expect(counts.get(`${level} satisfied`), level).toBeGreaterThan(5)
      if (level !== 'pl-1') expect(counts.get(`${level} violated`), level).toBeGreaterThan(0)
    }
  })
})
