// The one loop of every simulation: sessions take turns, a step at a time, in an order drawn from
// one seed, so the same seed gives the same execution. Transactions abort where their store demands
// it, or at random; of some commits the client never hears, and about half of those took effect.
// What a step does, and what a store holds, is the matter of Transactions: operations on registers
// and lists (simulate.ts), or SQL statements (sql/simulate.ts).
//
// Cost: O(1) for each step, typed arrays throughout. Main class: Schedule.

import { assert, UsageError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import { ABORTED, COMMITTED, INDETERMINATE, NONE } from '../history/history.ts'
import { type Placeable, type PlacedScript, placeScripts } from './placement.ts'

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
  /** Called now and then, with how many transactions have ended, of how many. */
  readonly onProgress?: ((ended: number, all: number) => void) | undefined
}

/** Steps from one look at the progress to the next; a power of 2. */
const STEPS_A_LOOK = 1 << 14

export const RUN_DEFAULTS: Omit<RunOptions, 'lag'> = {
  seed: 1,
  aborts: 0,
  indeterminates: 0,
  conflicts: 'retry',
  concurrency: 1,
}

/** What became of the transactions, whatever they consist of. */
export interface Outcome {
  readonly sessionCount: number
  readonly txnSession: Int32Array // txn -> session
  readonly txnStatus: Uint8Array // txn -> COMMITTED, ABORTED, INDETERMINATE
  readonly txnStart: Float64Array // txn -> step in which it began
  readonly txnFinish: Float64Array // txn -> step in which its end was known, NaN if never
  readonly ended: Int32Array // rank -> txn, in the order in which they ended
}

/** The transactions of a plan on the store that runs them. */
export interface Transactions<S extends Placeable> {
  /** Whether a coin is tossed for commits that get lost even if none does: so that seeds last. */
  readonly tossesAlways: boolean
  /** Begins a transaction, for the first time or again. */
  open(session: number, txn: number, isDoomed: boolean): void
  /** Runs the next operation of the session's transaction; false if it has come to its end. */
  runNext(session: number): boolean
  /** Whether the session's transaction, at its end, is to be rolled back. */
  isRolledBack(session: number): boolean
  /** Ends it; false if its level does not let it commit: nothing happened. */
  commit(session: number): boolean
  /** Rolls it back: by its own wish, or in place of a commit that nobody hears of. */
  rollBack(session: number, isWanted: boolean): void
  /** Runs the script in one go, while all other sessions stand still. */
  strike(strike: PlacedScript<S>): void
}

export class Schedule<S extends Placeable> implements Outcome {
  readonly random: Random
  readonly storeRandom: Random
  readonly strikes: readonly PlacedScript<S>[]
  readonly txnStatus: Uint8Array
  readonly txnStart: Float64Array
  readonly txnFinish: Float64Array
  readonly ended: Int32Array
  /** Steps so far. */
  step = 0

  private endedCount = 0
  private readonly sessionTxns: Int32Array[] // session -> its transactions
  private readonly active: Int32Array // place -> session that can take a step
  private activeCount = 0
  private readonly maxOpen: number
  private openCount = 0 // sessions in a transaction
  private readonly isOpen: Uint8Array // session -> 1 if it is in a transaction
  private readonly cursor: Int32Array // session -> how many of its transactions have ended
  private limit = 0 // transactions from here on do not run yet
  private readonly txnStrike: Int32Array | null // txn -> strike that its session must wait for
  private readonly missing: Int32Array // strike -> sessions that have not come to it yet

  /**
   * @param txnSession txn -> session; a session runs its own in ascending order
   * @param finalTxn no script takes the place of transactions from here on
   */
  constructor(
    readonly sessionCount: number,
    readonly txnSession: Int32Array,
    finalTxn: number,
    scripts: S[],
    private readonly options: RunOptions,
  ) {
    checkShares(options)
    const txnCount = txnSession.length
    const random = new Random(options.seed)
    this.random = random.fork(1)
    this.sessionTxns = dealTxns(sessionCount, txnSession)
    const beforeFinal = this.sessionTxns.map((own) => own.filter((txn) => txn < finalTxn))
    this.strikes = placeScripts(scripts, beforeFinal, random.fork(2))
    this.storeRandom = random.fork(3)
    this.missing = Int32Array.from(this.strikes, (strike) => strike.sessions.length)
    this.txnStrike = this.strikes.length > 0 ? new Int32Array(txnCount).fill(NONE) : null
    this.strikes.forEach(({ txns }, i) => {
      for (const txn of txns) this.txnStrike![txn] = i
    })
    this.txnStatus = new Uint8Array(txnCount)
    this.txnStart = new Float64Array(txnCount)
    this.txnFinish = new Float64Array(txnCount).fill(Number.NaN)
    this.ended = new Int32Array(txnCount)
    this.active = new Int32Array(sessionCount)
    this.maxOpen = Math.max(1, Math.round(sessionCount * options.concurrency))
    this.isOpen = new Uint8Array(sessionCount)
    this.cursor = new Int32Array(sessionCount)
  }

