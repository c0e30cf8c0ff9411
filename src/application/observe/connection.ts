// One connection of the application. Its statements pass through here, one after the other as the
// driver sends them anyway: each is understood, held up if a hook wishes, sent with more columns in
// its answer, and what came back is recorded before the application sees what it asked for. Main
// class: Connection.

import { Names } from './catalog.ts'
import { type Clause, clauseOf, type Unjudged } from './clause.ts'
import {
  type DriverClient,
  type DriverQuery,
  type DriverResult,
  isFromServer,
  type QueryClass,
} from './driver.ts'
import { hideColumns, movePosition, onAnswer, queryFrom } from './driver-query.ts'
import type { Hooks } from './hooks.ts'
import { PreparedNames } from './prepared.ts'
import { type Cells, findUnprobed, levelTold, type Probe, probeFor, readProbe } from './probe.ts'
import type { Ending, Recorder } from './recorder.ts'
import { type OnTable, type Shape, shapeOf } from './shape.ts'
import type { Table } from './table.ts'
import { Telling } from './telling.ts'
import type { Transaction } from './transaction.ts'
import { isGrouped, noteFunctions, witness } from './witness.ts'

/** What connections of one recording share. */
export interface Shared {
  readonly recorder: Recorder
  readonly hooks: Hooks
  /** Major version of the server; 0 while nobody has asked. */
  major: number
  /** Settles when the beginning of the recording is known. */
  ready: Promise<void> | null
  isReady: boolean
}

interface Job {
  readonly query: DriverQuery
  /** As the application gave them. */
  readonly name: string | undefined
  readonly asked: string
  /** What is asked of the server in its place, before columns are added. */
  readonly text: string
  readonly shape: Shape
  /** What hooks are told; null if there are none. */
  readonly telling: Telling | null
  readonly actor: string | undefined
  /** The columns that were added, as they came. */
  readonly cells: Cells[]
  probe: Probe | null
  table: Table | null
  /** When it was sent; -1: it was not. */
  sent: number
}

type Status = 'I' | 'T' | 'E' // idle, in a transaction, in one that has failed

export class Connection {
  private readonly queue: (() => void)[] = [] // what begins each statement that waits for its turn
  private isBusy = false
  private status: Status = 'I'
  private txn: Transaction | null = null
  /** Level of transactions that ask for none; null while it is not known. */
  private defaultLevel: string | null = null
  private readonly names: Names
  private readonly prepared: PreparedNames
  private readonly listener = (message: { status?: string }): void => {
    this.status = (message.status as Status | undefined) ?? this.status
  }

  private readonly onEnd = (): void => this.lost()

  constructor(
    readonly number: number,
    readonly client: DriverClient,
    private readonly Query: QueryClass,
    private readonly send: (...given: unknown[]) => unknown,
    private readonly shared: Shared,
  ) {
    this.names = new Names(shared.recorder.catalog)
    this.prepared = new PreparedNames(client)
    client.connection!.prependListener('readyForQuery', this.listener)
    client.once('end', this.onEnd)
  }

  stop(): void {
    this.client.connection?.removeListener('readyForQuery', this.listener)
    this.client.removeListener('end', this.onEnd)
  }

  get isInTransaction(): boolean {
    return this.status !== 'I'
  }

  /** As the driver's own `query`. */
  query(...given: unknown[]): unknown {
    const [config] = given
    if (config === null || config === undefined) return this.send(...given) // which throws
    const { hooks } = this.shared
    const actor = hooks.actor?.()
    const isNobody = hooks.actor !== undefined && actor === undefined
    const taken = queryFrom(this.Query, given)
    if (taken === null) {
      this.enqueue(() => this.passBy(given))
      return config
    }
    const { query, result } = taken
    if (query.callback && typeof query.callback !== 'function') return this.send(...given)
    const nobody = 'a statement of no actor'
    this.enqueue(() => (isNobody ? this.passOn(query, nobody) : this.start(query, actor)))
    return result
  }

  private enqueue(begin: () => void): void {
    this.queue.push(begin)
    if (!this.isBusy) this.next()
  }

  private next(): void {
    const begin = this.queue.shift()
    this.isBusy = begin !== undefined
    begin?.()
  }

