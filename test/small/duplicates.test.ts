// Values written twice against brute force: a level is satisfied if some choice of writers
// satisfies it, and every verdict comes with a certificate that says which, or why none does.

import { describe, expect, it } from 'vitest'
import { chooseWriters } from '../../src/check/writers/choose-writers.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { adyaProfile, orderedProfile } from './adya.ts'
import { draftsFor, FEWER, SAMPLED, sampled } from './compare.ts'
import { Confirmed, isDrawn } from './confirmed.ts'
import type { Draft } from './draft.ts'
import { buildDuplicates, COLLAPSES, collapse, everyChoice } from './duplicates.ts'
import { ORACLE_LEVELS, profileOf } from './oracle.ts'

const MOST = 300
const WORST_LAST = ['satisfied', 'unknown', 'violated']

interface Options {
  readonly sessionOrder?: boolean
  readonly realTime?: boolean
}

/** Level -> whether some choice satisfies it, by the definitions alone. */
function truthOf(choices: readonly Draft[], options: Options): Map<LevelId, string> {
  const truth = new Map<LevelId, string>()
  const better = (level: LevelId, verdict: string) => {
    const known = truth.get(level)
    if (known === undefined || WORST_LAST.indexOf(verdict) < WORST_LAST.indexOf(known)) {
      truth.set(level, verdict)
    }
  }
  const { sessionOrder = true, realTime = false } = options
  for (const draft of choices) {
    const profile = profileOf(draft, { sessionOrder, realTime })
    for (const level of ORACLE_LEVELS) better(level, profile[level])
    if (!sessionOrder || realTime) continue
    for (const [level, holds] of Object.entries(adyaProfile(draft))) {
      better(level as LevelId, holds ? 'satisfied' : 'violated')
    }
    for (const [level, verdict] of Object.entries(orderedProfile(draft))) {
      better(level as LevelId, verdict)
    }
  }
  return truth
}

/** The first draft on which the verdicts differ from the truth, in words. */
function compare(drafts: Iterable<{ draft: Draft; source: string }>, options: Options = {}) {
  const counts = { satisfied: 0, violated: 0, compared: 0 }
  const confirmed = new Confirmed('values written twice')
  let number = 0
  for (const { draft, source } of drafts) {
    const twice = collapse(draft, COLLAPSES[number++ % COLLAPSES.length]!)
    const history = buildDuplicates(twice)
    // What became a part of the initial transaction is another history.
    if (history.txnIsInitial.filter((is) => is === 1).length > (draft.lead?.length ?? 0)) continue
    if (history.writers === null) continue
    const choices = everyChoice(twice, MOST)
    if (choices === null) continue
    counts.compared++
    for (const [level, expected] of truthOf(choices, options)) {
      const result = chooseWriters(history, { level, ...options })
      if (expected === 'satisfied') counts.satisfied++
      if (expected === 'violated') counts.violated++
      if (result.verdict === expected) {
        confirmed.add(level, isDrawn(source), expected)
        if (expected !== 'unknown') expect(result.certificate?.verified).toBe(true)
        continue
      }
      const text = `${source}: ${level} is ${expected}, not ${result.verdict} (${result.reason})`
      return { ...counts, difference: `${text}\n${renderNotation(history)}` }
    }
  }
  confirmed.tell()
  return { ...counts, difference: null }
}

describe('values written twice', () => {
  it.each<[string, Parameters<typeof draftsFor>[0], Options]>([
    ['small histories', { stride: SAMPLED === 1 ? 1 : 25 * SAMPLED }, {}],
    ['random histories', { families: [], seeds: sampled(600) / FEWER }, {}],
    [
      'random histories without session order',
      { families: [], seeds: sampled(240), firstSeed: 20_000 },
      { sessionOrder: false },
    ],
    [
      'random histories with real time',
      { families: [], seeds: sampled(240), firstSeed: 40_000, shape: { times: true } },
      { realTime: true },
    ],
  ])('are judged as brute force does on %s', (_, wanted, options) => {
    const { difference, ...counts } = compare(draftsFor(wanted), options)
    expect(difference).toBeNull()
    expect(counts.satisfied).toBeGreaterThan(30)
    expect(counts.violated).toBeGreaterThan(30)
  })
})
