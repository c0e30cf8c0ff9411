// How much of a run was concurrent: a history in which nothing was satisfies everything, and says
// little about the database. Main function: measureConcurrency.

import { type History, NONE } from '../history/history.ts'
import { isWrite } from '../verdict/certify-reads.ts'

export interface Concurrency {
  /** Transactions that began while another one was in progress. */
  readonly overlapping: number
  /** Those of them that used a key which the other one used too, one of the two to write. */
  readonly conflicting: number
}

/**
 * Until when things are in use. Of the session that uses a thing longest, and of all others: a
 * transaction does not overlap the one before it in its session, which may end as it starts.
 */
class Ends {
  private readonly last: Float64Array // thing -> the latest end
  private readonly session: Int32Array // thing -> whose that is
  private readonly others: Float64Array // thing -> the latest end in any other session

  constructor(count: number) {
    this.last = new Float64Array(count).fill(Number.NEGATIVE_INFINITY)
    this.session = new Int32Array(count).fill(NONE)
    this.others = this.last.slice()
  }

  /** Whether another session uses it at that instant, or ends with it. */
  isUsed(thing: number, session: number, then: number): boolean {
    return (this.session[thing] === session ? this.others : this.last)[thing]! >= then
  }

  use(thing: number, session: number, end: number): void {
    if (this.session[thing] === session) this.last[thing] = Math.max(this.last[thing]!, end)
    else if (end > this.last[thing]!) {
      this.others[thing] = this.last[thing]!
      this.last[thing] = end
      this.session[thing] = session
    } else this.others[thing] = Math.max(this.others[thing]!, end)
  }
}

/**
 * Goes through the transactions as they began; audits left out. Two overlap if neither finished
 * before the other started: equal instants do. O(n log n).
 */
export function measureConcurrency(history: History): Concurrency {
  const { txnStartTime, txnFinishTime, txnAudit, txnCount, txnOpStart, opKey } = history
  if (!txnStartTime) return { overlapping: 0, conflicting: 0 }
  const order = Array.from({ length: txnCount }, (_, txn) => txn).filter((txn) => !txnAudit?.[txn])
  order.sort((a, b) => txnStartTime[a]! - txnStartTime[b]!)
  const busy = new Ends(1)
  const used = new Ends(history.keyCount)
  const written = new Ends(history.keyCount)
  let overlapping = 0
  let conflicting = 0
  for (const txn of order) {
    const start = txnStartTime[txn]!
    const session = history.txnSession[txn]!
    const finish = txnFinishTime?.[txn] ?? Number.NaN
    const end = Number.isNaN(finish) ? Number.POSITIVE_INFINITY : finish
    if (busy.isUsed(0, session, start)) overlapping++
    busy.use(0, session, end)
    let conflicts = false
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const users = isWrite(history, op) ? used : written
      conflicts ||= users.isUsed(opKey[op]!, session, start)
    }
    if (conflicts) conflicting++
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      used.use(opKey[op]!, session, end)
      if (isWrite(history, op)) written.use(opKey[op]!, session, end)
    }
  }
  return { overlapping, conflicting }
}

/** Why a verdict says little; null if it does not. */
export function tellLack({ overlapping, conflicting }: Concurrency): string | null {
  if (overlapping === 0) return 'nothing was concurrent'
  return conflicting === 0 ? 'nothing that was concurrent touched the same key' : null
}
