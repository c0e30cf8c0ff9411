// The sessions of a log side by side, as one order that contains session order and reads-from: a
// transaction is told once all that it read from are, and those that are to come before it. Of
// those that may come next it is the one that came first in the order before; at first, what the
// file tells first, or in files that tell one session after the other, what is least far in its
// session. Where pairs that are wished for contradict each other, those are dropped that the
// earliest transaction waits for. Main function: interleave.

import { NONE, WRITE } from '../../history/history.ts'
import { NumberSet } from '../../spill/number-set.ts'
import { INITIAL_VALUE, type SessionCursor, type SessionLog } from '../../spill/session-log.ts'
import type { KnownPairs } from './known-pairs.ts'

export interface InterleaveInput {
  readonly log: SessionLog
  /** Transaction -> its position in the order before; null: there was none. */
  readonly prior: Int32Array | null
  readonly forced: KnownPairs
  readonly preferred: KnownPairs
  /** Position -> transaction, to be filled. */
  readonly txnAt: Int32Array
  /** Called for each transaction, in the order; false to give up. */
  readonly tell: (at: number, session: number, cursor: SessionCursor) => boolean
}

/**
 * False if it was given up, or if some can never be told: they wait in a cycle, or for what nobody
 * writes.
 */
export function interleave(input: InterleaveInput): boolean {
  return new Interleaving(input).run()
}

const TOLD = 0
const VALUE = 1 // waits for a value to be written
const PAIR = 2 // waits for a transaction to be told

class Interleaving {
  private readonly cursors: readonly SessionCursor[]
  private readonly told = new NumberSet(Number.POSITIVE_INFINITY) // transactions
  private readonly written = new NumberSet(Number.POSITIVE_INFINITY) // values
  private readonly waitsFor: Uint8Array // session -> TOLD, VALUE or PAIR
  private readonly forValue = new Waiting()
  private readonly forTxn = new Waiting()
  private readonly toldOf: Int32Array // session -> how many are
  private readonly heap: Int32Array // sessions
  private heapSize = 0
  private readonly rank: Float64Array // session -> where its next transaction should come
  private missing = 0 // what the session waits for that was looked at last
  private readonly isTold = (txn: number) => {
    if (this.told.has(txn)) return true
    this.missing = txn
    return false
  }

  constructor(private readonly input: InterleaveInput) {
    this.cursors = input.log.cursors()
    const count = this.cursors.length
    this.waitsFor = new Uint8Array(count)
    this.toldOf = new Int32Array(count)
    this.heap = new Int32Array(count + 1)
    this.rank = new Float64Array(count)
  }

  run(): boolean {
    const { cursors, input, toldOf } = this
    const { txnAt } = input
    for (let session = 0; session < cursors.length; session++) this.offer(session)
    for (let at = 0; at < txnAt.length; at++) {
      if (this.heapSize === 0 && !this.release()) return false
      const session = this.pop()
      const cursor = cursors[session]!
      txnAt[at] = cursor.txn
      if (!input.tell(at, session, cursor)) return false
      this.told.add(cursor.txn)
      toldOf[session]!++
      this.wake(cursor)
      cursor.advance()
      this.offer(session)
    }
    return true
  }

  /** The session's next transaction may be told, or waits. */
  private offer(session: number): void {
    const cursor = this.cursors[session]!
    if (cursor.txn === NONE) return
    if (this.waitsForValue(session, cursor)) return
    const { forced, preferred } = this.input
    if (!forced.every(cursor.txn, this.isTold) || !preferred.every(cursor.txn, this.isTold)) {
      this.waitsFor[session] = PAIR
      this.forTxn.add(this.missing, session)
      return
    }
    this.waitsFor[session] = TOLD
    this.push(session)
  }

  private waitsForValue(session: number, { key, value, opCount, isAborted }: SessionCursor) {
    if (isAborted) return false
    for (let op = 0; op < opCount; op++) {
      const saw = value.data[op]!
      if (key.data[op]! % 2 === WRITE || saw === INITIAL_VALUE || this.written.has(saw)) continue
      if (isOwn(key.data, value.data, op)) continue
      this.waitsFor[session] = VALUE
      this.forValue.add(saw, session)
      return true
    }
    return false
  }

