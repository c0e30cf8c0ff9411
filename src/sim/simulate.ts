// Runs a program against the store, one operation of one session at a time, in an order drawn from
// one seed: the same seed gives the same execution. Transactions abort where the level demands it,
// or at random; of some commits the client never hears, and about half of those took effect.
//
// Cost: O(1) for each operation, typed arrays throughout. Main function: simulate.

import { assert, UsageError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import {
  ABORTED,
  APPEND,
  COMMITTED,
  INDETERMINATE,
  NONE,
  READ,
  READ_LIST,
} from '../history/history.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import type { FaultRequest, FaultStrike } from './faults.ts'
import { placeStrikes, type Strike } from './placement.ts'
import type { Execution, Program } from './program.ts'
import { Store } from './store.ts'
import { runStrike, strikeOpCount, type World } from './strike.ts'

/** What any simulation asks for, whatever its transactions consist of. */
export interface RunOptions {
  readonly seed: number
  /** Share of transactions that are rolled back for no reason. */
  readonly aborts: number
  /** Share of transactions whose commit the client never hears of. */
  readonly indeterminates: number
  /**
   * What becomes of a transaction that its level does not let commit: recorded as aborted, or run
   * again, and only the attempt that commits is recorded.
   */
  readonly conflicts: 'abort' | 'retry'
  /** Share of the sessions (at least one) that may be in a transaction at the same time. */
  readonly concurrency: number
  /** How many commits behind a transaction may begin, where the level lets it. */
  readonly lag: number
}

export interface SimOptions extends RunOptions {
  readonly level: LevelId
  readonly faults: readonly FaultRequest[]
}

export function simulate(program: Program, given: Partial<SimOptions> = {}): Execution {
  const options: SimOptions = {
    level: 'ser',
    seed: 1,
    aborts: 0,
    indeterminates: 0,
    conflicts: 'retry',
    concurrency: 1,
    // At ra it takes longer until an effect is seen and its cause is not.
    lag: program.sessionCount * (given.level === 'ra' ? 4 : 1),
    faults: [],
    ...given,
  }
  if (!CHAIN.includes(options.level)) {
    throw new UsageError(`no store at level "${options.level}"`, `there are ${CHAIN.join(', ')}`)
  }
  checkShares(options)
  return new Simulation(program, options).run()
}

/** Throws UsageError where a share is none. */
export function checkShares(options: RunOptions): void {
  for (const name of ['aborts', 'indeterminates', 'concurrency'] as const) {
    const share = options[name]
    if (!(share >= 0 && share <= 1)) {
      throw new UsageError(`${name} must be a share between 0 and 1, not ${share}`)
    }
  }
}

class Simulation implements World {
  readonly program: Program
  readonly store: Store
  readonly random: Random
  readonly isList: boolean
  readonly keyIsUsed: Uint8Array
  private readonly options: SimOptions

  private readonly sessionTxns: Int32Array[] // session -> its transactions
  private readonly opKind: Uint8Array
  private readonly opKey: Int32Array
  private readonly opFrom: Int32Array
  private readonly opStep: Int32Array
  private readonly txnOpStart: Int32Array
  private readonly txnOpCount: Int32Array
  private readonly txnStatus: Uint8Array
  private readonly txnStart: Float64Array
  private readonly txnFinish: Float64Array
  private readonly ended: Int32Array
  private endedCount = 0
  private step = 0
  private readonly shown = new Map<number, readonly number[]>()

  private readonly active: Int32Array // place -> session that can take a step
  private activeCount = 0
  private openCount = 0 // sessions in a transaction
  private readonly maxOpen: number
  private readonly cursor: Int32Array // session -> how many of its transactions have ended
  private readonly nextOp: Int32Array // session -> next op of its open transaction, NONE if none
  private readonly lastOp: Int32Array // session -> op behind the last one it will get to

  private readonly strikes: Strike[]
  private readonly txnStrike: Int32Array | null // txn -> strike that its session must wait for
  private readonly missing: Int32Array // strike -> sessions that have not come to it yet
  private readonly struck: FaultStrike[] = []

  constructor(program: Program, options: SimOptions) {
    const { sessionCount, txnCount, keyCount } = program
    const random = new Random(options.seed)
    this.program = program
    this.options = options
    this.random = random.fork(1)
    this.sessionTxns = dealTxns(program)
    this.isList = program.opKind.some((kind) => kind >= APPEND)
    this.keyIsUsed = new Uint8Array(options.faults.length > 0 ? keyCount : 0)

    const beforeFinal = this.sessionTxns.map((own) => own.filter((txn) => txn < program.finalTxn))
    this.strikes = placeStrikes(program, beforeFinal, options.faults, random.fork(2))
    this.missing = Int32Array.from(this.strikes, (strike) => strike.sessions.length)
    this.txnStrike = this.strikes.length > 0 ? new Int32Array(txnCount).fill(NONE) : null
    this.txnOpStart = program.txnOpStart.slice(0, txnCount)
    let opCapacity = program.opCount
    this.strikes.forEach((strike, i) => {
      strike.txns.forEach((txn, role) => {
        this.txnStrike![txn] = i
        this.txnOpStart[txn] = opCapacity
        opCapacity += strikeOpCount(program, strike, role)
      })
    })

    this.opKind = extend(program.opKind, new Uint8Array(opCapacity))
    this.opKey = extend(program.opKey, new Int32Array(opCapacity))
    this.opFrom = new Int32Array(opCapacity).fill(NONE)
    this.opStep = new Int32Array(opCapacity)
    this.txnOpCount = new Int32Array(txnCount)
    this.txnStatus = new Uint8Array(txnCount)
    this.txnStart = new Float64Array(txnCount)
    this.txnFinish = new Float64Array(txnCount).fill(Number.NaN)
    this.ended = new Int32Array(txnCount)
    this.active = new Int32Array(sessionCount)
    this.maxOpen = Math.max(1, Math.round(sessionCount * options.concurrency))
    this.cursor = new Int32Array(sessionCount)
    this.nextOp = new Int32Array(sessionCount).fill(NONE)
    this.lastOp = new Int32Array(sessionCount)
    this.store = new Store({
      level: options.level,
      sessionCount,
      keyCount,
      versionCount: opCapacity,
      lag: options.lag,
      random: random.fork(3),
    })
  }

  run(): Execution {
    const { program } = this
    this.runUntil(program.finalTxn)
    if (program.finalTxn < program.txnCount) {
      this.store.lag = 0
      for (let session = 0; session < program.sessionCount; session++) this.store.settle(session)
      this.runUntil(program.txnCount)
    }
    assert(this.endedCount === program.txnCount, 'every transaction has ended')
    return {
      sessionCount: program.sessionCount,
      keyCount: program.keyCount,
      txnCount: program.txnCount,
      txnSession: program.txnSession,
      txnOpStart: this.txnOpStart,
      txnOpCount: this.txnOpCount,
      txnStatus: this.txnStatus,
      txnStart: this.txnStart,
      txnFinish: this.txnFinish,
      ended: this.ended,
      opKind: this.opKind,
      opKey: this.opKey,
      opFrom: this.opFrom,
      opPrev: this.store.versionPrev,
      opStep: this.opStep,
      shown: this.shown,
      strikes: this.struck,
    }
  }

  /** Lets sessions take steps until all have ended their transactions below `limit`. */
  private runUntil(limit: number): void {
    const { active, random, program } = this
    this.activeCount = 0
    for (let session = 0; session < program.sessionCount; session++) {
      if (this.hasMore(session, limit)) active[this.activeCount++] = session
    }
    while (this.activeCount > 0) {
      const place = random.below(this.activeCount)
      const session = active[place]!
      const op = this.nextOp[session]!
      if (op === NONE && this.openCount >= this.maxOpen) continue
      this.step++
      if (op === NONE) this.open(session, place)
      else if (op < this.lastOp[session]!) this.runOp(session, op)
      else {
        this.close(session)
        if (!this.hasMore(session, limit)) active[place] = active[--this.activeCount]!
      }
    }
  }

  private hasMore(session: number, limit: number): boolean {
    const own = this.sessionTxns[session]!
    const next = this.cursor[session]!
    return this.nextOp[session] !== NONE || (next < own.length && own[next]! < limit)
  }

  private open(session: number, place: number): void {
    const txn = this.sessionTxns[session]![this.cursor[session]!]!
    if (this.txnStrike && this.txnStrike[txn] !== NONE) {
      this.active[place] = this.active[--this.activeCount]!
      this.arrive(this.txnStrike[txn]!)
      return
    }
    this.openCount++
    const start = this.program.txnOpStart[txn]!
    const end = this.program.txnOpStart[txn + 1]!
    this.txnStart[txn] = this.step
    this.txnStatus[txn] = COMMITTED
    this.nextOp[session] = start
    this.lastOp[session] = end
    if (this.options.aborts > 0 && this.random.chance(this.options.aborts)) {
      this.txnStatus[txn] = ABORTED
      this.lastOp[session] = end > start ? start + 1 + this.random.below(end - start) : end
    }
    this.store.begin(session)
  }

  private runOp(session: number, op: number): void {
    const { store } = this
    const key = this.opKey[op]!
    const kind = this.opKind[op]!
    if (kind === READ) this.opFrom[op] = store.read(session, key)
    else if (kind === READ_LIST) this.opFrom[op] = store.readOthers(session, key)
    else store.write(session, key, op)
    this.opStep[op] = this.step
    this.nextOp[session] = op + 1
  }

  private close(session: number): void {
    const txn = this.sessionTxns[session]![this.cursor[session]!]!
    this.nextOp[session] = NONE
    this.openCount--
    let status = this.txnStatus[txn]!
    if (status === COMMITTED) {
      const { indeterminates } = this.options
      if (indeterminates > 0 && this.random.chance(indeterminates)) {
        status = INDETERMINATE
        if (this.random.chance(0.5)) this.store.commit(session)
      } else if (!this.store.commit(session)) {
        if (this.options.conflicts === 'retry') return
        status = ABORTED
      }
    }
    this.txnOpCount[txn] = this.lastOp[session]! - this.txnOpStart[txn]!
    this.cursor[session]!++
    this.recordEnd(txn, status)
  }

  private recordEnd(txn: number, status: number): void {
    this.txnStatus[txn] = status
    if (status !== INDETERMINATE) this.txnFinish[txn] = this.step
    this.ended[this.endedCount++] = txn
  }

  /** A session has come to a strike; the last one sets it off, and all go on. */
  private arrive(strike: number): void {
    if (--this.missing[strike]! > 0) return
    const { script, sessions } = this.strikes[strike]!
    this.struck.push(runStrike(this, this.strikes[strike]!))
    sessions.forEach((session, i) => {
      this.cursor[session]! += script.sessionTxns[i]!.length
      if (this.hasMore(session, this.program.finalTxn)) this.active[this.activeCount++] = session
    })
  }

  addOp(txn: number, kind: number, key: number, from: number): number {
    const op = this.txnOpStart[txn]! + this.txnOpCount[txn]!++
    this.opKind[op] = kind
    this.opKey[op] = key
    this.opFrom[op] = from
    this.opStep[op] = ++this.step
    return op
  }

  beginTxn(txn: number): void {
    this.txnStart[txn] = ++this.step
  }

  endTxn(txn: number, status: number): void {
    this.step++
    this.recordEnd(txn, status)
  }

  show(read: number, writes: readonly number[]): void {
    this.shown.set(read, writes)
  }
}

function dealTxns(program: Program): Int32Array[] {
  const counts = new Int32Array(program.sessionCount)
  for (const session of program.txnSession) counts[session]!++
  const dealt = Array.from(counts, (count) => new Int32Array(count))
  counts.fill(0)
  for (let txn = 0; txn < program.txnCount; txn++) {
    const session = program.txnSession[txn]!
    dealt[session]![counts[session]!++] = txn
  }
  return dealt
}

/** The column itself, or a longer one that begins with it. */
function extend<T extends Uint8Array | Int32Array>(column: T, longer: T): T {
  if (column.length === longer.length) return column
  longer.set(column)
  return longer
}
