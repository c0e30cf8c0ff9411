// Adya's levels against brute force over all orders of versions.

import { describe, expect, it } from 'vitest'
import { checkLevels } from '../../src/check/check.ts'
import {
  ADYA_LEVELS,
  type AdyaLevel,
  CHAIN,
  implies,
  impliesAdya,
} from '../../src/levels/levels.ts'
import {
  type AdyaProfile,
  adyaProfile,
  ORDERED_LEVELS,
  type OrderedProfile,
  orderedProfile,
} from './adya.ts'
import { type CompareOptions, draftsFor, SAMPLED, sampled } from './compare.ts'
import { Confirmed, isDrawn } from './confirmed.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { ORACLE_LEVELS, type OracleLevel, profileOf } from './oracle.ts'

/** All orders of versions are tried, so there must not be many. */
function isSmall(draft: Draft): boolean {
  return draft.sessions.flat().length <= 6
}

const CHOICES: [string, CompareOptions][] = [
  ['small histories', { stride: 41 * SAMPLED }],
  ['random histories', { families: [], seeds: sampled(1000) }],
  ['random histories of lists', { families: [], seeds: sampled(1000), shape: { lists: 1 } }],
  [
    'histories that contradict themselves',
    { families: [], seeds: sampled(600), shape: { rewrites: true, wild: 0.4, maxOps: 4, keys: 1 } },
  ],
  [
    'lists that contradict themselves',
    {
      families: [],
      seeds: sampled(600),
      shape: { rewrites: true, wild: 0.4, maxOps: 4, lists: 1 },
    },
  ],
]

/** Those with session order and real time imply, and are implied by, what the tables say. */
function expectOrdered(draft: Draft, adya: AdyaProfile): void {
  const ordered = orderedProfile(draft)
  const ours = profileOf(draft)
  const text = renderDraft(draft)
  for (const strong of ORDERED_LEVELS) {
    if (ordered[strong] !== 'satisfied') continue
    for (const weak of ORDERED_LEVELS) {
      if (implies(strong, weak))
        expect(ordered[weak], `${strong} ${weak}\n${text}`).toBe('satisfied')
    }
    for (const weak of ADYA_LEVELS) {
      if (impliesAdya(strong, weak)) expect(adya[weak], `${strong} ${weak}\n${text}`).toBe(true)
    }
  }
  for (const strong of ORACLE_LEVELS) {
    for (const weak of ORDERED_LEVELS) {
      if (ours[strong] !== 'satisfied' || !implies(strong, weak)) continue
      expect(ordered[weak], `${strong} ${weak}\n${text}`).toBe('satisfied')
    }
  }
}

describe("Adya's levels", () => {
  it.each(CHOICES)('agree with brute force on %s', (_, options) => {
    const counts = new Map<string, number>()
    const confirmed = new Confirmed('registers and lists')
    for (const { draft, source } of draftsFor(options)) {
      if (!isSmall(draft)) continue
      const expected = adyaProfile(draft)
      for (const result of checkLevels(buildHistory(draft), ADYA_LEVELS)) {
        const level = result.level as AdyaLevel
        const verdict = expected[level] ? 'satisfied' : 'violated'
        expect(result.verdict, `${source} at ${level}\n${renderDraft(draft)}`).toBe(verdict)
        expect(result.certificate?.verified).toBe(true)
        counts.set(`${level} ${verdict}`, (counts.get(`${level} ${verdict}`) ?? 0) + 1)
        confirmed.add(level, isDrawn(source), verdict)
      }
    }
    confirmed.tell()
    for (const level of ADYA_LEVELS) {
      expect(counts.get(`${level} satisfied`), level).toBeGreaterThan(sampled(20))
      // Registers never show dirty writes.
      if (level !== 'pl-1') expect(counts.get(`${level} violated`), level).toBeGreaterThan(10)
    }
  })

  const ORDERED: [string, CompareOptions & { sessionOrder?: boolean }][] = [
    ['small histories', { stride: 83 * SAMPLED }],
    ['random histories', { families: [], seeds: sampled(1000), shape: { times: true } }],
    ['random lists', { families: [], seeds: sampled(1500), shape: { lists: 1, times: true } }],
    ['lists without times', { families: [], seeds: sampled(400), shape: { lists: 1 } }],
    [
      'lists that contradict themselves',
      {
        families: [],
        seeds: sampled(800),
        shape: { rewrites: true, wild: 0.4, maxOps: 4, lists: 1, times: true },
      },
    ],
    [
      'lists without session order',
      {
        families: [],
        seeds: sampled(600),
        sessionOrder: false,
        shape: { lists: 1, times: true },
      },
    ],
  ]

  it.each(ORDERED)(
    'agree with brute force with session order and real time on %s',
    (_, options) => {
      const { sessionOrder = true } = options
      const counts = new Map<string, number>()
      const confirmed = new Confirmed('registers and lists')
      for (const { draft, source } of draftsFor(options)) {
        if (!isSmall(draft)) continue
        const expected = orderedProfile(draft, sessionOrder)
        const requests = ORDERED_LEVELS.map((level) => ({ level, sessionOrder }))
        for (const result of checkLevels(buildHistory(draft), requests)) {
          const verdict = expected[result.level as keyof OrderedProfile]
          expect(result.verdict, `${source} at ${result.level}\n${renderDraft(draft)}`).toBe(
            verdict,
          )
          if (verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
          counts.set(
            `${result.level} ${verdict}`,
            (counts.get(`${result.level} ${verdict}`) ?? 0) + 1,
          )
          confirmed.add(result.level, isDrawn(source), verdict)
        }
      }
      confirmed.tell()
      for (const level of ORDERED_LEVELS.slice(0, 2)) {
        expect(counts.get(`${level} satisfied`), level).toBeGreaterThan(sampled(20))
      }
      expect(counts.get('strong-pl-2 violated')).toBeGreaterThan(sampled(20))
    },
  )

  it('imply each other, and are implied by ours, as the table says', () => {
    const refuted = new Set<string>()
    const seeds = { families: [], seeds: sampled(800), firstSeed: 7000 }
    const drafts = [...draftsFor(seeds), ...draftsFor({ ...seeds, shape: { lists: 1, maxOps: 4 } })]
    for (const { draft } of drafts) {
      if (!isSmall(draft)) continue
      const profile = adyaProfile(draft)
      const ours = profileOf(draft, { sessionOrder: false })
      for (const strong of CHAIN as readonly OracleLevel[]) {
        for (const weak of ADYA_LEVELS) {
          const isImplied = ours[strong] === 'satisfied' && impliesAdya(strong, weak)
          if (isImplied)
            expect(profile[weak], `${strong} ${weak}\n${renderDraft(draft)}`).toBe(true)
        }
      }
      expectOrdered(draft, profile)
      for (const strong of ADYA_LEVELS) {
        for (const weak of ADYA_LEVELS) {
          if (!profile[strong] || profile[weak]) continue
          expect(impliesAdya(strong, weak), `${strong} ${weak}\n${renderDraft(draft)}`).toBe(false)
          refuted.add(`${strong} ${weak}`)
        }
      }
    }
    expect(refuted).toContain('pl-2 pl-cs')
    expect(refuted).toContain('pl-cs pl-2l')
    expect(refuted).toContain('pl-2+ pl-3u')
  })
})
