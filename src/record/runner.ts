// Runs the sessions of a stress run at the same time, until the work is done, the time is up, the
// database fails for good, or somebody asks to stop. Whatever the reason, what was recorded is
// whole: transactions in progress end in order, or are cut off after a few seconds and recorded as
// such. Sessions are in a crew in this thread (crew.ts), and may be in further ones, each in a
// thread of its own (threads.ts); what comes to all of them is decided here.
//
// Memory stays flat: nothing is kept of a transaction once it is in the file.

import { DatabaseError } from '../base/errors.ts'
import type { SqlTable } from '../history/sql-events.ts'
import { Numbers, Places } from './among-threads.ts'
import { Auditor } from './audit.ts'
import {
  BESIDES_EVERY_MS,
  type Crew,
  type Host,
  LocalCrew,
  type Orders,
  type Share,
} from './crew.ts'
import type { Database } from './database.ts'
import type { FaultProxy } from './fault-proxy.ts'
import { cutWords, latencyWords } from './faults.ts'
import type { Recorder } from './recorder.ts'
import type { Tally } from './session.ts'
import { startThread, ThreadCrew } from './threads.ts'
import { type Makers, storm, Trouble } from './trouble.ts'
import type { Work } from './work.ts'
import { shared, type WorkOrder } from './work-order.ts'

export interface RunnerOptions extends Orders {
  readonly database: Database
  readonly recorder: Recorder
  readonly work: Work
  /** Tables of an SQL workload. */
  readonly tables: readonly SqlTable[]
  readonly durationMs: number | null
  /** Between the sessions and each node, in the order of the nodes; none where none is needed. */
  readonly proxies: readonly FaultProxy[]
  /** What brings the events of the faults about. */
  readonly makers: Makers
  /** Ends the run early. */
  readonly signal: AbortSignal | null
  /** Ends the run as its time would: there is enough to judge. */
  readonly enough?: AbortSignal | undefined
  readonly onProgress: ((progress: RunProgress) => void) | null
  /** For sessions in other threads, too. */
  readonly threads?: Threads | null
}

/** Possible where the database has a reach and is audited, and nothing is between it and the sessions. */
export interface Threads {
  /** This one is one of them. */
  readonly count: number
  /** What makes the same work. */
  readonly work: WorkOrder
  readonly start?: typeof startThread
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

/** Servers let only so many in at once. */
const OPENED_AT_ONCE = 10

export async function runSessions(options: RunnerOptions): Promise<RunResult> {
  return new Runner(options).run()
}

class Runner {
  private readonly crews: readonly Crew[]
  private readonly auditor: Auditor
  private auditing: Promise<void> | null = null // while the run comes to rest for an audit
  private startMs = 0
  private keyCount = 0 // keys that were asked for
  private keysThere = 0
  private keysComing: Promise<void> = Promise.resolve()
  private readonly trouble: Trouble
  private stopping = false
  private stoppedBy: RunResult['stoppedBy'] = null

  constructor(private readonly options: RunnerOptions) {
    const { database, faults, makers, recorder } = options
    const storms: Makers = { storm: ({ connections }) => storm(database, connections) }
    this.trouble = new Trouble(faults.events, { ...storms, ...makers }, recorder)
    const host: Host = {
      ensureKeys: (count) => this.ensureKeys(count),
      noteLoss: () => this.noteLoss(),
      fail: (error) => this.stop(error),
    }
    const of = options.threads?.count ?? 1
    // The first ids are the numbers of the sessions.
    const sessionIds = new Numbers(options.sessions, of)
    const isOver = () => this.stoppedBy !== null
    this.auditor = new Auditor({ ...options, nextSession: () => sessionIds.next(), isOver })
    const share = { place: 0, of, resting: new Places(), sessionIds }
    this.crews = [localCrew(options, share, host), ...threadCrews(options, share, host)]
  }

  async run(): Promise<RunResult> {
    const { signal, enough, durationMs, onProgress } = this.options
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
      signal?.addEventListener('abort', onSignal, { once: true })
      if (signal?.aborted) onSignal()
      enough?.addEventListener('abort', onEnough, { once: true })
      if (enough?.aborted) onEnough()
      gone?.addEventListener('abort', onGone, { once: true })
      if (durationMs !== null) end = setTimeout(onEnough, durationMs)
      watch = setInterval(() => onProgress?.(this.progress()), BESIDES_EVERY_MS)
      await Promise.all([this.runAll(), this.makeTrouble()])
      await this.auditing
      // What must come last runs after the time is up, but not if something went wrong.
      if (this.stoppedBy === null) await this.runLast()
    } finally {
      if (end) clearTimeout(end)
      if (watch) clearInterval(watch)
      signal?.removeEventListener('abort', onSignal)
      enough?.removeEventListener('abort', onEnough)
      gone?.removeEventListener('abort', onGone)
      await Promise.all(this.crews.map((crew) => crew.close()))
      for (const proxy of this.options.proxies) proxy.onCut = null
    }
    return { ...this.progress(), audits: this.auditor.count, stoppedBy: this.stoppedBy }
  }

