// Runs a plan of operations on registers and lists against the simulated store; the loop is that of
// schedule.ts. Cost: O(1) for each operation, typed arrays throughout. Main function: simulate.

import { UsageError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import { APPEND, NONE, READ, READ_LIST } from '../history/history.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import type { Plan } from '../workload/plan.ts'
import type { Execution } from './execution.ts'
import type { FaultRequest, FaultStrike } from './faults.ts'
import { RUN_DEFAULTS, type RunOptions, Schedule, type Transactions } from './schedule.ts'
import { type Script, scriptsFor } from './script.ts'
import { Store } from './store.ts'
import { type Strike, StrikeRun, strikeOpCount, type World } from './strike.ts'

export interface SimOptions extends RunOptions {
  readonly level: LevelId
  readonly faults: readonly FaultRequest[]
}

export function simulate(plan: Plan, given: Partial<SimOptions> = {}): Execution {
  const options: SimOptions = {
    ...RUN_DEFAULTS,
    level: 'ser',
    // At ra it takes longer until an effect is seen and its cause is not.
    lag: plan.sessionCount * (given.level === 'ra' ? 4 : 1),
    faults: [],
    ...given,
  }
  if (!CHAIN.includes(options.level)) {
    throw new UsageError(`no store at level "${options.level}"`, `there are ${CHAIN.join(', ')}`)
  }
  return new Simulation(plan, options).run()
}

class Simulation implements World, Transactions<Script> {
  readonly tossesAlways = false
  readonly plan: Plan
  readonly store: Store
  readonly random: Random
  readonly isList: boolean
  readonly keyIsUsed: Uint8Array
  readonly schedule: Schedule<Script>
  readonly shown = new Map<number, readonly number[]>()

  private readonly opKind: Uint8Array
  private readonly opKey: Int32Array
  private readonly opFrom: Int32Array
  private readonly opStep: Int32Array
  private readonly txnOpStart: Int32Array
  private readonly txnOpCount: Int32Array
  private readonly struck: FaultStrike[] = []

  private readonly nextOp: Int32Array // session -> next op of its open transaction
  private readonly lastOp: Int32Array // session -> op behind the last one it will get to
  private readonly isDoomed: Uint8Array // session -> 1 if its transaction is rolled back at random

  constructor(plan: Plan, options: SimOptions) {
    const { sessionCount, txnCount, keyCount, txnSession, finalTxn } = plan
    this.plan = plan
    const scripts = scriptsFor(plan, options.faults)
    this.schedule = new Schedule(sessionCount, txnSession, finalTxn, scripts, options)
    this.random = this.schedule.random
    this.isList = plan.opKind.some((kind) => kind >= APPEND)
    this.keyIsUsed = new Uint8Array(options.faults.length > 0 ? keyCount : 0)
    this.txnOpStart = plan.txnOpStart.slice(0, txnCount)
    let opCapacity = plan.opCount
    for (const strike of this.schedule.strikes) {
      strike.txns.forEach((txn, role) => {
        this.txnOpStart[txn] = opCapacity
        opCapacity += strikeOpCount(plan, strike, role)
      })
    }
    this.opKind = extend(plan.opKind, new Uint8Array(opCapacity))
    this.opKey = extend(plan.opKey, new Int32Array(opCapacity))
    this.opFrom = new Int32Array(opCapacity).fill(NONE)
    this.opStep = new Int32Array(opCapacity)
    this.txnOpCount = new Int32Array(txnCount)
    this.nextOp = new Int32Array(sessionCount)
    this.lastOp = new Int32Array(sessionCount)
    this.isDoomed = new Uint8Array(sessionCount)
    this.store = new Store({
      level: options.level,
      sessionCount,
      keyCount,
      versionCount: opCapacity,
      lag: options.lag,
      random: this.schedule.storeRandom,
    })
  }

  run(): Execution {
    const { plan, schedule, store } = this
    schedule.runUntil(plan.finalTxn, this)
    if (plan.finalTxn < plan.txnCount) {
      store.lag = 0
      for (let session = 0; session < plan.sessionCount; session++) store.settle(session)
      schedule.runUntil(plan.txnCount, this)
    }
    return {
      sessionCount: plan.sessionCount,
      keyCount: plan.keyCount,
      txnCount: plan.txnCount,
      txnSession: plan.txnSession,
      txnOpStart: this.txnOpStart,
      txnOpCount: this.txnOpCount,
      txnStatus: schedule.txnStatus,
      txnStart: schedule.txnStart,
      txnFinish: schedule.txnFinish,
      ended: schedule.ended,
      opKind: this.opKind,
      opKey: this.opKey,
      opFrom: this.opFrom,
      opPrev: store.versionPrev,
      opStep: this.opStep,
      shown: this.shown,
      strikes: this.struck,
    }
  }

  open(session: number, txn: number, isDoomed: boolean): void {
    const start = this.plan.txnOpStart[txn]!
    let end = this.plan.txnOpStart[txn + 1]!
    if (isDoomed && end > start) end = start + 1 + this.random.below(end - start)
    this.isDoomed[session] = isDoomed ? 1 : 0
    this.nextOp[session] = start
    this.lastOp[session] = end
    this.txnOpCount[txn] = end - start
    this.store.begin(session)
  }

  runNext(session: number): boolean {
    const op = this.nextOp[session]!
    if (op === this.lastOp[session]!) return false
    const { store } = this
    const key = this.opKey[op]!
    const kind = this.opKind[op]!
    if (kind === READ) this.opFrom[op] = store.read(session, key)
    else if (kind === READ_LIST) this.opFrom[op] = store.readOthers(session, key)
    else store.write(session, key, op)
    this.opStep[op] = this.schedule.step
    this.nextOp[session] = op + 1
    return true
  }

  isRolledBack(session: number): boolean {
    return this.isDoomed[session] === 1
  }

  commit(session: number): boolean {
    return this.store.commit(session)
  }

  /** What a transaction wrote is nobody's business until it commits: the store need not know. */
  rollBack(): void {}

  strike(strike: Strike): void {
    this.struck.push(new StrikeRun(this, strike).run())
  }

  addOp(txn: number, kind: number, key: number, from: number): number {
    const op = this.txnOpStart[txn]! + this.txnOpCount[txn]!++
    this.opKind[op] = kind
    this.opKey[op] = key
    this.opFrom[op] = from
    this.opStep[op] = ++this.schedule.step
    return op
  }
}

/** The column itself, or a longer one that begins with it. */
function extend<T extends Uint8Array | Int32Array>(column: T, longer: T): T {
  if (column.length === longer.length) return column
  longer.set(column)
  return longer
}
