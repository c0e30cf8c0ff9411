// Runs programs of SQL transactions against the store, one statement of one session at a time, in
// an order drawn from one seed: the same seed gives the same execution. Transactions abort where
// the level or the program demands it, or at random; of some commits the client never hears, and
// about half of those took effect. Main function: simulateSql.

import { assert, UsageError } from '../../base/errors.ts'
import { Random } from '../../base/random.ts'
import { ABORTED, COMMITTED, INDETERMINATE, NONE } from '../../history/history.ts'
import { CHAIN } from '../../levels/levels.ts'
import type { SqlStatement, SqlSteps } from '../../sql/statement.ts'
import { type PlacedScript, placeScripts } from '../placement.ts'
import { checkShares, type RunOptions } from '../simulate.ts'
import { type SqlFaultRequest, type SqlScript, sqlScriptOf } from './faults.ts'
import type { RanStatement, RanTxn, SqlExecution, SqlProgram, SqlStrike } from './program.ts'
import { type Mischief, SqlStore } from './store.ts'
import { runSqlStrike, type SqlWorld } from './strike.ts'

export interface SqlSimOptions extends RunOptions {
  /** Whether statements also say which versions they passed over: full histories. */
  readonly full: boolean
  readonly faults: readonly SqlFaultRequest[]
}

/** Statements after which a transaction that is rolled back at random has been, at the latest. */
const MOST_BEFORE_ABORT = 8

export function simulateSql(program: SqlProgram, given: Partial<SqlSimOptions> = {}): SqlExecution {
  const options: SqlSimOptions = {
    seed: 1,
    aborts: 0,
    indeterminates: 0,
    conflicts: 'retry',
    concurrency: 1,
    lag: 0,
    full: false,
    faults: [],
    ...given,
  }
  checkShares(options)
  for (const { fault } of options.faults) {
    if (CHAIN.indexOf(program.strongLevel) < CHAIN.indexOf(fault.forbiddenFrom)) {
      throw new UsageError(
        `${fault.name} is no fault where all transactions ask for ${program.strongLevel}`,
        `it is forbidden from ${fault.forbiddenFrom} on: let some ask for that`,
      )
    }
    const { length } = fault.sessions
    if (program.sessionCount < length) {
      const message = `${fault.name} needs ${length} sessions, and there are ${program.sessionCount}`
      throw new UsageError(message, 'ask for more sessions')
    }
  }
  return new SqlSimulation(program, options).run()
}

/** A transaction that a session is in. */
interface Attempt {
  readonly txn: number
  readonly steps: SqlSteps
  next: IteratorResult<SqlStatement, 'commit' | 'abort'>
  readonly statements: RanStatement[]
  /** Rolled back before the statement of this number; NONE if it is left alone. */
  readonly abortAt: number
}

class SqlSimulation implements SqlWorld {
  readonly random: Random
  private readonly store: SqlStore
  private readonly sessionTxns: Int32Array[] // session -> its transactions
  private readonly active: number[] = [] // sessions that can take a step
  private readonly attempts: (Attempt | null)[] // session -> the transaction it is in
  private readonly cursor: Int32Array // session -> how many of its transactions have ended
  private readonly txnStart: Float64Array // txn -> step in which its first attempt began
  private readonly txns: RanTxn[] = [] // txn -> what became of it
  private readonly ended: number[] = []
  private readonly maxOpen: number
  private openCount = 0
  private step = 0

  private readonly strikes: PlacedScript<SqlScript>[]
  private readonly txnStrike: Int32Array // txn -> strike that its session must wait for
  private readonly missing: Int32Array // strike -> sessions that have not come to it yet
  private readonly struck: SqlStrike[] = []
  private readonly strikeStatements = new Map<number, RanStatement[]>() // txn -> its own
  private freshCount = 0n

  constructor(
    private readonly program: SqlProgram,
    private readonly options: SqlSimOptions,
  ) {
    const { sessionCount, tasks } = program
    const random = new Random(options.seed)
    this.random = random.fork(1)
    const own = Array.from({ length: sessionCount }, (): number[] => [])
    for (const [txn, task] of tasks.entries()) own[task.session]!.push(txn)
    this.sessionTxns = own.map((txns) => Int32Array.from(txns))
    const scripts = options.faults.flatMap(({ fault, count }) =>
      Array.from({ length: count }, () => sqlScriptOf(fault)),
    )
    this.strikes = placeScripts(scripts, this.sessionTxns, random.fork(2))
    this.txnStrike = new Int32Array(tasks.length).fill(NONE)
    this.strikes.forEach(({ txns }, i) => {
      for (const txn of txns) this.txnStrike[txn] = i
    })
    this.missing = Int32Array.from(this.strikes, (strike) => strike.sessions.length)
    this.store = new SqlStore(program, options.lag, options.full, random.fork(3))
    this.attempts = new Array<Attempt | null>(sessionCount).fill(null)
    this.cursor = new Int32Array(sessionCount)
    this.txnStart = new Float64Array(tasks.length).fill(Number.NaN)
    this.maxOpen = Math.max(1, Math.round(sessionCount * options.concurrency))
  }