  private async openSessions(): Promise<void> {
    const { crews } = this
    const atOnce = Math.ceil(OPENED_AT_ONCE / crews.length)
    const open = async (crew: Crew) => {
      const { count, failure } = await crew.open(atOnce)
      if (failure !== null) throw failure
      return count
    }
    const counts = await Promise.all(crews.map(open))
    const { sessions, patienceMs } = this.options
    const count = counts.reduce((sum, each) => sum + each, 0)
    if (count === sessions) return
    throw new DatabaseError(
      `only ${count} of ${sessions} sessions could connect within ${patienceMs / 1000} s`,
      'ask for fewer --sessions, raise what the server or its pooler lets in, or --patience',
    )
  }

  private async runAll(): Promise<void> {
    // Where one fails, the others end in order.
    const run = (crew: Crew) => crew.run().catch((error: Error) => this.stop(error))
    await Promise.all(this.crews.map(run))
    this.trouble.end()
  }

  /** An audit sees all that final transactions would. */
  private async runLast(): Promise<void> {
    try {
      if (this.options.database.isAudited) return await this.audit(true)
    } catch (error) {
      return this.stop(error as Error)
    }
    this.stopping = false
    await Promise.all(this.crews.map((crew) => crew.runLast()))
  }

  /** The server may have crashed: all come to rest, what was written is read, and all go on. */
  private noteLoss(): void {
    if (!this.options.database.isAudited || this.stopping || this.auditing !== null) return
    this.auditing = this.audit(false)
      .catch((error: Error) => this.stop(error))
      .finally(() => {
        this.auditing = null
        for (const crew of this.crews) crew.goOn()
      })
  }

  /** @param all what was used since the last audit, or ever */
  private async audit(all: boolean): Promise<void> {
    const used = await Promise.all(this.crews.map((crew) => crew.rest()))
    for (const keys of used) this.auditor.note(keys)
    await this.auditor.audit(all)
  }

  private progress(): RunProgress {
    const elapsedMs = performance.now() - this.startMs
    return { ...sumOf(this.crews), elapsedMs, restarts: this.trouble.restarts }
  }

  private stop(why: RunResult['stoppedBy']): void {
    this.stoppedBy ??= why
    if (this.stopping) return
    this.stopping = true
    this.trouble.end() // a server that is stopped could not answer
    for (const crew of this.crews) crew.stop()
  }

  private async ensureKeys(count: number): Promise<void> {
    if (count <= this.keysThere) return
    if (count > this.keyCount) {
      const from = this.keyCount
      this.keyCount = count
      const before = this.keysComing
      this.keysComing = before.then(async () => {
        await this.options.database.addKeys(from, count)
        this.keysThere = count
      })
    }
    await this.keysComing
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

function localCrew(options: RunnerOptions, share: Share, host: Host): Crew {
  const { database, recorder, work, proxies } = options
  const nodes = database.nodes ?? [
    { isReader: false, open: (signal?: AbortSignal) => database.open(signal) },
  ]
  return new LocalCrew(options, share, { recorder, work, nodes, proxies }, host)
}

function threadCrews(options: RunnerOptions, { of, resting }: Share, host: Host): Crew[] {
  if (!options.threads) return []
  const { isLightweight, level, sessions, seed, rate, retries, faults, patienceMs } = options
  const { start = startThread } = options.threads
  const orders = { isLightweight, level, sessions, seed, rate, retries, faults, patienceMs }
  const work = shared(options.threads.work)
  const reach = options.database.reach!
  return options.recorder.share(of - 1).map((recorder) => {
    const given = { orders, resting: resting.shared, recorder, work, reach }
    return new ThreadCrew(start(given), host)
  })
}

function sumOf(crews: readonly Crew[]): Tally {
  const sum: Tally = { committed: 0, aborted: 0, indeterminate: 0, failures: new Map() }
  for (const { tally } of crews) {
    sum.committed += tally.committed
    sum.aborted += tally.aborted
    sum.indeterminate += tally.indeterminate
    for (const [why, count] of tally.failures) {
      sum.failures.set(why, (sum.failures.get(why) ?? 0) + count)
    }
  }
  return sum
}
