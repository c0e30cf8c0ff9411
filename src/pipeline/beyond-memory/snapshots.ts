// Which stale reads an order cannot explain at si. A transaction's snapshot has to have all up to
// the last one in the order that it read from, that comes before it in its session, or that wrote a
// key which it writes too; a read that skipped anybody up to there contradicts the order
// (docs/beyond-memory.md). Main function: findTooOld.

import { NONE } from '../../history/history.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { StaleReads } from './stale-reads.ts'
import { walkVersions } from './version-walk.ts'

/** Returns the numbers of the stale reads that are too old for their transactions' snapshots. */
export function findTooOld(
  spilled: SpilledHistory,
  order: CommitOrder,
  stale: StaleReads,
  onBucket: (bucket: number) => void,
): number[] {
  const readers = new MarkedPositions(spilled.txnCount, stale.reader.view())
  const lastSeen = new Int32Array(readers.count).fill(NONE) // reader -> last of its snapshot
  const see = (at: number, other: number) => {
    const reader = readers.numberOf(at)
    if (reader !== NONE && other > lastSeen[reader]!) lastSeen[reader] = other
  }
  const visitor = {
    read: (at: number, _key: number, source: number) => see(at, source),
    write: (at: number, _key: number, before: number) => see(at, before),
  }
  walkVersions(spilled, order, visitor, onBucket)
  const last = new Int32Array(spilled.sessions.size).fill(NONE) // session -> its last position
  for (let at = 0; at < spilled.txnCount; at++) {
    const txn = order.txnAt === null ? at : order.txnAt[at]!
    if (!spilled.txnCounts[txn]) continue
    const session = spilled.txnSession.data[txn]!
    see(at, last[session]!)
    last[session] = at
  }
  const found: number[] = []
  for (let i = 0; i < stale.count; i++) {
    if (stale.next.data[i]! <= lastSeen[readers.numberOf(stale.reader.data[i]!)]!) found.push(i)
  }
  return found
}

/** Some of the positions, with numbers of their own. */
class MarkedPositions {
  readonly count: number
  private readonly bits: Uint32Array // 32 positions each
  private readonly before: Int32Array // how many are marked before these

  constructor(size: number, marked: Int32Array) {
    this.bits = new Uint32Array((size >>> 5) + 1)
    this.before = new Int32Array(this.bits.length)
    for (const at of marked) this.bits[at >>> 5]! |= 1 << (at & 31)
    let count = 0
    for (let word = 0; word < this.bits.length; word++) {
      this.before[word] = count
      count += ones(this.bits[word]!)
    }
    this.count = count
  }

  /** NONE where it is not marked. */
  numberOf(at: number): number {
    const word = this.bits[at >>> 5]!
    const bit = 1 << (at & 31)
    if ((word & bit) === 0) return NONE
    return this.before[at >>> 5]! + ones(word & (bit - 1))
  }
}

/** How many bits are set. */
function ones(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
