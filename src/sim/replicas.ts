// Causal replication for the store at level cc. Every session talks to one of a few replicas. What
// commits at a replica is numbered there and carries a vector of what the replica had seen by then;
// another replica takes it in only after all of that, so what a replica has seen is always closed
// under causality. Between replicas deliveries are late at random: two readers can see two writes
// in opposite orders. A vector clock per commit is kept only for a window of recent commits; a
// replica that falls behind the window is made to catch up, oldest commit first.

import { IntColumn } from '../base/grow.ts'
import type { Random } from '../base/random.ts'

const MAX_REPLICAS = 4
const WINDOW = 128

export class Replicas {
  private readonly count: number
  private readonly random: Random
  private readonly seen: Int32Array // replica * count + origin -> commits of origin taken in
  private readonly made: Int32Array // origin -> commits made there
  private readonly needs: Int32Array // (origin, index % WINDOW) -> vector of what must come first
  private readonly seqs: Int32Array // (origin, index % WINDOW) -> place in the order of commits
  private readonly views: Int32Array // session * count + origin -> what its transaction sees
  private readonly seqOrigin = new IntColumn() // commit -> replica where it was made
  private readonly seqIndex = new IntColumn() // commit -> its number there, from 1

  constructor(sessionCount: number, random: Random) {
    const count = Math.min(sessionCount, MAX_REPLICAS)
    this.count = count
    this.random = random
    this.seen = new Int32Array(count * count)
    this.made = new Int32Array(count)
    this.needs = new Int32Array(count * WINDOW * count)
    this.seqs = new Int32Array(count * WINDOW)
    this.views = new Int32Array(sessionCount * count)
    this.seqOrigin.push(0)
    this.seqIndex.push(0) // commit 0 is the initial state, seen by all
  }

  /** Opens a transaction of the session on what its replica has seen. */
  begin(session: number): void {
    const { count, seen, views } = this
    const replica = session % count
    for (let origin = 0; origin < count; origin++) {
      if (origin !== replica && this.random.chance(0.5)) this.deliverSome(replica, origin)
    }
    const from = replica * count
    for (let i = 0; i < count; i++) views[session * count + i] = seen[from + i]!
  }

  /** Does the session's transaction see this commit? */
  sees(session: number, seq: number): boolean {
    const origin = this.seqOrigin.data[seq]!
    return this.seqIndex.data[seq]! <= this.views[session * this.count + origin]!
  }

  commit(session: number): void {
    const { count, seen, made } = this
    const origin = session % count
    for (let replica = 0; replica < count; replica++) {
      if (made[origin]! - seen[replica * count + origin]! >= WINDOW) this.catchUp(replica, origin)
    }
    const index = ++made[origin]!
    const slot = origin * WINDOW + (index % WINDOW)
    for (let i = 0; i < count; i++) this.needs[slot * count + i] = seen[origin * count + i]!
    this.seqs[slot] = this.seqOrigin.length
    this.seqOrigin.push(origin)
    this.seqIndex.push(index)
    seen[origin * count + origin] = index
  }

  /** Delivers everything everywhere. */
  settle(): void {
    const { count } = this
    for (let at = 0; at < count * count; at++) this.seen[at] = this.made[at % count]!
  }

  /** Takes in a random number of the origin's commits, as far as their causes are there. */
  private deliverSome(replica: number, origin: number): void {
    const at = replica * this.count + origin
    const pending = this.made[origin]! - this.seen[at]!
    const last = this.seen[at]! + this.random.below(pending + 1)
    while (this.seen[at]! < last && this.isReady(replica, origin)) this.seen[at]!++
  }

  private isReady(replica: number, origin: number): boolean {
    const { count, seen, needs } = this
    const next = seen[replica * count + origin]! + 1
    const slot = (origin * WINDOW + (next % WINDOW)) * count
    for (let i = 0; i < count; i++) {
      if (i !== origin && needs[slot + i]! > seen[replica * count + i]!) return false
    }
    return true
  }

  /** Makes room in the origin's window: the oldest commit's causes are older, so it is ready. */
  private catchUp(replica: number, origin: number): void {
    const { count, seen, made, seqs } = this
    const target = made[origin]! - (WINDOW >> 1)
    while (seen[replica * count + origin]! < target) {
      let oldest = -1
      let oldestSeq = Number.POSITIVE_INFINITY
      for (let i = 0; i < count; i++) {
        const next = seen[replica * count + i]! + 1
        if (next > made[i]!) continue
        const seq = seqs[i * WINDOW + (next % WINDOW)]!
        if (seq >= oldestSeq) continue
        oldest = i
        oldestSeq = seq
      }
      seen[replica * count + oldest]!++
    }
  }
}
