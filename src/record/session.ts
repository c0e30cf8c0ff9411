// One session of a run: a client that runs transactions one after another and records what it saw.
//
// The rules of recording, all here: the start is taken before BEGIN is sent, the finish after the
// answer to COMMIT; writes are noted before they are sent, reads when their answer came, and so
// statements that find their rows themselves: one that fails ends its transaction. The pending line
// is in the file before COMMIT is sent. After a transaction of unknown outcome the session goes on
// under a new id: whoever does not know how it ended must not claim that it comes before the next.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import type { StatusName } from '../history/history.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlStatement } from '../sql/statement.ts'
import type { SqlRow } from '../sql/value.ts'
import type { Way } from '../workload/plan.ts'
import type { Numbers, Places } from './among-threads.ts'
import type { UsedKeys } from './audit.ts'
import { type Connection, type Node, TransactionFailure } from './database.ts'
import type { FaultProxy } from './fault-proxy.ts'
import { type CutPoint, drawCut, type FaultPlan } from './faults.ts'
import { openPatiently } from './patience.ts'
import { OpenTransaction, type Recorder } from './recorder.ts'
import type { Rest } from './rest.ts'
import { type Operations, readingOnly, type Work } from './work.ts'

/** About as long as a transaction takes beside others. */
const MOST_REST_MS = 5

/** What all sessions of a thread share. */
export interface RunContext {
  readonly recorder: Recorder
  /** What transactions ask for that have no level of their own. */
  readonly level: LevelId
  readonly work: Work
  /** Each transaction is one operation without BEGIN and COMMIT (compare-and-set). */
  readonly isLightweight: boolean
  readonly faults: FaultPlan
  /** How many sessions the run has. */
  readonly sessions: number
  /** For sessions whose transaction stays open. */
  readonly resting: Places
  /** How long the database may stay away before a session gives up. */
  readonly patienceMs: number
  readonly tally: Tally
  readonly values: Numbers
  /** Ids for sessions that go on under a new one. */
  readonly sessionIds: Numbers
  /** Holds transactions back while an audit is due. */
  readonly rest: Rest
  readonly used: UsedKeys
  /** True once nothing new is to be begun. */
  isStopping(): boolean
  /** Creates keys on first need; null if they are there. */
  ensureKeys(count: number): Promise<void> | null
  /** A connection was lost, and not by us: the server may have crashed. */
  noteLoss(): void
}

/** Recorded transactions, by how they ended. */
export interface Tally {
  committed: number
  aborted: number
  indeterminate: number
  /** Why transactions failed: code (or a few words) -> how often. */
  readonly failures: Map<string, number>
}

/** Where a session works, always the same. */
export interface Seat {
  readonly node: Node
  /** Between the session and the node, if there is one. */
  readonly proxy: FaultProxy | null
}

export class Session implements Operations {
  /** When the session began to wait for the database, NaN while it does not. */
  waitingSinceMs = Number.NaN
  private readonly txn = new OpenTransaction()
  private readonly operations: Operations // what its transactions may do
  private id: number
  private connection: Connection | null = null
  private isCut = false // by us: by a fault, or because it took too long
  private cutAfterOps = -1 // operations until the connection is cut, negative for never
  private pauseAfterOps = -1 // operations until the transaction rests, negative for never

  constructor(
    private readonly context: RunContext,
    private readonly number: number,
    private readonly random: Random,
    private readonly seat: Seat,
  ) {
    this.operations = seat.node.isReader ? readingOnly(this) : this
    this.id = number
  }

  /** Opens the first connection; unlike later ones, it must succeed at once. */
  async open(signal: AbortSignal): Promise<void> {
    this.connection = await this.seat.node.open(signal)
  }

  async close(): Promise<void> {
    await this.connection?.close()
  }

  /** Drops the connection; whatever the session waits for fails. */
  cut(): void {
    this.isCut = true
    this.connection?.cut()
  }

  /** Runs the current transaction of the work once. Null if it is over without having failed. */
  async runTransaction(): Promise<StatusName | null> {
    const { context } = this
    // What is there need not be awaited, which would take its time at every transaction.
    const keys = context.ensureKeys(context.work.keysNeeded(this.number))
    if (keys !== null) await keys
    if (!this.isConnected && !(await this.reconnect())) return null
    if (!context.rest.enter()) await context.rest.enterLater()
    this.waitingSinceMs = performance.now()
    try {
      return context.isLightweight ? await this.runLightweight() : await this.runOnce()
    } finally {
      this.waitingSinceMs = Number.NaN
      this.noteLoss()
      context.rest.leave()
    }
  }