  private wake({ txn, key, value, opCount, isAborted }: SessionCursor): void {
    const { written, forValue, forTxn } = this
    for (let op = 0; op < opCount && !isAborted; op++) {
      if (key.data[op]! % 2 !== WRITE) continue
      written.add(value.data[op]!)
      if (forValue.mayHave(value.data[op]!)) this.offerAll(forValue.take(value.data[op]!))
    }
    if (forTxn.mayHave(txn)) this.offerAll(forTxn.take(txn))
  }

  private offerAll(sessions: readonly number[]): void {
    for (const session of sessions) this.offer(session)
  }

  /** Nothing can go on: the earliest that waits for pairs alone goes first, rather one of wishes. */
  private release(): boolean {
    const { cursors, waitsFor, input } = this
    const { forced, preferred } = input
    let best: number = NONE
    let isForcedBest = false
    for (let session = 0; session < cursors.length; session++) {
      const { txn } = cursors[session]!
      if (txn === NONE || waitsFor[session] !== PAIR) continue
      const isForced = !forced.every(txn, this.isTold)
      const isBetter =
        best === NONE ||
        (isForced !== isForcedBest ? isForcedBest : this.rankOf(session) < this.rankOf(best))
      if (!isBetter) continue
      best = session
      isForcedBest = isForced
    }
    if (best === NONE) return false
    const { txn } = cursors[best]!
    forced.every(txn, this.isTold)
    this.forTxn.remove(best)
    preferred.every(txn, (earlier) => {
      if (!this.told.has(earlier)) preferred.drop(earlier, txn)
      return true
    })
    this.waitsFor[best] = TOLD
    this.push(best)
    return true
  }

  private rankOf(session: number): number {
    const { prior, log } = this.input
    const { txn } = this.cursors[session]!
    if (prior !== null) return prior[txn]!
    return log.isOneByOne ? this.toldOf[session]! / log.lengths.data[session]! : txn
  }

  private push(session: number): void {
    const { heap, rank } = this
    const own = this.rankOf(session)
    rank[session] = own
    let at = this.heapSize++
    while (at > 0) {
      const up = (at - 1) >> 1
      if (rank[heap[up]!]! <= own) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = session
  }

  private pop(): number {
    const { heap, rank } = this
    const top = heap[0]!
    const last = heap[--this.heapSize]!
    const own = rank[last]!
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= this.heapSize) break
      if (down + 1 < this.heapSize && rank[heap[down + 1]!]! < rank[heap[down]!]!) down++
      if (rank[heap[down]!]! >= own) break
      heap[at] = heap[down]!
      at = down
    }
    heap[at] = last
    return top
  }
}

/** Whether the transaction wrote the value itself before. */
function isOwn(key: Int32Array, value: Int32Array, read: number): boolean {
  for (let op = 0; op < read; op++) {
    if (key[op] === key[read]! + WRITE && value[op] === value[read]) return true
  }
  return false
}

const FILTER = (1 << 12) - 1

/** Which sessions wait for a number; each for one at most. */
class Waiting {
  private readonly sessions = new Map<number, number[]>()
  private readonly filter = new Uint16Array(FILTER + 1) // low bits -> numbers that are waited for

  /** Cheap, and true if somebody waits for it. */
  mayHave(n: number): boolean {
    return this.filter[n & FILTER] !== 0
  }

  add(n: number, session: number): void {
    const known = this.sessions.get(n)
    if (known) known.push(session)
    else {
      this.sessions.set(n, [session])
      this.filter[n & FILTER]!++
    }
  }

  take(n: number): readonly number[] {
    const waiting = this.sessions.get(n)
    if (!waiting) return []
    this.sessions.delete(n)
    this.filter[n & FILTER]!--
    return waiting
  }

  remove(session: number): void {
    for (const [n, waiting] of this.sessions) {
      const at = waiting.indexOf(session)
      if (at < 0) continue
      waiting.splice(at, 1)
      if (waiting.length === 0) this.take(n)
    }
  }
}
