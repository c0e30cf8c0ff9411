// Budgets of time and memory. Besides record/, the only file that reads a clock.

import { BudgetExceeded } from './errors.ts'

/** Milliseconds on a monotonic clock. */
export function nowMs(): number {
  return performance.now()
}

/**
 * A time and memory budget that long work asks from time to time.
 * `check()` is cheap enough for once per thousand steps, not for every step.
 */
export class Deadline {
  private readonly endMs: number
  private readonly budgetMs: number
  private readonly memoryBytes: number
  private readonly onTick: (() => void) | null

  /**
   * @param onTick called at every check, e.g. to show progress
   * @param share of the time that this deadline gives away; the rest is for what comes after it
   */
  constructor(
    budgetMs: number | null = null,
    memoryBytes: number | null = null,
    onTick: (() => void) | null = null,
    share = 1,
  ) {
    this.onTick = onTick
    this.budgetMs = budgetMs ?? Number.POSITIVE_INFINITY
    this.memoryBytes = memoryBytes ?? Number.POSITIVE_INFINITY
    this.endMs = nowMs() + share * this.budgetMs
  }

  static none(): Deadline {
    return new Deadline()
  }

  /** Milliseconds left, possibly Infinity, never negative. */
  remainingMs(): number {
    return Math.max(0, this.endMs - nowMs())
  }

  /** Throws BudgetExceeded when the time or the memory is used up. */
  check(): void {
    this.onTick?.()
    if (this.endMs !== Number.POSITIVE_INFINITY && nowMs() > this.endMs) {
      throw new BudgetExceeded(`the time budget of ${formatMs(this.budgetMs)} ran out`)
    }
    if (this.memoryBytes !== Number.POSITIVE_INFINITY) this.reserve(0)
  }

  /**
   * Throws BudgetExceeded if `bytes` more would exceed the memory budget; call before allocating.
   */
  reserve(bytes: number): void {
    if (this.memoryBytes === Number.POSITIVE_INFINITY) return
    if (usedBytes() + bytes > this.memoryBytes) {
      const budget = `${Math.round(this.memoryBytes / 1048576)} MB`
      throw new BudgetExceeded(`the memory budget of ${budget} ran out`)
    }
  }
}

/** Does the work, and says how far it came if it runs out of budget. */
export function withProgress<T>(work: () => T, progress: () => string): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    throw new BudgetExceeded(`${error.message}; ${progress()}`)
  }
}

function formatMs(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`
}

/** Bytes in use by this process as far as the platform tells; 0 in a browser. */
function usedBytes(): number {
  const runtime = (globalThis as { process?: { memoryUsage?: { rss?: () => number } } }).process
  return runtime?.memoryUsage?.rss?.() ?? 0
}
