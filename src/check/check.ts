// The one switch from a level to the checker that decides it, and the only place that knows them
// all. Levels of one history share the reads check, the base order and the clocks.

import { Deadline, nowMs } from '../base/deadline.ts'
import { BudgetExceeded, InternalError, UsageError } from '../base/errors.ts'
import { type History, hasTimes } from '../history/history.ts'
import { CHAIN, type LevelId, PROFILE } from '../levels/levels.ts'
import { certifyResult } from '../verdict/certify.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { checkReads, type ReadCheck } from './reads/read-consistency.ts'
import { StrongLevels } from './strong/strong-levels.ts'
import { WeakContext } from './weak/context.ts'
import { type Findings, WeakLevels } from './weak/weak-levels.ts'

export interface CheckOptions {
  /** List every occurrence of an anomaly, not one smallest example of each kind. */
  all?: boolean
  /** Verify every verdict independently before returning it; on unless set to false. */
  certify?: boolean
  /** Called now and then during long work, e.g. to show progress. */
  onTick?: (() => void) | null
  budgetMs?: number | null
  memoryBytes?: number | null
}

/** Judges a history at one level. */
export function check(history: History, level: LevelId, options: CheckOptions = {}): LevelResult {
  return new Checker(history, options).check(level)
}

/** Judges a history at several levels, sharing the work. */
export function checkLevels(
  history: History,
  levels: readonly LevelId[],
  options: CheckOptions = {},
): LevelResult[] {
  const checker = new Checker(history, options)
  return levels.map((level) => checker.check(level))
}

/** Every level that applies to the history, weakest first. */
export function profile(history: History, options: CheckOptions = {}): LevelResult[] {
  const checker = new Checker(history, options)
  const applies = (level: LevelId) => level !== 'sser' || hasTimes(history)
  return PROFILE.filter(applies).map((level) => checker.check(level))
}

export class Checker {
  private readonly deadline: Deadline
  private lazyReads: ReadCheck | null = null
  private lazyWeak: WeakContext | null = null
  private weakLevels: WeakLevels | null = null
  private readonly stages: Record<string, number> = {}

  constructor(
    private readonly history: History,
    private readonly options: CheckOptions = {},
  ) {
    this.deadline = new Deadline(
      options.budgetMs ?? null,
      options.memoryBytes ?? null,
      options.onTick ?? null,
    )
  }

  check(level: LevelId): LevelResult {
    const started = nowMs()
    const result: LevelResult = {
      level,
      verdict: 'unknown',
      reason: null,
      impliedBy: null,
      algorithm: algorithmOf(level),
      elapsedMs: 0,
      stages: {},
      anomalies: [],
      proof: null,
      certificate: null,
    }
    try {
      const timeless = level === 'sser' && !hasTimes(this.history)
      const findings = this.find(timeless ? 'ser' : level)
      result.anomalies = findings.anomalies
      result.proof = findings.proof
      result.verdict = findings.anomalies.length > 0 ? 'violated' : 'satisfied'
      if (timeless && result.verdict === 'satisfied') {
        result.verdict = 'unknown'
        result.reason = 'the history has no times'
        result.proof = null
      }
      if (this.options.certify !== false) this.certify(result)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      result.reason = error.message
    }
    result.stages = { ...this.stages }
    result.elapsedMs = nowMs() - started
    return result
  }

  private find(level: LevelId): Findings {
    switch (level) {
      case 'ci':
      case 'rc':
      case 'ra':
      case 'cc': {
        this.weakLevels ??= new WeakLevels(this.context, this.reads(), this.options.all === true)
        const levels = this.weakLevels
        return this.timed(level, () => levels.check(level))
      }
      case 'pc':
      case 'si':
      case 'ser':
      case 'sser': {
        const reads = this.reads()
        const base = () => this.context().base
        const levels = new StrongLevels(
          this.history,
          reads,
          base,
          this.deadline,
          this.options.all === true,
        )
        return this.timed(level, () => levels.check(level))
      }
      default:
        throw new UsageError(`level ${level} is not available`)
    }
  }

  private certify(result: LevelResult): void {
    const problems = this.timed('certify', () => certifyResult(this.history, result))
    if (problems.length > 0) {
      throw new InternalError(
        `the verdict '${result.verdict}' of ${result.level} failed its own certificate: ${problems.slice(0, 3).join('; ')}`,
      )
    }
  }

  private reads(): ReadCheck {
    this.lazyReads ??= this.timed('reads', () => checkReads(this.history))
    return this.lazyReads
  }

  private readonly context = (): WeakContext => {
    const reads = this.reads()
    this.lazyWeak ??= this.timed('order', () => new WeakContext(this.history, reads, this.deadline))
    return this.lazyWeak
  }

  private timed<T>(stage: string, work: () => T): T {
    const started = nowMs()
    try {
      return work()
    } finally {
      this.stages[stage] = (this.stages[stage] ?? 0) + nowMs() - started
    }
  }
}

function algorithmOf(level: LevelId): string {
  if (level === 'ci') return 'reads'
  return CHAIN.indexOf(level) <= CHAIN.indexOf('cc') ? 'saturation' : 'solve'
}
