// Runs a plan of SQL transactions against the simulated store of rows, one statement a step; the
// loop is that of schedule.ts. Main function: simulateSql.

import { UsageError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { ABORTED, COMMITTED, NONE } from '../../history/history.ts'
import { CHAIN } from '../../levels/levels.ts'
import type { SqlStatement, SqlSteps } from '../../sql/statement.ts'
import type { SqlPlan } from '../../workload/sql/plan.ts'
import { type PlacedScript, repeatScripts } from '../placement.ts'
import { RUN_DEFAULTS, type RunOptions, Schedule, type Transactions } from '../schedule.ts'
import type { RanStatement, RanTxn, SqlExecution, SqlStrike } from './execution.ts'
import { type SqlFaultRequest, type SqlScript, sqlScriptOf } from './faults.ts'
import { type Mischief, SqlStore } from './store.ts'
import { type SqlWorld, StrikeRun } from './strike.ts'

export interface SqlSimOptions extends RunOptions {
  /** Whether statements also say which versions they passed over: full histories. */
  readonly full: boolean
  readonly faults: readonly SqlFaultRequest[]
}

/** Statements after which a transaction that is rolled back at random has been, at the latest. */
const MOST_BEFORE_ABORT = 8

export function simulateSql(plan: SqlPlan, given: Partial<SqlSimOptions> = {}): SqlExecution {
  const options = { ...RUN_DEFAULTS, lag: 0, full: false, faults: [], ...given }
  for (const { fault } of options.faults) {
    if (CHAIN.indexOf(plan.strongLevel) < CHAIN.indexOf(fault.forbiddenFrom)) {
      throw new UsageError(
        `${fault.name} is no fault where all transactions ask for ${plan.strongLevel}`,
        `it is forbidden from ${fault.forbiddenFrom} on: let some ask for that`,
      )
    }
  }
  return new SqlSimulation(plan, options).run()
}

/** A transaction that a session is in. */
interface Attempt {
  readonly txn: number
  readonly steps: SqlSteps
  next: IteratorResult<SqlStatement, 'commit' | 'abort'>
  /** Rolled back before the statement of this number; NONE if it is left alone. */
  readonly abortAt: number
}

class SqlSimulation implements SqlWorld, Transactions<SqlScript> {
  readonly tossesAlways = true
  readonly random: Random
  readonly store: SqlStore
  private readonly schedule: Schedule<SqlScript>
  private readonly attempts: Attempt[] = [] // session -> the transaction it is in, or was last
  private readonly statements: RanStatement[][] = [] // txn -> those of its last attempt
  private readonly txnPlace: Float64Array // txn -> its place in the commit order, NaN if none
  private readonly struck: SqlStrike[] = []
  freshCount = 0n

  constructor(
    private readonly plan: SqlPlan,
    options: SqlSimOptions,
  ) {
    const { sessionCount, tasks } = plan
    const txnSession = Int32Array.from(tasks, (task) => task.session)
    const scripts = repeatScripts(options.faults, sessionCount, sqlScriptOf)
    this.schedule = new Schedule(sessionCount, txnSession, tasks.length, scripts, options)
    this.random = this.schedule.random
    this.store = new SqlStore(plan, options.lag, options.full, this.schedule.storeRandom)
    this.txnPlace = new Float64Array(tasks.length).fill(Number.NaN)
  }

  run(): SqlExecution {
    const { plan, schedule } = this
    const { sessionCount, txnSession, txnStatus, txnStart, txnFinish, ended } = schedule
    schedule.runUntil(plan.tasks.length, this)
    return {
      ...{ sessionCount, txnSession, txnStatus, txnStart, txnFinish, ended },
      tables: plan.tables,
      rows: plan.rows,
      stored: this.store.tables.map((table) => table.rows),
      txns: plan.tasks.map((_, txn) => this.ranTxn(txn)),
      strikes: this.struck,
    }
  }

  private ranTxn(txn: number): RanTxn {
    const { schedule, plan } = this
    const { session, level } = plan.tasks[txn]!
    const status = schedule.txnStatus[txn]!
    const place = this.txnPlace[txn]!
    return {
      session,
      level: schedule.isStruck(txn) ? plan.strongLevel : level,
      status,
      rolledBack: status === ABORTED && !Number.isNaN(place),
      place,
      statements: this.statements[txn]!,
      start: schedule.txnStart[txn]!,
      finish: schedule.txnFinish[txn]!,
    }
  }

  open(session: number, txn: number, isDoomed: boolean): void {
    const task = this.plan.tasks[txn]!
    const abortAt = isDoomed ? 1 + this.random.below(MOST_BEFORE_ABORT) : NONE
    this.store.begin(session, task.level)
    const steps = task.start()
    this.attempts[session] = { txn, steps, next: steps.next(), abortAt }
    this.statements[txn] = []
  }

  runNext(session: number): boolean {
    const attempt = this.attempts[session]!
    const statements = this.statements[attempt.txn]!
    if (attempt.next.done || statements.length === attempt.abortAt) return false
    const { ran, rows } = this.store.run(session, attempt.next.value)
    statements.push(ran)
    attempt.next = attempt.steps.next(rows)
    return true
  }

  isRolledBack(session: number): boolean {
    const { abortAt, next } = this.attempts[session]!
    return abortAt !== NONE || (next.done === true && next.value === 'abort')
  }

  commit(session: number): boolean {
    const place = this.store.commit(session)
    this.txnPlace[this.attempts[session]!.txn] = place
    return !Number.isNaN(place)
  }

  rollBack(session: number, isWanted: boolean): void {
    const { store } = this
    const place = isWanted ? store.abandon(session) : store.rollback(session)
    this.txnPlace[this.attempts[session]!.txn] = place
  }

  strike(strike: PlacedScript<SqlScript>): void {
    for (const session of strike.sessions) this.store.settle(session)
    const rows = new StrikeRun(this, strike).run()
    this.struck.push({ fault: strike.script.fault.name, txns: strike.txns, rows })
  }

  begin(txn: number): void {
    const { session } = this.plan.tasks[txn]!
    this.schedule.beginTxn(txn)
    this.statements[txn] = []
    this.store.settle(session)
    this.store.begin(session, this.plan.strongLevel)
  }

  runStatement(txn: number, statement: SqlStatement, mischief: Mischief = {}): void {
    this.schedule.step++
    const { ran } = this.store.run(this.plan.tasks[txn]!.session, statement, mischief)
    this.statements[txn]!.push(ran)
  }

  install(txn: number): void {
    this.txnPlace[txn] = this.store.install(this.plan.tasks[txn]!.session)
    this.schedule.endTxn(txn, COMMITTED)
  }
}
