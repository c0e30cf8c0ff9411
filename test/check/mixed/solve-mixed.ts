// Problems with a level per transaction, by the general engine alone, and whether what it found
// solves them: for comparisons with other deciders.

import type { Deadline } from '../../../src/base/deadline.ts'
import { decide, decideBySolver } from '../../../src/check/general/engine.ts'
import { ofRows } from '../../../src/check/general/of-rows.ts'
import { rowsRecorded } from '../../../src/check/general/recorded-order.ts'
import { Verifier } from '../../../src/check/general/verify.ts'
import { asSolution } from '../../../src/check/mixed/check-mixed.ts'
import {
  IN,
  type MixedProblem,
  type MixedSolution,
  OUT,
} from '../../../src/check/problem/mixed-problem.ts'
import { NONE } from '../../../src/history/history.ts'

/**
 * A solution, or null if there is none; offences are not its concern.
 *
 * @param shortcuts false: nothing is guessed or inferred, all is left to the solver
 */
export function solveMixed(
  rows: MixedProblem,
  deadline: Deadline,
  shortcuts = true,
): MixedSolution | null {
  const problem = ofRows(rows)
  const decision = shortcuts
    ? decide(problem, deadline, rowsRecorded(rows, deadline))
    : decideBySolver(problem, deadline)
  return decision.satisfied ? asSolution(problem, decision) : null
}

/** Whether an order and a choice of writers satisfy every axiom of the problem. */
export function verifySolution(rows: MixedProblem, { order, choice }: MixedSolution): boolean {
  const { state, before, zeroStart, zeroNode, openCount } = rows
  const problem = ofRows(rows)
  const position = new Int32Array(rows.nodeCount).fill(NONE)
  order.forEach((node, i) => {
    position[node] = i
  })
  const isMissing = (is: number, node: number) => is === IN && position[node] === NONE
  if (order[0] !== 0 || state.some(isMissing)) return false
  for (const node of order.subarray(1)) {
    let previous = before[node]!
    while (position[previous] === NONE) previous = before[previous]!
    if (state[node] === OUT || position[previous]! >= position[node]!) return false
  }
  const { appendFrom, appendTo } = problem
  if (appendFrom.some((node, i) => position[node]! >= position[appendTo[i]!]!)) return false
  const source = new Int32Array(problem.pairs!.count)
  source.set(rows.fixedNode)
  for (let open = 0; open < openCount; open++) {
    const candidates = zeroNode.subarray(zeroStart[open]!, zeroStart[open + 1]!)
    const isCandidate = candidates.includes(choice[open]!)
    source[rows.fixedKey.length + open] = isCandidate ? choice[open]! : NONE
  }
  return new Verifier(problem).isValid(order.slice(1), source)
}
