// Strong levels of read-modify-write histories against brute force: every small history of the
// families, then mini-transactions and longer ones by seed, with aborts, indeterminates and times.
// Every verdict is certified on the way, those of the profile that others imply included.

import { describe, expect, it } from 'vitest'
import { check, profile } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import {
  type CompareOptions,
  compareWithOracle,
  draftsFor,
  FEWER,
  SAMPLED,
  sampled,
} from './compare.ts'
import { buildHistory, type DraftTxn, renderDraft } from './draft.ts'
import { type OracleLevel, profileOf } from './oracle.ts'
import type { RandomShape } from './random-history.ts'

const STRONG = ['pc', 'si', 'ser', 'sser'] as const

/** How often each algorithm decided, to be sure that the one under test did. */
function decider(used: Record<string, number>) {
  return (history: History, level: OracleLevel) => {
    const result = check(history, level)
    used[result.algorithm] = (used[result.algorithm] ?? 0) + 1
    if (result.verdict !== 'unknown') {
      expect(result.certificate?.verified, renderNotation(history)).toBe(true)
    }
    return result.verdict
  }
}

function readsBeforeWriting({ ops }: DraftTxn): boolean {
  return ops.every(
    (op, i) =>
      op.kind !== 'w' ||
      ops.some((other, j) => j < i && other.kind === 'r' && other.key === op.key),
  )
}

const SHAPES: Record<string, Partial<RandomShape>> = {
  'mini-transactions': { style: 'mini', maxOps: 4 },
  'mini-transactions with times': {
    style: 'mini',
    times: true,
    wild: 0,
    freshness: 1,
    sessions: 4,
  },
  'longer read-modify-write transactions': { style: 'rmw', maxOps: 6, keys: 3, sight: 'prefix' },
  'transactions that see all': { style: 'rmw', sight: 'all', freshness: 0.9, times: true },
}

describe('check on read-modify-write histories', () => {
  it('agrees with brute force on small histories of one or two keys, all of them if asked', () => {
    const families = [
      { txns: 2, maxOps: 4, maxTotalOps: 5, keys: 2 },
      { txns: 3, maxOps: 2, maxTotalOps: 6, keys: 1 },
      { txns: 4, maxOps: 2, maxTotalOps: 6, keys: 1 },
    ]
    let compared = 0
    for (const { draft, source } of draftsFor({
      families,
      stride: Math.ceil((FEWER * SAMPLED) / 20),
    })) {
      if (!draft.sessions.flat().every(readsBeforeWriting)) continue
      const history = buildHistory(draft)
      const truth = profileOf(draft)
      compared++
      for (const level of STRONG) {
        const result = check(history, level)
        const isSure = result.verdict === 'unknown' || result.certificate?.verified === true
        if (result.verdict === truth[level] && isSure) continue
        expect.fail(`${level} of ${source}: ${result.verdict}\n${renderDraft(draft)}`)
      }
    }
    expect(compared).toBeGreaterThan(4000 / SAMPLED)
  })

  for (const [name, shape] of Object.entries(SHAPES)) {
    it(`agrees with brute force on 5,000 random histories of ${name}`, () => {
      const used: Record<string, number> = {}
      const options: CompareOptions = { families: [], seeds: sampled(5_000) / FEWER, shape }
      const outcome = compareWithOracle(decider(used), STRONG, options)
      expect(outcome.disagreement).toBeNull()
      for (const level of STRONG)
        expect(outcome.satisfied[level]).toBeGreaterThan(sampled(400) / FEWER)
      for (const level of STRONG)
        expect(outcome.violated[level]).toBeGreaterThan(sampled(400) / FEWER)
      expect(used['mini']).toBeGreaterThan(sampled(4000) / FEWER)
      expect(used['order']).toBeGreaterThan(sampled(4000) / FEWER)
    })
  }
})

describe('profile', () => {
  it('agrees with brute force at every level, and every implied verdict stands by itself', () => {
    const implied: Record<string, number> = {}
    for (const { draft, source } of draftsFor({ stride: 200 * FEWER, seeds: sampled(4_000) })) {
      const history = buildHistory(draft)
      const truth = profileOf(draft)
      for (const result of profile(history)) {
        const where = `${result.level} of ${source}\n${renderDraft(draft)}`
        expect(result.verdict, where).toBe(truth[result.level as OracleLevel])
        expect(certifyPlain(history, result).problems, where).toEqual([])
        if (result.impliedBy === null) continue
        const label = `${result.verdict} by ${result.impliedBy}`
        implied[label] = (implied[label] ?? 0) + 1
      }
    }
    for (const label of [
      'satisfied by ser',
      'satisfied by si',
      'violated by cc',
      'violated by ser',
    ]) {
      expect(implied[label], label).toBeGreaterThan(4)
    }
  })

  it('leaves out what takes times where there are none, and lists levels weakest first', () => {
    const levels = ['ci', 'rc', 'ra', 'cc', 'pc', 'psi', 'si', 'ser']
    for (const { draft } of draftsFor({
      families: [],
      seeds: 50,
      shape: { times: false, aborted: 0, indeterminate: 0 },
    })) {
      expect(profile(buildHistory(draft)).map((result) => result.level)).toEqual(levels)
    }
    for (const { draft } of draftsFor({
      families: [],
      seeds: 50,
      shape: { times: true, aborted: 0, indeterminate: 0 },
    })) {
      const found = profile(buildHistory(draft)).map((result) => result.level)
      expect(found).toEqual([...levels.slice(0, -1), 'strong-si', 'ser', 'sser'])
    }
  })
})