  /** Cursors, streams, COPY: unrecorded. What comes behind them the driver itself holds back. */
  private passBy(given: readonly unknown[]): void {
    const own = given[0] as { text?: unknown; cursor?: { text?: unknown } }
    this.countPassed(own.text ?? own.cursor?.text, 'a cursor, a stream or COPY')
    try {
      this.send(...given)
    } finally {
      this.next()
    }
  }

  /** Statements that nobody asked for, or nobody can read: unrecorded. */
  private passOn(query: DriverQuery, reason: string): void {
    this.countPassed(query.text, reason)
    onAnswer(
      query,
      () => {},
      () => this.next(),
    )
    this.send(query)
  }

  private countPassed(text: unknown, reason: string): void {
    const shape = typeof text === 'string' ? shapeOf(text) : null
    if (shape?.effect !== 'nothing') this.countUnrecorded(shape, reason)
    if (shape !== null)
      this.names.follow(shape, shape.kind === 'commit' || shape.kind === 'rollback')
  }

  /** Counts a statement that is not recorded, with what it may have changed. */
  private countUnrecorded(shape: Shape | null, reason: string): void {
    const { skipped } = this.shared.recorder
    skipped.count(reason)
    if (shape === null || shape.effect === 'writes' || shape.effect === 'anything') {
      skipped.everything = true
    }
    if (shape !== null) noteFunctions(this.shared.recorder, shape)
  }

  /** Understands a statement whose turn it is, and has it sent as soon as that may be. */
  private start(query: DriverQuery, actor: string | undefined): void {
    const { hooks, isReady } = this.shared
    const { name } = query
    const asked = (!query.text && name ? this.prepared.textOf(name) : null) ?? query.text
    if (typeof asked !== 'string') return this.passOn(query, 'a statement without text')
    const text = hooks.rewrite?.(asked) ?? asked
    query.text = text
    const shape = shapeOf(text)
    const isWatched = hooks.before !== undefined || hooks.after !== undefined
    const told = { actor, client: this.number, text, values: query.values ?? [] }
    const telling = isWatched ? new Telling(told, shape) : null
    const found = { cells: [], probe: null, table: null, sent: -1 }
    const job: Job = { query, name, asked, text, shape, telling, actor, ...found }
    job.telling?.begin(this.client.processID ?? null, this.isInTransaction)
    if (!hooks.before && isReady && this.knows(job)) this.submit(job)
    else {
      this.prepare(job).then(
        () => this.submit(job),
        // What we ask failed: the application's own statement is sent as it is.
        () => this.submit(job, false),
      )
    }
  }

  private knows({ shape }: Job): boolean {
    const { catalog } = this.shared.recorder
    if (this.defaultLevel === null && this.status === 'I') return false
    if (this.status === 'E') return true
    const { on, functions } = shape
    if (functions.some((name) => catalog.traitsOf(name) === undefined)) return false
    return on === null || this.names.table(on.table.written) !== undefined
  }

  private async prepare(job: Job): Promise<void> {
    const { hooks, recorder } = this.shared
    if (job.telling) await hooks.before?.(job.telling.step)
    if (!this.shared.isReady) {
      this.shared.ready ??= this.askBeginning()
      await this.shared.ready
    }
    if (this.status === 'E') return
    if (this.defaultLevel === null && this.status === 'I') {
      const [row] = await this.ask("SELECT current_setting('default_transaction_isolation')")
      this.defaultLevel = row?.[0] ?? null
    }
    const { shape } = job
    const { catalog } = recorder
    const unknown = shape.functions.filter((name) => catalog.traitsOf(name) === undefined)
    if (unknown.length > 0) await catalog.askFunctions(unknown, (...asked) => this.ask(...asked))
    if (shape.on === null) return
    const name = shape.on.table.written
    if (this.names.table(name) === undefined) {
      await this.names.ask(name, (...asked) => this.ask(...asked))
    }
  }

  private async askBeginning(): Promise<void> {
    const { shared } = this
    const text = "SELECT current_setting('server_version_num'), pg_current_snapshot()::text"
    const [row] = await this.ask(text)
    shared.major = Math.floor(Number(row![0]) / 10_000)
    shared.recorder.restart(row![1]!)
    shared.isReady = true
  }

  /** Something of our own, between the application's statements. */
  ask(text: string, values: readonly string[] = []): Promise<(string | null)[][]> {
    const types = { getTypeParser: () => (cell: string) => cell }
    return new Promise((resolve, reject) => {
      const query = new this.Query({ text, values: [...values], rowMode: 'array', types })
      query.callback = (error, result) => {
        if (error) reject(error)
        else resolve((result as DriverResult).rows as (string | null)[][])
      }
      this.send(query)
    })
  }

