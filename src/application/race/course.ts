// The course of a race: each actor alone, then schedules until none is left that matters or the
// budget is spent, each begun in the same state, recorded and judged. Main function: Course.runAll.

import { nowMs } from '../../base/deadline.ts'
import { UsageError } from '../../base/errors.ts'
import type { History } from '../../history/history.ts'
import { check } from '../../library/check.ts'
import type { Hooks, Step } from '../observe/hooks.ts'
import { instrument } from '../observe/instrument.ts'
import { OPEN_JOIN } from '../observe/join/join-telling.ts'
import { eventsOf } from './events.ts'
import { type Explored, explore } from './explore.ts'
import type { Observer, TableTraits } from './observer.ts'
import type { FilledOptions } from './options.ts'
import { type Actor, type Choose, Play } from './play.ts'
import { type PoolClient, type RacePool, warm } from './pool.ts'
import { follow, predict } from './predict.ts'
import { RaceResult } from './race-result.ts'
import type { Coverage, RaceRun } from './race-run.ts'
import { StartingState } from './starting-state.ts'
import { tellStrays } from './strays.ts'
import { scriptTables } from './table-script.ts'
import { calmest, EventNumbers, type RunEvent, traceOf } from './trace.ts'
import type { Treatment } from './treatment.ts'

interface JudgedRun extends RaceRun {
  readonly events: readonly RunEvent[]
  readonly absences: number
}

export class Course {
  private readonly start: StartingState
  private traits: ReadonlyMap<string, TableTraits> | null = null
  private readonly runs: JudgedRun[] = []

  constructor(
    private readonly pool: RacePool,
    private readonly actors: ReadonlyMap<string, Actor>,
    private readonly options: FilledOptions,
    private readonly observer: Observer,
    private readonly treatment: Treatment | null = null,
  ) {
    this.start = new StartingState(observer, options.before)
  }

  async runAll(): Promise<RaceResult> {
    await warm(this.pool, this.actors.size)
    const end = await this.treatment?.begin(this.pool)
    try {
      return await this.runEvery()
    } finally {
      await end?.()
    }
  }

  private async runEvery(): Promise<RaceResult> {
    const endMs = nowMs() + this.options.budgetMs
    const alone = new Map<string, readonly RunEvent[]>()
    for (const name of this.actors.keys()) {
      const { events, errors } = await this.run([name], follow([]))
      if (errors.has(name)) throw failedAlone(name, errors.get(name))
      alone.set(name, events)
    }
    if ([...alone.values()].every((events) => events.length === 0)) throw nothingAsked()
    let limit = ''
    const goOn = (count: number) => {
      if (!this.options.all && this.found() !== null) limit = 'the first violation ended the race'
      else if (count >= this.options.maxSchedules) limit = `maxSchedules is ${count}`
      else if (nowMs() >= endMs) limit = `budgetMs is ${this.options.budgetMs}`
      else return true
      return false
    }
    const explored = await explore(
      predict(alone),
      async (schedule) => {
        const run = await this.run([...this.actors.keys()], follow(schedule))
        this.runs.push(run)
        return run
      },
      goOn,
    )
    return this.tell(this.coverageOf(explored, limit))
  }

  /** One schedule, of those actors that it names. */
  async runOne(schedule: readonly string[]): Promise<RaceResult> {
    const run = await this.follow(schedule)
    this.runs.push(run)
    const limit = 'only the schedule that was given was run'
    return this.tell({ runs: 1, schedules: 1, isComplete: false, limit })
  }

  private coverageOf({ runs, traces, isComplete, strays }: Explored, limit: string): Coverage {
    const absences = this.runs.reduce((sum, run) => sum + run.absences, 0)
    if (strays > 0)
      limit = `${strays} of them did not repeat what was done before in the same order`
    else if (isComplete && absences > 0) {
      limit = `actors waited for something other than the database, ${absences} times`
    }
    const isAll = isComplete && absences === 0
    return { runs, schedules: traces, isComplete: isAll, limit: isAll ? null : limit }
  }

  private async tell(coverage: Coverage): Promise<RaceResult> {
    const found = this.found()
    const violation = found === null ? null : await this.calm(found)
    const names = [...this.actors.keys()]
    await this.start.restore()
    const setUp = violation === null ? null : await this.scriptOf(violation)
    return RaceResult.of(this.options.level, names, this.runs, coverage, violation, setUp)
  }

  /** What makes the tables that a run touched, if it names them without their schema. */
  private async scriptOf({ turns }: RaceRun): Promise<string[] | null> {
    const touched = turns.flatMap(({ step }) => [
      ...(step.clauses ?? []),
      ...(step.reads ?? []),
      ...(step.writes ?? []),
    ])
    const tables = [...new Set(touched.map(({ table }) => table))].sort()
    return tables.some((table) => table.includes('.')) ? null : scriptTables(this.observer, tables)
  }

