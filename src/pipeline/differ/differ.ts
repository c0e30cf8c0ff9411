// Where two levels differ: the smallest history that one allows and the other forbids, by judging
// every small history, the smallest first. Main function: differ.

import { Deadline, type Stage } from '../../base/deadline.ts'
import { BudgetExceeded, UsageError } from '../../base/errors.ts'
import { judge } from '../../check/judge.ts'
import type { History } from '../../history/history.ts'
import {
  implies,
  impliesAdya,
  isAdyaLevel,
  type LevelRequest,
  OWN_LEVELS,
  WITHOUT_TIMES,
} from '../../levels/levels.ts'
import { parseBound } from '../../levels/staleness.ts'
import type { LevelResult, Outcome } from '../../verdict/verdict.ts'
import { type DifferShape, SHAPES } from './shapes.ts'
import { skeletons } from './skeletons.ts'
import { timings } from './times.ts'

export interface DifferSettings {
  readonly shape: DifferShape
  /** The most operations, or statements, that a history may have. */
  readonly maxOps: number
  readonly budgetMs?: number | null
  readonly onTick?: ((stage: Readonly<Stage>) => void) | null
  /** Called with each direction as soon as it is settled. */
  readonly onTold?: ((difference: Difference) => unknown) | null
}

/** One of two directions. */
export interface Difference {
  readonly allowedBy: LevelRequest
  readonly forbiddenBy: LevelRequest
  /** Null if none was found. */
  readonly history: History | null
  /** The verdicts of the two on it, certified. */
  readonly results: readonly [LevelResult, LevelResult] | null
  /**
   * Where none was found, why: what the one allows the other always allows, or no history of up to
   * `searched` operations tells.
   */
  readonly isImplied: boolean
  /** The number of operations up to which all histories were judged. */
  readonly searched: number
  readonly judged: number
}