  /** Whether a script takes the place of the transaction. */
  isStruck(txn: number): boolean {
    return this.txnStrike !== null && this.txnStrike[txn] !== NONE
  }

  /** Lets sessions take steps until all have ended their transactions below `limit`. */
  runUntil(limit: number, transactions: Transactions<S>): void {
    const { active, random, isOpen, sessionCount } = this
    this.limit = limit
    this.activeCount = 0
    for (let session = 0; session < sessionCount; session++) this.activate(session)
    while (this.activeCount > 0) {
      const place = random.below(this.activeCount)
      const session = active[place]!
      if (isOpen[session] === 0) {
        if (this.openCount >= this.maxOpen) continue
        this.step++
        this.open(session, place, transactions)
        continue
      }
      this.step++
      if (this.step % STEPS_A_LOOK === 0) {
        this.options.onProgress?.(this.endedCount, this.ended.length)
      }
      if (transactions.runNext(session)) continue
      this.close(session, transactions)
      if (!this.hasMore(session)) this.deactivate(place)
    }
    if (limit === this.ended.length) {
      assert(this.endedCount === limit, 'every transaction has ended')
    }
  }

  /** A transaction of a script begins. */
  beginTxn(txn: number): void {
    this.txnStart[txn] = ++this.step
  }

  /** A transaction of a script ends. */
  endTxn(txn: number, status: number): void {
    this.step++
    this.recordEnd(txn, status)
  }

  private hasMore(session: number): boolean {
    const own = this.sessionTxns[session]!
    const next = this.cursor[session]!
    return next < own.length && own[next]! < this.limit
  }

  private activate(session: number): void {
    if (this.hasMore(session)) this.active[this.activeCount++] = session
  }

  private deactivate(place: number): void {
    this.active[place] = this.active[--this.activeCount]!
  }

  private open(session: number, place: number, transactions: Transactions<S>): void {
    const txn = this.sessionTxns[session]![this.cursor[session]!]!
    if (this.isStruck(txn)) {
      this.deactivate(place)
      this.arrive(this.txnStrike![txn]!, transactions)
      return
    }
    this.openCount++
    this.isOpen[session] = 1
    this.txnStart[txn] = this.step
    const { aborts } = this.options
    transactions.open(session, txn, aborts > 0 && this.random.chance(aborts))
  }

  private close(session: number, transactions: Transactions<S>): void {
    const { random, options } = this
    this.isOpen[session] = 0
    this.openCount--
    let status: number = COMMITTED
    if (transactions.isRolledBack(session)) {
      status = ABORTED
      transactions.rollBack(session, true)
    } else if (
      (options.indeterminates > 0 || transactions.tossesAlways) &&
      random.chance(options.indeterminates)
    ) {
      status = INDETERMINATE
      if (random.chance(0.5)) transactions.commit(session)
      else transactions.rollBack(session, false)
    } else if (!transactions.commit(session)) {
      if (options.conflicts === 'retry') return
      status = ABORTED
    }
    const txn = this.sessionTxns[session]![this.cursor[session]!++]!
    this.recordEnd(txn, status)
  }

  private recordEnd(txn: number, status: number): void {
    this.txnStatus[txn] = status
    if (status !== INDETERMINATE) this.txnFinish[txn] = this.step
    this.ended[this.endedCount++] = txn
  }

  /** A session has come to a strike; the last one sets it off, and all go on. */
  private arrive(index: number, transactions: Transactions<S>): void {
    if (--this.missing[index]! > 0) return
    const strike = this.strikes[index]!
    transactions.strike(strike)
    strike.sessions.forEach((session, i) => {
      this.cursor[session]! += strike.script.sessionTxns[i]!.length
      this.activate(session)
    })
  }
}

/** Throws UsageError where a share is none. */
function checkShares(options: RunOptions): void {
  for (const name of ['aborts', 'indeterminates', 'concurrency'] as const) {
    const share = options[name]
    if (!(share >= 0 && share <= 1)) {
      throw new UsageError(`${name} must be a share between 0 and 1, not ${share}`)
    }
  }
}

function dealTxns(sessionCount: number, txnSession: Int32Array): Int32Array[] {
  const counts = new Int32Array(sessionCount)
  for (const session of txnSession) counts[session]!++
  const dealt = Array.from(counts, (count) => new Int32Array(count))
  counts.fill(0)
  txnSession.forEach((session, txn) => {
    dealt[session]![counts[session]!++] = txn
  })
  return dealt
}
