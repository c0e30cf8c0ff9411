// Why one transaction happens before another: a path of session order and reads, with as few
// choices on it as possible, as the literals that it rests on. Breadth first search backwards, with
// given steps before chosen ones (0-1 breadth first search). O(edges). Main function: findCauses.

import type { Layout } from './layout.ts'

/** What a step rests on; ALWAYS if it is given. */
export const ALWAYS = -1

export interface Steps {
  /** Node -> the literal that says it takes part, ALWAYS if it does. */
  presence(node: number): number
  /** Pair -> the literal that says it reads from its source. */
  reading(pair: number): number
}

/** The literals on a path from one node to another; the path exists. */
export function findCauses(
  layout: Layout,
  source: Int32Array,
  from: number,
  to: number,
  steps: Steps,
): Set<number> {
  const { problem, nodePairStart, nodePair } = layout
  const cost = new Map<number, number>([[to, 0]]) // node -> choices on the best path known
  const towards = new Map<number, readonly [number, number]>() // node -> next node, literal
  const done = new Set<number>()
  let level = [to] // nodes of the current cost, then those one choice further
  let later: number[] = []
  for (let price = 0; level.length > 0; price++, level = later, later = []) {
    while (level.length > 0) {
      const node = level.pop()!
      if (done.has(node)) continue
      done.add(node)
      if (node === from) return literalsOn(towards, from, to)
      const visit = (next: number, literal: number) => {
        const total = literal === ALWAYS ? price : price + 1
        if (next === 0 || done.has(next) || total >= (cost.get(next) ?? Infinity)) return
        cost.set(next, total)
        towards.set(next, [node, literal])
        if (literal === ALWAYS) level.push(next)
        else later.push(next)
      }
      // A predecessor that takes no part is stepped over.
      for (let before = problem.before[node]!; before > 0; before = problem.before[before]!) {
        const presence = steps.presence(before)
        if (presence !== ALWAYS) visit(before, presence)
        else {
          visit(before, ALWAYS)
          break
        }
      }
      for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
        visit(source[nodePair[i]!]!, steps.reading(nodePair[i]!))
      }
    }
  }
  return new Set()
}

function literalsOn(
  towards: Map<number, readonly [number, number]>,
  from: number,
  to: number,
): Set<number> {
  const literals = new Set<number>()
  let node = from
  while (node !== to) {
    const [next, literal] = towards.get(node)!
    if (literal !== ALWAYS) literals.add(literal)
    node = next
  }
  return literals
}
