// The search for a commit order of a conflict-free history: transactions are put one after another,
// as long as none overwrites what a transaction still to come has seen, and must still see
// (Bouajjani, Enea, Román-Calvo, Algorithm 4 with Definition 10 and Table 1; generalizes Biswas and
// Enea). A prefix that failed is not entered again: prefixes are the same if they hold the same
// transactions, and for snapshot isolation leave the same last writers behind. Exponential in the
// number of sessions only, but for si. Main function: findOrder.
//
// Table 1 as printed is not right for snapshot isolation, where it asks that every row that a
// reader saw be in its last version. That must be the last version after the new transaction is
// put, not before it, or this lost update passes:
//   init: x=0
//   s1: [si] update(true) as w1 x@0=1
//   s2: [si] update(true) as w2 x@0=2
// It must not be asked of versions whose writers are still to come, or this serial history fails:
//   init: x=0
//   s1: [rc] insert as w1 x=1 | [si] update(true) as w2 x@w1=2
// And it must be asked only when the transaction put is itself a rival of the reader: of later ones
// nothing is visible through an earlier rival, such as the initial transaction always is. Here t1
// and t2 come before t3, which need not see x=1:
//   init: w=0 x=0
//   s1: [rc] insert as w1 x=1 | [ser] select(id = 'w') w@0
//   s2: [si] select(id = 'x') x@0 ; insert as w2 w=1

import type { Deadline } from '../../base/deadline.ts'
import { PC, SER, SI } from '../problem/levels.ts'
import type { Extension } from './extension.ts'
import { PrefixMemo } from './prefix-memo.ts'

/** The nodes in a commit order, the initial one first, or null if there is none. */
export function findOrder(extension: Extension, deadline: Deadline): Int32Array | null {
  return new PrefixSearch(extension, deadline).run(deadline)
}

/** Rows seen by readers whose levels ask for the order; others are settled by saturation. */
interface Pairs {
  readonly reader: readonly number[]
  readonly key: readonly number[]
  readonly from: readonly number[]
}

class PrefixSearch {
  private readonly pairs: Pairs
  private readonly keyPairs: number[][] // key -> pairs on it
  private readonly nodePairs: number[][] // node at si -> its pairs
  private readonly nodeKeys: number[][] // node -> keys it writes
  private readonly watched: number[] // keys whose last writer matters
  private readonly nodes: number[] = [] // those that take part
  private readonly sequence: number[] = [] // the prefix
  private readonly placed: Uint8Array // node -> 1 if it is in the prefix
  private readonly bits: Uint32Array // the same as bits
  private readonly lastWriter: Int32Array // key -> its last writer in the prefix
  private readonly replaced: number[] = [] // last writers before each placement, for going back
  private readonly seen: PrefixMemo // prefixes entered before
  private readonly state: Int32Array // what tells the present one from others

