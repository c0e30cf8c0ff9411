// How strong a test was: how often transactions met in the ways that anomalies take. A level that
// holds says little of a database that was never given the occasion to break it. Main function:
// measureStrength.

import { ABORTED, type History, hasTimes, NONE } from '../../history/history.ts'
import { looksThrough, SELECT } from '../../history/sql-events.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { OCCASIONS, type OccasionName } from './occasions.ts'
import { Users } from './users.ts'

export interface Strength {
  /** Whether it is known which transactions ran at the same time. */
  readonly isTimed: boolean
  /** Reads of keys, one for each key and transaction, but for those of what it wrote itself. */
  readonly reads: number
  /** Those of them whose key another transaction wrote at the same time. */
  readonly racedReads: number
  /** How often the shape of each was there; without those that the history cannot hold. */
  readonly occasions: Readonly<Partial<Record<OccasionName, number>>>
  /** True if there was too much to look at: there are more of each. */
  readonly isLeast: boolean
}

// How a transaction uses a key.
const READS = 1 // before it writes it
const WRITES = 2
const READS_TWICE = 4
const WRITES_TWICE = 8
const RACED = 16

// What is known of two transactions that met.
const LOST = 1
const I_MISS = 2 // the one that came later read a key that only the other one wrote
const YOU_MISS = 4
const REPEATED = 8
const BETWEEN = 16
const I_SEARCH = 32
const YOU_SEARCH = 64
const ROLLED_BACK = 128

/** Looks at the users of keys, at most; some nanoseconds each. */
const MAX_LOOKS = 30_000_000
/** Without times: how many users of a key, the latest ones, are looked at. */
const LATEST = 32

/** O(operations × transactions that ran at the same time), capped; audits are left out. */
export function measureStrength(history: History): Strength {
  return new Measurement(history).measure()
}

class Measurement {
  private readonly isTimed: boolean
  private readonly counts = new Map<OccasionName, number>()
  private readonly keys: Users
  private readonly tables: Users
  private readonly uses: Uint8Array // key -> how the transaction at hand uses it
  private readonly isWritten: Uint8Array // key -> 1 if anybody wrote it
  private readonly met: Uint8Array // txn -> what is known of it and the one at hand
  private readonly iRead: Uint8Array // txn -> keys that it wrote and the one at hand read, up to 2
  private readonly youRead: Uint8Array
  private readonly bothRead: Uint8Array
  private readonly metBy: Int32Array // txn -> the last one that it met
  private start = 0 // of the transaction at hand
  private looks = 0
  private reads = 0
  private racedReads = 0

  constructor(private readonly history: History) {
    const { keyCount, txnCount, sql } = history
    this.isTimed = hasTimes(history)
    const finish = this.isTimed ? history.txnFinishTime : null
    this.keys = new Users(keyCount, finish)
    this.tables = new Users(sql?.tables.length ?? 0, finish)
    this.uses = new Uint8Array(keyCount)
    this.isWritten = new Uint8Array(keyCount)
    this.met = new Uint8Array(txnCount)
    this.iRead = new Uint8Array(txnCount)
    this.youRead = new Uint8Array(txnCount)
    this.bothRead = new Uint8Array(txnCount)
    this.metBy = new Int32Array(txnCount).fill(NONE)
    for (const { anomaly, of } of OCCASIONS) {
      if (of === 'any' || sql !== null) this.counts.set(anomaly, 0)
    }
  }

  measure(): Strength {
    const { history, isWritten } = this
    for (let op = 0; op < history.opCount; op++) {
      if (isWrite(history, op)) isWritten[history.opKey[op]!] = 1
    }
    for (const txn of this.inOrder()) this.meet(txn)
    this.lookAtSessions()
    const { isTimed, reads, racedReads } = this
    const occasions = Object.fromEntries(this.counts)
    return { isTimed, reads, racedReads, occasions, isLeast: this.looks >= MAX_LOOKS }
  }

