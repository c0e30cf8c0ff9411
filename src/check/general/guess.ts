// Guesses an order by running the transactions, once, without ever taking a step back: sessions go
// on as long as every known edge, every read and every overwritten version allows it. After
// saturation the known edges keep the run from most mistakes, and what gets through is a proof,
// with no pair of writers ever looked at. If all sessions block each other, the guess has failed,
// and the solver has to choose (encode.ts). Those that may take no part are left out; rows passed
// over are not looked at, but for what is known of them: choose.ts tries what comes of that.
//
// At si a transaction holds the keys it writes from its snapshot to its commit, so it takes its
// snapshot only if its commit can follow at once; where nobody can, the one that comes first in
// the topological order goes ahead. A session waits for one thing at a time; O(edges + wake-ups).
// Main function: guessOrder.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { type Access, readsVersion } from '../problem/access.ts'
import { PC, SI } from '../problem/levels.ts'
import { IN } from '../problem/mixed-problem.ts'
import type { KnownEdges } from './known-edges.ts'

/** Transactions in the order of their commits, valid but for pairs; null if it leads nowhere. */
export function guessOrder(known: KnownEdges, deadline: Deadline): Int32Array | null {
  return new GuessRun(known).run(deadline)
}

class GuessRun {
  private readonly head: Int32Array // chain -> its next node
  private readonly waiting: Int32Array // node -> known edges into it that are still to come
  private readonly unread: Int32Array // version -> readers that have not read it yet
  private readonly unreadInitial: Int32Array // local key -> readers of its initial state to come
  private readonly latest: Int32Array // local key -> its latest version, NONE for the initial state
  private readonly isHeld: Uint8Array // si: local key -> 1 while one that writes it is open
  private readonly waitsFor: Int32Array // chain -> key it waits for, or NONE
  private readonly nextWaiter: Int32Array // chain -> next chain waiting for the same key
  private readonly firstWaiter: Int32Array // local key -> first chain that waits for it
  private readonly isHesitant: Uint8Array // si: chain -> 1 if it could take a snapshot, but waits
  private readonly queue: Int32Array // ring of chains that may go on
  private readonly isQueued: Uint8Array // chain -> 1 while in the queue
  private queueStart = 0
  private queueLength = 0
  private readonly order: Int32Array // transactions, as they commit
  private length = 0
  private left = 0 // nodes to come
  private readonly access: Access

  constructor(private readonly known: KnownEdges) {
    const { problem, graph } = known
    this.access = problem.access
    const { keyCount, versionTxn, readerStart, initialStart } = problem
    const { nodeCount, chainCount } = graph
    this.head = graph.chainStart.slice(0, chainCount)
    this.waiting = new Int32Array(nodeCount)
    for (let e = 0; e < graph.edgeCount; e++) this.waiting[graph.to.data[e]!]!++
    this.unread = new Int32Array(versionTxn.length).map(
      (_, v) => readerStart[v + 1]! - readerStart[v]!,
    )
    this.unreadInitial = new Int32Array(keyCount).map(
      (_, k) => initialStart[k + 1]! - initialStart[k]!,
    )
    this.latest = new Int32Array(keyCount).fill(NONE)
    this.isHeld = new Uint8Array(keyCount)
    this.waitsFor = new Int32Array(chainCount).fill(NONE)
    this.nextWaiter = new Int32Array(chainCount).fill(NONE)
    this.firstWaiter = new Int32Array(keyCount).fill(NONE)
    this.isHesitant = new Uint8Array(chainCount)
    this.queue = new Int32Array(chainCount)
    this.isQueued = new Uint8Array(chainCount)
    this.order = new Int32Array(problem.txnCount)
  }

  run(deadline: Deadline): Int32Array | null {
    const { chainStart } = this.known.graph
    for (let chain = 0; chain < this.head.length; chain++) {
      if (this.isLeftOut(chain)) {
        this.head[chain] = chainStart[chain + 1]!
        continue
      }
      this.left += chainStart[chain + 1]! - chainStart[chain]!
      this.enqueue(chain)
    }
    for (let steps = 1; ; steps++) {
      if ((steps & 4095) === 0) deadline.check()
      if (this.queueLength > 0) {
        this.advance(this.dequeue())
        continue
      }
      if (this.left === 0) return this.order.subarray(0, this.length)
      deadline.step(this.head.length)
      const chain = this.findHesitant()
      if (chain === NONE) return null
      this.stopWaiting(chain)
      this.take(chain)
      this.enqueue(chain)
    }
  }

  /** Whether a chain is of one that may take no part. */
  private isLeftOut(chain: number): boolean {
    const { problem, graph } = this.known
    if (problem.pairs === null) return false
    return problem.pairs.state[this.known.txnOf(graph.chainStart[chain]!)] !== IN
  }

  /** Takes the next steps of a chain until one has to wait. */
  private advance(chain: number): void {
    const end = this.known.graph.chainStart[chain + 1]!
    if (this.waitsFor[chain] !== NONE) return // it will be woken
    while (this.head[chain]! < end) {
      const node = this.head[chain]!
      if (this.waiting[node]! > 0 || !this.mayGo(chain, node)) return
      this.take(chain)
    }
  }

