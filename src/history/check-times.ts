// Whether the times of a history can be those of its session order: nothing starts before whatever
// comes before it was over, be that by its session or because it names it (after.ts). Throws
// InputError otherwise, and if what is named is no order. Main function: checkTimes.

import { InputError } from '../base/errors.ts'
import { orderBySessions, rightBefore } from './after.ts'
import { type History, NONE } from './history.ts'
import type { Value } from './values.ts'

/**
 * In a session nothing starts before its predecessor finished, or finishes before it starts.
 * @param before of a session, the latest time of what came before all that is here
 */
export function checkTimes(
  history: History,
  before: (session: Value) => number = () => Number.NEGATIVE_INFINITY,
): void {
  const { txnStartTime: starts, txnFinishTime: finishes, sessionTxns, txnSession } = history
  if (starts || finishes) {
    let session = NONE
    let latest = Number.NEGATIVE_INFINITY
    for (const txn of sessionTxns) {
      if (txnSession[txn] !== session) {
        session = txnSession[txn]!
        latest = before(history.sessionLabel(session))
      }
      const start = starts ? starts[txn]! : Number.NaN
      const finish = finishes ? finishes[txn]! : Number.NaN
      if (start < latest || finish < start) throw impossibleTimes(history, txn, latest)
      if (start > latest) latest = start
      if (finish > latest) latest = finish
    }
  }
  if (history.after) checkNamedTimes(history, orderBySessions(history))
}

/** Nothing starts before what it comes after was over, also through others without times. */
function checkNamedTimes(history: History, order: Int32Array): void {
  const { txnStartTime: starts, txnFinishTime: finishes, txnCount } = history
  if (!starts) return
  const latest = new Float64Array(txnCount).fill(Number.NEGATIVE_INFINITY) // of it and all before
  const whose = new Int32Array(txnCount).fill(NONE) // txn -> the one whose time that is
  for (const txn of order) {
    for (const earlier of rightBefore(history, txn)) {
      if (latest[earlier]! <= latest[txn]!) continue
      latest[txn] = latest[earlier]!
      whose[txn] = whose[earlier]!
    }
    if (starts[txn]! < latest[txn]!) throw tooEarly(history, txn, whose[txn]!)
    for (const time of [starts[txn]!, finishes ? finishes[txn]! : Number.NaN]) {
      if (!(time > latest[txn]!)) continue
      latest[txn] = time
      whose[txn] = txn
    }
  }
}

function tooEarly(history: History, txn: number, other: number): InputError {
  const finish = history.finishText(other)
  const over = finish === null ? `started (${history.startText(other)})` : `finished (${finish})`
  const name = history.txnName(txn)
  return new InputError(
    'impossible-times',
    `transaction ${name} starts at ${history.startText(txn)}, before ${history.txnName(other)} ${over}, though it comes after it`,
    placeOf(history, txn),
    'check the clock, or what the transaction names in after',
  )
}

function impossibleTimes(history: History, txn: number, latest: number): InputError {
  const name = history.txnName(txn)
  const start = history.startText(txn)
  const finish = history.finishText(txn)
  if ((history.txnStartTime?.[txn] ?? Number.NaN) < latest) {
    return new InputError(
      'impossible-times',
      `transaction ${name} starts at ${start}, before its session's previous one ended (${latest})`,
      placeOf(history, txn),
      'a session runs one transaction at a time; check the clock or the session numbers',
    )
  }
  const message = `transaction ${name} finishes at ${finish}, before it starts (${start})`
  return new InputError('impossible-times', message, placeOf(history, txn))
}

function placeOf(history: History, txn: number) {
  const op = history.txnOpStart[txn]!
  return op < history.txnOpStart[txn + 1]! ? history.placeOf(op) : null
}
