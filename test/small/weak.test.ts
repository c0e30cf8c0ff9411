// The weak levels against brute force: every small history of the families, then seeded random ones
// with aborts, indeterminates, repeated writes and lists. Every verdict is certified on the way.
// Then the patterns that a verdict names, and how many reads it says show them.

import { describe, expect, test } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { check } from '../../src/check/check.ts'
import { Checker } from '../../src/check/checker.ts'
import { checkReads } from '../../src/check/reads/read-consistency.ts'
import { WeakContext } from '../../src/check/weak/context.ts'
import { findPlumePatterns, PLUME_TAPS } from '../../src/check/weak/plume-patterns.ts'
import { type History, READ_LIST } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { findAnomaly, findTap } from '../../src/levels/anomalies.ts'
import { certifyPlume } from '../../src/verdict/certify-plume.ts'
import { assertionsOf, CASES, LIST_CASES } from './cases.ts'
import { compareWithOracle, draftsFor, FEWER, SAMPLED, sampled } from './compare.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import type { OracleLevel } from './oracle.ts'
import { plumeTapOracle, TAPS, type Tap, tapOracle } from './taps.ts'

const WEAK = ['ci', 'rc', 'ra', 'cc'] as const
type Weak = (typeof WEAK)[number]

const isWeak = (level: OracleLevel): level is Weak => WEAK.includes(level as Weak)

let checker = new Checker(parseNotation(''))
let checked: History | null = null // the history of the checker

/** All levels of a history share one checker, as in a profile. */
function decide(history: History, level: OracleLevel) {
  if (history !== checked) checker = new Checker(history)
  checked = history
  const result = checker.check(level)
  if (result.certificate?.verified !== true) throw new Error('a verdict without a certificate')
  return result.verdict
}

describe('check at the weak levels', () => {
  for (const one of [...CASES, ...LIST_CASES]) {
    test(`judges ${one.name}`, () => {
      const history = parseNotation(one.notation)
      for (const [level, verdict] of assertionsOf(one)) {
        if (isWeak(level)) expect(`${level} ${decide(history, level)}`).toBe(`${level} ${verdict}`)
      }
    })
  }

  test('agrees with brute force on small histories, all of them if asked', () => {
    const outcome = compareWithOracle(decide, WEAK, { stride: FEWER * SAMPLED })
    expect(outcome.disagreement).toBeNull()
    for (const level of WEAK)
      expect(outcome.satisfied[level]).toBeGreaterThan(50_000 / SAMPLED / FEWER)
    for (const level of WEAK)
      expect(outcome.violated[level]).toBeGreaterThan(50_000 / SAMPLED / FEWER)
  })

  test('agrees with brute force on random histories', () => {
    const outcome = compareWithOracle(decide, WEAK, {
      families: [],
      seeds: sampled(20_000) / FEWER,
    })
    expect(outcome.disagreement).toBeNull()
    for (const level of WEAK)
      expect(outcome.satisfied[level]).toBeGreaterThan(sampled(5000) / FEWER)
    for (const level of WEAK) expect(outcome.violated[level]).toBeGreaterThan(sampled(4000) / FEWER)
  })

  test('agrees with brute force on random histories of lists', () => {
    const shape = { lists: 0.7 }
    const outcome = compareWithOracle(decide, WEAK, {
      families: [],
      seeds: sampled(10_000) / FEWER,
      shape,
    })
    expect(outcome.disagreement).toBeNull()
    for (const level of WEAK) expect(outcome.violated[level]).toBeGreaterThan(sampled(1000) / FEWER)
  })
})

describe('the patterns of a verdict', () => {
  const PATTERNS: [Weak, string][] = [
    ['rc', 'abcdefghi'],
    ['ra', 'abcdefghijkl'],
    ['cc', 'abcdefghijklmn'],
  ]

  const countsOf = (history: History, level: Weak) => {
    const counts = new Map<Tap, number>()
    for (const { name, count } of check(history, level, { certify: false, byPattern: true })
      .anomalies) {
      const tap = findAnomaly(name)?.tap as Tap | null
      if (tap) counts.set(tap, count)
    }
    return counts
  }

  const wrongPattern = (draft: Draft): string | null => {
    const truth = tapOracle(draft)
    const history = buildHistory(draft)
    for (const [level, letters] of PATTERNS) {
      const counts = countsOf(history, level)
      // Faults are other names for the same, for fewer reads: what is found has to be verified.
      const faults = check(history, level)
      const names = new Set(faults.anomalies.map(({ name }) => name))
      if (faults.certificate?.verified !== true) return `what ${level} finds is not verified`
      if (names.size < faults.anomalies.length) return `${level} tells one fault twice`
      if (counts.size > 0 && faults.verdict !== 'violated') return `${level} finds no fault`
      for (const tap of TAPS) {
        const shown = letters.includes(tap) ? truth[tap].length : 0
        const said = counts.get(tap) ?? 0
        // Which transactions of a cycle are left out is the checker's choice.
        if (tap > 'g' && truth.g.length > 0) continue
        // Of g the oracle counts transactions, the checker reads.
        if (tap === 'g' ? said > 0 !== shown > 0 : said !== shown) {
          return `${level} names pattern ${tap} ${said} times, it occurs ${shown} times`
        }
      }
    }
    return null
  }

  test('are those of the definitions', () => {
    for (const { draft, source } of draftsFor({
      stride: 7 * FEWER * Math.ceil(SAMPLED / 5),
      seeds: sampled(10_000) / FEWER,
    })) {
      // Where transactions name others, occurrences of l are counted short (docs/levels.md).
      if (draft.sessions.some((txns) => txns.some(({ after }) => after !== undefined))) continue
      const wrong = wrongPattern(draft)
      if (wrong !== null) expect.unreachable(`${source}: ${wrong}\n${renderDraft(draft)}`)
    }
  })
})