  /** A connection that was lost, and not by us, may mean that the server crashed. */
  private noteLoss(): void {
    if (this.connection?.isLost && !this.isCut) this.context.noteLoss()
  }

  async read(key: number): Promise<Value> {
    if (this.begin(key, false)) await this.strike()
    const rows = await this.connection!.read(key)
    this.txn.addRead(key, rows)
    return rows[0] ?? null
  }

  async readList(key: number): Promise<Value[]> {
    if (this.begin(key, true)) await this.strike()
    const rows = await this.connection!.readList(key)
    this.txn.addReadList(key, rows)
    return [...(rows[0] ?? [])]
  }

  async write(key: number, way?: Way): Promise<void> {
    if (this.begin(key, false)) await this.strike()
    const value = this.context.values.next()
    this.txn.addWrite(key, value)
    const rowCount = await this.connection!.write(key, value, way)
    if (rowCount === 0) this.txn.foundNoRow(key)
    else if (rowCount > 1) await this.read(key)
  }

  async append(key: number): Promise<void> {
    if (this.begin(key, true)) await this.strike()
    const value = this.context.values.next()
    this.txn.addAppend(key, value)
    const rowCount = await this.connection!.append(key, value)
    if (rowCount === 0) this.txn.foundNoRow(key)
    else if (rowCount > 1) await this.readList(key)
  }

  async rest(): Promise<void> {
    if (this.connection!.rest) return this.connection!.rest()
    const ms = this.random.unit() * MOST_REST_MS
    await pause(ms)
  }

  async run(table: SqlTable, statement: SqlStatement): Promise<readonly SqlRow[]> {
    if (this.isTroubled) await this.strike()
    const write = statement.kind === 'select' ? 0 : this.context.values.next()
    if (statement.kind === 'insert') {
      this.txn.addStatement(table, statement, write, { rows: [], from: [] })
      await this.connection!.run(table, statement, write)
      return []
    }
    const answer = await this.connection!.run(table, statement, write)
    this.txn.addStatement(table, statement, write, answer)
    return answer.rows
  }

  private async runOnce(): Promise<StatusName | null> {
    const { recorder, work } = this.context
    const { txn } = this
    const level = work.level(this.number) ?? this.context.level
    const connection = this.connection!
    const cut = this.drawCut()
    recorder.begin(txn, this.id, level)
    let ending: 'commit' | 'abort'
    try {
      await connection.begin(level)
      ending = await work.perform(this.number, this.operations)
    } catch (error) {
      recorder.aborted(txn)
      this.context.tally.aborted++
      this.note(error)
      await connection.rollback().catch(() => connection.cut())
      return 'aborted'
    }
    if (ending === 'abort') return this.rollBack()
    return this.finish(cut, () => connection.commit())
  }

  /** On purpose, so there is nothing to try again. Whatever the answer, COMMIT was never sent. */
  private async rollBack(): Promise<null> {
    this.txn.addAbort()
    await this.connection!.rollback().catch(() => this.connection!.cut())
    this.context.recorder.aborted(this.txn)
    this.context.tally.aborted++
    this.count('on purpose')
    return null
  }

  /** Reads a key, or reads and then replaces what was read: two transactions of their own. */
  private async runLightweight(): Promise<StatusName> {
    const { recorder, level, work } = this.context
    const { txn } = this
    const connection = this.connection!
    const cut = this.drawCut()
    let seen: Value = null
    let last: StatusName = 'committed'
    const alone: Operations = {
      read: async (key) => {
        this.context.used.note(key, false)
        recorder.begin(txn, this.id, level)
        const rows = await connection.get(key, level)
        seen = rows[0] ?? null
        txn.addRead(key, rows)
        last = await this.finish(null, async () => {})
        return seen
      },
      write: async (key) => {
        const value = this.context.values.next()
        recorder.begin(txn, this.id, level)
        txn.addRead(key, [seen])
        txn.addWrite(key, value)
        last = await this.finish(cut, async () => {
          const rowCount = await connection.cas(key, seen, value, level)
          if (rowCount > 0) return
          throw new TransactionFailure('aborted', 'the value had changed', 'changed')
        })
      },
      readList: () => Promise.reject(new DatabaseError('lightweight transactions have no lists')),
      append: () => Promise.reject(new DatabaseError('lightweight transactions have no lists')),
      run: () => Promise.reject(new DatabaseError('lightweight transactions have no statements')),
      rest: () => this.rest(),
    }
    try {
      await work.perform(this.number, alone)
    } catch (error) {
      // A read that failed saw nothing: there is nothing to record.
      this.note(error)
      return 'aborted'
    }
    return last
  }