  constructor(
    private readonly extension: Extension,
    deadline: Deadline,
  ) {
    const { problem, takesPart, order } = extension
    const { nodeCount, writerStart, writerNode } = problem
    const keyCount = writerStart.length - 1
    this.placed = new Uint8Array(nodeCount)
    this.bits = new Uint32Array(order.words)
    this.lastWriter = new Int32Array(keyCount)
    this.nodeKeys = Array.from({ length: nodeCount }, () => [])
    for (let key = 0; key < keyCount; key++) {
      for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
        this.nodeKeys[writerNode[i]!]!.push(key)
      }
    }
    for (let node = 0; node < nodeCount; node++) if (takesPart[node]) this.nodes.push(node)
    this.pairs = pairsOf(extension)
    this.keyPairs = Array.from({ length: keyCount }, () => [])
    this.nodePairs = Array.from({ length: nodeCount }, () => [])
    const watched = new Set<number>()
    this.pairs.reader.forEach((node, pair) => {
      const key = this.pairs.key[pair]!
      this.keyPairs[key]!.push(pair)
      if (problem.level[node] !== SI) return
      this.nodePairs[node]!.push(pair)
      watched.add(key)
    })
    this.watched = [...watched]
    this.state = new Int32Array(order.words + this.watched.length)
    this.seen = new PrefixMemo(this.state.length, deadline)
  }

  run(deadline: Deadline): Int32Array | null {
    const { nodes, sequence } = this
    const cursor = [0] // depth -> place in `nodes` of the next one to try
    while (sequence.length < nodes.length) {
      let i = cursor[cursor.length - 1]!
      while (i < nodes.length && !this.canPlace(nodes[i]!)) {
        deadline.step(32)
        i++
      }
      deadline.step(64 + this.bits.length)
      if (i < nodes.length) {
        cursor[cursor.length - 1] = i + 1
        this.place(nodes[i]!)
        if (this.isNew()) cursor.push(0)
        else this.takeBack()
      } else if (sequence.length === 0) {
        return null
      } else {
        cursor.pop()
        this.takeBack()
      }
    }
    return Int32Array.from(sequence)
  }

  /** Definition 10: all that must be before it is, and it overwrites nothing that is still seen. */
  private canPlace(node: number): boolean {
    const { order, problem, rivals } = this.extension
    if (this.placed[node] || this.isMissing(order.rows, node)) return false
    for (const key of this.nodeKeys[node]!) {
      for (const pair of this.keyPairs[key]!) if (this.overwrites(node, pair)) return false
    }
    if (!rivals) return true
    for (const reader of this.nodes) {
      if (problem.level[reader] !== SI || this.placed[reader] || reader === node) continue
      if (rivals.has(node, reader) && this.hidesFrom(node, reader)) return false
    }
    return true
  }

  /** Whether the node's version would be visible to a reader that saw an earlier one. */
  private overwrites(node: number, pair: number): boolean {
    const { problem, sight } = this.extension
    const reader = this.pairs.reader[pair]!
    const from = this.pairs.from[pair]!
    if (reader === node || this.placed[reader] || !this.placed[from]) return false
    if (problem.level[reader] === SER) return true
    // Everything up to a transaction that the reader saw or follows is visible to it.
    return this.isMissing(sight.rows, reader)
  }

  /** Whether a rival of the reader, once it is put, leaves a row newer than the reader saw. */
  private hidesFrom(node: number, reader: number): boolean {
    const { key: pairKey, from: pairFrom } = this.pairs
    for (const pair of this.nodePairs[reader]!) {
      const from = pairFrom[pair]!
      const key = pairKey[pair]!
      if (!this.placed[from]) continue
      if (this.lastWriter[key] !== from || this.nodeKeys[node]!.includes(key)) return true
    }
    return false
  }

  /** Whether one of the nodes in a row of a relation is not in the prefix. */
  private isMissing(rows: Uint32Array, node: number): boolean {
    const { bits } = this
    const at = node * bits.length
    for (let i = 0; i < bits.length; i++) {
      if ((rows[at + i]! & ~bits[i]!) !== 0) return true
    }
    return false
  }

  private place(node: number): void {
    this.sequence.push(node)
    this.placed[node] = 1
    this.bits[node >>> 5]! |= 1 << (node & 31)
    for (const key of this.nodeKeys[node]!) {
      this.replaced.push(this.lastWriter[key]!)
      this.lastWriter[key] = node
    }
  }

  private takeBack(): void {
    const node = this.sequence.pop()!
    this.placed[node] = 0
    this.bits[node >>> 5]! &= ~(1 << (node & 31))
    const keys = this.nodeKeys[node]!
    for (let i = keys.length - 1; i >= 0; i--) this.lastWriter[keys[i]!] = this.replaced.pop()!
  }

  private isNew(): boolean {
    const { state, bits, watched } = this
    state.set(bits)
    for (let i = 0; i < watched.length; i++) state[bits.length + i] = this.lastWriter[watched[i]!]!
    return this.seen.add(state)
  }
}

function pairsOf(extension: Extension): Pairs {
  const { problem, takesPart } = extension
  const reader: number[] = []
  const key: number[] = []
  const from: number[] = []
  for (let read = 0; read < problem.readCount; read++) {
    const node = problem.readNode[read]!
    if (!takesPart[node] || problem.level[node]! < PC) continue
    extension.forEachPair(read, (row, writer) => {
      reader.push(node)
      key.push(row)
      from.push(writer)
    })
  }
  return { reader, key, from }
}
