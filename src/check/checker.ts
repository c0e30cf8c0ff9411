// The one switch from a level to the decider that knows it. Levels of one history share the reads
// check, the base order and the clocks. Strong levels go to the linear algorithms of versions/
// first, to the engine of general/ where those do not apply. Main class: Checker.

import { type Deadline, nowMs } from '../base/deadline.ts'
import { assert, BudgetExceeded, UsageError } from '../base/errors.ts'
import { type AfterAsReads, afterAsReads } from '../history/after-as-reads.ts'
import { type History, hasTimes, NONE, type TimeScope } from '../history/history.ts'
import { withRealTime } from '../history/real-time.ts'
import { withoutSessionOrder } from '../history/sessionless.ts'
import {
  implies,
  type LevelId,
  takesTime,
  timedForm,
  WEAK_LEVELS,
  WITHOUT_TIMES,
} from '../levels/levels.ts'
import { findHeavyTxn } from '../verdict/certify-lin.ts'
import { certifyPlain } from '../verdict/certify-plain.ts'
import { findSessionEdges, type LevelResult } from '../verdict/verdict.ts'
import { undecided, withCertificate } from './certified.ts'
import type { Blame, NamedFindings } from './evidence/findings.ts'
import { joinKinds } from './examples.ts'
import { mergeByStart } from './general/parts.ts'
import { type Algorithm, StrongLevels } from './general/strong-levels.ts'
import { settled } from './implied.ts'
import { type CheckOptions, deadlineFor, exampleLimit, phaseOf } from './options.ts'
import type { BaseOrder } from './order/stale-reads.ts'
import { AdyaLevels } from './phenomena/adya-levels.ts'
import { type StrongLevel, timeScopeOf, type VersionLevel } from './problem/levels.ts'
import { describeOffences } from './reads/offences.ts'
import { checkReads, type ReadCheck } from './reads/read-consistency.ts'
import { restoreAfter } from './restore-after.ts'
import { restoreTime } from './restore-time.ts'
import { allowedBy, checkStaleness } from './staleness/check-staleness.ts'
import { expectAtomic } from './versions/linearizable.ts'
import { MiniLevels } from './versions/mini-levels.ts'
import { findOneKeyOrders } from './versions/one-key.ts'
import { OrderedLevels } from './versions/ordered-levels.ts'
import { WeakContext } from './weak/context.ts'
import { WeakLevels } from './weak/weak-levels.ts'

/** More operations that contradict one another than these are not looked at apart from the rest. */
const MOST_SUSPECTS = 300

export class Checker {
  private readonly history: History // as the levels see it: without session order if that is off
  private readonly after: AfterAsReads | null // what that is made of, if it goes beyond sessions
  private readonly sessionless: boolean
  private lazyReads: ReadCheck | null = null
  private lazyWeak: WeakContext | null = null
  private lazyBlame: Blame | null = null
  private weakLevels: WeakLevels | null = null
  private miniLevels: MiniLevels | null = null
  private orderedLevels: OrderedLevels | null = null
  private strongLevels: StrongLevels | null = null
  private adyaLevels: AdyaLevels | null = null
  private withSessions: Checker | null = null
  private withoutSessions: Checker | null = null
  private readonly inTime: Partial<Record<TimeScope, Checker>> = {} // real time in session order
  private forAtomic: Checker | null = null // where ra sees another history than the others
  // What was told by the last part of the time, by the last level that it was asked about.
  private readonly weaker = new Map<LevelId, LevelResult | null>()
  private isCausal = false // whether cc is known to hold
  private bound: string | null = null // of the level at hand
  private isLast = false // whether it works in the time that is kept for weaker levels
  private readonly limit: number // of examples of each kind
  private readonly stages: Record<string, number> = {}

