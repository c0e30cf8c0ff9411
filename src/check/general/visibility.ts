// What a transaction below pc sees, row by row: for each of its pairs (read of x, writer t1), the
// writers of x that its level makes visible and which must therefore commit before t1. Session
// order and causality are told by one writer a session, the last one visible: those before it
// follow. rc sees what was read before, rc of SQL also session order and the same statement, ra all
// that the transaction read, cc what led to it, through clocks. Main class: Visibility.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { CC, RC, RC_SQL } from '../problem/levels.ts'
import type { Pairs } from './pairs.ts'
import type { Problem } from './problem.ts'

/** In place of the pair through which a writer is visible. */
export const IN_SESSION = -2
export const CAUSAL = -3

export class Visibility {
  // What was found last: for each, the pair it constrains, the writer seen, and through which pair
  // it is seen (or IN_SESSION, CAUSAL).
  readonly pair = new IntColumn(64)
  readonly by = new IntColumn(64)
  readonly via = new IntColumn(64)
  private readonly head: Int32Array // key -> last slot of the reader's pairs with that key
  private readonly next: Int32Array // slot of nodePair -> the one before it of the same key
  private readonly metBy: Int32Array // node -> reader that counted it among its sources
  private readonly pairs: Pairs
  private readonly sessionCount: number
  private clocks: Int32Array | null = null // node · sessionCount -> last index seen

  /** @param takesPart whether a node is taken to take part */
  constructor(
    private readonly problem: Problem,
    private readonly takesPart: (node: number) => boolean,
    private readonly deadline: Deadline,
  ) {
    this.pairs = problem.pairs!
    this.head = new Int32Array(problem.keyCount).fill(NONE)
    this.next = new Int32Array(this.pairs.count)
    this.metBy = new Int32Array(problem.txnCount).fill(NONE)
    this.sessionCount = problem.history.sessionCount
  }

  /** Finds what the node's level makes visible; `source` says whom pairs read from, or NONE. */
  find(reader: number, source: Int32Array): void {
    this.pair.length = this.by.length = this.via.length = 0
    const level = this.problem.level[reader]!
    if (level === CC) return this.findCausal(reader)
    if (level !== RC) this.findInSession(reader)
    this.findRead(reader, source, level)
  }

  private found(pair: number, by: number, via: number): void {
    this.pair.push(pair)
    this.by.push(by)
    this.via.push(via)
  }

  private findInSession(reader: number): void {
    const { txnStart, ofTxn, key, session, index } = this.pairs
    for (let i = txnStart[reader]!; i < txnStart[reader + 1]!; i++) {
      const pair = ofTxn[i]!
      const by = this.lastWriter(key[pair]!, session[reader]!, index[reader]! - 1)
      if (by !== NONE) this.found(pair, by, IN_SESSION)
    }
  }

  /** Those who wrote the rows that the reader read. */
  private findRead(reader: number, source: Int32Array, level: number): void {
    const { txnStart, ofTxn, key: pairKey, read } = this.pairs
    const { writeStart, writeKey } = this.problem.access
    const { head, next, metBy } = this
    const start = txnStart[reader]!
    const end = txnStart[reader + 1]!
    for (let i = start; i < end; i++) {
      const key = pairKey[ofTxn[i]!]!
      next[i] = head[key]!
      head[key] = i
    }
    for (let i = start; i < end; i++) {
      const via = ofTxn[i]!
      const by = source[via]!
      // The first pair that reads from it is the one that matters.
      if (by <= 0 || metBy[by] === reader) continue
      metBy[by] = reader
      for (let k = writeStart[by]!; k < writeStart[by + 1]!; k++) {
        for (let j = head[writeKey[k]!]!; j !== NONE; j = next[j]!) {
          const pair = ofTxn[j]!
          const later = read[pair]! - read[via]!
          if (level === RC ? later > 0 : level !== RC_SQL || later >= 0) this.found(pair, by, via)
        }
      }
    }
    for (let i = start; i < end; i++) {
      head[pairKey[ofTxn[i]!]!] = NONE
      metBy[Math.max(0, source[ofTxn[i]!]!)] = NONE
    }
  }

  private findCausal(reader: number): void {
    const { txnStart, ofTxn, key: pairKey, session, index, writersBySession } = this.pairs
    const { keyStart } = this.problem
    const clock = reader * this.sessionCount
    for (let i = txnStart[reader]!; i < txnStart[reader + 1]!; i++) {
      const pair = ofTxn[i]!
      const key = pairKey[pair]!
      let best = NONE
      this.deadline.step(keyStart[key + 1]! - keyStart[key]!)
      for (let at = keyStart[key]!; at < keyStart[key + 1]!; at++) {
        const txn = writersBySession[at]!
        if (best !== NONE && session[txn] !== session[best]) {
          this.found(pair, best, CAUSAL)
          best = NONE
        }
        if (index[txn]! > this.clocks![clock + session[txn]!]!) continue
        if (this.takesPart(txn) && txn !== reader) best = txn
      }
      if (best !== NONE) this.found(pair, best, CAUSAL)
    }
  }

  /** The last writer of a key in a session up to a place in it, or NONE. */
  private lastWriter(key: number, session: number, upTo: number): number {
    const { writersBySession, session: sessionOf, index } = this.pairs
    const { keyStart } = this.problem
    let low = keyStart[key]!
    let high = keyStart[key + 1]!
    while (low < high) {
      const middle = (low + high) >> 1
      const txn = writersBySession[middle]!
      const gap = sessionOf[txn]! - session
      if (gap < 0 || (gap === 0 && index[txn]! <= upTo)) low = middle + 1
      else high = middle
    }
    for (let at = low - 1; at >= keyStart[key]!; at--) {
      const txn = writersBySession[at]!
      if (sessionOf[txn] !== session) return NONE
      if (this.takesPart(txn)) return txn
    }
    return NONE
  }

  /** Sets the clocks for cc: transactions in an order in which all come after what they see. */
  setClocks(order: ArrayLike<number>, source: Int32Array): void {
    if (!this.pairs.hasCausal) return
    this.clocks ??= new Int32Array(this.problem.txnCount * this.sessionCount)
    this.clocks.fill(NONE)
    for (let i = 0; i < order.length; i++) {
      this.deadline.step(4)
      this.setClock(order[i]!, source)
    }
  }

  /** Sets the clock of a transaction; those that it sees have theirs. */
  private setClock(txn: number, source: Int32Array): void {
    const { txnStart, ofTxn } = this.pairs
    const { before } = this.problem
    if (!this.takesPart(txn)) return
    let previous = before[txn]!
    while (previous !== NONE && !this.takesPart(previous)) previous = before[previous]!
    if (previous !== NONE) this.join(txn, previous)
    for (let k = txnStart[txn]!; k < txnStart[txn + 1]!; k++) {
      const from = source[ofTxn[k]!]!
      if (from > 0) this.join(txn, from)
    }
  }

  private join(txn: number, seen: number): void {
    const { sessionCount } = this
    const clocks = this.clocks!
    const { session, index } = this.pairs
    const into = txn * sessionCount
    const from = seen * sessionCount
    for (let s = 0; s < sessionCount; s++) {
      if (clocks[from + s]! > clocks[into + s]!) clocks[into + s] = clocks[from + s]!
    }
    const at = into + session[seen]!
    if (index[seen]! > clocks[at]!) clocks[at] = index[seen]!
  }
}
