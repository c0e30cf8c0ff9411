// What every commit order must contain: where a transaction is visible to a reader by what is known
// of the order, and writes a row that the reader saw in another version, it commits before whoever
// wrote that version (Bouajjani, Enea, Román-Calvo, Algorithm 1), until nothing changes. For rc, ra
// and cc visibility does not depend on the order, and one pass decides (Algorithm 2, Theorem 2).
// One pass costs O(rows seen · writers of a row + nodes³ / 32). Main function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import { CC, PC, RA, RC, RC_SQL, SER, SI } from '../problem/levels.ts'
import type { Extension } from './extension.ts'
import { orInto } from './relation.ts'

/** Fills in the order; false if it contradicts itself. */
export function saturate(extension: Extension, deadline: Deadline): boolean {
  if (extension.order.isCyclic()) return false
  const scan = new ForcedPass(extension)
  while (true) {
    deadline.check()
    if (!scan.pass(deadline)) return true
    extension.order.close(deadline)
    if (extension.order.isCyclic()) return false
    if (scan.isSaturable) return true
  }
}

class ForcedPass {
  /** Whether no reader's level asks for the order. */
  readonly isSaturable: boolean
  private readonly visible: Uint32Array // bits of the nodes that a read sees
  private changed = false

  constructor(private readonly extension: Extension) {
    const { problem, takesPart } = extension
    let strongest = RC
    for (let node = 0; node < problem.nodeCount; node++) {
      if (takesPart[node]) strongest = Math.max(strongest, problem.level[node]!)
    }
    this.isSaturable = strongest < PC
    this.visible = new Uint32Array(extension.order.words)
  }

  /** Adds what is visible by now; true if that was anything new. */
  pass(deadline: Deadline): boolean {
    const { problem, takesPart } = this.extension
    this.changed = false
    for (let node = 1; node < problem.nodeCount; node++) {
      if (!takesPart[node]) continue
      deadline.step(problem.nodeCount >> 2)
      if (problem.level[node]! <= RC_SQL) this.visitReadCommitted(node)
      else this.visitSnapshot(node)
    }
    return this.changed
  }

  /** Every read sees what those before it saw. */
  private visitReadCommitted(node: number): void {
    const { problem, sessions } = this.extension
    const { visible } = this
    const isSql = problem.level[node] === RC_SQL
    visible.fill(0)
    if (isSql) orInto(visible, 0, sessions.rows, node * sessions.words, sessions.words)
    for (let read = problem.nodeReadStart[node]!; read < problem.nodeReadStart[node + 1]!; read++) {
      if (isSql) this.seeSources(read)
      this.demand(node, read)
      if (!isSql) this.seeSources(read)
    }
  }

  private seeSources(read: number): void {
    const { visible } = this
    this.extension.forEachPair(read, (_, writer) => {
      visible[writer >>> 5]! |= 1 << (writer & 31)
    })
  }

  /** All reads see the same. */
  private visitSnapshot(node: number): void {
    const { problem } = this.extension
    fillVisible(this.extension, node, this.visible)
    for (let read = problem.nodeReadStart[node]!; read < problem.nodeReadStart[node + 1]!; read++) {
      this.demand(node, read)
    }
  }

  /** Visible writers of a row commit before the one whose version was seen. */
  private demand(node: number, read: number): void {
    const { problem, takesPart, order } = this.extension
    const { writerStart, writerNode } = problem
    const { visible } = this
    this.extension.forEachPair(read, (key, from) => {
      for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
        const other = writerNode[i]!
        if (other === from || other === node || !takesPart[other]) continue
        if (((visible[other >>> 5]! >>> (other & 31)) & 1) === 0 || order.has(other, from)) continue
        order.add(other, from)
        this.changed = true
      }
    })
  }
}

/** The nodes that all reads of a transaction at ra or above see, by the order so far. */
export function fillVisible(extension: Extension, node: number, visible: Uint32Array): void {
  const { problem, sight, causes, order, rivals } = extension
  const level = problem.level[node]!
  const relation = level === SER ? order : level === CC ? causes : sight
  const { words } = relation
  visible.set(relation.rows.subarray(node * words, (node + 1) * words))
  if (level === SER || level === CC || level === RA) return
  for (let other = 0; other < problem.nodeCount; other++) {
    const isRival = level === SI && rivals!.has(other, node) && order.has(other, node)
    if (!isRival && !sight.has(other, node)) continue
    visible[other >>> 5]! |= 1 << (other & 31)
    orInto(visible, 0, order.rows, other * words, words)
  }
}
