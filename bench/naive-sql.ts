// The baseline of the SQL benchmark: tries every witness (a writer for each row passed over) and
// for each every commit order, until one satisfies all axioms. No pruning beyond the order of
// sessions and reads. Exponential twice over; that is the point. Main function: decideNaively.

import type { Deadline } from '../src/base/deadline.ts'
import type { MixedProblem, MixedSolution } from '../src/check/problem/mixed-problem.ts'
import { verifySolution } from '../test/check/mixed/solve-mixed.ts'

/** For problems without indeterminate transactions. */
export function decideNaively(problem: MixedProblem, deadline: Deadline): MixedSolution | null {
  const { openCount, zeroStart, zeroNode } = problem
  const digit = new Int32Array(openCount) // conflict -> which of its candidates is tried
  while (true) {
    const choice = digit.map((at, open) => zeroNode[zeroStart[open]! + at]!)
    const solution = findOrder(problem, choice, deadline)
    if (solution !== null) return solution
    let open = 0
    while (open < openCount && zeroStart[open]! + ++digit[open]! === zeroStart[open + 1]!) {
      digit[open++] = 0
    }
    if (open === openCount) return null
  }
}

/** Every order that has readers after writers and keeps sessions, one after another. */
function findOrder(
  problem: MixedProblem,
  choice: Int32Array,
  deadline: Deadline,
): MixedSolution | null {
  const { nodeCount, state } = problem
  const after = listPredecessors(problem, choice)
  const nodes = Array.from({ length: nodeCount }, (_, node) => node).filter((node) => state[node])
  const order: number[] = []
  const placed = new Uint8Array(nodeCount)
  const tried: number[] = [0] // depth -> next of `nodes` to try there
  while (tried.length > 0) {
    deadline.check()
    const depth = tried.length - 1
    if (order.length === nodes.length) {
      const solution = { order: Int32Array.from(order), choice }
      if (verifySolution(problem, solution)) return solution
    }
    let at = tried[depth]!
    const fits = (node: number) => !placed[node] && after[node]!.every((before) => placed[before])
    while (at < nodes.length && !fits(nodes[at]!)) at++
    if (at === nodes.length) {
      tried.pop()
      const last = order.pop()
      if (last !== undefined) placed[last] = 0
      continue
    }
    tried[depth] = at + 1
    order.push(nodes[at]!)
    placed[nodes[at]!] = 1
    tried.push(0)
  }
  return null
}

/** Node -> who must come before it: its session's previous one, and whom it read from. */
function listPredecessors(problem: MixedProblem, choice: Int32Array): number[][] {
  const { nodeCount, before, readNode, readCount, fixedStart, fixedNode, openRead } = problem
  const after = Array.from({ length: nodeCount }, (_, node) => (node === 0 ? [] : [before[node]!]))
  for (let read = 0; read < readCount; read++) {
    for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
      after[readNode[read]!]!.push(fixedNode[pair]!)
    }
  }
  choice.forEach((node, open) => {
    after[readNode[openRead[open]!]!]!.push(node)
  })
  return after
}
