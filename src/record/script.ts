// Plays a schedule (workload/schedules.ts) on a database, step by step, each transaction on a
// connection of its own, and records what it saw as a history like any other.
//
// A step is sent when the one before it was answered, or is known to wait: the server says so, it
// is never guessed from the time that has passed. What waits is left alone until somebody's
// transaction ends; meanwhile the others go on with their next steps. So the same schedule takes
// its course on any database, and whatever course it takes, what is recorded is what happened.
// Main function: playSchedule.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import type { StatusName } from '../history/history.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { LevelId } from '../levels/levels.ts'
import { add, deleteFrom, insert, type SqlStatement, select, update } from '../sql/statement.ts'
import { renderSqlValue } from '../sql/value.ts'
import type { PlayedStep } from '../verdict/conformance.ts'
import { REPLACE, UPDATE, UPSERT, type Way } from '../workload/plan.ts'
import { INITIAL_ROWS, type Schedule, type Step, stepsOf } from '../workload/schedules.ts'
import { type Connection, type Database, TransactionFailure } from './database.ts'
import { OpenTransaction, Recorder } from './recorder.ts'

export interface Played {
  readonly steps: readonly PlayedStep[]
  /** Transaction, from 1 -> how it ended. */
  readonly ends: readonly StatusName[]
}

export interface Stage {
  readonly database: Database
  readonly level: LevelId
  /** File for the history, which must not exist yet. */
  readonly path: string
  /** First of the keys that nobody has used yet: see keysOf. */
  readonly firstKey: number
  /** One for each transaction, used again for the next schedule; opened where one is missing. */
  readonly connections: Connection[]
  /** A transaction that is never answered is cut off after so long. */
  readonly patienceMs?: number
}

/** How a step gets its value into a row. */
const WAYS: Readonly<Record<string, Way>> = { write: UPDATE, put: UPSERT, replace: REPLACE }

const PATIENCE_MS = 30_000
/** How long an answer may take before the server is asked whether it waits. */
const SOON_MS = 3

/** Why a schedule makes no sense on a database; null if it does. */
export function whyNot(schedule: Schedule, { script }: Database): string | null {
  if (schedule.on === 'rows' && script === null) return 'it has no rows to be found by their values'
  if (schedule.needs === 'locks' && !script?.locksRows) return 'it has no SELECT … FOR UPDATE'
  if (schedule.needs === 'deferred-constraints' && !script?.defersConstraints) {
    return 'its constraints do not wait for COMMIT'
  }
  return null
}

/** The keys of a schedule: those that are there at first, and how many numbers it takes up. */
export function keysOf(schedule: Schedule): { there: string[]; absent: readonly string[] } {
  const named = new Set(stepsOf(schedule).flatMap((step) => ('key' in step ? [step.key] : [])))
  const absent = schedule.absent ?? []
  return { there: [...named].filter((key) => !absent.includes(key)), absent }
}

/** Where the transactions are played, by turns: on the nodes that can be written to. */
export function writersOf(database: Database): readonly Pick<Database, 'open'>[] {
  return database.nodes?.filter(({ isReader }) => !isReader) ?? [database]
}

/** Throws DatabaseError. */
export async function playSchedule(schedule: Schedule, stage: Stage): Promise<Played> {
  const { database, level } = stage
  const { there, absent } = keysOf(schedule)
  const keys = new Map([...there, ...absent].map((key, i) => [key, stage.firstKey + i]))
  const table = schedule.on === 'rows' ? tableOf(schedule, level) : null
  if (table !== null) {
    const uniqueAtCommit = schedule.needs === 'deferred-constraints' ? ['v'] : []
    const traits = { indexed: ['v'], uniqueAtCommit }
    await database.script!.addTable(table, INITIAL_ROWS, traits)
  }
  const declared = table === null ? null : { tables: [table], rows: [INITIAL_ROWS] }
  const about = { database: database.name, asked: level, workload: schedule.id }
  const recorder = new Recorder(stage.path, about, declared)
  try {
    const play = new Play(database, recorder, level, keys, table, stage.patienceMs ?? PATIENCE_MS)
    return await play.run(stepsOf(schedule), stage.connections)
  } finally {
    recorder.close()
  }
}

function tableOf({ id }: Schedule, level: LevelId): SqlTable {
  const columns = ['id', 'v'].map((name) => ({ name, type: 'integer' as const }))
  return { name: `${id}_${level}`.replaceAll('-', '_'), columns, keyColumns: [0] }
}

