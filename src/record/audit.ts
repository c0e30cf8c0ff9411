// Audits: transactions that read all that was written, while nothing else runs. What a session saw
// may have been stale; an audit shows what is there, so that commits which the database
// acknowledged and then lost are found (check/reads/lost-commits.ts). One is due after a session
// has lost its connection and did not cut it itself: the server may have crashed. The transactions
// in progress end, nobody begins another, the audit runs, and all go on. The last one comes at the
// end.
//
// Main classes: Rest, which lets sessions in and holds them back; Auditor.

import { enlarged } from '../base/grow.ts'
import { EVERY_ROW, type SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import { type Connection, type Database, TransactionFailure } from './database.ts'
import { openPatiently } from './patience.ts'
import { OpenTransaction, type Recorder } from './recorder.ts'

/** Lets transactions begin; when an audit is due, only once it has run. */
export class Rest {
  private active = 0 // transactions in progress
  private isDue = false
  private going: Promise<void> | null = null
  private alone: (() => void) | null = null // called when nothing is in progress

  /** @param audit null: there are none */
  constructor(private readonly audit: (() => Promise<void>) | null) {}

  /** To be called before a transaction begins; `leave` when it has ended. False if it may not. */
  enter(): boolean {
    if (this.isDue) return false
    this.active++
    return true
  }

  /** Waits until it may. */
  async enterLater(): Promise<void> {
    while (!this.enter()) {
      this.going ??= this.rest()
      await this.going
    }
  }

  leave(): void {
    if (--this.active === 0) this.alone?.()
  }

  /** A connection was lost, and we did not cut it. */
  noteLoss(): void {
    this.isDue = this.audit !== null
  }

  private async rest(): Promise<void> {
    try {
      if (this.active > 0) {
        await new Promise<void>((resolve) => {
          this.alone = resolve
        })
      }
      await this.audit?.()
    } finally {
      this.alone = null
      this.isDue = false
      this.going = null
    }
  }
}

const USED = 1
const NEW = 2

/** What audits have to read. */
export class Auditor {
  /** Audits recorded so far. */
  count = 0
  private used = new Uint8Array(1024) // key -> USED, and NEW since the last audit
  private keyEnd = 0 // no key from here on was used
  private usesLists = false

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

  /** A transaction uses the key. */
  note(key: number, isList: boolean): void {
    if (key >= this.used.length) {
      this.used = enlarged(this.used, Math.max(key + 1, this.used.length * 2))
    }
    this.used[key] = USED | NEW
    if (key >= this.keyEnd) this.keyEnd = key + 1
    this.usesLists = isList
  }

  /** Reads what was used since the last audit, or all. Throws DatabaseError. */
  async audit(all: boolean): Promise<void> {
    const wanted = all ? USED : NEW
    const keys: number[] = []
    for (let key = 0; key < this.keyEnd; key++) {
      if ((this.used[key]! & wanted) !== 0) keys.push(key)
      this.used[key]! &= ~NEW
    }
    if (keys.length === 0 && this.options.tables.length === 0) return
    // What made the audit due may come again, and the server be away for a while.
    const { database, patienceMs, isOver } = this.options
    const connection = await openPatiently(database, patienceMs, isOver)
    if (connection === null) return
    try {
      await this.record(connection, keys)
    } catch (error) {
      // A level may refuse an audit as it does any transaction; the next one sees as much.
      if (!(error instanceof TransactionFailure)) throw error
    } finally {
      await connection.close()
    }
  }

  private async record(connection: Connection, keys: readonly number[]): Promise<void> {
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
    for (const [key, rows] of await connection.readAll(keys, this.usesLists)) {
      if (this.usesLists) txn.addReadList(key, rows as Value[][])
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
