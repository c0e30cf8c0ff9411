// Whom reads saw if every transaction took effect at one moment between its start and its finish,
// where each uses one key and times are known: key by key by a search (linear-search.ts). What it
// finds is a guess, judged like any other choice. Where it finds that there is no such order, it
// tells a few reads which alone leave none: of a key's, those up to the first that cannot be, from
// the last on without which the others could, and of those by halves. Nobody believes that: it says
// where to argue. Main functions: guessLinear, findContrary.

import type { Deadline } from '../../base/deadline.ts'
import { ABORTED, type History, hasTimes, NONE, WRITE } from '../../history/history.ts'
import { type Source, sourceOf } from '../../history/writers.ts'
import { LinearSearch } from './linear-search.ts'

/** A guess that takes longer is none. */
const MOST_STEPS = 1_000_000
/** So often some reads are tried to be left out, half of them at first, one by one in the end. */
const MOST_TRIED = 200

/**
 * A source for every read that has a choice; null if none was found; or the transactions of a key,
 * by their start, that cannot be in any order.
 */
export function guessLinear(
  history: History,
  deadline: Deadline,
): { sources: Source[] } | { contrary: readonly number[] } | null {
  // Where no transaction counts there is nothing that lacks times, and there may be none.
  if (history.txnStartTime === null || !hasTimes(history)) return null
  const keys = txnsByKey(history)
  if (keys === null) return null
  const seen = new Int32Array(history.opCount).fill(NONE)
  const binds = new Uint8Array(history.opCount).fill(1)
  for (const txns of keys.values()) {
    const found = new LinearSearch(history, txns, binds, seen, deadline).run(MOST_STEPS)
    if (found === null) return null
    if (!found) return { contrary: txns }
  }
  const writers = history.writers!
  const sources = Array.from(writers.reads, (read, choice) =>
    // Of a transaction that never took effect, nobody asks.
    seen[read] === NONE
      ? sourceOf(writers, choice, writers.likeliest[choice]!)
      : { read, write: seen[read]! },
  )
  return { sources }
}

/** Of reads with a choice a few that leave no order, whomever the others saw. */
export function findContrary(
  history: History,
  txns: readonly number[],
  deadline: Deadline,
): number[] {
  const { opTxn, opCount, txnFinishTime } = history
  const isOfKey = new Set(txns)
  const finishOf = (read: number) => {
    const finish = txnFinishTime![opTxn[read]!]!
    return Number.isNaN(finish) ? Number.POSITIVE_INFINITY : finish
  }
  const reads = Array.from(history.writers!.reads).filter((read) => isOfKey.has(opTxn[read]!))
  reads.sort((a, b) => finishOf(a) - finishOf(b) || a - b)
  const [binds, seen] = [new Uint8Array(opCount), new Int32Array(opCount)]
  const isContrary = (some: readonly number[]) => {
    binds.fill(1)
    for (const read of reads) binds[read] = 0
    for (const read of some) binds[read] = 1
    return new LinearSearch(history, txns, binds, seen, deadline).run(MOST_STEPS) === false
  }
  let few = reads.slice(
    0,
    least(reads.length, (count) => isContrary(reads.slice(0, count))),
  )
  few = few.slice(-least(few.length, (count) => isContrary(few.slice(-count))))
  let tried = 0
  for (let size = few.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < few.length && tried < MOST_TRIED; tried++) {
      const others = [...few.slice(0, at), ...few.slice(at + size)]
      if (isContrary(others)) few = others
      else at += size
    }
  }
  return few
}

/** The least count from 1 on that will do, if all larger ones do and `most` does. */
function least(most: number, does: (count: number) => boolean): number {
  let [from, to] = [1, most]
  while (from < to) {
    const middle = (from + to) >> 1
    if (does(middle)) to = middle
    else from = middle + 1
  }
  return to
}

/** Key -> the transactions that use it, by their start; null if one uses two, or no register. */
function txnsByKey(history: History): Map<number, number[]> | null {
  const { txnCount, txnStatus, txnIsInitial, txnOpStart, opKey, opKind, txnStartTime } = history
  const keys = new Map<number, number[]>()
  for (let txn = 0; txn < txnCount; txn++) {
    const [from, to] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
    if (txnStatus[txn] === ABORTED || txnIsInitial[txn] || from === to) continue
    for (let op = from; op < to; op++) {
      if (opKey[op] !== opKey[from] || opKind[op]! > WRITE) return null
    }
    const known = keys.get(opKey[from]!)
    if (known) known.push(txn)
    else keys.set(opKey[from]!, [txn])
  }
  for (const txns of keys.values()) txns.sort((a, b) => txnStartTime![a]! - txnStartTime![b]!)
  return keys
}
