// Budgets of time and memory. Besides record/, the only file that reads a clock.

import { BudgetExceeded } from './errors.ts'

/** Milliseconds on a monotonic clock. */
export function nowMs(): number {
  return performance.now()
}

/** Steps between two looks at the clock, each a few to a hundred nanoseconds. */
const STEPS_PER_CHECK = 1 << 14

/** How much of a budget's time work may take at most; the rest is for telling what came of it. */
const LAST_SHARE = 0.97

/** What long work is doing just now. */
export interface Stage {
  /** The level that is judged; null if that is not what it does. */
  level: string | null
  /** In a word or two, e.g. `inferring`. */
  phase: string
}

/** Which part of a budget's time a deadline gives away. */
export interface TimeShare {
  /** Of the time, so much may pass; the rest is for what comes after. 1 unless told. */
  share?: number
  /** When the time began to run, as `nowMs` counts; now unless told. */
  fromMs?: number
}

/**
 * A time and memory budget that long work asks from time to time. `check()` is cheap enough for
 * once per thousand steps, not for every step; `step()` counts them.
 */
export class Deadline {
  private readonly endMs: number
  private readonly fromMs: number
  private readonly budgetMs: number
  private readonly memoryBytes: number
  private stage: Stage = { level: null, phase: 'deciding' } // shared by deadlines of one work
  private done = { checks: 0 } // shared likewise
  private shareEndMs = Number.POSITIVE_INFINITY // for the present part of the work
  private steps = 0 // since the last check by `step`

  /** @param onTick called at every check, with what is done, e.g. to show progress */
  constructor(
    budgetMs: number | null = null,
    memoryBytes: number | null = null,
    private readonly onTick: ((stage: Readonly<Stage>) => void) | null = null,
    { share = 1, fromMs = nowMs() }: TimeShare = {},
  ) {
    this.budgetMs = budgetMs ?? Number.POSITIVE_INFINITY
    this.memoryBytes = memoryBytes ?? Number.POSITIVE_INFINITY
    this.fromMs = fromMs
    this.endMs = fromMs + share * this.budgetMs
  }

  static none(): Deadline {
    return new Deadline()
  }

  /** The same budget with more of its time: all, or half of what a task leaves for others. */
  toTheEnd(): Deadline {
    const later = this.again(LAST_SHARE)
    const isDivided = this.shareEndMs < this.endMs && nowMs() < this.endMs
    if (isDivided) later.shareEndMs = (this.shareEndMs + this.endMs) / 2
    return later
  }

  /** Keeps half of the time that is left from the next of several tasks, unless it is the last. */
  divide(taskCount: number): void {
    this.shareEndMs = taskCount > 1 ? nowMs() + this.remainingMs() / 2 : Number.POSITIVE_INFINITY
  }

  /** A deadline for a part of the time that is left, from 0 to 1. */
  part(share: number): Deadline {
    const inner = this.again(1)
    const endMs = Math.min(this.endMs, this.shareEndMs)
    const now = nowMs()
    inner.shareEndMs = endMs === Number.POSITIVE_INFINITY ? endMs : now + share * (endMs - now)
    return inner
  }

  /** One for the same work. */
  private again(share: number): Deadline {
    const { budgetMs, memoryBytes, onTick, fromMs } = this
    const other = new Deadline(budgetMs, memoryBytes, onTick, { fromMs, share })
    other.stage = this.stage
    other.done = this.done
    return other
  }

  /** Puts aside what is left of the time: it runs on from when the result is called. */
  putAside(): () => Deadline {
    const { memoryBytes, onTick } = this
    const leftMs = this.remainingMs()
    return () => new Deadline(leftMs, memoryBytes, onTick)
  }

  /** From here on the work is about this level. */
  enter(level: string): void {
    this.stage.level = level
  }

  /** Does the work under this name. */
  during<T>(phase: string, work: () => T): T {
    const before = this.stage.phase
    this.stage.phase = phase
    this.onTick?.(this.stage)
    try {
      return work()
    } finally {
      this.stage.phase = before
    }
  }

  /** Milliseconds left, possibly Infinity, never negative. */
  remainingMs(): number {
    return Math.max(0, this.endMs - nowMs())
  }

  /** How often it was asked so far: a measure of work that is the same on every machine. */
  get checkCount(): number {
    return this.done.checks
  }

  /** Counts work done, and checks once in many steps: for loops that do little in each. */
  step(count = 1): void {
    this.steps += count
    if (this.steps < STEPS_PER_CHECK) return
    this.steps = 0
    this.check()
  }

  /** Whether `check` would throw: for work that can stop with what it has. */
  hasRunOut(): boolean {
    this.onTick?.(this.stage)
    return this.isLate() || this.isFull(0)
  }

  /** Throws BudgetExceeded when the time or the memory is used up. */
  check(): void {
    this.done.checks++
    this.onTick?.(this.stage)
    if (this.isLate()) {
      const part = nowMs() > this.endMs ? '' : 'its part of '
      const ms = Math.round(this.budgetMs)
      const words = ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${ms} ms`
      throw new BudgetExceeded(`${part}the time budget of ${words} ran out`)
    }
    this.reserve(0)
  }

  /** Throws BudgetExceeded if `bytes` more exceed the memory budget; call before allocating. */
  reserve(bytes: number): void {
    if (!this.isFull(bytes)) return
    const budget = `${Math.round(this.memoryBytes / 1048576)} MB`
    throw new BudgetExceeded(`the memory budget of ${budget} ran out`)
  }

  private isLate(): boolean {
    const end = Math.min(this.endMs, this.shareEndMs)
    return end !== Number.POSITIVE_INFINITY && nowMs() > end
  }

  private isFull(moreBytes: number): boolean {
    const { memoryBytes } = this
    return memoryBytes !== Number.POSITIVE_INFINITY && usedBytes() + moreBytes > memoryBytes
  }
}

/** Does the work, and says how far it came if it runs out of budget. */
export function withProgress<T>(work: () => T, progress: () => string): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    throw new BudgetExceeded(error.limit, [...error.progress, progress()])
  }
}

/** Bytes in use by this process as far as the platform tells; 0 in a browser. */
function usedBytes(): number {
  const runtime = (globalThis as { process?: { memoryUsage?: { rss?: () => number } } }).process
  return runtime?.memoryUsage?.rss?.() ?? 0
}
