// One run of all actors on the real database, one statement at a time. Every statement is held up
// until it is its actor's turn. The next turn comes when the statement was answered, or the server
// says that it waits for another actor's: that is never guessed from the time that has passed. What
// waits is answered in the course of somebody else's turn. Main function: Play.run.

import { AsyncLocalStorage } from 'node:async_hooks'
import { nowMs } from '../../base/deadline.ts'
import { DatabaseError, UsageError } from '../../base/errors.ts'
import type { Hooks, Step } from '../observe/hooks.ts'
import type { Observer } from './observer.ts'

/** What an actor does; what it returns is of no interest, what it throws is noted. */
export type Actor = () => unknown

/** One turn: a statement that was let go, with whoever was answered before the next. */
export interface Turn {
  readonly actor: string
  readonly step: Step
  /** It had to wait for another actor. */
  waited: boolean
  /** Statements of others that were answered in this turn. */
  readonly woke: Turn[]
}

export interface Played {
  readonly turns: readonly Turn[]
  /** Actor -> what it threw; those that are not here ended well. */
  readonly errors: ReadonlyMap<string, unknown>
  /** How often an actor waited for something that is not the database. */
  readonly absences: number
}

/** An actor whose next statement can be let go. */
export interface Ready {
  readonly actor: string
  readonly step: Step
  /** Statements of the actor that have been let go so far. */
  readonly count: number
}

/** Whose turn it is: one of those that are ready. */
export type Choose = (ready: readonly Ready[], turn: number) => string

export interface PlayOptions {
  readonly observer: Observer
  /** How long nothing may happen. */
  readonly patienceMs: number
}

/** How long an answer may take before the server is asked whether the statement waits. */
const SOON_MS = 3
/** An actor that asks for nothing for so long waits for something else. */
const ABSENT_MS = 500
/** An actor that asks for more statements than this repeats itself for ever. */
const MAX_TURNS = 2_000

const current = new AsyncLocalStorage<{ readonly play: Play; readonly actor: string }>()

/** Whether the caller is an actor of a race. */
export function isInRace(): boolean {
  return current.getStore() !== undefined
}

interface Held {
  readonly turn: Turn
  readonly letGo: () => void
  readonly refuse: (error: Error) => void
  /** Let go and not answered: whether the server says that it waits. */
  isBlocked: boolean
}

class Player {
  readonly held: Held[] = [] // statements whose turn has not come
  readonly sent = new Set<Held>() // statements without an answer
  readonly processes = new Set<number>() // of the server, that it has used
  isDone = false
  isAbsent = false
  count = 0 // statements let go
  lastText = ''

  constructor(readonly name: string) {}

  /** Something of it is going on that will lead to a statement, an answer or its end. */
  get isBusy(): boolean {
    for (const held of this.sent) if (!held.isBlocked) return true
    return this.sent.size === 0 && this.held.length === 0 && !this.isDone && !this.isAbsent
  }
}

/** One run; what its hooks are told must come from the application's pool. */
export class Play {
  private readonly players: Map<string, Player>
  private readonly turns: Turn[] = []
  private readonly errors = new Map<string, unknown>()
  private readonly bySteps = new Map<Step, Held>()
  private refusal: Error | null = null // why nothing more may be asked for
  private absences = 0
  private changes = 0 // whatever happens is counted
  private wake: () => void = () => {}
  private lastChangeMs = nowMs()

  constructor(
    private readonly actors: ReadonlyMap<string, Actor>,
    private readonly choose: Choose,
    private readonly options: PlayOptions,
  ) {
    this.players = new Map([...actors.keys()].map((name) => [name, new Player(name)]))
  }

  readonly hooks: Hooks = {
    actor: () => {
      const store = current.getStore()
      return store?.play === this ? store.actor : undefined
    },
    before: (step) => this.hold(step),
    after: (step) => this.answered(step),
  }

  /** Throws UsageError, DatabaseError if it does not come to an end. */
  async run(): Promise<Played> {
    const { actors } = this
    const ends = [...actors].map(([name, actor]) => this.start(name, actor))
    try {
      for (;;) {
        await this.settle()
        const ready = [...this.players.values()].filter(({ held }) => held.length > 0)
        if (ready.length > 0) this.turn(ready)
        else if ([...this.players.values()].every(({ isDone }) => isDone)) break
        else await this.change(this.options.patienceMs)
      }
    } catch (error) {
      await this.giveUp(error as Error, ends)
      throw error
    }
    await Promise.all(ends)
    return { turns: this.turns, errors: this.errors, absences: this.absences }
  }

  private start(name: string, actor: Actor): Promise<void> {
    const player = this.players.get(name)!
    const act = async () => {
      try {
        await actor()
      } catch (error) {
        this.errors.set(name, error)
      }
      player.isDone = true
      this.changed()
    }
    return current.run({ play: this, actor: name }, act)
  }

  private hold(step: Step): Promise<void> {
    const player = this.players.get(step.actor ?? '')
    if (player === undefined) return Promise.resolve()
    if (this.refusal !== null) {
      // Cleaning up is allowed; whatever else is asked for is refused.
      return step.kind === 'rollback' ? Promise.resolve() : Promise.reject(this.refusal)
    }
    player.isAbsent = false
    player.lastText = step.text
    if (step.processId !== null) player.processes.add(step.processId)
    return new Promise((letGo, refuse) => {
      const turn: Turn = { actor: player.name, step, waited: false, woke: [] }
      player.held.push({ turn, letGo, refuse, isBlocked: false })
      this.changed()
    })
  }

