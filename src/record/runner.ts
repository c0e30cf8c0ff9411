// Runs the sessions of a stress run at the same time, until the work is done, the time is up, the
// database fails for good, or somebody asks to stop. Whatever the reason, what was recorded is
// whole: transactions in progress end in order, or are cut off after a few seconds and recorded as
// such.
//
// Memory stays flat: nothing is kept of a transaction once it is in the file.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { LevelId } from '../levels/levels.ts'
import { Auditor, Rest } from './audit.ts'
import type { Database } from './database.ts'
import type { FaultProxy } from './fault-proxy.ts'
import { cutWords, type FaultPlan, latencyWords } from './faults.ts'
import type { Recorder } from './recorder.ts'
import { type RunContext, type Seat, Session, type Tally } from './session.ts'
import { type Makers, storm, Trouble } from './trouble.ts'
import type { Work } from './work.ts'

export interface RunnerOptions {
  readonly database: Database
  readonly recorder: Recorder
  readonly work: Work
  readonly isLightweight: boolean
  readonly level: LevelId
  /** Tables of an SQL workload. */
  readonly tables: readonly SqlTable[]
  readonly sessions: number
  readonly seed: number
  readonly durationMs: number | null
  /** Transactions a second, all sessions together; null for as fast as it goes. */
  readonly rate: number | null
  /** How often an aborted transaction is tried again, as a new one with new values. */
  readonly retries: number
  readonly faults: FaultPlan
  /** Between the sessions and each node, in the order of the nodes; none where none is needed. */
  readonly proxies: readonly FaultProxy[]
  /** How long the database may stay away before the run gives up. */
  readonly patienceMs: number
  /** What brings the events of the faults about. */
  readonly makers: Makers
  /** Ends the run early. */
  readonly signal: AbortSignal | null
  /** Ends the run as its time would: there is enough to judge. */
  readonly enough?: AbortSignal | undefined
  readonly onProgress: ((progress: RunProgress) => void) | null
}

export interface RunProgress extends Readonly<Tally> {
  readonly elapsedMs: number
  /** How often the server was restarted. */
  readonly restarts: number
}

export interface RunResult extends RunProgress {
  /** How often all that had been written was read while nothing else ran. */
  readonly audits: number
  /** What ended the run before its time, if anything did. */
  readonly stoppedBy: 'signal' | Error | null
}

const PROGRESS_EVERY_MS = 200
/** A session that waits longer than this for an answer is cut off. */
const ANSWER_PATIENCE_MS = 30_000
/** How long open transactions may take to end when the run is stopped. */
const STOP_PATIENCE_MS = 3_000

export async function runSessions(options: RunnerOptions): Promise<RunResult> {
  return new Runner(options).run()
}

class Runner {
  private readonly options: RunnerOptions
  private readonly tally: Tally = {
    committed: 0,
    aborted: 0,
    indeterminate: 0,
    failures: new Map(),
  }
  private readonly sessions: Session[]
  private readonly auditor: Auditor
  private startMs = 0
  private dueMs = 0 // when the next transaction may begin, under a rate
  private lastValue = 0
  private lastSession = 0
  private keyCount = 0 // keys that were asked for
  private keysThere = 0
  private keysComing: Promise<void> = Promise.resolve()
  private readonly trouble: Trouble
  private isDone = false
  private stopping = false
  private stoppedBy: RunResult['stoppedBy'] = null

  constructor(options: RunnerOptions) {
    this.options = options
    const random = new Random(options.seed).fork(1)
    const nextSession = () => this.lastSession++
    const { database, faults, makers, recorder } = options
    const storms: Makers = { storm: ({ connections }) => storm(database, connections) }
    this.trouble = new Trouble(faults.events, { ...storms, ...makers }, recorder)
    const isOver = () => this.stoppedBy !== null
    this.auditor = new Auditor({ ...options, nextSession, isOver })
    const { isAudited } = database
    const context: RunContext = {
      ...options,
      tally: this.tally,
      resting: { count: 0 },
      auditor: this.auditor,
      rest: new Rest(isAudited ? () => this.auditor.audit(false) : null),
      nextValue: () => ++this.lastValue,
      nextSession,
      isStopping: () => this.stopping,
      ensureKeys: (count) => this.ensureKeys(count),
    }
    this.sessions = Array.from(
      { length: options.sessions },
      (_, number) => new Session(context, number, random.fork(number), seatFor(number, options)),
    )
  }

  async run(): Promise<RunResult> {
    const { signal, enough, durationMs } = this.options
    const { gone } = this.options.database
    const onSignal = () => this.stop('signal')
    const onGone = () => this.stop(gone?.reason)
    const onEnough = () => this.stop(null)
    let end: NodeJS.Timeout | null = null
    let watch: NodeJS.Timeout | null = null
    try {
      await this.openSessions()
      this.startMs = performance.now()
      this.markFaults()
      this.dueMs = this.startMs
      signal?.addEventListener('abort', onSignal, { once: true })
      if (signal?.aborted) onSignal()
      enough?.addEventListener('abort', onEnough, { once: true })
      if (enough?.aborted) onEnough()
      gone?.addEventListener('abort', onGone, { once: true })
      if (durationMs !== null) end = setTimeout(onEnough, durationMs)
      watch = setInterval(() => this.watch(), PROGRESS_EVERY_MS)
      await Promise.all([this.runAll(), this.makeTrouble()])
      // What must come last runs after the time is up, but not if something went wrong.
      if (this.stoppedBy === null) await this.runLast()
    } finally {
      if (end) clearTimeout(end)
      if (watch) clearInterval(watch)
      signal?.removeEventListener('abort', onSignal)
      enough?.removeEventListener('abort', onEnough)
      gone?.removeEventListener('abort', onGone)
      await Promise.all(this.sessions.map((session) => session.close()))
      for (const proxy of this.options.proxies) proxy.onCut = null
    }
    return { ...this.progress(), audits: this.auditor.count, stoppedBy: this.stoppedBy }
  }