  constructor(
    private readonly recorded: History,
    private readonly options: CheckOptions = {},
    private readonly deadline: Deadline = deadlineFor(options),
    private readonly outright = false, // see afterAsReads
  ) {
    this.limit = exampleLimit(options)
    this.sessionless = options.sessionOrder === false
    const isPartial = recorded.after !== null && !this.sessionless
    this.after = isPartial ? afterAsReads(recorded, this.outright) : null
    this.history = this.sessionless
      ? withoutSessionOrder(recorded)
      : (this.after?.history ?? recorded)
    assert(recorded.writers === null, 'whom reads saw is chosen before')
    // Of a statement these checkers see only the rows it returned: they would miss phantoms.
    if (recorded.sql !== null) {
      const hint = 'they are judged by judge(), not here'
      throw new UsageError('the history holds SQL statements', hint)
    }
  }

  /** @param bound how stale reads may be, at stale; null: the least bound is told */
  check(level: LevelId, bound: string | null = null): LevelResult {
    this.bound = level === 'stale' ? bound : null
    return this.judge(level, (asked, isTimed) =>
      isTimed ? this.findTimed(asked) : this.find(asked),
    )
  }

  /**
   * A level that is known to be violated, with every kind of anomaly that it shows, as far as
   * linear time tells; null if it takes more.
   */
  checkLinearly(level: VersionLevel): LevelResult | null {
    if (this.after !== null || this.options.realTime) return null
    this.bound = null
    const started = nowMs()
    const findings = this.inTimeOr(null, () => this.findByVersions(level))
    if (findings === null || findings.anomalies.length === 0) return null
    return this.judge(level, () => findings, started)
  }

  private judge(
    level: LevelId,
    find: (level: LevelId, isTimed: boolean) => NamedFindings,
    started = nowMs(),
  ): LevelResult {
    this.deadline.enter(level)
    const isTimed = this.options.realTime === true && takesTime(level)
    const result: LevelResult = {
      ...undecided(level),
      ...(this.sessionless ? { sessionOrder: false } : {}),
      ...(isTimed ? { realTime: true } : {}),
      ...(this.bound === null ? {} : { bound: this.bound }),
    }
    try {
      const needsTimes = isTimed || level === 'lin' || WITHOUT_TIMES[level] !== undefined
      const timeless = needsTimes && !hasTimes(this.history)
      const findings = find((timeless && WITHOUT_TIMES[level]) || level, isTimed && !timeless)
      result.algorithm = findings.algorithm
      result.anomalies = findings.anomalies
      result.proof = findings.proof
      result.verdict = findings.anomalies.length > 0 ? 'violated' : 'satisfied'
      if (timeless && result.verdict === 'satisfied') {
        result.verdict = 'unknown'
        result.reason = 'the history has no times'
        result.proof = null
      } else if (findings.staleness) result.staleness = findings.staleness
      if (this.options.certify !== false) this.certify(result)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      const { message: reason } = error
      Object.assign(result, { verdict: 'unknown', reason, anomalies: [], proof: null })
      delete result.staleness
      const weaker = this.findWeaker(level)
      if (weaker?.level === level) Object.assign(result, weaker)
      else if (weaker) {
        Object.assign(result, settled(result, [weaker]))
        const isOpen = result.verdict === 'unknown' && implies(level, weaker.level)
        if (isOpen) result.reason += `; ${weaker.level} is ${weaker.verdict}`
      }
    }
    result.stages = { ...this.stages }
    result.elapsedMs = nowMs() - started
    return result
  }

  /** What the last part of the time budget tells of a level that the rest did not settle. */
  private findWeaker(level: LevelId): LevelResult | null {
    const { budgetMs } = this.options
    if (!budgetMs || this.deadline.remainingMs() > 0 || this.isLast) return null
    if (!implies(level, 'rc')) return null
    // ra is soon decided; cc tells more, but may take its time.
    const isAlone = level !== 'cc' && WEAK_LEVELS.includes(level)
    const tried: LevelId[] = isAlone ? [level] : ['ra', 'cc']
    const known = this.weaker.get(tried.at(-1)!)
    if (known !== undefined) return known
    let told: LevelResult | null = null
    const deadline = this.deadline.toTheEnd()
    const checker = new Checker(this.recorded, this.options, deadline)
    checker.isLast = true
    checker.lazyReads = this.lazyReads
    checker.lazyWeak = this.lazyWeak?.withDeadline(deadline) ?? null
    for (const weak of tried) {
      const result = checker.check(weak)
      if (result.verdict === 'unknown') break
      told = result
      if (result.verdict === 'violated') break
    }
    this.weaker.set(tried.at(-1)!, told)
    return told
  }

