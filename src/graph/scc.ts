// Strongly connected components by Tarjan's algorithm (SIAM J. Comput. 1972), without recursion.
//
// One depth-first search; each node remembers the earliest open node it can reach (`low`), and a
// node that reaches none before itself closes a component: everything above it on the stack.
// Cost O(nodes + edges) time, four words per node. Components are numbered in reverse topological
// order: an edge between two components leads from the higher number to the lower one.
// Main functions: findComponents, findCyclic.

import { Deadline } from '../base/deadline.ts'
import type { Csr } from './csr.ts'

export interface Components {
  readonly count: number
  readonly componentOf: Int32Array // node -> its component
}

const UNSEEN = -1

export function findComponents(graph: Csr, deadline: Deadline = Deadline.none()): Components {
  const { nodeCount, start, target } = graph
  const componentOf = new Int32Array(nodeCount).fill(UNSEEN)
  const low = new Int32Array(nodeCount).fill(UNSEEN) // node -> earliest open node reached
  const nextSlot = new Int32Array(nodeCount) // node -> next edge slot to look at
  const path = new Int32Array(nodeCount) // the search path
  const open = new Int32Array(nodeCount) // nodes whose component is not closed yet
  const number = new Int32Array(nodeCount) // node -> when it was first seen
  let openCount = 0
  let seenCount = 0
  let count = 0

  for (let root = 0; root < nodeCount; root++) {
    if (low[root] !== UNSEEN) continue
    let depth = 0
    path[0] = root
    number[root] = low[root] = seenCount++
    nextSlot[root] = start[root]!
    open[openCount++] = root
    while (depth >= 0) {
      deadline.step()
      const node = path[depth]!
      const end = start[node + 1]!
      let slot = nextSlot[node]!
      let descended = false
      while (slot < end) {
        const next = target[slot++]!
        if (low[next] === UNSEEN) {
          nextSlot[node] = slot
          number[next] = low[next] = seenCount++
          nextSlot[next] = start[next]!
          open[openCount++] = next
          path[++depth] = next
          descended = true
          break
        }
        if (componentOf[next] === UNSEEN && number[next]! < low[node]!) low[node] = number[next]!
      }
      if (descended) continue
      // All edges seen: close a component here, or hand `low` to the node we came from.
      if (low[node] === number[node]) {
        let member: number
        do {
          member = open[--openCount]!
          componentOf[member] = count
        } while (member !== node)
        count++
      }
      depth--
      if (depth >= 0) {
        const parent = path[depth]!
        if (componentOf[node] === UNSEEN && low[node]! < low[parent]!) low[parent] = low[node]!
      }
    }
  }
  return { count, componentOf }
}

/** Components, and whether a node lies on a cycle with others: its component has several nodes. */
export function findCyclic(
  graph: Csr,
  deadline: Deadline = Deadline.none(),
): Components & { readonly isCyclic: (node: number) => boolean } {
  const components = findComponents(graph, deadline)
  const { componentOf, count } = components
  const sizes = new Int32Array(count)
  for (const component of componentOf) sizes[component]!++
  return { ...components, isCyclic: (node) => sizes[componentOf[node]!]! > 1 }
}
