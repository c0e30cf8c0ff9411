// Where two levels differ, by the smallest history that one allows and the other forbids.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { LevelRequest } from '../levels/levels.ts'
import type { LevelWord } from '../levels/words.ts'
import type { DifferShape } from '../pipeline/differ/shapes.ts'
import { expectLevel } from './arguments.ts'
import { CheckResult } from './check-result.ts'
import { AMOUNT, expectOptions, type Tests, WORD, whole } from './options.ts'

/**
 * Where a difference is sought.
 *
 * @example
 * await differ('si', 'ser', { shape: 'sql', maxOps: 4 })
 */
export interface DifferOptions {
  /** What histories are made of; general unless told. */
  shape?: DifferShape
  /** The most operations or statements that are tried; 6 unless told. */
  maxOps?: number
  /** Stop looking after so many milliseconds. */
  budgetMs?: number | null
}

const DIFFER_OPTIONS: Tests<DifferOptions> = { shape: WORD, maxOps: whole(1), budgetMs: AMOUNT }

/** One of the two directions. */
export interface LevelDifference {
  readonly allowedBy: LevelRequest
  readonly forbiddenBy: LevelRequest
  /** The verdicts of both on the smallest history, which is `result.history`; null: none found. */
  readonly result: CheckResult | null
  /** True if there is none at all: what the one allows the other always allows. */
  readonly implied: boolean
  /** All histories of up to so many operations were judged, and did not tell. */
  readonly searched: number
}

/**
 * The smallest history that `a` allows and `b` forbids, and the other way round.
 *
 * @example
 * const [skew] = await differ('si', 'ser')
 * const text = renderNotation(skew.result.history)
 */
export async function differ(
  a: LevelWord,
  b: LevelWord,
  options: DifferOptions = {},
): Promise<[LevelDifference, LevelDifference]> {
  const given = expectOptions(options, DIFFER_OPTIONS)
  const pair = [expectLevel(a, 'a'), expectLevel(b, 'b')] as const
  const [{ differ: search }, { SHAPES }, { describeVerdict }] = await Promise.all([
    import('../pipeline/differ/differ.ts'),
    import('../pipeline/differ/shapes.ts'),
    import('../report/describe-verdict.ts'),
  ])
  const { shape = 'general', maxOps = 6, budgetMs = null } = given
  if (!Object.hasOwn(SHAPES, shape)) {
    const hint = hintFor(String(shape), Object.keys(SHAPES))
    throw new UsageError(`options.shape: unknown shape ${JSON.stringify(shape)}`, hint)
  }
  const found = await search(...pair, { shape, maxOps, budgetMs })
  const told = found.map(({ allowedBy, forbiddenBy, history, results, isImplied, searched }) => {
    const asked = [allowedBy.level, forbiddenBy.level]
    const result = history && new CheckResult(history, results!, asked, describeVerdict)
    return { allowedBy, forbiddenBy, result, implied: isImplied, searched }
  })
  return told as [LevelDifference, LevelDifference]
}
