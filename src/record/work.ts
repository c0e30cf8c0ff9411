// What sessions do, one transaction after another: a seeded plan of workload/, or a function of the
// user's own. (SQL transactions: sql-work.ts.) Work says which keys are touched; values are the
// session's business.

import { pathToFileURL } from 'node:url'
import { DatabaseError, UsageError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import { APPEND, READ, READ_LIST } from '../history/history.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlStatement } from '../sql/statement.ts'
import type { SqlRow } from '../sql/value.ts'
import type { Plan, Way } from '../workload/plan.ts'
import { TransactionFailure } from './database.ts'

/** The operations on registers and lists of a transaction. Writes take a fresh value each. */
export interface KeyOperations {
  read(key: number): Promise<Value>
  readList(key: number): Promise<Value[]>
  /** @param way how the value gets into its row, where the database has rows */
  write(key: number, way?: Way): Promise<void>
  append(key: number): Promise<void>
}

/** The operations of a transaction, as work uses them. */
export interface Operations extends KeyOperations {
  /** Lets others come in between, for a moment. */
  rest(): Promise<void>
  /** The rows selected, or as updated, or as deleted. */
  run(table: SqlTable, statement: SqlStatement): Promise<readonly SqlRow[]>
}

/** The same, for who may only read: whatever would be written is read instead. */
export function readingOnly(operations: Operations): Operations {
  return {
    read: (key) => operations.read(key),
    readList: (key) => operations.readList(key),
    write: async (key) => {
      await operations.read(key)
    },
    append: async (key) => {
      await operations.readList(key)
    },
    rest: () => operations.rest(),
    run: (table, statement) => operations.run(table, statement),
  }
}

export abstract class Work {
  /** Goes on to the session's next transaction; false if there is none. */
  abstract next(session: number): boolean

  /** Runs the session's current transaction; again, if it is tried again. How it is to end. */
  abstract perform(session: number, operations: Operations): Promise<'commit' | 'abort'>

  /** Keys that must exist before the session's current transaction runs: all below this. */
  keysNeeded(_session: number): number {
    return 0
  }

  /** The level that the current transaction asks for; null for that of the run. */
  level(_session: number): LevelId | null {
    return null
  }

  /** How many operations the current transaction has; a guess will do. */
  opCount(_session: number): number {
    return 4
  }

  /** All sessions have ended: goes on to what must come last. False if there is nothing. */
  beginFinal(): boolean {
    return false
  }
}

/** Sessions follow a plan; again from its beginning, with `repeats`, until they are stopped. */
export class PlannedWork extends Work {
  private readonly dealt: Int32Array[] // session -> its transactions
  private readonly cursor: Int32Array // session -> place of its current transaction
  private readonly pass: Int32Array // session -> how often it has come to the end
  private limit: number // transactions from here on are not due yet
  private readonly appended = new Set<number>() // keys

  constructor(
    private readonly plan: Plan,
    private readonly repeats = false,
  ) {
    super()
    this.dealt = deal(plan)
    this.cursor = new Int32Array(plan.sessionCount).fill(-1)
    this.pass = new Int32Array(plan.sessionCount)
    this.limit = plan.finalTxn
  }

  next(session: number): boolean {
    const own = this.dealt[session]!
    let next = this.cursor[session]! + 1
    // What nobody appended to need not be read at the end.
    const isFinal = this.limit > this.plan.finalTxn
    while (isFinal && next < own.length && !this.isUsed(session, own[next]!)) next++
    if (next < own.length && own[next]! < this.limit) {
      this.cursor[session] = next
      return true
    }
    if (!this.repeats || this.limit === this.plan.txnCount + 1 || own.length === 0) return false
    if (own[0]! >= this.limit) return false
    this.cursor[session] = 0
    this.pass[session]!++
    return true
  }

  override keysNeeded(session: number): number {
    const { keyCount, rowCount, keysRetire } = this.plan
    if (rowCount === 0 || !keysRetire) return rowCount
    return keyCount * this.pass[session]! + rowCount
  }

  override opCount(session: number): number {
    const txn = this.dealt[session]![this.cursor[session]!]!
    return this.plan.txnOpStart[txn + 1]! - this.plan.txnOpStart[txn]!
  }

  async perform(session: number, operations: Operations): Promise<'commit'> {
    const { opKind, opKey, opWay, opRests, txnOpStart, keyCount } = this.plan
    const txn = this.dealt[session]![this.cursor[session]!]!
    const end = txnOpStart[txn + 1]!
    // Retired keys do not come back: each pass has keys of its own.
    const offset = this.plan.keysRetire ? keyCount * this.pass[session]! : 0
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]! + offset
      const kind = opKind[op]!
      if (opRests[op] === 1) await operations.rest()
      if (kind === READ) await operations.read(key)
      else if (kind === READ_LIST) {
        if (txn < this.plan.finalTxn || this.appended.has(key)) await operations.readList(key)
      } else if (kind === APPEND) {
        this.appended.add(key)
        await operations.append(key)
      } else await operations.write(key, opWay[op]! as Way)
    }
    return 'commit'
  }

  /** Whether a transaction of the end reads something that was appended to. */
  private isUsed(session: number, txn: number): boolean {
    const { txnOpStart, opKey, keysRetire, keyCount } = this.plan
    const offset = keysRetire ? keyCount * this.pass[session]! : 0
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (this.appended.has(opKey[op]! + offset)) return true
    }
    return false
  }

  override beginFinal(): boolean {
    const { plan } = this
    if (this.limit > plan.finalTxn || plan.finalTxn === plan.txnCount) return false
    this.limit = plan.txnCount + 1
    this.dealt.forEach((own, session) => {
      const first = own.findIndex((txn) => txn >= plan.finalTxn)
      this.cursor[session] = (first < 0 ? own.length : first) - 1
    })
    return true
  }
}