  /** @param isKnown false: what it is could not be found out */
  private submit(job: Job, isKnown = true): void {
    const { recorder } = this.shared
    const { query, shape } = job
    onAnswer(
      query,
      (error, result) => this.finish(job, error ?? null, result as DriverResult | null),
      () => this.next(),
    )
    const refusal = query.name ? this.prepared.refuse(query.name, job.asked) : null
    if (refusal !== null) {
      process.nextTick(() => query.handleError(refusal, this.client.connection))
      return
    }
    const isWork = shape.kind === 'read' || shape.kind === 'write' || shape.effect !== 'nothing'
    const isStart = shape.kind === 'begin' && this.status === 'I'
    if (this.txn === null && (isWork || isStart)) this.begin(job, shape.level)
    job.sent = recorder.send()
    if (this.status !== 'E') {
      if (isKnown) this.arrange(job)
      else if (shape.effect !== 'nothing')
        this.countUnrecorded(shape, 'a table that cannot be asked about')
    }
    if (query.name && query.text !== job.asked) query.name = this.prepared.nameFor(query.text)
    this.send(query)
  }

  private begin({ actor }: { actor: string | undefined }, level: string | null): void {
    const session = actor ?? `connection ${this.number}`
    this.txn = this.shared.recorder.begin(session, level ?? this.defaultLevel)
  }

  /** Adds columns to the statement if what it does can be recorded. */
  private arrange(job: Job): void {
    const { recorder } = this.shared
    const { shape, query } = job
    if (shape.on === null) {
      if (shape.effect !== 'nothing') this.countUnrecorded(shape, shape.reason ?? 'a statement')
      else noteFunctions(recorder, shape)
      return
    }
    const table = this.names.table(shape.on.table.written) ?? null
    const { txn } = this
    const options = {
      major: this.shared.major,
      level: txn !== null && !txn.levelIsSure,
      snapshot: this.hasSnapshot,
      grouped: isGrouped(recorder.catalog, shape),
    }
    const problem =
      this.problemOf(table, shape.on, query) ??
      findUnprobed(shape, table!, options, recorder.catalog)
    if (problem !== null) return this.countUnrecorded(shape, problem)
    job.table = table
    const probe = probeFor(job.text, shape.on, table!, options)
    job.probe = probe
    query.text = probe.text
    hideColumns(query, probe, job.cells)
  }

  private get hasSnapshot(): boolean {
    const level = this.txn?.level ?? this.defaultLevel
    return level === 'repeatable read' || level === 'serializable'
  }

  private problemOf(table: Table | null, on: OnTable, query: DriverQuery): string | null {
    if (table === null) return `no table ${on.table.name}`
    if (table.problem !== null) return `${table.name}: ${table.problem}`
    if (query.binary) return 'binary results'
    return ['old', 'new'].includes(on.table.aliasName) ? 'a table that is called old or new' : null
  }

  private finish(job: Job, error: unknown, result: DriverResult | null): void {
    const { recorder, hooks } = this.shared
    const { shape, probe, query } = job
    if (job.name) this.prepared.note(job.name, job.asked, query, error === null)
    query.text = job.asked
    query.name = job.name
    // The server says how a failed statement left the transaction only after the error. Of an
    // answer that did not come it may say anything.
    if (isFromServer(error) && shape.kind !== 'commit' && this.status === 'T') this.status = 'E'
    else if (error !== null && shape.kind === 'commit') this.status = 'I'
    if (error !== null) this.failed(job, error)
    else if (probe !== null) this.record(job, probe, result!)
    else this.control(job)
    job.telling?.end(error, result, this.txn?.level ?? null)
    this.settle(job, error, result)
    if (job.sent >= 0) recorder.answered(job.sent)
    if (job.telling) hooks.after?.(job.telling.step)
  }

  private failed({ shape, probe, sent }: Job, error: unknown): void {
    if (sent < 0) return
    if (this.txn) this.txn.failed = true
    const lost = !isFromServer(error)
    // A statement by itself may have been done before its answer was lost.
    if (lost && shape.effect !== 'nothing') this.countUnrecorded(shape, 'an answer that was lost')
    if (probe !== null) movePosition(error, probe)
  }

