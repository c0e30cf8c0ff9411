// What one connection of the application asks, statement by statement, whoever carries it: the
// driver in this process (connection.ts) or a proxy (application/proxy). Each statement is
// understood, gets more columns if what it does can be recorded, and what came back is recorded.
// Main class: Session.

import { type Ask, Names } from './catalog.ts'
import { type Clause, clauseOf, type Unjudged } from './clause.ts'
import { type DriverResult, isFromServer } from './driver.ts'
import type { Hooks } from './hooks.ts'
import { joined, looksAtNothing } from './join/join-events.ts'
import { type JoinPlan, planJoin } from './join/join-plan.ts'
import { joinProbe } from './join/join-probe.ts'
import type { JoinShape } from './join/join-shape.ts'
import type { Ending } from './lines.ts'
import { type Cells, findUnprobed, levelTold, type Probe, probeFor, readProbe } from './probe.ts'
import type { Recorder } from './recorder.ts'
import { findMet } from './refusal.ts'
import type { TableRef } from './sections.ts'
import { type OnTable, type Shape, shapeOf, tablesIn } from './shape.ts'
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

/** How the columns of an answer come back. */
export type Format = 'text' | 'binary' | 'unreadable'

/** What the application asks for. */
export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
  readonly actor: string | undefined
  readonly format: Format
}

/** A statement on its way. */
export class Statement {
  readonly shape: Shape
  readonly actor: string | undefined
  readonly format: Format
  /** What is asked of the server, before columns are added. */
  readonly text: string
  values: readonly unknown[]
  /** The columns that were added, as they came. */
  readonly cells: Cells[] = []
  probe: Probe | null = null
  table: Table | null = null
  /** How the rows of a join were asked for. */
  plan: JoinPlan | null = null
  /** Whether more rows may be to come, which nobody has asked for yet. */
  isCut = false
  /** When it was sent; -1: it was not. */
  sent = -1

  constructor(
    asked: Asked,
    /** What hooks are told; null if there are none. */
    readonly telling: Telling | null,
  ) {
    this.text = asked.text
    this.values = asked.values
    this.actor = asked.actor
    this.format = asked.format
    this.shape = shapeOf(asked.text)
  }
}

/** Why a statement is not recorded of which the server tells nothing. */
export const NOT_TOLD = 'a table that cannot be asked about'
const CONNECTION = "SELECT current_setting('default_transaction_isolation'), pg_backend_pid()"

export type Status = 'I' | 'T' | 'E' // idle, in a transaction, in one that has failed

export class Session {
  /** As the server said last. */
  status: Status = 'I'
  private txn: Transaction | null = null
  /** Whether the transaction may have ended by a statement whose answer was lost. */
  private mayHaveEnded = false
  private isUnwatched = false
  /** Level of transactions that ask for none; null while it is not known. */
  private defaultLevel: string | null = null
  /** As the server numbers its processes: the one at the other end; null: not known. */
  serverProcess: number | null = null
  private readonly names: Names

  /** @param ask asks the server something of our own, between the application's statements */
  constructor(
    readonly number: number,
    private readonly shared: Shared,
    private readonly ask: Ask,
    /** Whether a row can be taken out of an answer. */
    private readonly mayAddRows: boolean,
  ) {
    this.names = new Names(shared.recorder.catalog)
  }

  get isInTransaction(): boolean {
    return this.status !== 'I'
  }

  /** Whose transaction is open; null: none is. */
  get openSession(): string | null {
    return (this.isInTransaction && this.txn?.session) || null
  }

  /** @param processId of the server's end of the connection; null: not known */
  statement(asked: Asked, processId: number | null): Statement {
    const { before, after } = this.shared.hooks
    const { actor, text, values } = asked
    const told = { actor, client: this.number, text, values }
    const telling = before || after ? new Telling(told, shapeOf(text)) : null
    telling?.begin(processId, this.isInTransaction)
    return new Statement(asked, telling)
  }

  /** A statement that passes by, which nobody can or shall record. */
  countPassed(text: unknown, reason: string): void {
    const shape = typeof text === 'string' ? shapeOf(text) : null
    if (shape?.effect !== 'nothing') this.countUnrecorded(shape, reason)
    if (shape !== null)
      this.names.follow(shape, shape.kind === 'commit' || shape.kind === 'rollback')
  }

  /** Counts a statement that is not recorded, with what it may have changed. */
  countUnrecorded(shape: Shape | null, reason: string): void {
    const { skipped } = this.shared.recorder
    skipped.count(reason)
    if (shape === null || shape.effect === 'writes' || shape.effect === 'anything') {
      skipped.everything = true
    }
    if (shape !== null) noteFunctions(this.shared.recorder, shape)
  }