function deal(plan: Plan): Int32Array[] {
  const counts = new Int32Array(plan.sessionCount)
  for (const session of plan.txnSession) counts[session]!++
  const dealt = Array.from(counts, (count) => new Int32Array(count))
  counts.fill(0)
  plan.txnSession.forEach((session, txn) => {
    dealt[session]![counts[session]!++] = txn
  })
  return dealt
}

/** One transaction of a workload of the user's own. */
export type TransactionFunction = (
  session: number,
  random: Random,
  transaction: KeyOperations,
) => Promise<void> | void

/** Sessions run a function of the user's own, each with randomness of its own from the seed. */
export class OwnWork extends Work {
  private readonly keyCount: number
  private readonly randoms: Random[]
  private readonly left: number[] // session -> transactions to go

  constructor(
    private readonly run: TransactionFunction,
    about: { seed: number; sessionCount: number; transactions: number | null; keyCount: number },
  ) {
    super()
    const { sessionCount, transactions } = about
    const random = new Random(about.seed)
    this.keyCount = about.keyCount
    this.randoms = Array.from({ length: sessionCount }, (_, session) => random.fork(session))
    this.left = this.randoms.map((_, session) =>
      transactions === null
        ? Number.POSITIVE_INFINITY
        : Math.ceil((transactions - session) / sessionCount),
    )
  }

  next(session: number): boolean {
    return this.left[session]!-- > 0
  }

  override keysNeeded(): number {
    return this.keyCount
  }

  async perform(session: number, operations: KeyOperations): Promise<'commit'> {
    try {
      await this.run(
        session,
        this.randoms[session]!,
        new GuardedOperations(operations, this.keyCount),
      )
      return 'commit'
    } catch (error) {
      const isKnown = [TransactionFailure, DatabaseError, UsageError].some(
        (kind) => error instanceof kind,
      )
      if (isKnown) throw error
      throw new UsageError(`the workload itself failed: ${(error as Error).message ?? error}`)
    }
  }
}

/** Operations for code that may go wrong: keys are what they should be. */
class GuardedOperations implements KeyOperations {
  constructor(
    private readonly inner: KeyOperations,
    private readonly keyCount: number,
  ) {}

  async read(key: number): Promise<Value> {
    return this.inner.read(this.checked(key))
  }

  async readList(key: number): Promise<Value[]> {
    return this.inner.readList(this.checked(key))
  }

  async write(key: number): Promise<void> {
    return this.inner.write(this.checked(key))
  }

  async append(key: number): Promise<void> {
    return this.inner.append(this.checked(key))
  }

  private checked(key: number): number {
    if (Number.isInteger(key) && key >= 0 && key < this.keyCount) return key
    throw new UsageError(
      `the workload uses key ${key}; keys are whole numbers from 0 to ${this.keyCount - 1}`,
      'ask for more with --keys',
    )
  }
}

/** Loads a module that exports a function `transaction`. Throws UsageError. */
export async function loadTransactionFunction(path: string): Promise<TransactionFunction> {
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const typescript = code === 'ERR_UNKNOWN_FILE_EXTENSION'
    const hint = typescript
      ? "this Node does not load TypeScript by itself; run it as NODE_OPTIONS='--import tsx' isobar run …"
      : 'a workload is a JavaScript or TypeScript module'
    throw new UsageError(`cannot load the workload ${path}: ${message}`, hint)
  }
  const run = module['transaction'] ?? module['default']
  if (typeof run === 'function') return run as TransactionFunction
  throw new UsageError(
    `the workload ${path} exports no function "transaction"`,
    'export async function transaction(session, random, transaction) { … }',
  )
}