  private found(): JudgedRun | null {
    return this.runs.find(({ verdict }) => verdict === 'violated') ?? null
  }

  /**
   * The same run without those who have no part in it, and with what commutes put in the order that
   * is easiest to read, as far as that still shows a violation.
   */
  private async calm(found: JudgedRun): Promise<RaceRun> {
    if (this.options.schedule) return found
    let least = found
    for (const name of this.actors.keys()) {
      const schedule = least.schedule.filter((each) => each !== name)
      if (new Set(schedule).size < 2) continue
      const without = await this.follow(schedule)
      if (without.verdict === 'violated') least = without
    }
    const order = calmest(traceOf(least.events, new EventNumbers()))
    const schedule = order.map((event) => least.schedule[event]!)
    if (schedule.every((name, i) => name === least.schedule[i])) return least
    const again = await this.follow(schedule)
    return again.verdict === 'violated' ? again : least
  }

  /** One run in the order of a schedule, of those actors that it names. */
  follow(schedule: readonly string[]): Promise<JudgedRun> {
    const names = [...this.actors.keys()].filter((name) => schedule.includes(name))
    return this.run(names, follow(schedule))
  }

  private async run(names: readonly string[], choose: Choose): Promise<JudgedRun> {
    await this.start.restore()
    this.traits ??= await this.observer.traits()
    const treat = this.treatment?.actor ?? ((actor: Actor, _: string) => actor)
    const actors = new Map(names.map((name) => [name, treat(this.actors.get(name)!, name)]))
    const { turns, errors, absences, history, ...noticed } = await this.record(actors, choose)
    const warnings = [...noticed.warnings, ...tellStrays(turns)]
    const events = eventsOf(turns, this.traits)
    const schedule = turns.map(({ actor }) => actor)
    const { level, abortedReads } = this.options
    const judged = (told: History) =>
      told.txnCount === 0 ? null : check(told, level, { abortedReads })
    let result = await judged(history)
    // Where nothing was told, that may be because it could not be recorded.
    let verdict = result?.verdict ?? (history.partial === null ? 'satisfied' : 'unknown')
    let unrecorded = Object.keys(history.partial?.reasons ?? {})
    if (verdict === 'unknown' && noticed.supposed !== null) {
      // What satisfies a level with all that joins may have depended on does so without, too.
      const whole = await judged(noticed.supposed)
      if (whole?.verdict === 'satisfied') {
        result = whole
        verdict = 'satisfied'
        unrecorded = []
      }
    }
    return { schedule, turns, errors, result, verdict, unrecorded, warnings, events, absences }
  }

  private treated(hooks: Hooks): Hooks {
    const { rewrite, after } = this.treatment ?? {}
    const both = (step: Step) => {
      after?.(step)
      hooks.after?.(step)
    }
    return { ...hooks, after: both, ...(rewrite ? { rewrite } : {}) }
  }

  /** Watches the pool while the actors run. */
  private async record(actors: ReadonlyMap<string, Actor>, choose: Choose) {
    // A connection that must be ended by force says so to whoever holds it, or to nobody.
    const hushed = new Set<PoolClient>()
    const ignore = () => {}
    const hush = (client: PoolClient) => {
      if (!hushed.has(client)) client.on('error', ignore)
      hushed.add(client)
    }
    this.pool.on('acquire', hush)
    const { observer, options } = this
    const play = new Play(actors, choose, { observer, patienceMs: options.patienceMs })
    const watched = instrument(this.pool, this.treated(play.hooks))
    let isOver = false
    try {
      const played = await play.run()
      const history = await watched.recorded.history()
      const isOpen = Object.keys(history.partial?.reasons ?? {}).includes(OPEN_JOIN)
      const supposed = isOpen ? watched.supposed() : null
      const warnings = [
        ...watched.recorded.warnings,
        ...watched.openSessions().map((name) => `${name} ${LEFT_OPEN}`),
      ]
      isOver = true
      return { ...played, history, supposed, warnings }
    } finally {
      watched.restore()
      this.pool.removeListener('acquire', hush)
      if (isOver) for (const client of hushed) client.off('error', ignore)
    }
  }
}

const LEFT_OPEN =
  'left a transaction open: COMMIT or ROLLBACK on every way out, and give the client back by release()'

function failedAlone(name: string, error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error)
  const hint = error instanceof UsageError ? error.hint : null
  return new UsageError(
    `race: ${name} fails when it runs alone: ${why}`,
    hint ?? 'an actor must work by itself in the state that `before` makes',
  )
}

function nothingAsked(): UsageError {
  return new UsageError(
    'race: no actor asks anything of this pool',
    'hand over the pool that the application itself uses: statements on others are not seen',
  )
}