  /** True if an order found for the weak levels is a serial one, so that ser is settled. */
  hasSerialOrder(): boolean {
    return this.inTimeOr(false, () => this.mini().hasSerialOrder())
  }

  /** What is told if there is no time to find out. */
  private inTimeOr<T>(otherwise: T, work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      return otherwise
    }
  }

  private find(level: LevelId): NamedFindings {
    if (level === 'strong-si') return this.findByVersions(level) ?? this.findClocked('si', 'all')
    if (level === 'strong-pl-1' || level === 'strong-pl-2') {
      const plain = this.byDependencies(level, (levels) => levels.findTimely(level))
      return plain ?? this.findClocked(WITHOUT_TIMES[level]!, 'all')
    }
    if (level === 'ser+lin') return this.findByVersions(level) ?? this.findClocked('ser', 'by-key')
    if (this.after === null || level === 'strong-session-pl-1') return this.decide(level)
    if (level === 'lin') {
      const sessions = { ...this.recorded, after: null } // lin knows no session order
      return new Checker(sessions, this.options, this.deadline).find(level)
    }
    if (level === 'ra' && !this.outright) {
      this.forAtomic ??= new Checker(this.recorded, this.options, this.deadline, true)
      return this.forAtomic.find(level)
    }
    const findings = this.decide(level)
    const anomalies = restoreAfter(this.recorded, this.after, level, findings.anomalies)
    return { ...findings, anomalies }
  }

  /** A level with all of real time. */
  private findTimed(level: LevelId): NamedFindings {
    const form = timedForm(level)
    return form === null ? this.findInTime(level, 'all', false) : this.find(form)
  }

  /** A level without times, for one that has a rule for them. */
  private findClocked(level: LevelId, scope: TimeScope): NamedFindings {
    return this.findInTime(level, scope, true)
  }

  /** A level with real time as part of session order. */
  private findInTime(level: LevelId, scope: TimeScope, isClocked: boolean): NamedFindings {
    const { options, deadline } = this
    const history = this.sessionless ? withoutSessionOrder(this.recorded) : this.recorded
    let checker = this.inTime[scope]
    if (!checker) {
      const inTime = { ...options, sessionOrder: true, realTime: false }
      checker = new Checker(withRealTime(history, scope), inTime, deadline)
      this.inTime[scope] = checker
    }
    const findings = checker.find(level)
    // What had several names without the clock may have one with it.
    const restored = restoreTime(checker.recorded, isClocked, findings.anomalies)
    return { ...findings, anomalies: joinKinds(restored, this.limit) }
  }

  private decide(level: LevelId): NamedFindings {
    switch (level) {
      case 'ci':
      case 'rc':
      case 'ryw':
      case 'mr':
      case 'mw':
      case 'wfr':
      case 'ra':
      case 'cc': {
        const levels = this.weak()
        const findings = this.timed(level, () => levels.check(level))
        return { ...findings, algorithm: level === 'ci' ? 'reads' : 'saturation' }
      }
      case 'pc':
      case 'si':
      case 'ser':
      case 'sser': {
        const found = this.findByVersions(level)
        if (found) return found
        const known = this.sessionless ? this.findWithSessions(level) : null
        return known ?? this.solve(level, this.options.algorithm ?? 'auto')
      }
      case 'psi':
        return this.byDependencies(level, (levels) => levels.checkPsi())
      case 'pl-1':
      case 'strong-session-pl-1':
        return this.byDependencies('pl-1', (levels) => levels.checkDirtyWrites())
      case 'pl-2':
      case 'strong-session-pl-2':
        return this.byDependencies(level, (levels) => levels.checkPl2())
      case 'pl-2.99':
        // Without predicates it is serializability, but for what a transaction does to itself.
        if (this.adya().seesTheSame) return this.decide('ser')
        return this.byDependencies(level, (levels) => levels.check(level))
      case 'pl-cs':
      case 'pl-2l':
      case 'pl-2+':
      case 'pl-3u':
        return this.byDependencies(level, (levels) => levels.check(level))
      case 'lin':
        return this.decideLin()
      case 'stale':
        return this.decideStale()
      case 'mixed':
        throw new UsageError('level mixed is judged by judge(), not here')
      default:
        throw new UsageError(`level ${level} is not available`)
    }
  }

  private byDependencies<T>(stage: LevelId, work: (levels: AdyaLevels) => T): T {
    const levels = this.adya() // reads are a stage of their own
    return this.timed(stage, () => work(levels))
  }

  private adya(): AdyaLevels {
    const { history, limit, deadline, context, blame } = this
    const ordered = this.ordered()
    const proofOf = (level: 'ser' | 'si' | 'cc') =>
      level === 'cc' ? this.weak().check('cc').proof : this.find(level).proof
    const isSnapshotRest = () => this.strongLevels?.isSettled('si') ?? false
    const componentsOf = (level: 'ser' | 'si', blamed: ReadonlySet<number>) =>
      this.orderedLevels?.componentsOf(level, blamed) ?? null
    const known = { context, proofOf, componentsOf, blame, isSnapshotRest }
    const shared = { history, ordered, limit, deadline, ...known }
    this.adyaLevels ??= new AdyaLevels({ ...shared, reads: this.reads() })
    return this.adyaLevels
  }

  private solve(level: StrongLevel, algorithm: Algorithm): NamedFindings {
    const strong = this.strong(algorithm)
    const findings = this.timed(level, () => strong.check(level))
    return { ...findings, algorithm: algorithm === 'search' ? 'search' : 'solve' }
  }

  private strong(algorithm: Algorithm): StrongLevels {
    const { history, deadline, base, limit } = this
    const reads = this.reads()
    this.strongLevels ??= new StrongLevels(history, reads, base, deadline, limit, algorithm)
    return this.strongLevels
  }

  /**
   * The general engine likes long sessions, so session order is tried first: what satisfies a level
   * with it satisfies it without, and a violation that does not speak of sessions stands. Then
   * transactions that stand close together are tried without it. Null if all of that leads nowhere.
   */
  private findWithSessions(level: StrongLevel): NamedFindings | null {
    const options = { ...this.options, sessionOrder: true }
    this.withSessions ??= new Checker(this.recorded, options, this.deadline)
    const findings = this.withSessions.find(level)
    if (findings.anomalies.length === 0) return findings
    const anomalies = findings.anomalies.filter((anomaly) => findSessionEdges(anomaly).length === 0)
    if (anomalies.length > 0) return { ...findings, anomalies }
    const found = this.timed(level, () => this.strong('auto').refuteNearby(level))
    return found && { ...findings, anomalies: [found] }
  }

  /**
   * Lightweight transactions and those of one key each have deciders of their own. Since reads tell
   * what they saw, others are linearizable if they are strictly serializable without session order.
   */
  private decideLin(): NamedFindings {
    if (findHeavyTxn(this.history) === NONE && this.history.versions === null) {
      const mini = this.mini()
      return this.timed('lin', () => mini.checkLinear())
    }
    expectAtomic(this.history)
    if (!this.sessionless) {
      const options = { ...this.options, sessionOrder: false, realTime: false }
      this.withoutSessions ??= new Checker(this.recorded, options, this.deadline)
      this.withoutSessions.lazyReads ??= this.reads() // audits know sessions
      return this.withoutSessions.decide('lin')
    }
    if (!hasTimes(this.history)) return this.decide('ser')
    const isAuto = (this.options.algorithm ?? 'auto') === 'auto'
    return (isAuto && this.timed('lin', () => this.findByKey())) || this.decide('sser')
  }

  /** Without times, or where something comes before itself, there is nothing more to find. */
  private decideStale(): NamedFindings {
    const { history, deadline, limit } = this
    const levels = this.weak()
    const { base } = this.context()
    const found = this.timed('stale', () => levels.checkPl2())
    const algorithm = 'moments'
    if (base.component !== null || !hasTimes(history)) return { ...found, algorithm }
    const allowed = allowedBy(history, this.bound)
    const { staleness, ...findings } = this.timed('stale', () =>
      checkStaleness(history, this.reads(), base, allowed, limit, deadline),
    )
    const anomalies = [...found.anomalies, ...findings.anomalies]
    const isSound = anomalies.length === 0 && staleness !== null
    return {
      anomalies,
      proof: isSound ? findings.proof : null,
      algorithm,
      ...(isSound ? { staleness } : {}),
    }
  }

  /** lin where every transaction uses one key; null if one uses more, or several are at fault. */
  private findByKey(): NamedFindings | null {
    const { history, limit, deadline } = this
    const reads = this.reads()
    if (limit > 1 || reads.unrepeatable.length > 0 || reads.versions !== null) return null
    const found = findOneKeyOrders(history, reads)
    if (found === null) return null
    const anomalies = describeOffences(history, reads, limit, deadline)
    const { suspects, orders } = found
    // A long circle tells more to those who know all of it.
    if (suspects && suspects.length > MOST_SUSPECTS) return null
    if (suspects) {
      const anomaly = this.strong('auto').refuteAmong(Int32Array.from(suspects), 'sser')
      assert(anomaly !== null, 'operations that are not linearizable contradict one another')
      anomalies.push(anomaly)
    }
    const order = anomalies.length > 0 ? null : mergeByStart(history, orders)
    const proof = order && ({ kind: 'commit-order', order } as const)
    return { anomalies, proof, algorithm: 'zones' }
  }

  /** What a known order of versions tells; null if there is none, or another algorithm is wanted. */
  private findByVersions(level: VersionLevel): NamedFindings | null {
    const { algorithm = 'auto' } = this.options
    // Session order beyond sessions is told by reads, which real time is not to be blamed for.
    if (
      algorithm !== 'auto' ||
      (timeScopeOf(level) !== null && level !== 'sser' && this.after !== null)
    )
      return null
    const { history, deadline, limit, blame } = this
    const mini = this.mini()
    return this.timed(level, () => {
      const findings = mini.check(level)
      if (findings) return findings
      const reads = this.reads()
      const isSettled = mini.isSettled.bind(mini)
      this.orderedLevels ??= new OrderedLevels(history, reads, deadline, limit, blame, isSettled)
      return this.orderedLevels.check(level, mini.hasSerialOrder())
    })
  }

  private certify(result: LevelResult): void {
    const deadline = this.deadline.toTheEnd()
    const certify = () => certifyPlain(this.recorded, result, deadline)
    const certified = this.timed('certify', () => withCertificate(result, certify))
    Object.assign(result, certified)
  }

  private reads(): ReadCheck {
    this.lazyReads ??= this.timed('reads', () => checkReads(this.history, this.deadline))
    return this.lazyReads
  }

  /** The history whose session order counts, be it within sessions or beyond them. */
  private ordered(): History {
    return this.after === null ? this.history : this.recorded
  }

  private readonly base = (): BaseOrder => this.context().base

  private mini(): MiniLevels {
    const { history, deadline, base, limit } = this
    this.miniLevels ??= new MiniLevels(history, this.reads(), base, deadline, limit, this.blame)
    return this.miniLevels
  }

  private weak(): WeakLevels {
    const { byPattern } = this.options
    this.weakLevels ??= new WeakLevels(this.context, this.reads(), this.limit, byPattern)
    return this.weakLevels
  }

  /** Says that cc holds, so that no single read is to blame for anything. */
  assumeCausal(): void {
    this.isCausal = true
  }

  private readonly blame = (): Blame => {
    if (this.isCausal) return { anomalies: [], blamed: new Set(), rest: this.base() }
    this.lazyBlame ??= this.timed('cc', () => this.weak().blame())
    return { ...this.lazyBlame, blamed: new Set(this.lazyBlame.blamed) } // levels add to these
  }

  private readonly context = (): WeakContext => {
    const reads = this.reads()
    const begin = () => new WeakContext(this.history, reads, this.deadline, null, this.ordered())
    this.lazyWeak ??= this.timed('order', begin)
    return this.lazyWeak
  }

  private timed<T>(stage: string, work: () => T): T {
    const started = nowMs()
    try {
      return this.deadline.during(phaseOf(stage), work)
    } finally {
      this.stages[stage] = (this.stages[stage] ?? 0) + nowMs() - started
    }
  }
}
