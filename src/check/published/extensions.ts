// The reference decider of mixed levels, after Bouajjani, Enea and Román-Calvo: On the Complexity
// of Checking Mixed Isolation Levels for SQL Transactions. A history in which every row seen has a
// known writer and all levels are rc, ra or cc is decided by saturation alone, in polynomial time
// (Algorithm 2): any order that contains what saturation gave will do. Otherwise every choice of
// optional transactions is tried, and for each one every choice of writers for the conflicts, one
// conflict after another (Algorithm 3); a choice whose order contradicts itself is not pursued; the
// others are searched for a commit order (Algorithm 4). Exponential in the number of conflicts and
// of optional transactions: it is there to be compared with. Main function: decideByExtensions.
//
// The paper has no cc. With it, rows that are no conflicts may matter too: a reader at pc, si or
// ser must see the last version before its snapshot of every row, whoever follows it saw that too,
// and cc looks at all of it. So build-problem.ts lists such rows among the conflicts. Here t2 (ser)
// looked for x, passed y over, and follows t1, which did not see its w: then y was t1's, t1 is a
// cause of t3, and t3 must not see the first z.
//   init: w=0 x=0 y=0 z=0
//   s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
//   s2: [ser] update(id = 'x') as w2 x@0=1 ; insert as w3 w=1 | [cc] select(id = 'z') z@0

import type { Deadline } from '../../base/deadline.ts'
import { CC, PC } from '../problem/levels.ts'
import { MAYBE, type MixedProblem, type MixedSolution } from '../problem/mixed-problem.ts'
import { completeChoice } from './complete-choice.ts'
import { Extension } from './extension.ts'
import { findOrder } from './prefixes.ts'
import { saturate } from './saturate.ts'

/** An order and writers for all conflicts, or null if there are none. Offences are left out. */
export function decideByExtensions(
  problem: MixedProblem,
  deadline: Deadline,
): MixedSolution | null {
  const optional = Array.from(problem.state.keys()).filter((node) => problem.state[node] === MAYBE)
  const chosen = new Set<number>()
  while (true) {
    deadline.step(256)
    if (isClosed(problem, chosen)) {
      const solution = decideWorld(Extension.of(problem, chosen, deadline), deadline)
      if (solution) return solution
    }
    // The next subset, as a binary number counts up.
    let i = 0
    while (i < optional.length && chosen.delete(optional[i]!)) i++
    if (i === optional.length) return null
    chosen.add(optional[i]!)
  }
}

/** Whether whoever is chosen read only from those that take part. */
function isClosed(problem: MixedProblem, chosen: ReadonlySet<number>): boolean {
  const { state, nodeReadStart, fixedStart, fixedNode } = problem
  for (const node of chosen) {
    const end = fixedStart[nodeReadStart[node + 1]!]!
    for (let pair = fixedStart[nodeReadStart[node]!]!; pair < end; pair++) {
      const from = fixedNode[pair]!
      if (state[from] === MAYBE && !chosen.has(from)) return false
    }
  }
  return true
}

/** Algorithm 3, the transactions that take part being settled. */
function decideWorld(start: Extension, deadline: Deadline): MixedSolution | null {
  if (!saturate(start, deadline)) return null
  const conflicts = findConflicts(start, deadline)
  const stack: Extension[] = [start] // one more for each conflict that has a writer
  const cursor: number[] = [0] // depth -> candidates tried
  while (stack.length > 0) {
    deadline.check()
    const depth = stack.length - 1
    const extension = stack[depth]!
    if (depth === conflicts.length) {
      const order = findOrder(extension, deadline)
      if (order) return { order, choice: completeChoice(extension, order) }
    } else {
      const { conflict, candidates } = conflicts[depth]!
      const writer = candidates[cursor[depth]!++]
      if (writer !== undefined) {
        const extended = extension.with(conflict, writer)
        if (!saturate(extended, deadline)) continue
        stack.push(extended)
        cursor.push(0)
        continue
      }
    }
    stack.pop()
    cursor.pop()
  }
  return null
}

interface Conflict {
  readonly conflict: number
  readonly candidates: readonly number[]
}

/**
 * Equation 4: rows passed over of which a version that satisfies the predicate is not known to
 * commit after the reader, and who may have written the version seen.
 */
function findConflicts({ problem, takesPart, order }: Extension, deadline: Deadline): Conflict[] {
  const { readNode, openRead, openKey, zeroStart, zeroNode, writerStart, writerNode } = problem
  const hasCausal = problem.level.some((level, node) => level === CC && takesPart[node])
  const conflicts: Conflict[] = []
  for (let conflict = 0; conflict < problem.openCount; conflict++) {
    const reader = readNode[openRead[conflict]!]!
    deadline.step(zeroStart[conflict + 1]! - zeroStart[conflict]!)
    if (!takesPart[reader]) continue
    const mayBe = (node: number) => node !== reader && takesPart[node] && !order.has(reader, node)
    const zeros = zeroNode.subarray(zeroStart[conflict]!, zeroStart[conflict + 1]!)
    const key = openKey[conflict]!
    const writers = writerNode.subarray(writerStart[key]!, writerStart[key + 1]!)
    const hasOne = writers.some((node) => mayBe(node) && !zeros.includes(node))
    const matters = hasOne || (hasCausal && problem.level[reader]! >= PC)
    if (matters) conflicts.push({ conflict, candidates: Array.from(zeros).filter(mayBe) })
  }
  return conflicts
}
