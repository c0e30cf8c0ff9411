// Between problems with a level per transaction and the general engine: a solution is a commit
// order, the initial transaction first, and a writer for every conflict. Main functions:
// solveMixed, verifySolution.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { decide, decideBySolver, type Solution } from '../general/engine.ts'
import { ofRows } from '../general/of-rows.ts'
import type { Problem } from '../general/problem.ts'
import { rowsRecorded } from '../general/recorded-order.ts'
import { Verifier } from '../general/verify.ts'
import { IN, type MixedProblem, type MixedSolution, OUT } from '../problem/mixed-problem.ts'

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

/** The order with the writers chosen; NONE for readers that take no part. */
export function asSolution({ pairs, txnCount }: Problem, found: Solution): MixedSolution {
  const { fixedCount, reader } = pairs!
  const takesPart = new Uint8Array(txnCount)
  for (const txn of found.order) takesPart[txn] = 1
  const choice = found.source!.slice(fixedCount)
  for (let open = 0; open < choice.length; open++) {
    if (!takesPart[reader[fixedCount + open]!]) choice[open] = NONE
  }
  return { order: Int32Array.from([0, ...found.order]), choice }
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