  /** Sends what makes the transaction take effect, and records how it ended. */
  private async finish(cut: CutPoint | null, commit: () => Promise<void>): Promise<StatusName> {
    const { recorder } = this.context
    const { txn } = this
    recorder.pending(txn)
    if (cut !== null && this.seat.proxy?.arm(this.connection!.localPort, cut)) this.isCut = true
    try {
      await commit()
      recorder.outcome(txn, 'committed')
      this.context.tally.committed++
      return 'committed'
    } catch (error) {
      const fate = error instanceof TransactionFailure ? error.fate : 'indeterminate'
      recorder.outcome(txn, fate)
      this.context.tally[fate]++
      if (fate === 'indeterminate') this.id = this.context.sessionIds.next()
      this.note(error)
      return fate
    }
  }

  private drawCut(): CutPoint | null {
    const { faults, work } = this.context
    const cut = drawCut(faults, this.random)
    this.cutAfterOps = cut === 'work' ? this.random.below(work.opCount(this.number)) : -1
    const { pause } = faults
    // Between two operations: behind the first one at the earliest.
    const opCount = work.opCount(this.number)
    const rests = pause !== null && opCount > 1 && this.random.chance(pause.share)
    this.pauseAfterOps = rests ? 1 + this.random.below(opCount - 1) : -1
    return cut
  }

  /** An operation on a key begins. Whether something may come in between before it does. */
  private begin(key: number, isList: boolean): boolean {
    this.context.used.note(key, isList)
    return this.isTroubled
  }

  /** Whether a fault was drawn for the transaction that has not struck yet. */
  private get isTroubled(): boolean {
    return this.pauseAfterOps >= 0 || this.cutAfterOps >= 0
  }

  /** An operation more: the fault strikes if it is due. */
  private async strike(): Promise<void> {
    if (this.pauseAfterOps >= 0 && this.pauseAfterOps-- === 0) await this.pause()
    if (this.cutAfterOps >= 0 && this.cutAfterOps-- === 0) {
      if (this.seat.proxy?.cut(this.connection!.localPort)) this.isCut = true
    }
  }

  /**
   * The transaction stays open and does nothing, but no longer than the run. No larger share of the
   * sessions does so at once: the others have to get on meanwhile.
   */
  private async pause(): Promise<void> {
    const { resting, sessions, isStopping } = this.context
    if (isStopping()) return
    const { ms: pauseMs, share } = this.context.faults.pause!
    if (!resting.take(Math.max(1, Math.round(share * sessions)))) return
    this.context.recorder.mark(`a transaction stays open for ${pauseMs / 1000} s`)
    const endMs = performance.now() + pauseMs
    for (let leftMs = 1; leftMs > 0 && !isStopping(); ) {
      leftMs = endMs - performance.now()
      await pause(Math.min(100, Math.max(0, leftMs)))
    }
    resting.leave()
  }

  /** Counts a failed transaction. What is not about one transaction is passed on. */
  private note(error: unknown): void {
    if (!(error instanceof TransactionFailure)) throw error
    this.count(error.code ?? 'connection lost')
  }

  private count(why: string): void {
    const { failures } = this.context.tally
    failures.set(why, (failures.get(why) ?? 0) + 1)
  }

  private get isConnected(): boolean {
    return this.connection !== null && !this.connection.isLost
  }

  /** Waits for a new connection. False if the run ends before there is one. */
  private async reconnect(): Promise<boolean> {
    this.noteLoss()
    this.connection?.cut()
    this.connection = null
    this.isCut = false
    const { patienceMs, isStopping } = this.context
    this.connection = await openPatiently(this.seat.node, patienceMs, isStopping)
    return this.connection !== null
  }
}
