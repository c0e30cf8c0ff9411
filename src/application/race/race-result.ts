// What a race came to: the verdict on every schedule that was run, how much of all that matters
// that is, and the one that violates the level, to be read, saved and run again.

import { Outputs } from '../../files/output.ts'
import type { SaveOptions } from '../../formats/save.ts'
import { levelName } from '../../levels/levels.ts'
import type { LevelWord } from '../../levels/words.ts'
import { type CheckOptions, expectLevel } from '../../library/arguments.ts'
import { check } from '../../library/check.ts'
import { render, renderPage } from '../../library/render.ts'
import type { Outcome } from '../../verdict/verdict.ts'
import type { Coverage, Cure, RaceRun } from './race-run.ts'
import { renderScheduleFile } from './schedule-file.ts'
import { tellCoverage, tellCures, tellGaps, tellRace, tellRun } from './story.ts'

/**
 * What a race has shown.
 *
 * @example
 * const result = await race(pool, actors, { before: reset })
 * if (result.verdict === 'violated') report(String(result), result.schedule)
 */
export class RaceResult {
  private constructor(
    /** What every schedule was to satisfy, as it was asked for. */
    readonly level: LevelWord,
    readonly actors: readonly string[],
    readonly runs: readonly RaceRun[],
    readonly coverage: Coverage,
    /** The schedule that shows a violation, in the order that is easiest to read. */
    readonly violation: RaceRun | null,
    private readonly story: string,
    private readonly setUp: readonly string[] | null,
    /** What was tried against the violation, by races of their own. */
    readonly cures: readonly Cure[],
  ) {}

  /** @internal */
  static async of(
    level: LevelWord,
    actors: readonly string[],
    runs: readonly RaceRun[],
    coverage: Coverage,
    violation: RaceRun | null,
    setUp: readonly string[] | null,
    cures: readonly Cure[] = [],
  ): Promise<RaceResult> {
    const story = violation?.result ? await render.text(violation.result) : ''
    return new RaceResult(level, actors, runs, coverage, violation, story, setUp, cures)
  }

  /**
   * `violated` if a schedule violates the level, else `unknown` if one could not be decided, else
   * `satisfied`: by all schedules that were run, see `coverage`.
   */
  get verdict(): Outcome {
    if (this.violation !== null) return 'violated'
    return this.runs.some((run) => run.verdict === 'unknown') ? 'unknown' : 'satisfied'
  }

  /** The schedule of the violation, for `race(pool, actors, { schedule })`; null if there is none. */
  get schedule(): readonly string[] | null {
    return this.violation?.schedule ?? null
  }

  /** The answer in words: the verdict, the schedule, what each actor saw, and why that is wrong. */
  toString(): string {
    const who = this.actors.join(', ')
    const name = `${levelName(expectLevel(this.level).level)} (${this.level})`
    const lines = [`race of ${who}: ${name} is ${this.verdict}`, tellCoverage(this.coverage)]
    lines.push(...tellGaps(this.runs))
    if (this.violation !== null)
      lines.push('', ...tellRun(this.violation), ...tellCures(this.cures))
    return `${lines.join('\n')}\n\n${this.story}`.trimEnd()
  }

  /**
   * One page that needs nothing else: the order of statements, what helps, and the pictures of the
   * violation; without one, the last run that did anything; null if none did.
   */
  async html(): Promise<string | null> {
    const run = this.violation ?? this.runs.findLast(({ result }) => result !== null)
    if (!run?.result) return null
    const title = `race of ${this.actors.join(', ')}`
    return renderPage(run.result, { title }, tellRace(run, this.runs, this.coverage, this.cures))
  }

  /** @internal */
  withCures(cures: readonly Cure[]): Promise<RaceResult> {
    const { level, actors, runs, coverage, violation, setUp } = this
    return RaceResult.of(level, actors, runs, coverage, violation, setUp, cures)
  }

  /** The verdict on the same runs at another level. */
  async at(
    level: LevelWord,
    options: Pick<CheckOptions, 'budgetMs' | 'memoryBytes' | 'sessionOrder'> = {},
  ): Promise<RaceResult> {
    if (level === this.level && Object.keys(options).length === 0) return this
    const cures = level === this.level ? this.cures : []
    const judge = async (run: RaceRun): Promise<RaceRun> => {
      if (run.result === null) return run
      const { abortedReads = 'judge' } = run.result.results[0] ?? {}
      const result = await check(run.result.history, level, { abortedReads, ...options })
      return { ...run, result, verdict: result.verdict }
    }
    const again = this.violation === null ? null : await judge(this.violation)
    const runs: RaceRun[] = []
    for (const run of this.runs) runs.push(await judge(run))
    const found = [again, ...runs].find((run) => run?.verdict === 'violated') ?? null
    return RaceResult.of(level, this.actors, runs, this.coverage, found, this.setUp, cures)
  }

  /**
   * Writes the violating schedule to a file that `isobar replay FILE TARGET` runs. One that is there
   * is replaced only by force.
   * @throws UsageError, InputError
   */
  save(path: string, { force = false }: Pick<SaveOptions, 'force'> = {}): void {
    if (this.violation === null) return
    const output = new Outputs(force, '{ force: true }').claim(path, 'save')
    output.writeText(renderScheduleFile(this.violation, this.level, this.setUp))
  }
}