  private record(job: Job, probe: Probe, result: DriverResult): void {
    const { recorder } = this.shared
    const { shape, table, cells } = job
    const txn = this.txn!
    const level = levelTold(probe, cells)
    if (level !== null) {
      txn.level = level
      txn.levelIsSure = true
    }
    const asked = job.telling === null ? null : this.askedClause(job)
    const skippedBefore = recorder.skipped.total
    const events = witness(recorder, {
      text: job.text,
      values: job.query.values ?? [],
      shape,
      on: shape.on!,
      table: table!,
      told: readProbe(probe, table!, cells),
      rowCount: result.rowCount ?? 0,
      grouped: probe.grouped,
      snapshot: this.hasSnapshot,
    })
    txn.events.push(...events)
    job.telling?.record(events, recorder, asked, recorder.skipped.total === skippedBefore)
  }

  /** The clause of a SELECT that takes some of its rows; null: events tell what it asked for. */
  private askedClause({ text, query, shape, table }: Job): Clause | Unjudged | null {
    const { on, words } = shape
    if (on!.limit === null && !on!.skipsLocked) return null
    const qualifiers = [on!.table.aliasName, on!.table.name]
    const values = query.values ?? []
    return clauseOf({ table: table!, text, words, where: on!.where, qualifiers, values })
  }

  /** Savepoints and settings. */
  private control({ shape, text }: Job): void {
    const { recorder } = this.shared
    const { txn } = this
    if (shape.savepoint !== null && txn !== null) {
      const { does, name } = shape.savepoint
      if (does === 'set') txn.setSavepoint(name)
      else if (does === 'release') txn.releaseSavepoint(name)
      else {
        // What a statement saw that failed, such as a key that was there, is not told.
        if (txn.failed) recorder.skipped.count('a statement that failed before ROLLBACK TO')
        recorder.undo(txn, name)
        this.names.takeBack()
        txn.failed = false
      }
    }
    if (shape.kind === 'set' && shape.level !== null) {
      if (this.status === 'I') recorder.warnings.push(this.strayLevel(shape.level))
      else if (txn !== null) txn.level = shape.level
    } else if (shape.several || shape.kind === 'set' || /^\s*(reset|discard)/i.test(text)) {
      // What it took back is not known.
      if (shape.several && shape.effect === 'anything' && txn !== null) txn.events.length = 0
      this.defaultLevel = null
    }
  }

  private strayLevel(level: string): string {
    return (
      `SET TRANSACTION ISOLATION LEVEL ${level.toUpperCase()} came outside of a transaction, ` +
      `on connection ${this.number}, and does nothing: send it after BEGIN on the same client`
    )
  }

  /** Ends the transaction if the statement did. */
  private settle({ shape, actor }: Job, error: unknown, result: DriverResult | null): void {
    const { recorder } = this.shared
    const ends = this.status === 'I' || shape.kind === 'commit' || shape.kind === 'rollback'
    this.names.follow(shape, ends)
    const { txn } = this
    if (txn !== null && ends) {
      recorder.end(txn, this.endingOf(shape, error, result))
      this.txn = null
    }
    // After AND CHAIN, which keeps the level, or several statements in one.
    const level = shape.several ? null : (txn?.level ?? null)
    if (this.txn === null && this.status === 'T') this.begin({ actor }, level)
  }

  private endingOf(shape: Shape, error: unknown, result: DriverResult | null): Ending {
    if (error !== null) {
      const isOpen = !isFromServer(error) && (shape.kind === 'commit' || shape.effect !== 'nothing')
      return isOpen ? 'indeterminate' : 'aborted'
    }
    const results = Array.isArray(result) ? (result as DriverResult[]) : [result!]
    // PREPARE TRANSACTION leaves the end to somebody else.
    if (results.some(({ command }) => command?.startsWith('PREPARE'))) return 'indeterminate'
    const isRolledBack = results.some(({ command }) => command === 'ROLLBACK')
    if (!isRolledBack) return 'committed'
    return this.txn!.failed || shape.kind === 'commit' ? 'aborted' : 'rolled-back'
  }

  /** The connection is gone, and with it what was not committed. */
  private lost(): void {
    if (this.isBusy) return
    if (this.txn !== null) this.shared.recorder.end(this.txn, 'aborted')
    this.txn = null
  }
}
