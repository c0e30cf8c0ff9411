// Compares a decider with the oracle: every small history of some families, then seeded random
// ones. The first disagreement is cut down and returned in notation with its seed, ready to be
// pasted into a test. Main function: compareWithOracle. A checker plugs in like this:
//
//   const outcome = compareWithOracle((history, level) => check(history, level).verdict, ['rc'])
//   expect(outcome.disagreement).toBeNull()

import type { History } from '../../src/history/history.ts'
import { LONG } from '../long.ts'
import { Confirmed, isDrawn } from './confirmed.ts'
import { buildHistory, type Draft, renderDraft, shrinkDraft } from './draft.ts'
import { type Bounds, FAMILIES, smallHistories } from './enumerate.ts'
import { ORACLE_LEVELS, type OracleLevel, type Profile, profileOf, type Verdict } from './oracle.ts'
import { type RandomShape, randomHistory, shapeOf } from './random-history.ts'

export type Decide = (history: History, level: OracleLevel) => Verdict

const EXHAUSTIVE = process.env['ISOBAR_EXHAUSTIVE'] === '1'

/**
 * Of the small histories, every how many are compared where all would take minutes:
 * `ISOBAR_EXHAUSTIVE=1 npx vitest run test/small test/verdict` takes all.
 */
export const SAMPLED = EXHAUSTIVE ? 1 : 80

/** Of random histories, how many are taken where all were asked for: an eighth, unless told as above. */
export function sampled(seeds: number): number {
  return EXHAUSTIVE ? seeds : seeds / 8
}

/** The dearest comparisons take one in so many of those where time is short. */
export const FEWER = EXHAUSTIVE || LONG ? 1 : 4

export interface CompareOptions {
  /** Families to run through exhaustively; all of FAMILIES unless told. */
  readonly families?: readonly Bounds[]
  /** Take only every n-th history of the families. */
  readonly stride?: number
  /** How many random histories. */
  readonly seeds?: number
  readonly firstSeed?: number
  /** Fixes parts of the random shapes, e.g. { lists: 1 }. */
  readonly shape?: Partial<RandomShape>
  /** Histories to take in the place of each, such as the same with versions. */
  readonly variants?: (draft: Draft, number: number) => Iterable<Draft>
  readonly sessionOrder?: boolean
  /** Whether real time counts like session order. */
  readonly realTime?: boolean
}

export interface Comparison {
  /** Histories looked at. */
  readonly compared: number
  /** How many histories the oracle found satisfied and violated: both directions are exercised. */
  readonly satisfied: Record<OracleLevel, number>
  readonly violated: Record<OracleLevel, number>
  /** The first disagreement, in words and notation. */
  readonly disagreement: string | null
}

/** Every draft the options ask for, with the seed of the random ones. */
export function* draftsFor(options: CompareOptions): Generator<{ draft: Draft; source: string }> {
  const { variants } = options
  let number = 0
  for (const { draft, source } of plainDrafts(options)) {
    if (variants === undefined) yield { draft, source }
    else for (const variant of variants(draft, number++)) yield { draft: variant, source }
  }
}

function* plainDrafts(options: CompareOptions): Generator<{ draft: Draft; source: string }> {
  const stride = options.stride ?? 1
  let number = 0
  for (const bounds of options.families ?? FAMILIES) {
    for (const draft of smallHistories(bounds)) {
      if (number++ % stride === 0) yield { draft, source: `small history ${number - 1}` }
    }
  }
  const first = options.firstSeed ?? 1
  for (let seed = first; seed < first + (options.seeds ?? 0); seed++) {
    const draft = randomHistory(seed, shapeOf(seed, options.shape))
    yield { draft, source: `seed ${seed}` }
  }
}

/** Runs `decide` and the oracle side by side until they differ. */
export function compareWithOracle(
  decide: Decide,
  levels: readonly OracleLevel[],
  options: CompareOptions = {},
): Comparison {
  const oracleOptions = {
    sessionOrder: options.sessionOrder ?? true,
    realTime: options.realTime ?? false,
  }
  const satisfied = zeroes()
  const violated = zeroes()
  const confirmed = new Confirmed('registers and lists')
  let compared = 0
  for (const { draft, source } of draftsFor(options)) {
    compared++
    const truth = profileOf(draft, oracleOptions)
    const history = buildHistory(draft)
    for (const level of levels) {
      if (truth[level] === 'satisfied') satisfied[level]++
      if (truth[level] === 'violated') violated[level]++
      if (answerOf(decide, history, level) === truth[level]) {
        confirmed.add(level, isDrawn(source), truth[level])
        continue
      }
      const differs = (smaller: Draft) =>
        answerOf(decide, buildHistory(smaller), level) !== profileOf(smaller, oracleOptions)[level]
      const smallest = shrinkDraft(draft, differs)
      const disagreement = describe(
        decide,
        level,
        smallest,
        source,
        profileOf(smallest, oracleOptions),
      )
      return { compared, satisfied, violated, disagreement }
    }
  }
  confirmed.tell()
  return { compared, satisfied, violated, disagreement: null }
}

/** A decider that fails is wrong too, and its failure is worth as small a history. */
function answerOf(decide: Decide, history: History, level: OracleLevel): string {
  try {
    return decide(history, level)
  } catch (error) {
    return `nothing (${error})`
  }
}

function describe(
  decide: Decide,
  level: OracleLevel,
  draft: Draft,
  source: string,
  truth: Profile,
): string {
  const answer = answerOf(decide, buildHistory(draft), level)
  return `${level} (${source}): decided ${answer}, the oracle says ${truth[level]}\n${renderDraft(draft)}`
}

function zeroes(): Record<OracleLevel, number> {
  return Object.fromEntries(ORACLE_LEVELS.map((level) => [level, 0])) as Record<OracleLevel, number>
}