  /** From now on nothing that it asks is recorded. */
  unwatch(reason: string): void {
    this.countUnrecorded(null, reason)
    this.isUnwatched = true
    this.shared.recorder.unwatched++
  }

  /** Whether nothing has to be asked or waited for before it can be sent. */
  isPrepared({ shape }: Statement): boolean {
    const { hooks, isReady, recorder } = this.shared
    if (hooks.before || !isReady) return false
    if (this.defaultLevel === null && this.status === 'I') return false
    if (this.status === 'E') return true
    if (shape.functions.some((name) => recorder.catalog.traitsOf(name) === undefined)) return false
    return tablesIn(shape).every(({ written }) => this.names.table(written) !== undefined)
  }

  /** Finds out what must be known of it; rejects if the server does not tell. */
  async prepare({ shape, telling }: Statement): Promise<void> {
    const { hooks, recorder } = this.shared
    if (telling) await hooks.before?.(telling.step)
    if (!this.shared.isReady) {
      this.shared.ready ??= this.askBeginning().catch((error) => {
        this.shared.ready = null // another connection may be luckier
        throw error
      })
      await this.shared.ready
    }
    if (this.status === 'E') return
    if (this.defaultLevel === null && this.status === 'I') {
      const [row] = await this.ask(CONNECTION)
      this.defaultLevel = row?.[0] ?? null
      this.serverProcess = row === undefined ? null : Number(row[1])
    }
    const { catalog } = recorder
    const unknown = shape.functions.filter((name) => catalog.traitsOf(name) === undefined)
    if (unknown.length > 0) await catalog.askFunctions(unknown, this.ask)
    for (const { written } of tablesIn(shape)) {
      if (this.names.table(written) === undefined) await this.names.ask(written, this.ask)
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

  /**
   * Begins a transaction if the statement does, and decides which columns are added.
   * @param reason why it cannot be recorded; null: it may be that it can
   */
  arrange(statement: Statement, reason: string | null): void {
    const { shape } = statement
    const isWork = shape.kind === 'read' || shape.kind === 'write' || shape.effect !== 'nothing'
    const isStart = shape.kind === 'begin' && this.status === 'I'
    if (this.txn === null && (isWork || isStart)) this.begin(statement.actor, shape.level)
    if (this.status === 'E') return
    if (reason === null) this.addColumns(statement)
    else if (shape.effect !== 'nothing') this.countUnrecorded(shape, reason)
  }

  /** Gives up recording a statement, whose added columns nobody will read. */
  abandon(statement: Statement, reason: string): void {
    statement.probe = null
    this.countUnrecorded(statement.shape, reason)
  }

  /** It is sent now. */
  send(statement: Statement): void {
    const { effect } = statement.shape
    statement.sent = this.shared.recorder.send(effect === 'writes' || effect === 'anything')
  }

  private begin(actor: string | undefined, level: string | null): void {
    const session = actor ?? `connection ${this.number}`
    this.txn = this.shared.recorder.begin(session, level ?? this.defaultLevel)
  }

  /** Adds columns to the statement if what it does can be recorded. */
  private addColumns(statement: Statement): void {
    const { recorder } = this.shared
    const { shape } = statement
    if (shape.join !== null && this.mayAddRows) return this.addJoin(statement, shape.join)
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
      asText: statement.format === 'binary',
    }
    const problem =
      this.unknownFunction(shape) ??
      this.problemOf(table, shape.on, statement) ??
      findUnprobed(shape, table!, options, recorder.catalog)
    if (problem !== null) return this.countUnrecorded(shape, problem)
    statement.table = table
    statement.probe = probeFor(statement.text, shape.on, table!, options)
  }

  /** Asks for the rows that a join depends on. */
  private addJoin(statement: Statement, join: JoinShape): void {
    const { shape, text, values } = statement
    if (looksAtNothing(join, values)) return noteFunctions(this.shared.recorder, shape)
    const tables = tablesIn(shape).map(({ written }) => this.names.table(written) ?? null)
    const problem =
      this.unknownFunction(shape) ??
      join.tables
        .map(({ ref }, i) => this.problemOfTable(tables[i]!, ref, statement))
        .find((each) => each !== null) ??
      // It goes on to rows that are newer than its snapshot.
      (join.locks && !this.hasSnapshot ? 'a join with FOR UPDATE at READ COMMITTED' : null)
    if (problem !== null) return this.countUnrecorded(shape, problem)
    statement.plan = planJoin({ text, words: shape.words, values, join, tables: tables as Table[] })
    statement.probe = joinProbe(text, join.end, statement.plan, this.txn?.levelIsSure === false)
  }

  private get hasSnapshot(): boolean {
    const level = this.txn?.level ?? this.defaultLevel
    return level === 'repeatable read' || level === 'serializable'
  }

  /** Another connection may have changed what there is since this one asked. */
  private unknownFunction({ functions }: Shape): string | null {
    const { catalog } = this.shared.recorder
    const unknown = functions.find((name) => catalog.traitsOf(name) === undefined)
    return unknown === undefined ? null : `the function ${unknown}, which is not known`
  }

  private problemOf(table: Table | null, on: OnTable, statement: Statement): string | null {
    const isOurs = ['old', 'new'].includes(on.table.aliasName)
    const problem = isOurs ? 'a table that is called old or new' : null
    return this.problemOfTable(table, on.table, statement) ?? problem
  }

  private problemOfTable(
    table: Table | null,
    { name }: TableRef,
    { format }: Statement,
  ): string | null {
    if (table === null) return `no table ${name}`
    if (table.problem !== null) return `${table.name}: ${table.problem}`
    return format === 'unreadable' ? 'binary results' : null
  }

  /** It was answered. `status` is what the server said after it, or before if it did not yet. */
  finish(statement: Statement, error: unknown, result: DriverResult | null): void {
    const { recorder, hooks } = this.shared
    const { shape, probe, telling } = statement
    // The server says how a failed statement left the transaction only after the error. Of an
    // answer that did not come it may say anything.
    if (isFromServer(error) && shape.kind !== 'commit' && this.status === 'T') this.status = 'E'
    else if (error !== null && shape.kind === 'commit') this.status = 'I'
    if (error !== null) this.failed(statement, error)
    else if (probe !== null) this.record(statement, probe, result!)
    else this.control(statement)
    telling?.end(error, result, this.txn?.level ?? null)
    this.settle(statement, error, result)
    if (statement.sent >= 0) recorder.answered(statement.sent)
    if (telling) hooks.after?.(telling.step)
  }

  private failed(statement: Statement, error: unknown): void {
    const { shape, sent } = statement
    if (sent < 0) return
    if (this.txn) {
      this.txn.failed = true
      if (!this.recordRefusal(statement, error, this.txn)) this.txn.isUntold = true
    }
    if (takesBack(shape)) this.dropEvents()
    const lost = !isFromServer(error)
    // A statement by itself may have been done before its answer was lost.
    if (lost && shape.effect !== 'nothing') this.countUnrecorded(shape, 'an answer that was lost')
    if (lost && shape.several) this.mayHaveEnded = true
  }

  /** An INSERT that failed because a row was there has seen that row. */
  private recordRefusal(statement: Statement, error: unknown, txn: Transaction): boolean {
    const { shape, table, sent, probe } = statement
    if (probe === null || table === null || shape.on?.verb !== 'insert' || shape.on.more)
      return false
    const met = findMet(this.shared.recorder, txn, table, error, sent)
    if (met !== null) txn.events.push(met)
    return met !== null
  }

  private record(statement: Statement, probe: Probe, result: DriverResult): void {
    const { recorder } = this.shared
    const { shape, table, cells, text, values, telling } = statement
    const txn = this.txn!
    const level = levelTold(probe, cells)
    if (level !== null) {
      txn.level = level
      txn.levelIsSure = true
    }
    const asked = telling === null || table === null ? null : askedClause(statement)
    const skippedBefore = recorder.skipped.total
    const events = statement.plan
      ? joined(recorder, statement, statement.plan, result.rowCount ?? 0)
      : witness(recorder, {
          text,
          values,
          shape,
          on: shape.on!,
          table: table!,
          told: readProbe(probe, table!, cells),
          rowCount: result.rowCount ?? 0,
          isCut: statement.isCut,
          grouped: probe.grouped,
          snapshot: this.hasSnapshot,
        })
    txn.events.push(...events)
    for (const event of events) if (event.write !== null) recorder.written.add(event.table)
    telling?.record(events, recorder, asked, recorder.skipped.total === skippedBefore)
  }

  /** Savepoints and settings. */
  private control({ shape, text }: Statement): void {
    const { recorder } = this.shared
    const { txn } = this
    if (shape.savepoint !== null && txn !== null) {
      const { does, name } = shape.savepoint
      if (does === 'set') txn.setSavepoint(name)
      else if (does === 'release') txn.releaseSavepoint(name)
      else {
        if (txn.isUntold) recorder.skipped.count('a statement that failed before ROLLBACK TO')
        recorder.undo(txn, name)
        this.names.takeBack()
        txn.failed = false
        txn.isUntold = false
      }
    }
    if (shape.kind === 'set' && shape.level !== null) {
      if (this.status === 'I') recorder.warnings.push(this.strayLevel(shape.level))
      else if (txn !== null) txn.level = shape.level
    } else if (shape.several || shape.kind === 'set' || /^\s*(reset|discard)/i.test(text)) {
      if (takesBack(shape)) this.dropEvents()
      this.defaultLevel = null
    }
  }

  /** What was taken back of them is not known. */
  private dropEvents(): void {
    if (this.txn !== null) this.shared.recorder.drop(this.txn)
  }

  private strayLevel(level: string): string {
    return (
      `SET TRANSACTION ISOLATION LEVEL ${level.toUpperCase()} came outside of a transaction, ` +
      `on connection ${this.number}, and does nothing: send it after BEGIN on the same client`
    )
  }

  /** Ends the transaction if the statement did. */
  private settle({ shape, actor }: Statement, error: unknown, result: DriverResult | null): void {
    const { recorder } = this.shared
    const ends =
      this.status === 'I' ||
      shape.kind === 'commit' ||
      shape.kind === 'rollback' ||
      (shape.endsAmong && (error !== null || endIn(result) !== undefined))
    this.names.follow(shape, ends)
    const { txn } = this
    if (txn !== null && ends) {
      recorder.end(txn, this.endingOf(shape, error, result))
      this.txn = null
    }
    // After AND CHAIN, which keeps the level, or several statements in one.
    const level = shape.several ? null : (txn?.level ?? null)
    if (this.txn === null && this.status === 'T') this.begin(actor, level)
  }

  private endingOf(shape: Shape, error: unknown, result: DriverResult | null): Ending {
    if (error !== null) {
      const isOpen = !isFromServer(error) && (shape.kind === 'commit' || shape.effect !== 'nothing')
      // By itself, it has done nothing but look.
      if (this.status === 'I' && this.hasOnlyLooked) return 'committed'
      // Among several nobody says whether the end came before the error.
      return isOpen || shape.endsAmong ? 'indeterminate' : 'aborted'
    }
    const end = endIn(result)
    // PREPARE TRANSACTION leaves the end to somebody else.
    if (end?.startsWith('PREPARE')) return 'indeterminate'
    if (end !== 'ROLLBACK') return 'committed'
    return this.txn!.failed || shape.kind === 'commit' ? 'aborted' : 'rolled-back'
  }

  private get hasOnlyLooked(): boolean {
    const { events } = this.txn!
    return events.length === 1 && events[0]!.kind === 'refused'
  }

  /** Something failed that was no statement yet, such as the values of one. */
  broke(): void {
    if (this.txn !== null) this.txn.failed = true
    if (this.status === 'T') this.status = 'E'
  }

  /**
   * The server has done all that was asked, and what ran outside of a transaction block has ended.
   * @param hasFailed whether it could not
   */
  synced(status: Status, hasFailed: boolean): void {
    if (hasFailed) this.broke()
    this.status = status
    if (status !== 'I' || this.txn === null) return
    this.shared.recorder.end(this.txn, this.txn.failed ? 'aborted' : 'committed')
    this.txn = null
    this.names.end()
  }

  /**
   * The connection is gone, and with it what was not committed.
   * @param mayHaveEnded whether the end of a transaction was asked for, and not answered
   */
  lost(mayHaveEnded = false): void {
    const isOpen = mayHaveEnded || this.mayHaveEnded
    if (this.txn !== null) this.shared.recorder.end(this.txn, isOpen ? 'indeterminate' : 'aborted')
    this.txn = null
    if (this.isUnwatched) this.shared.recorder.unwatched--
  }
}

/** Whether savepoints among several statements may have taken back some of what was done. */
function takesBack({ several, effect }: Shape): boolean {
  return several && effect === 'anything'
}

/** How the transaction ended that was open before: by the first of several that ends one. */
function endIn(result: DriverResult | null): string | undefined {
  const results = Array.isArray(result) ? (result as DriverResult[]) : [result!]
  return results
    .map(({ command }) => command ?? '')
    .find((command) => /^(COMMIT|ROLLBACK|PREPARE)/.test(command))
}

/** The clause of a SELECT that takes some of its rows; null: events tell what it asked for. */
function askedClause({ text, values, shape, table }: Statement): Clause | Unjudged | null {
  const { on, words } = shape
  if (on!.limit === null && on!.offset === null && !on!.skipsLocked) return null
  const qualifiers = [on!.table.aliasName, on!.table.name]
  return clauseOf({ table: table!, text, words, where: on!.where, qualifiers, values })
}