  /** Transactions as they began, where that is known. */
  private inOrder(): Int32Array {
    const { txnCount, txnStartTime, txnAudit, txnIsInitial } = this.history
    const order = Int32Array.from({ length: txnCount }, (_, txn) => txn).filter(
      (txn) => !txnAudit?.[txn] && !txnIsInitial[txn],
    )
    if (!this.isTimed) return order
    const start = (txn: number) => timeOf(txnStartTime, txn)
    return order.sort((a, b) => (start(a) === start(b) ? a - b : start(a) < start(b) ? -1 : 1))
  }

  /** Pairs a transaction with those before it that use the same keys and are in progress. */
  private meet(txn: number): void {
    const { history } = this
    const { txnOpStart, opKey } = history
    this.start = timeOf(history.txnStartTime, txn)
    const used = this.gather(txn)
    if (history.txnCounts[txn]) {
      for (const key of used) if (this.uses[key]! & READS) this.reads++
    }
    if (this.looks < MAX_LOOKS) {
      const partners: number[] = []
      for (const key of used) this.meetAt(txn, key, partners)
      if (history.sql !== null) this.meetInTables(txn, partners)
      for (const other of partners) this.count(other)
      if (history.txnCounts[txn]) this.countCauses(txn)
    }
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) this.uses[opKey[op]!] = 0
  }

  /** What a transaction uses, and how. */
  private gather(txn: number): number[] {
    const { history, uses } = this
    const used: number[] = []
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const key = history.opKey[op]!
      const before = uses[key]!
      if (before === 0) used.push(key)
      if (isWrite(history, op)) uses[key] = before | (before & WRITES ? WRITES_TWICE : WRITES)
      else if ((before & WRITES) === 0) uses[key] = before | (before & READS ? READS_TWICE : READS)
    }
    return used
  }

  private meetAt(txn: number, key: number, partners: number[]): void {
    const mine = this.uses[key]!
    if (mine === 0) return
    const isRead = (mine & READS) !== 0 && this.history.txnCounts[txn] === 1
    let isRaced = false
    let left = this.isTimed ? Number.POSITIVE_INFINITY : LATEST
    const { keys, start } = this
    for (
      let node = keys.newest(key, start);
      node !== NONE && left > 0;
      node = keys.older(node, start), left--
    ) {
      this.looks++
      const other = keys.txnOf(node)
      if (!this.isElsewhere(txn, other)) continue
      const yours = keys.usesOf(node)
      this.remember(txn, other, key, mine, yours, partners)
      if (yours & WRITES) isRaced = true
      if (mine & WRITES && yours & READS && this.history.txnCounts[other]) {
        if (keys.mark(node, RACED)) this.racedReads++
      }
    }
    if (isRead && isRaced) this.racedReads++
    this.keys.add(key, txn, isRead && isRaced ? mine | RACED : mine)
  }

  /** What a key that both use says of the two. */
  private remember(
    txn: number,
    other: number,
    key: number,
    mine: number,
    yours: number,
    partners: number[],
  ): void {
    const { met, iRead, youRead, bothRead, history } = this
    this.begin(txn, other, partners)
    const updates = READS | WRITES
    if ((mine & updates) === updates && (yours & updates) === updates) met[other]! |= LOST
    if (mine & READS && yours & WRITES) {
      iRead[other] = Math.min(2, iRead[other]! + 1)
      if ((mine & WRITES) === 0) met[other]! |= I_MISS
      if (mine & READS_TWICE) met[other]! |= REPEATED
      if (yours & WRITES_TWICE) met[other]! |= BETWEEN
      if (history.txnStatus[other] === ABORTED) met[other]! |= ROLLED_BACK
    }
    if (yours & READS && mine & WRITES) {
      youRead[other] = Math.min(2, youRead[other]! + 1)
      if ((yours & WRITES) === 0) met[other]! |= YOU_MISS
      if (yours & READS_TWICE) met[other]! |= REPEATED
      if (mine & WRITES_TWICE) met[other]! |= BETWEEN
      if (history.txnStatus[txn] === ABORTED) met[other]! |= ROLLED_BACK
    }
    if (((mine | yours) & WRITES) === 0 && mine & yours & READS && this.isWritten[key]) {
      bothRead[other] = Math.min(2, bothRead[other]! + 1)
    }
  }

  /** The same of tables that are searched and written. */
  private meetInTables(txn: number, partners: number[]): void {
    const sql = this.history.sql!
    const { eventTable, eventKind, eventWrite, txnEventStart } = sql
    const byTable = new Map<number, number>()
    for (let event = txnEventStart[txn]!; event < txnEventStart[txn + 1]!; event++) {
      const searches = looksThrough(sql, event) ? READS : 0
      const writes = eventKind[event] === SELECT || eventWrite[event] === NONE ? 0 : WRITES
      const table = eventTable[event]!
      byTable.set(table, (byTable.get(table) ?? 0) | searches | writes)
    }
    for (const [table, mine] of byTable) {
      let left = this.isTimed ? Number.POSITIVE_INFINITY : LATEST
      const { tables, start } = this
      for (
        let node = tables.newest(table, start);
        node !== NONE && left > 0;
        node = tables.older(node, start), left--
      ) {
        this.looks++
        const other = tables.txnOf(node)
        if (!this.isElsewhere(txn, other)) continue
        const yours = tables.usesOf(node)
        this.begin(txn, other, partners)
        if (mine & READS && yours & WRITES) this.met[other]! |= I_SEARCH
        if (yours & READS && mine & WRITES) this.met[other]! |= YOU_SEARCH
      }
      this.tables.add(table, txn, mine)
    }
  }

  /** Nothing is known of a pair at first. */
  private begin(txn: number, other: number, partners: number[]): void {
    if (this.metBy[other] === txn) return
    this.metBy[other] = txn
    this.met[other] = 0
    this.iRead[other] = 0
    this.youRead[other] = 0
    this.bothRead[other] = 0
    partners.push(other)
  }

  /** Who aborted counts as well: that may be how the database kept its word. */
  private count(other: number): void {
    const met = this.met[other]!
    if (met & ROLLED_BACK) this.add('AbortedRead')
    if (met & LOST) this.add('LostUpdate')
    if (met & I_MISS && met & YOU_MISS) this.add('WriteSkew')
    if (met & REPEATED) this.add('NonRepeatableRead')
    if (met & BETWEEN) this.add('IntermediateRead')
    if (this.iRead[other] === 2 || this.youRead[other] === 2) this.add('FracturedRead')
    if (this.bothRead[other] === 2) this.add('LongFork')
    if (met & (I_SEARCH | YOU_SEARCH)) this.add('Phantom')
    if (met & I_SEARCH && met & YOU_SEARCH) this.add('PredicateWriteSkew')
  }

  /** Whether it read from somebody who had read a key that it read too. */
  private countCauses(txn: number): void {
    const { history, uses } = this
    const { txnOpStart, readTxn, opKey } = history
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const source = readTxn[op]!
      if (isWrite(history, op) || source < 0 || source === txn) continue
      for (let cause = txnOpStart[source]!; cause < txnOpStart[source + 1]!; cause++) {
        this.looks++
        const key = opKey[cause]!
        if (isWrite(history, cause) || key === opKey[op] || (uses[key]! & READS) === 0) continue
        this.add('CausalityViolation')
        return
      }
    }
  }

  private lookAtSessions(): void {
    const { history } = this
    const { sessionCount, sessionTxnStart, sessionTxns, txnOpStart, opKey, txnCounts } = history
    const usedIn = new Int32Array(history.keyCount).fill(NONE) // key -> the last session
    for (let session = 0; session < sessionCount; session++) {
      for (let i = sessionTxnStart[session]!; i < sessionTxnStart[session + 1]!; i++) {
        const txn = sessionTxns[i]!
        if (!txnCounts[txn]) continue
        let isAgain = false
        for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
          const key = opKey[op]!
          isAgain ||= !isWrite(history, op) && this.isWritten[key] === 1 && usedIn[key] === session
        }
        for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++)
          usedIn[opKey[op]!] = session
        if (isAgain) this.add('SessionGuaranteeViolation')
      }
    }
  }

  private add(anomaly: OccasionName): void {
    this.counts.set(anomaly, this.counts.get(anomaly)! + 1)
  }

  private isElsewhere(txn: number, other: number): boolean {
    const { txnSession } = this.history
    return txn !== other && txnSession[txn] !== txnSession[other]
  }
}

function timeOf(times: Float64Array | null, txn: number): number {
  const time = times?.[txn] ?? Number.NaN
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time
}
