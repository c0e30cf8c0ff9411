// The sessions of a run that share a thread: all of them, or those of one of several threads
// (threads.ts). They run until their work is done or they are told to stop; what concerns the whole
// run is their host's business (runner.ts). Main class: LocalCrew.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import type { LevelId } from '../levels/levels.ts'
import { Numbers, type Places } from './among-threads.ts'
import { type TakenKeys, UsedKeys } from './audit.ts'
import type { Node } from './database.ts'
import type { FaultProxy } from './fault-proxy.ts'
import type { FaultPlan } from './faults.ts'
import type { Recorder } from './recorder.ts'
import { Rest } from './rest.ts'
import { type Seat, Session, type Tally } from './session.ts'
import type { Work } from './work.ts'

/** What sessions are told, wherever they run: plain data. */
export interface Orders {
  readonly isLightweight: boolean
  readonly level: LevelId
  /** All sessions of the run. */
  readonly sessions: number
  readonly seed: number
  /** Transactions a second, all sessions together; null for as fast as it goes. */
  readonly rate: number | null
  /** How often an aborted transaction is tried again, as a new one with new values. */
  readonly retries: number
  readonly faults: FaultPlan
  /** How long the database may stay away before the run gives up. */
  readonly patienceMs: number
}

/** Which of several crews it is, and what it has in common with them. */
export interface Share {
  readonly place: number
  readonly of: number
  /** For transactions that stay open. */
  readonly resting: Places
  readonly sessionIds: Numbers
}

/** What sessions have where they run. */
export interface Equipment {
  readonly recorder: Recorder
  readonly work: Work
  readonly nodes: readonly Node[]
  /** Between the sessions and each node, in the order of the nodes; none where none is needed. */
  readonly proxies: readonly FaultProxy[]
}

/** How many of its sessions could connect, and what kept the next one from it. */
export interface Opened {
  readonly count: number
  /** Null if there was no answer in time. */
  readonly failure: Error | null
}

export interface Crew {
  /** What was recorded so far, as far as it is known. */
  readonly tally: Readonly<Tally>
  /** Connects all sessions, so many at once. */
  open(atOnce: number): Promise<Opened>
  /** Runs until all sessions have ended. */
  run(): Promise<void>
  /** Runs what must come last, if there is anything. */
  runLast(): Promise<void>
  /** Returns when no transaction is in progress, and none begins: with the keys used since then. */
  rest(): Promise<TakenKeys>
  goOn(): void
  /** Transactions in progress end in order, or are cut off after a while. */
  stop(): void
  close(): Promise<void>
}

/** What a crew asks of the run that it belongs to. */
export interface Host {
  ensureKeys(count: number): Promise<void>
  /** A connection was lost, and not by us: the server may have crashed. */
  noteLoss(): void
  /** One session cannot go on, so the run cannot. */
  fail(error: Error): void
}

/** How often something is done beside the sessions. */
export const BESIDES_EVERY_MS = 200
/** A session that waits longer than this for an answer is cut off. */
const ANSWER_PATIENCE_MS = 30_000
/** How long open transactions may take to end when the run is stopped. */
const STOP_PATIENCE_MS = 3_000

/** The sessions of a crew: those from the first up to `end`. */
function sessionsOf(sessions: number, { place, of }: Pick<Share, 'place' | 'of'>) {
  const bound = (crew: number) => Math.round((sessions * crew) / of)
  return { first: bound(place), end: bound(place + 1) }
}

export class LocalCrew implements Crew {
  readonly tally: Tally = { committed: 0, aborted: 0, indeterminate: 0, failures: new Map() }
  private readonly sessions: Session[] = []
  private readonly firstSession: number
  private readonly held = new Rest()
  private readonly used = new UsedKeys()
  private readonly giveUp = new AbortController() // connecting
  private keysThere = 0
  private dueMs = 0 // when the next transaction may begin, under a rate
  private isDone = false
  private stopping = false

  constructor(
    private readonly orders: Orders,
    private readonly share: Share,
    private readonly equipment: Equipment,
    private readonly host: Host,
  ) {
    const { place, of } = share
    const random = new Random(orders.seed).fork(1)
    const context = {
      ...orders,
      ...equipment,
      ...share,
      tally: this.tally,
      values: new Numbers(1 + place, of),
      rest: this.held,
      used: this.used,
      isStopping: () => this.stopping,
      ensureKeys: (count: number) => (count <= this.keysThere ? null : this.ensureKeys(count)),
      noteLoss: () => host.noteLoss(),
    }
    const { first, end } = sessionsOf(orders.sessions, share)
    this.firstSession = first
    // What a session draws depends on its number alone, however many threads there are.
    for (let number = 0; number < end; number++) {
      const own = random.fork(number)
      if (number < first) continue
      this.sessions.push(new Session(context, number, own, seatFor(number, equipment)))
    }
  }

