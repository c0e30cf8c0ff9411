// Audits: transactions that read all that was written, while nothing else runs. What a session saw
// may have been stale; an audit shows what is there, so that commits which the database
// acknowledged and then lost are found (check/reads/lost-commits.ts). One is due after a session
// has lost its connection and did not cut it itself: the server may have crashed. The transactions
// in progress end, nobody begins another (rest.ts), the audit runs, and all go on. The last one
// comes at the end.
//
// Main classes: UsedKeys, which each thread has; Auditor.

import { enlarged } from '../base/grow.ts'
import { EVERY_ROW, type SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import { type Connection, type Database, TransactionFailure } from './database.ts'
import { openPatiently } from './patience.ts'
import { OpenTransaction, type Recorder } from './recorder.ts'

const USED = 1
const NEW = 2

/** Keys that transactions have used: what audits have to read. */
export class UsedKeys {
  areLists = false
  private used = new Uint8Array(1024) // key -> USED, and NEW since they were taken last
  private keyEnd = 0 // no key from here on was used

  note(key: number, isList: boolean): void {
    if (key >= this.used.length) {
      this.used = enlarged(this.used, Math.max(key + 1, this.used.length * 2))
    }
    this.used[key] = USED | NEW
    if (key >= this.keyEnd) this.keyEnd = key + 1
    this.areLists = isList
  }

  /** All, or those that are new; none is new from then on. */
  take(all = false): TakenKeys {
    const wanted = all ? USED : NEW
    const keys: number[] = []
    for (let key = 0; key < this.keyEnd; key++) {
      if ((this.used[key]! & wanted) !== 0) keys.push(key)
      this.used[key]! &= ~NEW
    }
    return { keys, areLists: this.areLists }
  }
}

export interface TakenKeys {
  readonly keys: readonly number[]
  /** All of them are lists, or none. */
  readonly areLists: boolean
}

export class Auditor {
  /** Audits recorded so far. */
  count = 0
  private readonly used = new UsedKeys()

  constructor(
    private readonly options: {
      readonly database: Database
      readonly recorder: Recorder
      readonly level: LevelId
      readonly isLightweight: boolean
      readonly tables: readonly SqlTable[]
      /** How long the database may stay away. */
      readonly patienceMs: number
      nextSession(): number
      /** True once nobody waits for an audit any more. */
      isOver(): boolean
    },
  ) {}

  /** Transactions have used these. */
  note({ keys, areLists }: TakenKeys): void {
    for (const key of keys) this.used.note(key, areLists)
  }

  /** Reads what was used since the last audit, or all. Throws DatabaseError. */
  async audit(all: boolean): Promise<void> {
    const taken = this.used.take(all)
    if (taken.keys.length === 0 && this.options.tables.length === 0) return
    // What made the audit due may come again, and the server be away for a while.
    const { database, patienceMs, isOver } = this.options
    const connection = await openPatiently(database, patienceMs, isOver)
    if (connection === null) return
    try {
      await this.record(connection, taken)
    } catch (error) {
      // A level may refuse an audit as it does any transaction; the next one sees as much.
      if (!(error instanceof TransactionFailure)) throw error
    } finally {
      await connection.close()
    }
  }

  private async record(connection: Connection, { keys, areLists }: TakenKeys): Promise<void> {
    const { recorder, level, isLightweight, tables } = this.options
    const session = this.options.nextSession()
    const txn = new OpenTransaction()
    txn.isAudit = true
    if (isLightweight) {
      // Each operation is a transaction of its own.
      for (const key of keys) {
        recorder.begin(txn, session, level)
        txn.addRead(key, await connection.get(key, level))
        recorder.pending(txn)
        recorder.outcome(txn, 'committed')
      }
      this.count++
      return
    }
    recorder.begin(txn, session, level)
    await connection.begin(level)
    for (const [key, rows] of await connection.readAll(keys, areLists)) {
      if (areLists) txn.addReadList(key, rows as Value[][])
      else txn.addRead(key, rows as Value[])
    }
    for (const table of tables) {
      const statement = { kind: 'select', table: table.name, where: EVERY_ROW, params: [] } as const
      txn.addStatement(table, statement, 0, await connection.run(table, statement, 0))
    }
    recorder.pending(txn)
    await connection.commit()
    recorder.outcome(txn, 'committed')
    this.count++
  }
}
