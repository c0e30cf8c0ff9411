// How far the clocks of sessions had come when transactions of theirs were let go, so that one that
// starts before that is noticed as `isobar check` notices it. A number a session, and only so many:
// beyond that, sessions behind the others are forgotten, together with the latest time of them all,
// before which nobody who is not known can then start for certain. Main class: LastTimes.

import type { History } from '../history/history.ts'
import type { Value } from '../history/values.ts'

const MOST_SESSIONS = 1 << 16

export class LastTimes {
  private readonly latest = new Map<Value, number>() // session -> the latest time told of it
  private forgotten: number | null = null // the latest of those that were forgotten

  constructor(private readonly most = MOST_SESSIONS) {}

  /** Takes in those that are let go; whoever is before one of them in its session is or was, too. */
  add(
    { sessionTxns, txnSession, txnStartTime, txnFinishTime, ...history }: History,
    goes: Uint8Array,
  ): void {
    if (!txnStartTime && !txnFinishTime) return
    for (const txn of sessionTxns) {
      if (!goes[txn]) continue
      const label = history.sessionLabel(txnSession[txn]!)
      for (const time of [txnStartTime?.[txn], txnFinishTime?.[txn]]) {
        if (time! > this.before(label)) this.latest.set(label, time!)
      }
    }
    if (this.latest.size > this.most) this.forget()
  }

  /** The latest time of what was let go of that session. */
  before(session: Value): number {
    return this.latest.get(session) ?? Number.NEGATIVE_INFINITY
  }

  /** Whether somebody starts that early that its session may have been forgotten. */
  mayHaveForgotten({ txnCount, txnStartTime, txnSession, sessionLabel }: History): boolean {
    const { forgotten, latest } = this
    if (forgotten === null || !txnStartTime) return false
    for (let txn = 0; txn < txnCount; txn++) {
      const isEarly = txnStartTime[txn]! < forgotten
      if (isEarly && !latest.has(sessionLabel(txnSession[txn]!))) return true
    }
    return false
  }

  /** The half that is behind the others. */
  private forget(): void {
    const times = Float64Array.from(this.latest.values()).sort()
    const middle = times[times.length >> 1]!
    for (const [session, time] of this.latest) if (time <= middle) this.latest.delete(session)
    this.forgotten = middle
  }

  save() {
    return { latest: [...this.latest], forgotten: this.forgotten }
  }

  static restore(saved: ReturnType<LastTimes['save']>): LastTimes {
    const times = new LastTimes()
    for (const [session, time] of saved.latest) times.latest.set(session, time)
    times.forgotten = saved.forgotten
    return times
  }
}