  /** An audit sees all that final transactions would. */
  private async runLast(): Promise<void> {
    const { work, database } = this.options
    try {
      if (database.isAudited) return await this.auditor.audit(true)
    } catch (error) {
      return this.stop(error as Error)
    }
    if (!work.beginFinal()) return
    this.stopping = false
    await this.runAll()
  }

  private progress(): RunProgress {
    const elapsedMs = performance.now() - this.startMs
    return { ...this.tally, elapsedMs, restarts: this.trouble.restarts }
  }

  /** A few at a time: servers let only so many in at once. If one is refused, none is left. */
  private async openSessions(): Promise<void> {
    const giveUp = new AbortController()
    const opening: Promise<void>[] = []
    let openCount = 0
    const timer = setTimeout(() => {
      giveUp.abort(this.tooLate(openCount))
    }, this.options.patienceMs)
    try {
      for (let i = 0; i < this.sessions.length; i += 10) {
        const some = this.sessions.slice(i, i + 10).map(async (session) => {
          await session.open(giveUp.signal)
          openCount++
        })
        opening.push(...some)
        await Promise.all(some)
      }
    } catch (error) {
      giveUp.abort(error)
      await Promise.allSettled(opening)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  private tooLate(openCount: number): DatabaseError {
    const { sessions, patienceMs } = this.options
    return new DatabaseError(
      `only ${openCount} of ${sessions} sessions could connect within ${patienceMs / 1000} s`,
      'ask for fewer --sessions, raise what the server or its pooler lets in, or --patience',
    )
  }

  private stop(why: RunResult['stoppedBy']): void {
    this.stoppedBy ??= why
    if (this.stopping) return
    this.stopping = true
    this.trouble.end() // a server that is stopped could not answer
    setTimeout(() => {
      if (this.isDone) return
      for (const session of this.sessions) {
        if (!Number.isNaN(session.waitingSinceMs)) session.cut()
      }
    }, STOP_PATIENCE_MS).unref()
  }

  private watch(): void {
    const lateMs = performance.now() - ANSWER_PATIENCE_MS
    for (const session of this.sessions) if (session.waitingSinceMs < lateMs) session.cut()
    this.options.onProgress?.(this.progress())
  }

  private async runAll(): Promise<void> {
    await Promise.all(this.sessions.map((session, number) => this.runSession(session, number)))
    this.isDone = true
    this.trouble.end()
  }

  private async runSession(session: Session, number: number): Promise<void> {
    const { work, retries } = this.options
    try {
      while (!this.stopping && work.next(number)) {
        for (let tries = 0; tries <= retries && !this.stopping; tries++) {
          if (this.options.rate !== null) await this.awaitTurn(this.options.rate)
          if (this.stopping || (await session.runTransaction()) !== 'aborted') break
        }
      }
    } catch (error) {
      // One session cannot go on, so the run cannot; what the others have recorded stays.
      this.stop(error as Error)
    }
  }

  private async awaitTurn(rate: number): Promise<void> {
    const now = performance.now()
    this.dueMs = Math.max(this.dueMs, now - 1000) + 1000 / rate
    for (let left = this.dueMs - now; left > 1 && !this.stopping; left -= 200) {
      await pause(Math.min(left, 200))
    }
  }

  private ensureKeys(count: number): Promise<void> | null {
    if (count <= this.keysThere) return null
    if (count > this.keyCount) {
      const from = this.keyCount
      this.keyCount = count
      const before = this.keysComing
      this.keysComing = before.then(async () => {
        await this.options.database.addKeys(from, count)
        this.keysThere = count
      })
    }
    return this.keysComing
  }

  /** What is brought about from outside is marked in the record, beside the transactions. */
  private markFaults(): void {
    const { proxies, faults, recorder } = this.options
    if (proxies.length === 0) return
    if (faults.latencyMs !== null) recorder.mark(latencyWords(faults.latencyMs))
    for (const proxy of proxies) {
      proxy.onCut = (point) => recorder.mark(cutWords(typeof point === 'string' ? point : null))
    }
  }

  private async makeTrouble(): Promise<void> {
    try {
      await this.trouble.run()
    } catch (error) {
      this.stop(error instanceof Error ? error : new DatabaseError(String(error)))
    }
  }
}

/** Every second session reads from a replica, if there are any; the others share the other nodes. */
function seatFor(number: number, { database, proxies }: RunnerOptions): Seat {
  const { nodes = [{ isReader: false, open: (signal) => database.open(signal) }] } = database
  const seats = nodes.map((node, i) => ({ node, proxy: proxies[i] ?? null }))
  const readers = seats.filter(({ node }) => node.isReader)
  const writers = seats.filter(({ node }) => !node.isReader)
  if (readers.length === 0) return writers[number % writers.length]!
  const some = number % 2 === 0 ? writers : readers
  return some[(number >> 1) % some.length]!
}
