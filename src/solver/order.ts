// A topological order kept up to date while edges come and go.
//
// Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs" (JEA 2006):
// an edge that agrees with the order costs nothing; one that runs against it, from u back to v,
// disturbs only the places between v and u. What v reaches there (forward) and what reaches u there
// (backward) share their places out anew, backward part first. If v reaches u the edge would close
// a cycle. Removed edges leave the order valid, so nothing is restored when assignments are undone.
// Cost of an edge: the edges and the sorting of the disturbed part. Visits are stamped, not
// cleared. Main class: DynamicOrder.

import type { PresentGraph } from './present.ts'

export class DynamicOrder {
  readonly position: Int32Array // node -> its place in the order
  visits = 0 // nodes visited so far, a measure of work
  changes = 0 // how often nodes changed places
  private readonly stamp: Int32Array // node -> search that met it last
  private readonly stack: Int32Array
  private readonly forward: Int32Array // places of the nodes v reaches
  private readonly backward: Int32Array // places of the nodes that reach u
  private search = 0

  /** Takes over an order (place -> node) that is valid for the present graph. */
  constructor(
    private readonly graph: PresentGraph,
    private readonly nodeAt: Int32Array, // place -> node
  ) {
    this.position = new Int32Array(nodeAt.length)
    for (let i = 0; i < nodeAt.length; i++) this.position[nodeAt[i]!] = i
    this.stamp = new Int32Array(nodeAt.length)
    this.stack = new Int32Array(nodeAt.length)
    this.forward = new Int32Array(nodeAt.length)
    this.backward = new Int32Array(nodeAt.length)
  }

  /** Takes over another order that is valid for the present graph. */
  replace(nodeAt: Int32Array): void {
    this.changes++
    this.nodeAt.set(nodeAt)
    for (let i = 0; i < nodeAt.length; i++) this.position[nodeAt[i]!] = i
  }

  /** Makes room for an edge from u to v; false, and no change, if v reaches u. */
  admit(u: number, v: number): boolean {
    const { position } = this
    if (position[u]! < position[v]!) return true
    if (u === v) return false
    const forwardCount = this.searchForward(v, u)
    if (forwardCount < 0) return false
    this.reorder(forwardCount, this.searchBackward(u, v))
    return true
  }

  /** Whether v reaches u, as far as a search of `limit` nodes tells. */
  reaches(v: number, u: number, limit: number): boolean {
    if (u === v) return true
    if (this.position[v]! > this.position[u]!) return false
    return this.searchForward(v, u, limit) < 0
  }

  /** Collects what v reaches before the place of u; returns its size, or -1 when it finds u. */
  private searchForward(v: number, u: number, limit: number = this.position.length): number {
    const { position, stamp, stack, forward } = this
    const { known, outHead, outNext, slotTo } = this.graph
    const { start, target } = known
    const bound = position[u]!
    const search = ++this.search
    let depth = 1
    let count = 0
    stack[0] = v
    stamp[v] = search
    while (depth > 0) {
      const node = stack[--depth]!
      forward[count++] = position[node]!
      if (count > limit) break
      for (let i = start[node]!, end = start[node + 1]!; i < end; i++) {
        const next = target[i]!
        const place = position[next]!
        if (place >= bound) {
          if (place > bound) continue
          this.visits += count
          return -1
        }
        if (stamp[next] === search) continue
        stamp[next] = search
        stack[depth++] = next
      }
      for (let slot = outHead[node]!; slot >= 0; slot = outNext[slot]!) {
        const next = slotTo[slot]!
        const place = position[next]!
        if (place >= bound) {
          if (place > bound) continue
          this.visits += count
          return -1
        }
        if (stamp[next] === search) continue
        stamp[next] = search
        stack[depth++] = next
      }
    }
    this.visits += count
    return count
  }

  /** Collects what reaches u after the place of v; returns its size. */
  private searchBackward(u: number, v: number): number {
    const { position, stamp, stack, backward } = this
    const { knownBack, inHead, inNext, slotFrom } = this.graph
    const { start, target } = knownBack
    const bound = position[v]!
    const search = ++this.search
    let depth = 1
    let count = 0
    stack[0] = u
    stamp[u] = search
    while (depth > 0) {
      const node = stack[--depth]!
      backward[count++] = position[node]!
      for (let i = start[node]!, end = start[node + 1]!; i < end; i++) {
        const next = target[i]!
        if (position[next]! < bound || stamp[next] === search) continue
        stamp[next] = search
        stack[depth++] = next
      }
      for (let slot = inHead[node]!; slot >= 0; slot = inNext[slot]!) {
        const next = slotFrom[slot]!
        if (position[next]! < bound || stamp[next] === search) continue
        stamp[next] = search
        stack[depth++] = next
      }
    }
    this.visits += count
    return count
  }

  /** Deals the places of both parts out again: the backward part first, each in its old order. */
  private reorder(forwardCount: number, backwardCount: number): void {
    const { position, nodeAt, stack } = this
    this.changes++
    const forward = this.forward.subarray(0, forwardCount).sort()
    const backward = this.backward.subarray(0, backwardCount).sort()
    for (let i = 0; i < backwardCount; i++) stack[i] = nodeAt[backward[i]!]!
    for (let i = 0; i < forwardCount; i++) stack[backwardCount + i] = nodeAt[forward[i]!]!
    let f = 0
    let b = 0
    for (let i = 0; i < forwardCount + backwardCount; i++) {
      const fromBackward = f === forwardCount || (b < backwardCount && backward[b]! < forward[f]!)
      const place = fromBackward ? backward[b++]! : forward[f++]!
      const node = stack[i]!
      nodeAt[place] = node
      position[node] = place
    }
  }
}