  /** A few at a time: servers let only so many in at once. If one is refused, none is left. */
  async open(atOnce: number): Promise<Opened> {
    let count = 0
    const { signal } = this.giveUp
    const late = new DatabaseError('no answer in time')
    const timer = setTimeout(() => this.giveUp.abort(late), this.orders.patienceMs)
    const opening: Promise<void>[] = []
    try {
      for (let i = 0; i < this.sessions.length; i += atOnce) {
        const some = this.sessions.slice(i, i + atOnce).map(async (session) => {
          await session.open(signal)
          count++
        })
        opening.push(...some)
        await Promise.all(some)
      }
      return { count, failure: null }
    } catch (error) {
      const failure = signal.reason === late ? null : (error as Error)
      this.giveUp.abort(error)
      await Promise.allSettled(opening)
      return { count, failure }
    } finally {
      clearTimeout(timer)
    }
  }

  async run(): Promise<void> {
    const { rate } = this.orders
    const { place, of } = this.share
    // Crews take turns where there is a rate.
    const betweenMs = rate === null ? 0 : (1000 * of) / rate
    this.dueMs = performance.now() + betweenMs * ((place + 1) / of - 1)
    const watch = setInterval(() => this.watch(), BESIDES_EVERY_MS)
    try {
      await Promise.all(this.sessions.map((session, i) => this.runSession(session, i)))
    } finally {
      clearInterval(watch)
    }
    this.isDone = true
  }

  async runLast(): Promise<void> {
    if (!this.equipment.work.beginFinal()) return
    this.stopping = false
    await this.run()
  }

  async rest(): Promise<TakenKeys> {
    await this.held.come()
    // What an audit shows comes behind the outcomes that it is about.
    this.equipment.recorder.flush()
    return this.used.take()
  }

  goOn(): void {
    this.held.goOn()
  }

  stop(): void {
    if (this.stopping) return
    this.stopping = true
    setTimeout(() => {
      if (this.isDone) return
      for (const session of this.sessions) {
        if (!Number.isNaN(session.waitingSinceMs)) session.cut()
      }
    }, STOP_PATIENCE_MS).unref()
  }

  async close(): Promise<void> {
    this.giveUp.abort(new DatabaseError('the run is over'))
    await Promise.all(this.sessions.map((session) => session.close()))
  }

  private watch(): void {
    const lateMs = performance.now() - ANSWER_PATIENCE_MS
    for (const session of this.sessions) if (session.waitingSinceMs < lateMs) session.cut()
  }

  private async runSession(session: Session, index: number): Promise<void> {
    const { retries, rate } = this.orders
    const { work } = this.equipment
    const number = this.firstSession + index
    try {
      while (!this.stopping && work.next(number)) {
        for (let tries = 0; tries <= retries && !this.stopping; tries++) {
          if (rate !== null) await this.awaitTurn(rate / this.share.of)
          if (this.stopping || (await session.runTransaction()) !== 'aborted') break
        }
      }
    } catch (error) {
      this.host.fail(error as Error)
    }
  }

  private async awaitTurn(rate: number): Promise<void> {
    const now = performance.now()
    this.dueMs = Math.max(this.dueMs, now - 1000) + 1000 / rate
    for (let left = this.dueMs - now; left > 1 && !this.stopping; left -= 200) {
      await pause(Math.min(left, 200))
    }
  }

  private async ensureKeys(count: number): Promise<void> {
    await this.host.ensureKeys(count)
    this.keysThere = Math.max(this.keysThere, count)
  }
}

/** Every second session reads from a replica, if there are any; the others share the other nodes. */
function seatFor(number: number, { nodes, proxies }: Equipment): Seat {
  const seats = nodes.map((node, i) => ({ node, proxy: proxies[i] ?? null }))
  const readers = seats.filter(({ node }) => node.isReader)
  const writers = seats.filter(({ node }) => !node.isReader)
  if (readers.length === 0) return writers[number % writers.length]!
  const some = number % 2 === 0 ? writers : readers
  return some[(number >> 1) % some.length]!
}