  run(): SqlExecution {
    const { program, active } = this
    for (let session = 0; session < program.sessionCount; session++) {
      if (this.hasMore(session)) active.push(session)
    }
    while (active.length > 0) {
      const place = this.random.below(active.length)
      const session = active[place]!
      const attempt = this.attempts[session]
      if (!attempt && this.openCount >= this.maxOpen) continue
      this.step++
      if (!attempt) this.open(session, place)
      else if (!attempt.next.done && attempt.statements.length !== attempt.abortAt) {
        this.runNext(session, attempt, attempt.next.value)
      } else {
        this.close(session, attempt)
        if (!this.hasMore(session)) this.deactivate(place)
      }
    }
    assert(this.ended.length === program.tasks.length, 'every transaction has ended')
    return {
      sessionCount: program.sessionCount,
      tables: program.tables,
      rows: program.rows,
      stored: this.store.tables.map((table) => table.rows),
      txns: this.txns,
      ended: this.ended,
      strikes: this.struck,
    }
  }

  private hasMore(session: number): boolean {
    return this.cursor[session]! < this.sessionTxns[session]!.length
  }

  private deactivate(place: number): void {
    const last = this.active.pop()!
    if (place < this.active.length) this.active[place] = last
  }

  private open(session: number, place: number): void {
    const txn = this.sessionTxns[session]![this.cursor[session]!]!
    if (this.txnStrike[txn] !== NONE) {
      this.deactivate(place)
      this.arrive(this.txnStrike[txn]!)
      return
    }
    const task = this.program.tasks[txn]!
    const { aborts } = this.options
    const isAborted = aborts > 0 && this.random.chance(aborts)
    const abortAt = isAborted ? 1 + this.random.below(MOST_BEFORE_ABORT) : NONE
    if (Number.isNaN(this.txnStart[txn])) this.txnStart[txn] = this.step
    this.openCount++
    this.store.begin(session, task.level)
    const steps = task.start()
    this.attempts[session] = { txn, steps, next: steps.next(), statements: [], abortAt }
  }

  private runNext(session: number, attempt: Attempt, statement: SqlStatement): void {
    const { ran, rows } = this.store.run(session, statement)
    attempt.statements.push(ran)
    attempt.next = attempt.steps.next(rows)
  }

  private close(session: number, attempt: Attempt): void {
    const { txn, next, statements, abortAt } = attempt
    this.attempts[session] = null
    this.openCount--
    const { store, random, options } = this
    let status = COMMITTED
    let place = Number.NaN
    if (abortAt !== NONE || (next.done && next.value === 'abort')) {
      status = ABORTED
      place = store.abandon(session)
    } else if (random.chance(options.indeterminates)) {
      status = INDETERMINATE
      place = random.chance(0.5) ? store.commit(session) : store.rollback(session)
    } else {
      place = store.commit(session)
      if (Number.isNaN(place)) {
        if (options.conflicts === 'retry') return
        status = ABORTED
      }
    }
    this.cursor[session]!++
    this.recordEnd(txn, status, place, statements)
  }

  private recordEnd(
    txn: number,
    status: number,
    place: number,
    statements: readonly RanStatement[],
  ): void {
    const { session, level } = this.program.tasks[txn]!
    this.txns[txn] = {
      session,
      level: this.txnStrike[txn] === NONE ? level : this.program.strongLevel,
      status,
      rolledBack: status === ABORTED && !Number.isNaN(place),
      place,
      statements,
      start: this.txnStart[txn]!,
      finish: status === INDETERMINATE ? Number.NaN : this.step,
    }
    this.ended.push(txn)
  }

  /** A session has come to a strike; the last one sets it off, and all go on. */
  private arrive(index: number): void {
    if (--this.missing[index]! > 0) return
    const strike = this.strikes[index]!
    for (const session of strike.sessions) this.store.settle(session)
    const rows = runSqlStrike(this, strike)
    this.struck.push({ fault: strike.script.fault.name, txns: strike.txns, rows })
    strike.sessions.forEach((session, i) => {
      this.cursor[session]! += strike.script.sessionTxns[i]!.length
      if (this.hasMore(session)) this.active.push(session)
    })
  }

  get tables() {
    return this.store.tables
  }

  freshNumber(): bigint {
    return this.freshCount++
  }

  begin(txn: number): void {
    const { session } = this.program.tasks[txn]!
    this.txnStart[txn] = ++this.step
    this.strikeStatements.set(txn, [])
    this.store.settle(session)
    this.store.begin(session, this.program.strongLevel)
  }

  runStatement(txn: number, statement: SqlStatement, mischief: Mischief = {}): void {
    this.step++
    const { ran } = this.store.run(this.program.tasks[txn]!.session, statement, mischief)
    this.strikeStatements.get(txn)!.push(ran)
  }

  install(txn: number): void {
    this.step++
    const place = this.store.install(this.program.tasks[txn]!.session)
    this.recordEnd(txn, COMMITTED, place, this.strikeStatements.get(txn)!)
  }
}