describe('patterns by the letters of Plume’s paper', () => {
  const findAll = (history: History, limit = 1) => {
    const context = new WeakContext(history, checkReads(history), Deadline.none())
    return findPlumePatterns(context, limit)
  }

  const wrongLetter = (draft: Draft): string | null => {
    const truth = plumeTapOracle(draft)
    const history = buildHistory(draft)
    if (history.opKind.some((kind) => kind === READ_LIST) || history.after !== null) return null
    const found = findAll(history)
    if (truth === null || found === null) return truth === found ? null : 'a cycle was overlooked'
    for (const tap of PLUME_TAPS) {
      const shown = found.find(({ name }) => name === findTap(tap)!.name)
      const said = shown?.count ?? 0
      if (said !== truth[tap].length) {
        return `pattern ${tap} ${said} times, it occurs ${truth[tap].length} times`
      }
      const problems = shown ? certifyPlume(history, shown) : []
      if (problems.length > 0) return `${tap}: ${problems.join('; ')}`
    }
    return null
  }

  test('are those of its definitions, each with a cycle that is verified', () => {
    for (const { draft, source } of draftsFor({
      stride: 7 * FEWER * Math.ceil(SAMPLED / 5),
      seeds: sampled(10_000) / FEWER,
    })) {
      const wrong = wrongLetter(draft)
      if (wrong !== null) expect.unreachable(`${source}: ${wrong}\n${renderDraft(draft)}`)
    }
  })

  const lettersOf = (notation: string) => {
    const found = findAll(parseNotation(notation), Number.POSITIVE_INFINITY)!
    return [...new Set(found.map(({ name }) => findAnomaly(name)!.tap))].sort().join('')
  }

  test.each([
    // Each of two writes is before the other, because the reader saw one half of both.
    ['i, which satisfies rc', 's1: w(x,1) w(y,1)\ns2: w(x,2) w(y,2)\ns3: r(y,2) r(x,1)', 'iln'],
    ['l', 's1: w(x,1) w(y,1)\ns2: w(x,2) w(y,2)\ns3: r(x,1) r(y,2)', 'iln'],
    [
      'n beside k',
      's1: r(x,4) | w(x,2) w(y,2) | r(y,4) r(x,2) w(z,3)\ns2: w(x,4) w(y,4)\ns3: r(z,3) r(x,4) r(y,2)',
      'iklmn',
    ],
    ['m where a session forgets', 's1: w(x,1)\ns2: r(x,1) w(x,2) | r(x,1)', 'klmn'],
    ['nothing', 's1: w(x,1)\ns2: r(x,1) w(x,2) | r(x,2)', ''],
  ])('show %s', (_, notation, letters) => {
    expect(lettersOf(notation)).toBe(letters)
  })

  test('are refused under a letter that they do not have', () => {
    const history = parseNotation('s1: w(x,1) w(y,1)\ns2: w(x,2) w(y,2)\ns3: r(x,1) r(y,2)')
    const found = findAll(history, Number.POSITIVE_INFINITY)!
    const last = found.find(({ name }) => name === 'ConflictCM')!
    expect(certifyPlume(history, last)).toEqual([])
    for (const name of [
      'COConflictCM',
      'FracturedReadCO',
      'NonMonoReadCO',
      'LostUpdate',
    ] as const) {
      expect(certifyPlume(history, { ...last, name })).not.toEqual([])
    }
    const [read] = last.edges.at(-1)!.premises[0]!.ops.slice(-1)
    const isFirst = history.txnOpStart[2] === read
    expect(certifyPlume(history, { ...last, name: 'NonMonoReadCM' }).length > 0).toBe(isFirst)
  })

  test('are not told of lists, nor of versions', () => {
    expect(() => findAll(parseNotation('s1: append(x,1)\ns2: r(x,[1])'))).toThrow('registers only')
    expect(() => findAll(parseNotation('s1: w(x,1)@1\ns2: r(x,1)'))).toThrow('knows no versions')
  })
})