  private answered(step: Step): void {
    const held = this.bySteps.get(step)
    if (held === undefined) return
    this.bySteps.delete(step)
    this.players.get(held.turn.actor)!.sent.delete(held)
    const last = this.turns.at(-1)!
    if (last !== held.turn) last.woke.push(held.turn)
    this.changed()
  }

  private turn(ready: readonly Player[]): void {
    if (this.turns.length >= MAX_TURNS) {
      throw new UsageError(`race: more than ${MAX_TURNS} statements in one run`, this.tellLast())
    }
    const offered = ready.map((player) => ({
      actor: player.name,
      step: player.held[0]!.turn.step,
      count: player.count,
    }))
    const player = this.players.get(this.choose(offered, this.turns.length))!
    const held = player.held.shift()!
    player.count++
    player.sent.add(held)
    this.bySteps.set(held.turn.step, held)
    this.turns.push(held.turn)
    held.letGo()
    // Whoever waited may go on because of this turn.
    for (const other of this.players.values()) for (const each of other.sent) each.isBlocked = false
  }

  /** Waits until everybody is ready, waits for somebody else, or is done. */
  private async settle(): Promise<void> {
    for (;;) {
      const busy = [...this.players.values()].filter(({ isBusy }) => isBusy)
      if (busy.length === 0) return
      const sent = busy.flatMap((player) => [...player.sent].filter((held) => !held.isBlocked))
      if (sent.length === 0) await this.awaitAbsent(busy)
      else if (await this.isQuiet(SOON_MS)) await this.askServer(sent)
    }
  }

  /** Nothing is asked of the database: wait for a while, then go on without those who are away. */
  private async awaitAbsent(busy: readonly Player[]): Promise<void> {
    if (!(await this.isQuiet(ABSENT_MS))) return
    for (const player of busy) {
      if (!player.isBusy) continue
      player.isAbsent = true
      this.absences++
    }
  }

  private async askServer(sent: readonly Held[]): Promise<void> {
    for (const held of sent) {
      const { processId } = held.turn.step
      if (processId === null || !this.bySteps.has(held.turn.step)) continue
      const blockers = await this.options.observer.blockersOf(processId)
      if (blockers.length === 0 || !this.bySteps.has(held.turn.step)) continue
      const ours = [...this.players.values()].some(({ processes }) =>
        blockers.some((blocker) => processes.has(blocker)),
      )
      if (!ours) {
        this.expectChange(
          `${held.turn.actor} waits for process ${blockers[0]} of the server, which is not in the race`,
          'end whatever else uses these tables',
        )
        continue
      }
      held.isBlocked = true
      held.turn.waited = true
    }
    this.expectChange('the server does not answer', this.tellLast())
  }

  private expectChange(what: string, hint: string): void {
    if (nowMs() - this.lastChangeMs < this.options.patienceMs) return
    throw new DatabaseError(
      `race: nothing happened for ${this.options.patienceMs} ms: ${what}`,
      hint,
    )
  }

  /** Whether nothing happens for so long. */
  private async isQuiet(ms: number): Promise<boolean> {
    const seen = this.changes
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    const happened = new Promise<void>((resolve) => {
      this.wake = resolve
    })
    await Promise.race([happened, waited])
    clearTimeout(timer)
    return seen === this.changes
  }

  /** Nobody can be let go: somebody's waiting must end by itself, as a deadlock does. */
  private async change(ms: number): Promise<void> {
    if (!(await this.isQuiet(ms))) return
    const open = [...this.players.values()].filter(({ isDone }) => !isDone)
    const names = open.map(({ name }) => name).join(' and ')
    const waits = open.some(({ sent }) => sent.size > 0)
    throw new UsageError(
      waits
        ? `race: ${names} did not end: nothing happened for ${ms} ms`
        : `race: ${names} did not end: for ${ms} ms nothing was asked of the database`,
      `an actor must end by itself; if it waits for a connection, the pool is too small for it. ${this.tellLast()}`,
    )
  }

  private tellLast(): string {
    const open = [...this.players.values()].filter(({ isDone }) => !isDone)
    return open.map(({ name, lastText }) => `last of ${name}: ${lastText || 'nothing'}`).join('; ')
  }

  /** Ends what can be ended, so that no connection is left with an open transaction. */
  private async giveUp(error: Error, ends: readonly Promise<void>[]): Promise<void> {
    this.refusal = new Error(`the race was given up: ${error.message}`)
    for (const { held } of this.players.values()) {
      for (const each of held.splice(0)) each.refuse(this.refusal)
    }
    for (const { sent } of this.players.values()) {
      for (const { turn } of sent) {
        if (turn.step.processId !== null) await this.options.observer.cancel(turn.step.processId)
      }
    }
    const late = new Promise<void>((resolve) => setTimeout(resolve, ABSENT_MS).unref())
    await Promise.race([Promise.all(ends), late])
    for (const { isDone, processes } of this.players.values()) {
      if (!isDone) for (const process of processes) await this.options.observer.terminate(process)
    }
  }

  private changed(): void {
    this.changes++
    this.lastChangeMs = nowMs()
    this.wake()
  }
}
