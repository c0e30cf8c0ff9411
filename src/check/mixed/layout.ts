// A problem of mixed levels laid out for its decider: every (read, row) pair in one numbering,
// first those whose writer is given, then the conflicts; what each transaction writes; the writers
// of a key session by session. In the graph that the decider keeps acyclic a transaction at pc or
// si has a second node, its snapshot: what it sees commits before that, what it misses after it.
// O(size of the problem). Main class: Layout.

import { NONE } from '../../history/history.ts'
import { CC, type MixedProblem, PC, SI } from '../problem/mixed-problem.ts'

export class Layout {
  readonly fixedCount: number // pairs below this are given, those from here on are conflicts
  readonly pairCount: number
  readonly pairKey: Int32Array // pair -> key
  readonly pairRead: Int32Array // pair -> read
  readonly pairReader: Int32Array // pair -> node
  readonly nodePairStart: Int32Array // node -> its first slot in nodePair; one more at the end
  readonly nodePair: Int32Array // slot -> pair, in the order of the reads
  readonly nodeKeyStart: Int32Array // node -> its first slot in nodeKey; one more at the end
  readonly nodeKey: Int32Array // slot -> key that the node writes
  readonly snapshot: Int32Array // node -> graph node of its snapshot, itself if it has none
  readonly graphNodeCount: number
  readonly session: Int32Array // node -> session, NONE for the initial transaction
  readonly index: Int32Array // node -> place in its session
  readonly bySession: Int32Array // slot of a key -> its writer slots, session by session
  readonly hasCausal: boolean // whether some transaction is at cc

  constructor(readonly problem: MixedProblem) {
    const { history, nodeCount, txnOf, fixedKey, openCount, openKey, openRead, readNode } = problem
    this.fixedCount = fixedKey.length
    this.pairCount = fixedKey.length + openCount
    this.pairKey = new Int32Array(this.pairCount)
    this.pairKey.set(fixedKey)
    this.pairKey.set(openKey, this.fixedCount)
    this.pairRead = new Int32Array(this.pairCount)
    this.pairRead.set(openRead, this.fixedCount)
    for (let read = 0; read < problem.readCount; read++) {
      this.pairRead.fill(read, problem.fixedStart[read]!, problem.fixedStart[read + 1]!)
    }
    this.pairReader = this.pairRead.map((read) => readNode[read]!)
    this.nodePairStart = new Int32Array(nodeCount + 1)
    this.nodePair = this.listPairs()
    this.nodeKeyStart = new Int32Array(nodeCount + 1)
    this.nodeKey = this.listKeys()
    this.snapshot = Int32Array.from({ length: nodeCount }, (_, node) => node)
    this.graphNodeCount = nodeCount
    for (let node = 1; node < nodeCount; node++) {
      const level = problem.level[node]!
      if (problem.state[node] === 0 || (level !== PC && level !== SI)) continue
      this.snapshot[node] = this.graphNodeCount++
    }
    this.session = new Int32Array(nodeCount).fill(NONE)
    this.index = new Int32Array(nodeCount).fill(NONE)
    for (let node = 1; node < nodeCount; node++) {
      this.session[node] = history.txnSession[txnOf[node]!]!
      this.index[node] = history.txnIndex[txnOf[node]!]!
    }
    this.bySession = this.sortWriters()
    this.hasCausal = problem.level.some((level, node) => level === CC && problem.state[node] !== 0)
  }

  private listPairs(): Int32Array {
    const { readCount, readNode, fixedStart, openStart } = this.problem
    const pairs = new Int32Array(this.pairCount)
    let count = 0
    for (let read = 0; read < readCount; read++) {
      for (let i = fixedStart[read]!; i < fixedStart[read + 1]!; i++) pairs[count++] = i
      for (let i = openStart[read]!; i < openStart[read + 1]!; i++) {
        pairs[count++] = this.fixedCount + i
      }
      this.nodePairStart[readNode[read]! + 1] = count
    }
    for (let node = 1; node < this.nodePairStart.length; node++) {
      if (this.nodePairStart[node] === 0) this.nodePairStart[node] = this.nodePairStart[node - 1]!
    }
    return pairs
  }

  /** Keys by writer, the initial transaction left out. */
  private listKeys(): Int32Array {
    const { writerStart, writerNode } = this.problem
    const start = this.nodeKeyStart
    for (const node of writerNode) if (node > 0) start[node + 1]!++
    for (let node = 1; node < start.length; node++) start[node]! += start[node - 1]!
    const next = start.slice()
    const keys = new Int32Array(start[start.length - 1]!)
    for (let key = 0; key + 1 < writerStart.length; key++) {
      for (let slot = writerStart[key]!; slot < writerStart[key + 1]!; slot++) {
        if (writerNode[slot]! > 0) keys[next[writerNode[slot]!]!++] = key
      }
    }
    return keys
  }

  private sortWriters(): Int32Array {
    const { writerStart, writerNode } = this.problem
    const { session, index } = this
    const slots = Int32Array.from(writerNode, (_, slot) => slot)
    for (let key = 0; key + 1 < writerStart.length; key++) {
      if (writerStart[key + 1]! - writerStart[key]! <= 2) continue
      slots.subarray(writerStart[key]!, writerStart[key + 1]!).sort((a, b) => {
        const [m, n] = [writerNode[a]!, writerNode[b]!]
        return session[m]! - session[n]! || index[m]! - index[n]!
      })
    }
    return slots
  }
}
