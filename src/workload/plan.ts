// A plan: what every session is going to do, before any database is asked. Transactions are dealt
// to sessions in turn; operations say what they touch, not what they will find. Written values are
// not part of the plan: whoever runs it takes a fresh one for every write.

import { ByteColumn, IntColumn } from '../base/grow.ts'

/** How a written value gets into its row. */
export type Way = typeof UPDATE | typeof PUT | typeof UPSERT | typeof REPLACE
/** By UPDATE of a row that must be there. */
export const UPDATE = 0
/** By UPDATE, or by INSERT if there is no such row. */
export const PUT = 1
/** By INSERT … ON CONFLICT DO UPDATE. */
export const UPSERT = 2
/** By DELETE and INSERT. */
export const REPLACE = 3

export interface Plan {
  readonly sessionCount: number
  readonly keyCount: number
  readonly txnCount: number
  readonly opCount: number
  readonly txnSession: Int32Array // txn -> session; a session runs its own in ascending order
  readonly txnOpStart: Int32Array // txn -> its first op; txnOpStart[txnCount] = opCount
  readonly opKind: Uint8Array // op -> READ, WRITE, APPEND, READ_LIST
  readonly opKey: Int32Array // op -> key
  readonly opWay: Uint8Array // write -> UPDATE, PUT, UPSERT, REPLACE
  readonly opRests: Uint8Array // op -> 1 if its transaction rests for a moment before it
  /** Transactions from here on run after all others have ended, and see everything. */
  readonly finalTxn: number
  /** Every write is preceded by a read of its key: whoever adds transactions keeps to it. */
  readonly readsBeforeWrites: boolean
  /** No key is written by two sessions: whoever adds transactions keeps to `key % sessionCount`. */
  readonly disjointWrites: boolean
  /** Every transaction touches one key, once to read it and once to write it at most. */
  readonly lightweight: boolean
  /** Whoever runs the plan again uses other keys. */
  readonly keysRetire: boolean
  /** Keys below this have a row at first; of the others the initial state is that there is none. */
  readonly rowCount: number
}

/** Collects a plan transaction by transaction. */
export class PlanBuilder {
  private readonly txnSession: IntColumn
  private readonly txnOpStart: IntColumn
  private readonly opKind: ByteColumn
  private readonly opKey: IntColumn
  private readonly opWay: ByteColumn
  private readonly opRests: ByteColumn

  constructor(txnCapacity: number, opCapacity: number) {
    this.txnSession = new IntColumn(txnCapacity)
    this.txnOpStart = new IntColumn(txnCapacity + 1)
    this.opKind = new ByteColumn(opCapacity)
    this.opKey = new IntColumn(opCapacity)
    this.opWay = new ByteColumn(opCapacity)
    this.opRests = new ByteColumn(opCapacity)
  }

  get txnCount(): number {
    return this.txnSession.length
  }

  beginTxn(session: number): void {
    this.txnSession.push(session)
    this.txnOpStart.push(this.opKind.length)
  }

  addOp(kind: number, key: number, way: Way = UPDATE, rests = false): void {
    this.opKind.push(kind)
    this.opKey.push(key)
    this.opWay.push(way)
    this.opRests.push(rests ? 1 : 0)
  }

  finish(about: Pick<Plan, 'sessionCount' | 'keyCount'> & Partial<Plan>): Plan {
    this.txnOpStart.push(this.opKind.length)
    return {
      finalTxn: this.txnCount,
      readsBeforeWrites: false,
      disjointWrites: false,
      lightweight: false,
      keysRetire: false,
      rowCount: about.keyCount,
      ...about,
      txnCount: this.txnCount,
      opCount: this.opKind.length,
      txnSession: this.txnSession.view(),
      txnOpStart: this.txnOpStart.view(),
      opKind: this.opKind.view(),
      opKey: this.opKey.view(),
      opWay: this.opWay.view(),
      opRests: this.opRests.view(),
    }
  }
}