  private mayGo(chain: number, node: number): boolean {
    const { begin, commit, problem } = this.known
    const txn = this.known.txnOf(node)
    if (txn < 0) return true // an instant
    const level = problem.level[txn]!
    if (node === commit[txn]) {
      const held = problem.hasSi && level !== SI ? this.findHeld(txn) : NONE
      const key = held !== NONE ? held : this.findUnread(txn, begin[txn] === node)
      return key === NONE || this.wait(chain, key)
    }
    if (level === PC) return true
    const held = this.findHeld(txn)
    if (held !== NONE) return this.wait(chain, held)
    const unread = this.findUnread(txn, true)
    const commits = this.access.writeStart[txn] === this.access.writeStart[txn + 1]
    if (commits || (unread === NONE && this.waiting[node + 1] === 0)) return true
    this.isHesitant[chain] = 1
    return unread !== NONE && this.wait(chain, unread)
  }

  /** A key it writes whose latest version still has to be read by others, or NONE. */
  private findUnread(txn: number, exceptItself: boolean): number {
    const { writeStart, writeKey } = this.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      const version = this.latest[key]!
      const count = version === NONE ? this.unreadInitial[key]! : this.unread[version]!
      if (count === 0) continue
      if (count > 1 || !exceptItself || !readsVersion(this.access, txn, version, key)) return key
    }
    return NONE
  }

  private findHeld(txn: number): number {
    const { writeStart, writeKey } = this.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      if (this.isHeld[writeKey[i]!]) return writeKey[i]!
    }
    return NONE
  }

  private take(chain: number): void {
    const { known } = this
    const node = this.head[chain]!++
    this.left--
    this.isHesitant[chain] = 0
    const txn = known.txnOf(node)
    if (txn >= 0) {
      if (node === known.begin[txn]) this.readAll(txn)
      if (node === known.commit[txn]) {
        this.order[this.length++] = txn
        this.writeAll(txn)
      } else if (known.problem.level[txn] === SI) this.hold(txn)
    }
    known.graph.forEachSuccessor(node, this.arrive)
  }

  /** One known edge less to wait for. */
  private readonly arrive = (node: number): void => {
    if (--this.waiting[node]! > 0) return
    const chain = this.known.graph.chainOf[node]!
    const head = this.head[chain]!
    // A hesitant snapshot also waits for the edges into its commit.
    if (head === node || (this.isHesitant[chain] === 1 && head + 1 === node)) {
      if (this.waitsFor[chain] === NONE) this.enqueue(chain)
    }
  }

  private readAll(txn: number): void {
    const { readStart, readVersion, keyOfVersion } = this.access
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      const key = version >= 0 ? keyOfVersion[version]! : ~version
      const left = version >= 0 ? --this.unread[version]! : --this.unreadInitial[key]!
      // One reader left may be the writer who waits.
      if (left <= 1) this.wake(key)
    }
  }

  private writeAll(txn: number): void {
    const { writeStart, writeKey, writeVersion } = this.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      this.latest[key] = writeVersion[i]!
      this.isHeld[key] = 0
      this.wake(key)
    }
  }

  private hold(txn: number): void {
    const { writeStart, writeKey } = this.access
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) this.isHeld[writeKey[i]!] = 1
  }

  private wait(chain: number, key: number): false {
    this.waitsFor[chain] = key
    this.nextWaiter[chain] = this.firstWaiter[key]!
    this.firstWaiter[key] = chain
    return false
  }

  private wake(key: number): void {
    let chain = this.firstWaiter[key]!
    this.firstWaiter[key] = NONE
    while (chain !== NONE) {
      const next = this.nextWaiter[chain]!
      this.waitsFor[chain] = NONE
      this.enqueue(chain)
      chain = next
    }
  }

  private stopWaiting(chain: number): void {
    const key = this.waitsFor[chain]!
    if (key === NONE) return
    this.waitsFor[chain] = NONE
    let at = this.firstWaiter[key]!
    if (at === chain) {
      this.firstWaiter[key] = this.nextWaiter[chain]!
      return
    }
    while (this.nextWaiter[at] !== chain) at = this.nextWaiter[at]!
    this.nextWaiter[at] = this.nextWaiter[chain]!
  }

  /** The chain whose snapshot comes first in the topological order, of those that could. */
  private findHesitant(): number {
    const { position } = this.known.graph
    let best: number = NONE
    for (let chain = 0; chain < this.head.length; chain++) {
      if (!this.isHesitant[chain]) continue
      // Its keys may be held by now.
      if (this.findHeld(this.known.txnOf(this.head[chain]!)) !== NONE) continue
      if (best === NONE || position[this.head[chain]!]! < position[this.head[best]!]!) best = chain
    }
    return best
  }

  private enqueue(chain: number): void {
    if (this.isQueued[chain]) return
    this.isQueued[chain] = 1
    this.queue[(this.queueStart + this.queueLength) % this.queue.length] = chain
    this.queueLength++
  }

  private dequeue(): number {
    const chain = this.queue[this.queueStart]!
    this.queueStart = (this.queueStart + 1) % this.queue.length
    this.queueLength--
    this.isQueued[chain] = 0
    return chain
  }
}
