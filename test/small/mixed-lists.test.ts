// Lists whose transactions have a level each: what is decided, by the engine and by the published
// search, is what the oracle finds by trying every commit order that contains what lists show; and
// each verdict passes its certificate.

import { describe, expect, test } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import { buildMixedProblem } from '../../src/check/mixed/build-problem.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { decideByExtensions } from '../../src/check/published/extensions.ts'
import type { History } from '../../src/history/history.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { solveMixed, verifySolution } from '../check/mixed/solve-mixed.ts'
import { SAMPLED, sampled } from './compare.ts'
import { Confirmed } from './confirmed.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { type Bounds, smallHistories } from './enumerate.ts'
import { isSound, mixedOracle, type OwnLevel } from './oracle.ts'
import { randomHistory, shapeOf } from './random-history.ts'
import { SQL_LEVELS } from './sql-draft.ts'

const FAMILIES: readonly Bounds[] = [
  { txns: 2, maxOps: 3, maxTotalOps: 5, keys: 2, lists: true },
  { txns: 3, maxOps: 2, maxTotalOps: 5, keys: 2, lists: true },
  { txns: 4, maxOps: 1, maxTotalOps: 4, keys: 2, lists: true },
]

function withLevels(history: History, levels: readonly OwnLevel[]): History {
  const txnLevel = Int8Array.from(levels, (id) => LEVELS.findIndex((level) => level.id === id))
  return { ...history, txnLevel }
}

/** Every choice of levels for those that read; the others take turns. */
function* levelsFor(draft: Draft, turn: number): Generator<OwnLevel[]> {
  const txns = draft.sessions.flat()
  const readers = txns.flatMap(({ ops }, i) => (ops.some(({ kind }) => kind === 'list') ? [i] : []))
  const count = SQL_LEVELS.length
  for (let choice = 0; choice < count ** readers.length; choice++) {
    const levels = txns.map((_, i) => SQL_LEVELS[(turn + choice + i) % count]!)
    readers.forEach((txn, i) => {
      levels[txn] = SQL_LEVELS[Math.floor(choice / count ** i) % count]!
    })
    yield levels
  }
}

/** Whether the axioms hold, as the engine says; what it gives as proof is verified. */
function decide(history: History): boolean {
  const problem = buildMixedProblem(history, 'mixed')
  const solution = solveMixed(problem, Deadline.none())
  if (solution) expect(verifySolution(problem, solution)).toBe(true)
  return solution !== null
}

const RANDOM = (seed: number) =>
  randomHistory(
    seed,
    shapeOf(seed, {
      lists: seed % 3 === 0 ? 0.5 : 1,
      initial: null,
      lead: 0,
      after: 0,
      audits: seed % 7 === 0 ? 0.2 : 0,
    }),
  )

const randomLevels = (seed: number, { txnCount }: History): OwnLevel[] => {
  const random = new Random(seed)
  return Array.from({ length: txnCount }, () => random.pick(SQL_LEVELS))
}

describe('lists at mixed levels', () => {
  test('are decided as the oracle does, on small histories at all levels', () => {
    let number = 0
    const counts = { held: 0, broken: 0 }
    const confirmed = new Confirmed('registers and lists')
    for (const draft of FAMILIES.flatMap((bounds) => [...smallHistories(bounds)])) {
      if (number++ % SAMPLED > 0 || !isSound(draft)) continue
      const holds = mixedOracle(draft)
      const plain = buildHistory(draft)
      for (const levels of levelsFor(draft, number)) {
        const truth = holds(levels)
        counts[truth ? 'held' : 'broken']++
        confirmed.add('mixed', false, truth ? 'satisfied' : 'violated')
        if (decide(withLevels(plain, levels)) === truth) continue
        expect.fail(`${levels}: truly ${truth ? 'held' : 'broken'}\n${renderDraft(draft)}`)
      }
    }
    confirmed.tell()
    expect(counts.held).toBeGreaterThan(1000)
    expect(counts.broken).toBeGreaterThan(500)
  }, 1_800_000)

  test('are judged and certified as the oracle has it, on 20,000 random histories if asked', () => {
    const counts = { satisfied: 0, violated: 0, unknown: 0 }
    const confirmed = new Confirmed('registers and lists')
    for (let seed = 1; seed <= sampled(20_000); seed++) {
      const draft = RANDOM(seed)
      const plain = buildHistory(draft)
      const levels = randomLevels(seed, plain)
      const truth = isSound(draft) && mixedOracle(draft)(levels) ? 'satisfied' : 'violated'
      // A certificate that fails is an error that is thrown.
      const [result] = checkMixed(withLevels(plain, levels), ['mixed'])
      counts[truth]++
      confirmed.add('mixed', true, truth)
      if (result!.verdict === truth) continue
      expect.fail(`seed ${seed}, ${levels}: truly ${truth}\n${renderDraft(draft)}`)
    }
    confirmed.tell()
    expect(counts.satisfied).toBeGreaterThan(sampled(8000))
    expect(counts.violated).toBeGreaterThan(sampled(4000))
  }, 600_000)

  test('are decided alike by the published search', () => {
    for (let seed = 1; seed <= sampled(8000); seed++) {
      const plain = buildHistory(RANDOM(seed))
      const history = withLevels(plain, randomLevels(seed, plain))
      const found = decideByExtensions(buildMixedProblem(history, 'mixed'), Deadline.none())
      expect(found !== null, `seed ${seed}`).toBe(decide(history))
    }
  }, 600_000)

  test('are decided at one level for all as that level is', () => {
    for (let seed = 1; seed <= sampled(4000); seed++) {
      const history = buildHistory(RANDOM(seed))
      for (const level of SQL_LEVELS) {
        const [result] = checkMixed(
          withLevels(
            history,
            Array.from({ length: history.txnCount }, () => level),
          ),
          ['mixed'],
          { certify: false },
        )
        const { verdict } = check(history, level, { certify: false })
        expect(result!.verdict, `seed ${seed} at ${level}`).toBe(verdict)
      }
    }
  }, 600_000)

  test('are told apart from registers: without what lists show the oracle disagrees', () => {
    const differs = Array.from({ length: 400 }, (_, i) => i + 1).some((seed) => {
      const draft = RANDOM(seed)
      const plain = buildHistory(draft)
      const levels = randomLevels(seed, plain)
      const problem = buildMixedProblem(withLevels(plain, levels), 'mixed')
      const blind = solveMixed({ ...problem, writerPlace: null }, Deadline.none())
      return (blind !== null) !== mixedOracle(draft)(levels)
    })
    expect(differs).toBe(true)
  })
})
