// The session guarantees against brute force, on the histories that tell them from each other and
// from their neighbours, and how they relate to cc. Every verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { type LevelId, SESSION_GUARANTEES } from '../../src/levels/levels.ts'
import {
  type CompareOptions,
  compareWithOracle,
  type Decide,
  draftsFor,
  SAMPLED,
  sampled,
} from './compare.ts'
import { renderDraft } from './draft.ts'
import { judge, type Situation, settle } from './judge.ts'
import { forEachOrder, happensBefore, profileOf } from './oracle.ts'

const decideWith =
  (sessionOrder: boolean): Decide =>
  (history, level) => {
    const result = check(history, { level, sessionOrder })
    if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
    return result.verdict
  }

const CHOICES: [string, CompareOptions][] = [
  ['small histories', { stride: 2 * SAMPLED }],
  ['random histories, 20,000 if asked', { families: [], seeds: 20_000 / SAMPLED }],
  [
    'random histories of lists',
    { families: [], seeds: sampled(3000), firstSeed: 50_000, shape: { lists: 1 } },
  ],
  [
    'random histories whose transactions name others',
    { families: [], seeds: sampled(3000), firstSeed: 60_000, shape: { after: 0.3 } },
  ],
  [
    'random histories without session order',
    { families: [], seeds: sampled(1500), firstSeed: 70_000, sessionOrder: false },
  ],
]

describe('check at the session guarantees', () => {
  it.each(CHOICES)('agrees with brute force on %s', (_, options) => {
    const decide = decideWith(options.sessionOrder ?? true)
    const outcome = compareWithOracle(decide, SESSION_GUARANTEES, options)
    expect(outcome.disagreement).toBeNull()
    for (const level of SESSION_GUARANTEES) {
      expect(outcome.satisfied[level], level).toBeGreaterThan(sampled(200))
      expect(outcome.violated[level], level).toBeGreaterThan(sampled(200))
    }
  })

  it.each<[string, string, readonly LevelId[], readonly LevelId[]]>([
    ['a session that forgets', 's1: w(x,1) | r(x,0)', ['mr', 'mw', 'wfr', 'rc'], ['ryw', 'ra']],
    [
      'a session that goes back',
      's1: w(x,1)\ns2: r(x,1) | r(x,0)',
      ['ryw', 'mw', 'wfr', 'ra'],
      ['mr', 'cc'],
    ],
    [
      'a session whose writes arrive out of order',
      's1: w(x,1) | w(y,1)\ns2: r(y,1) r(x,0)',
      ['ryw', 'mr', 'wfr', 'ra'],
      ['mw', 'cc'],
    ],
    [
      'an answer without its question',
      's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)',
      ['ryw', 'mr', 'mw', 'ra'],
      ['wfr', 'cc'],
    ],
    [
      'an answer to an answer without the question',
      's1: w(x,1)\ns2: r(x,1) | w(y,1)\ns3: r(y,1) w(z,1)\ns4: r(z,1) r(x,0)',
      ['ryw', 'mr', 'mw', 'ra'],
      ['wfr', 'cc'],
    ],
    [
      'a transaction that goes back, which even rc forbids',
      's1: w(x,1)\ns2: r(x,1) r(x,0)',
      [],
      ['rc', ...SESSION_GUARANTEES],
    ],
    [
      'half of a transaction, which is a matter of ra',
      's1: w(x,1) w(y,1)\ns2: r(x,0) r(y,1)',
      [...SESSION_GUARANTEES],
      ['ra'],
    ],
    [
      'reads of one server that go on while it learns',
      's1: w(x,1) | w(y,1)\ns2: r(x,0) r(y,1)',
      [...SESSION_GUARANTEES, 'ra'],
      ['cc'],
    ],
    [
      'what none of the four forbids by itself',
      's1: w(x,1) | w(y,1)\ns2: r(y,1) | r(x,0)',
      [...SESSION_GUARANTEES, 'ra'],
      ['cc'],
    ],
  ])('judges %s', (_, text, satisfied, violated) => {
    const history = parseNotation(`initial 0\n${text}`)
    const decide = decideWith(true)
    for (const level of satisfied) expect(decide(history, level as 'mr'), level).toBe('satisfied')
    for (const level of violated) expect(decide(history, level as 'mr'), level).toBe('violated')
  })

  it('is implied by cc, ryw by ra, and implies rc', () => {
    const options = { stride: 4 * SAMPLED, seeds: sampled(2000), shape: { wild: 0.2 } }
    for (const { draft, source } of draftsFor(options)) {
      const truth = profileOf(draft)
      for (const level of SESSION_GUARANTEES) {
        const place = `${level}, ${source}\n${renderDraft(draft)}`
        if (truth.cc === 'satisfied') expect(truth[level], place).toBe('satisfied')
        if (truth[level] === 'satisfied') expect(truth.rc, place).toBe('satisfied')
      }
      if (truth.ra === 'satisfied') expect(truth.ryw, source).toBe('satisfied')
    }
  })

  it('is cc where one place keeps all four and each transaction reads once', () => {
    const counts = { satisfied: 0, violated: 0 }
    const shape = { maxOps: 2 }
    for (const { draft, source } of draftsFor({ families: [], seeds: sampled(12_000), shape })) {
      const situation = judge(draft, settle(draft), { sessionOrder: true })
      const readers = situation.reads.map(({ reader }) => reader)
      if (situation.offences.length > 0 || new Set(readers).size < readers.length) continue
      const expected = profileOf(draft).cc as 'satisfied' | 'violated'
      counts[expected]++
      expect(keepsAll(situation), `${source}\n${renderDraft(draft)}`).toBe(expected === 'satisfied')
    }
    expect(Math.min(counts.satisfied, counts.violated)).toBeGreaterThan(20)
  })
})

/**
 * Whether one order agrees with places that keep all four at once: what a place holds is whom the
 * transaction has read from, what its session wrote and read from, and with each of these what
 * comes before it in its session and what that had read.
 */
function keepsAll(situation: Situation): boolean {
  const { so, wr, ww, reads, writers } = situation
  const past = happensBefore(situation)
  let found = false
  const must = so.map((mask, t) => mask | wr[t]! | ww[t]!)
  forEachOrder(must, (before) => {
    found = reads.every(({ reader, from, key }, i) => {
      let held = so[reader]!
      for (let t = 0; t < so.length; t++) if ((so[reader]! >> t) & 1) held |= wr[t]!
      reads.slice(0, i).forEach((read) => {
        if (read.reader === reader) held |= 1 << read.from
      })
      let closed = held
      for (let t = 0; t < so.length; t++) if ((held >> t) & 1) closed |= past[t]!
      const others = writers.get(key)! & ~(1 << from) & ~(1 << reader)
      return (others & closed & ~before[from]!) === 0
    })
    return !found
  })
  return found
}