class Play {
  private readonly actors = new Map<number, Actor>() // by transaction
  private readonly played: Mutable<PlayedStep>[] = []
  private readonly writers = new Map<number, number>() // value, or number of a write -> transaction
  private endCount = 0 // transactions that have ended

  constructor(
    private readonly database: Database,
    private readonly recorder: Recorder,
    private readonly level: LevelId,
    private readonly keys: ReadonlyMap<string, number>,
    private readonly table: SqlTable | null, // null: it works on keys
    private readonly patienceMs: number,
  ) {}

  async run(steps: Step[], connections: Connection[]): Promise<Played> {
    const numbers = [...new Set(steps.map(({ txn }) => txn))].sort()
    const writers = writersOf(this.database)
    for (const txn of numbers) {
      if (connections[txn - 1]?.isLost ?? true) {
        connections[txn - 1] = await writers[(txn - 1) % writers.length]!.open()
      }
      this.actors.set(txn, new Actor(txn, connections[txn - 1]!))
    }
    while (steps.length > 0) {
      const next = await this.findSendable(steps)
      if (next < 0) {
        // Everybody waits for somebody else: the server will refuse one of them.
        await this.answered([...this.actors.values()].filter((actor) => actor.pending !== null))
        continue
      }
      const [step] = steps.splice(next, 1)
      this.send(step!)
      await this.settle(this.actors.get(step!.txn)!)
    }
    for (const actor of this.actors.values()) if (actor.pending) await this.answered([actor])
    return { steps: this.played, ends: numbers.map((txn) => this.actors.get(txn)!.end!) }
  }

  /** The first step whose transaction does not wait; -1 if there is none. */
  private async findSendable(steps: readonly Step[]): Promise<number> {
    for (;;) {
      const waiting = new Set<Actor>()
      for (const [i, { txn }] of steps.entries()) {
        const actor = this.actors.get(txn)!
        // An answer that has come since must not let a later step of it go first.
        if (waiting.has(actor)) continue
        if (actor.pending !== null) await this.settle(actor)
        if (actor.pending === null) return i
        waiting.add(actor)
      }
      if ([...waiting].every(({ pending }) => pending !== null)) return -1
    }
  }

  /** Waits until the actor has its answer, or is known to wait for somebody else. */
  private async settle(actor: Actor): Promise<void> {
    // Nobody has let go of anything since it was found to wait.
    if (actor.waitsSince === this.endCount) return
    const { script } = this.database
    if (script === null) return this.answered([actor])
    const endMs = performance.now() + this.patienceMs
    while (actor.pending !== null) {
      await Promise.race([actor.pending, pause(SOON_MS)])
      if (actor.pending === null) return
      // Whoever ends while the server is asked may be the one that it waits for.
      const { endCount } = this
      const isBlocked = await script.isBlocked(actor.connection)
      if (actor.pending === null) return
      if (isBlocked) {
        actor.waitsSince = endCount
        actor.current!.waited = true
        return
      }
      if (performance.now() > endMs) this.giveUp([actor])
    }
  }

  /** Waits for the answer of one of them. */
  private async answered(actors: readonly Actor[]): Promise<void> {
    const late = new Promise<'late'>((resolve) => {
      setTimeout(() => resolve('late'), this.patienceMs).unref()
    })
    const first = await Promise.race([...actors.map(({ pending }) => pending), late])
    if (first === 'late') this.giveUp(actors)
  }

  private giveUp(actors: readonly Actor[]): never {
    for (const { connection } of actors) connection.cut()
    throw new DatabaseError('a step of a schedule got no answer, though nobody was in its way')
  }

  private send(step: Step): void {
    const actor = this.actors.get(step.txn)!
    const { txn, text } = step
    const current = { txn, text, answer: '', waited: false }
    this.played.push(current)
    actor.current = current
    actor.waitsSince = -1
    const done = (answer: string) => {
      current.answer = answer
      actor.pending = null
    }
    if (actor.end !== null) return done('not sent: the transaction has ended')
    actor.pending = this.perform(actor, step)
      .catch((error) => this.fail(actor, error))
      .then(done)
    actor.pending.catch(() => {}) // whoever waits for it next is told
  }