/** Both directions, the first one allowing by `a`. When the time is up, what was found by then. */
export async function differ(
  a: LevelRequest,
  b: LevelRequest,
  settings: DifferSettings,
): Promise<Difference[]> {
  for (const request of [a, b]) refuse(request, settings.shape)
  if (alwaysAllows(a, b) && alwaysAllows(b, a)) {
    const why =
      (a.level === 'lin') === (b.level === 'lin')
        ? ''
        : ' where a client starts nothing before what it did last has finished, as in all small histories: real time has the order of sessions in it'
    throw new UsageError(`both are the same level${why}`, 'name two, e.g. si and ser')
  }
  const { onTold = null } = settings
  const searches = [new Search(a, b, onTold), new Search(b, a, onTold)] as const
  for (const each of searches) if (each.isOver) await each.tell()
  try {
    await search(a, b, settings, searches)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return Promise.all(searches.map((each) => each.tell()))
}

/** Throws BudgetExceeded. */
async function search(
  a: LevelRequest,
  b: LevelRequest,
  settings: DifferSettings,
  [there, back]: readonly [Search, Search],
): Promise<void> {
  const deadline = new Deadline(settings.budgetMs ?? null, null, settings.onTick ?? null)
  const shape = SHAPES[settings.shape]
  const hasSessions = heedsSessions(a) || heedsSessions(b)
  const isTimed = TIMED.has(a.level) || TIMED.has(b.level)
  for (let ops = 1; ops <= settings.maxOps; ops++) {
    deadline.enter(`histories of ${ops}`)
    for (const skeleton of skeletons({ ...shape.bounds, ops, hasSessions })) {
      for (const times of isTimed ? timings(skeleton.sessions) : [null]) {
        for (const history of shape.histories(skeleton, times)) {
          deadline.check()
          const judged = new Verdicts(history)
          for (const each of [there, back]) await each.consider(judged)
          if (there.isOver && back.isOver) return
        }
      }
    }
    for (const each of [there, back]) if (!each.isOver) each.searched = ops
  }
}

const TIMED: ReadonlySet<string> = new Set([...Object.keys(WITHOUT_TIMES), 'lin'])

function heedsSessions({ level, sessionOrder }: LevelRequest): boolean {
  return sessionOrder !== false && !isAdyaLevel(level)
}

function refuse({ level, bound }: LevelRequest, shape: DifferShape): void {
  if (bound !== undefined && parseBound(bound).kind === 'time') {
    const hint = 'ask for a number of versions, such as stale:1'
    throw new UsageError('the small histories say in which order things happen, not when', hint)
  }
  if (level === 'mixed') {
    const own = 'with a level per transaction'
    throw new UsageError(`mixed judges histories ${own} only, which no other level does`)
  }
  if (shape === 'sql' && !OWN_LEVELS.includes(level)) {
    throw new UsageError(
      `SQL statements are not judged at ${level}`,
      `only at ${OWN_LEVELS.join(', ')}`,
    )
  }
}

/** What is known of one history, which both directions ask. */
class Verdicts {
  private readonly known = new Map<LevelRequest, Outcome>()

  constructor(readonly history: History) {}

  async at(level: LevelRequest): Promise<Outcome> {
    let verdict = this.known.get(level)
    if (verdict === undefined) {
      const [result] = await judge(this.history, [level], { certify: false })
      verdict = result!.verdict
      this.known.set(level, verdict)
    }
    return verdict
  }
}

/** One direction: a history that `allowing` allows and `forbidding` forbids. */
class Search {
  searched = 0
  private judged = 0
  private found: History | null = null
  private told: Promise<Difference> | null = null
  private readonly isImplied: boolean

  constructor(
    private readonly allowing: LevelRequest,
    private readonly forbidding: LevelRequest,
    private readonly onTold: DifferSettings['onTold'],
  ) {
    this.isImplied = alwaysAllows(allowing, forbidding)
  }

  get isOver(): boolean {
    return this.isImplied || this.found !== null
  }

  async consider(judged: Verdicts): Promise<void> {
    if (this.isOver) return
    this.judged++
    if ((await judged.at(this.forbidding)) !== 'violated') return
    if ((await judged.at(this.allowing)) !== 'satisfied') return
    this.found = judged.history
    await this.tell()
  }

  /** What came of it; told of once. */
  tell(): Promise<Difference> {
    this.told ??= this.describe().then(async (difference) => {
      await this.onTold?.(difference)
      return difference
    })
    return this.told
  }

  private async describe(): Promise<Difference> {
    const { allowing, forbidding, found: history, isImplied, searched, judged } = this
    const pair = [allowing, forbidding]
    const results = history && ((await judge(history, pair)) as [LevelResult, LevelResult])
    return {
      allowedBy: allowing,
      forbiddenBy: forbidding,
      history,
      results,
      isImplied,
      searched,
      judged,
    }
  }
}

/**
 * Whether what `strong` allows `weak` always allows in these histories, as far as that is known
 * beforehand. Transactions of a session never overlap in them, so that lin is sser.
 */
function alwaysAllows(strong: LevelRequest, weak: LevelRequest): boolean {
  if (strong.level === 'lin') return alwaysAllows({ level: 'sser' }, weak)
  if (weak.level === 'lin') return alwaysAllows(strong, { level: 'sser', sessionOrder: false })
  if (heedsSessions(weak) && !heedsSessions(strong)) return false
  if (weak.level === 'stale') {
    // Of two transactions that follow one another in real time the later sees the earlier.
    return strong.level === 'sser' || (strong.level === 'stale' && isTighter(strong, weak))
  }
  if (implies(strong.level, weak.level)) return true
  return isAdyaLevel(weak.level) && impliesAdya(strong.level, weak.level)
}

/** Whether a bound is at least as tight as another one, both by versions. */
function isTighter({ bound: tight }: LevelRequest, { bound: loose }: LevelRequest): boolean {
  if (tight === loose || loose === undefined) return true
  return tight !== undefined && Number(tight) <= Number(loose)
}
