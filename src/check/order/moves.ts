// Moves transactions to earlier places of an order that respects session order, reads-from and
// known version order, such that it goes on doing so: with the one that moves goes all that must
// come before it and does not stand before its new place yet. A move that would have to take along
// what it is to pass is not possible.
//
// Nothing is shifted to make room: each transaction has a label, at first its position, and those
// that move get labels between the one that they move before and what stands before that. In the
// end the transactions are sorted by their labels. What stands between two transactions that are
// close together and must come before the later one is mostly next to nothing, so a move costs a
// look at a few transactions. O(n) for the labels and in the end, with a small factor, and what
// moves. Main class: Moves.

import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { ForcedEdge } from './components.ts'
import { type BaseOrder, NO_STALE_READS } from './stale-reads.ts'

/** A move that would take more along is given up. */
const MANY_MEMBERS = 256
/** Labels are not set closer together than this, so that all of them stay apart. */
const LEAST_GAP = 2 ** -20
/** Added to what is stored as free, which is thereby above 0. */
const FREE = 2

export class Moves {
  readonly moved: number[] = [] // transactions, each once
  private readonly isMoved: Uint8Array // txn -> 1 if it is among them
  readonly label: Float64Array // txn -> where it stands
  /** txn -> nobody stands between this, less FREE, and its label; 0 if as at first. */
  private readonly free: Float64Array
  private readonly members: number[] = [] // transactions that move together
  private readonly pending: number[] = []
  private readonly seen: Int32Array // txn -> the move that it was a member of last
  private move = 0
  /** Transactions looked at so far. */
  visits = 0
  private readonly extra = new Map<number, number[]>() // txn -> what else must come before it

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly base: BaseOrder, // without cycles
    extra: readonly ForcedEdge[] = [],
  ) {
    const { txnCount } = history
    this.isMoved = new Uint8Array(txnCount)
    this.label = new Float64Array(base.position)
    this.free = new Float64Array(txnCount)
    this.seen = new Int32Array(txnCount)
    for (const { from, to } of extra) {
      const known = this.extra.get(to)
      if (known) known.push(from)
      else this.extra.set(to, [from])
    }
  }

  /** Moves one to right before another that stands before it; false if something is against it. */
  tryMove(mover: number, target: number): boolean {
    const { label, free, members, moved, isMoved } = this
    if (!this.gather(mover, target)) return false
    const to = label[target]!
    const from = free[target] === 0 ? to - 1 : free[target]! - FREE
    // The lower half of what is free goes to them, the upper one stays for others.
    const gap = (to - from) / 2 / members.length
    if (gap < LEAST_GAP) return false
    if (members.length > 1) members.sort((a, b) => label[a]! - label[b]!)
    let at = from
    for (const txn of members) {
      free[txn] = at + FREE
      at += gap
      label[txn] = at
      if (isMoved[txn] === 0) moved.push(txn)
      isMoved[txn] = 1
    }
    free[target] = at + FREE
    return true
  }

  /** Finds all that must come before the mover and stands after the target; false if that does. */
  private gather(mover: number, target: number): boolean {
    const { txnOpStart } = this.history
    const { opSource, versions } = this.reads
    const { label, members, pending, extra } = this
    const floor = label[target]!
    this.move++
    members.length = 0
    pending.length = 0
    this.reach(mover)
    while (pending.length > 0) {
      const txn = pending.pop()!
      if (members.length > MANY_MEMBERS) return false
      this.visits++
      const before = this.previous(txn)
      if (before === target) return false
      if (before >= 0 && label[before]! > floor) this.reach(before)
      const end = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < end; op++) {
        const source = opSource[op]!
        if (source === target) return false
        if (source >= 0 && label[source]! > floor) this.reach(source)
        if (versions === null) continue
        const earlier = versions.writeAfter[op]!
        if (earlier === target) return false
        if (earlier >= 0 && label[earlier]! > floor) this.reach(earlier)
      }
      if (extra.size === 0) continue
      for (const other of extra.get(txn) ?? []) {
        if (other === target) return false
        if (label[other]! > floor) this.reach(other)
      }
    }
    return true
  }

  /** The last one before it in its session that counts, or NONE. */
  private previous(txn: number): number {
    const { sessionTxns, sessionTxnStart, txnSession, txnIndex, txnCounts } = this.history
    const start = sessionTxnStart[txnSession[txn]!]!
    let slot = start + txnIndex[txn]! - 1
    while (slot >= start && txnCounts[sessionTxns[slot]!] === 0) slot--
    return slot >= start ? sessionTxns[slot]! : NONE
  }

  private reach(txn: number): void {
    if (this.seen[txn] === this.move) return
    this.seen[txn] = this.move
    this.members.push(txn)
    this.pending.push(txn)
  }

  /** The order by labels, without its stale reads. */
  sorted(): BaseOrder {
    const { isMoved } = this
    const old = this.base.order
    const order = old.slice()
    const position = this.base.position.slice()
    const { list, next } = this.listByPlace()
    let length = 0
    for (let p = 0; p < old.length; p++) {
      for (let txn = list[p]! - 1; txn >= 0; txn = next[txn]! - 1) {
        position[txn] = length
        order[length++] = txn
      }
      const txn = old[p]!
      if (isMoved[txn] === 1) continue
      if (length !== p) {
        position[txn] = length
        order[length] = txn
      }
      length++
    }
    return { order, position, component: null, groupEnd: null, stale: NO_STALE_READS }
  }

  /** position -> the first that moved to right before it, plus 1; txn -> the one after it, plus 1. */
  private listByPlace(): { list: Int32Array; next: Int32Array } {
    const { label, moved } = this
    const next = new Int32Array(label.length)
    const list = new Int32Array(this.base.order.length)
    for (const txn of moved) {
      // By insertion: few stand between two positions.
      const place = Math.ceil(label[txn]!)
      let after = list[place]! - 1
      if (after < 0 || label[after]! > label[txn]!) {
        next[txn] = list[place]!
        list[place] = txn + 1
        continue
      }
      while (next[after] !== 0 && label[next[after]! - 1]! < label[txn]!) after = next[after]! - 1
      next[txn] = next[after]!
      next[after] = txn + 1
    }
    return { list, next }
  }
}