  /** What came back. Throws TransactionFailure, DatabaseError. */
  private async perform(actor: Actor, step: Step): Promise<string> {
    const { connection, txn } = actor
    if (!actor.isBegun) {
      actor.isBegun = true
      this.recorder.begin(txn, actor.number, this.level)
      await connection.begin(this.level)
    }
    if (step.kind === 'begin') {
      await connection.sendBegin?.()
      return 'begun'
    }
    if (step.kind === 'commit') return this.commit(actor)
    if (step.kind === 'abort') {
      await connection.rollback()
      if (this.table !== null) txn.addAbort()
      this.recorder.aborted(txn)
      this.ended(actor, 'aborted')
      return 'rolled back'
    }
    return 'key' in step ? this.touchKey(actor, step) : this.touchRows(actor, step)
  }

  private async touchKey(actor: Actor, step: Step & { readonly key: string }): Promise<string> {
    const { connection, txn } = actor
    const key = this.keys.get(step.key)!
    if (step.kind === 'read' || step.kind === 'lock') {
      const rows = await (step.kind === 'lock' ? connection.lock(key) : connection.read(key))
      txn.addRead(step.key, rows)
      const [value = null] = rows
      return value === null ? `${step.key} as it was at first` : this.tell(step.key, Number(value))
    }
    const value = this.nextWrite(actor)
    txn.addWrite(step.key, value)
    const rowCount = await connection.write(key, value, WAYS[step.kind])
    if (rowCount === 0) txn.foundNoRow(step.key)
    return rowCount === 0 ? 'no row' : `${step.key} = ${value}`
  }

  private async touchRows(actor: Actor, step: Step): Promise<string> {
    const table = this.table!
    const statement = statementOf(table, step)
    const write = statement.kind === 'select' ? 0 : this.nextWrite(actor)
    if (statement.kind === 'insert') {
      actor.txn.addStatement(table, statement, write, { rows: [], from: [] })
      await actor.connection.run(table, statement, write)
      return 'done'
    }
    const answer = await actor.connection.run(table, statement, write)
    actor.txn.addStatement(table, statement, write, answer)
    const rows = answer.rows.map((row) => `(${row.map(renderSqlValue).join(', ')})`)
    return rows.length === 0 ? 'no rows' : rows.join(' ')
  }

  private async commit(actor: Actor): Promise<string> {
    this.recorder.pending(actor.txn)
    try {
      await actor.connection.commit()
      this.recorder.outcome(actor.txn, 'committed')
      this.ended(actor, 'committed')
      return 'committed'
    } catch (error) {
      if (!(error instanceof TransactionFailure)) throw error
      this.recorder.outcome(actor.txn, error.fate)
      this.ended(actor, error.fate)
      return `refused: ${error.message}`
    }
  }

  /** The database refused a statement, and the transaction with it. */
  private async fail(actor: Actor, error: unknown): Promise<string> {
    if (!(error instanceof TransactionFailure)) throw error
    this.recorder.aborted(actor.txn)
    await actor.connection.rollback().catch(() => actor.connection.cut())
    this.ended(actor, 'aborted')
    return `refused: ${error.message}`
  }

  private ended(actor: Actor, end: StatusName): void {
    actor.end = end
    this.endCount++
  }

  private nextWrite(actor: Actor): number {
    const write = this.writers.size + 1
    this.writers.set(write, actor.number)
    return write
  }

  private tell(key: string, value: number): string {
    const writer = this.writers.get(value)
    return `${key} = ${value}${writer === undefined ? '' : `, of T${writer}`}`
  }
}

function statementOf({ name }: SqlTable, step: Step): SqlStatement {
  if (step.kind === 'insert') return insert(name, step.row)
  if (step.kind === 'select') return select(name, step.where)
  if (step.kind === 'delete') return deleteFrom(name, step.where)
  if (step.kind !== 'update') throw new Error(`no statement: ${step.text}`)
  const v = typeof step.to === 'bigint' ? step.to : add(step.to.add)
  return update(name, { v }, step.where)
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

class Actor {
  readonly txn = new OpenTransaction()
  pending: Promise<void> | null = null // until the current step is answered
  current: Mutable<PlayedStep> | null = null
  waitsSince = -1 // how many transactions had ended when it was found to wait; -1: it does not
  isBegun = false
  end: StatusName | null = null

  constructor(
    readonly number: number,
    readonly connection: Connection,
  ) {}
}
