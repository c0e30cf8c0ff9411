// What `check` found: one verdict for all that was asked, one for each level, by names as the
// verdict file has them and by indices as the engine has them.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import type { describeVerdict } from '../report/describe-verdict.ts'
import type { LevelResult, Outcome } from '../verdict/verdict.ts'
import type { ResultJson, VerdictJson } from '../verdict/verdict-file.ts'

/**
 * What `check` found.
 *
 * @example
 * const result = await check(text, ['si', 'ser'])
 * if (result.verdict === 'violated') report(await render.text(result))
 */
export class CheckResult {
  private described: VerdictJson | null = null

  /** @internal */
  constructor(
    /** The history that was judged. */
    readonly history: History,
    /** The verdict on each level, with transactions, operations and keys by their indices. */
    readonly results: readonly LevelResult[],
    /** The levels that were asked for; null if the question was which levels hold. */
    readonly asked: readonly LevelId[] | null,
    private readonly describe: typeof describeVerdict,
  ) {
    // The door hands out what this makes: who calls it by hand has nothing to give.
    if (typeof describe === 'function') return
    throw new UsageError('a CheckResult is not made by hand', 'await check(history, levels)')
  }

  /** `violated` if a level is, else `unknown` if one is, else `satisfied`. */
  get verdict(): Outcome {
    const verdicts = this.results.map((result) => result.verdict)
    if (verdicts.includes('violated')) return 'violated'
    return verdicts.includes('unknown') ? 'unknown' : 'satisfied'
  }

  /** The verdict on each level, with transactions, sessions and keys by their names. */
  get levels(): readonly ResultJson[] {
    return this.toJSON().results
  }

  /** Of the levels judged those that hold and that no other one of them implies. */
  get strongest(): readonly LevelId[] {
    return this.toJSON().strongest
  }

  /** Of the levels judged those that are violated and imply no other one of them. */
  get weakestViolated(): readonly LevelId[] {
    return this.toJSON().weakestViolated
  }

  /** What `isobar check --json` prints; docs/verdict-format.md describes it. */
  toJSON(): VerdictJson {
    this.described ??= this.describe(this.history, this.results, {
      path: 'history',
      format: 'native',
      parseMs: 0,
      asked: this.asked,
    })
    return this.described
  }
}

/** What renderers and `certify` take. */
export function expectResult(result: CheckResult): CheckResult {
  if (result instanceof CheckResult) return result
  throw new UsageError('result: what check() returned was expected', 'await check(input)')
}
