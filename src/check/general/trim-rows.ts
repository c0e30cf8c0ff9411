// Leaves out of a few transactions that contradict their levels whatever an argument by cases need
// not go through: conflicts on which the contradiction does not rest as it was found; of the others
// those with the most candidates first, since each candidate is one more case; then reads; then
// transactions once more. When the deadline passes, what is left so far is enough. Main function:
// trimRows.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { minimise } from '../evidence/minimise.ts'
import type { MixedProblem } from '../problem/mixed-problem.ts'
import { decide, refuteByKnown } from './engine.ts'
import { ofRows } from './of-rows.ts'
import { type Part, restrict, wholeOf } from './restrict.ts'
import { findSuspects } from './suspects.ts'

/** @param isKnown whether the contradiction follows without choice, and is to stay one that does */
export function trimRows(rows: MixedProblem, isKnown: boolean, deadline: Deadline): MixedProblem {
  const isRefuted = (part: MixedProblem) => {
    const problem = ofRows(part)
    return isKnown
      ? refuteByKnown(problem, deadline) !== null
      : !decide(problem, deadline).satisfied
  }
  let left = rows
  try {
    const suspected = isKnown ? keepSuspected(rows, deadline) : rows
    if (suspected !== rows && isRefuted(suspected)) left = suspected
    left = leaveOut(left, 'open', conflictsOf(left), isRefuted)
    left = leaveOut(left, 'fixed', range(left.fixedKey.length), isRefuted)
    left = leaveOut(left, 'nodes', actorsOf(left), isRefuted)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return left
}

/** The problem with only those conflicts on which the contradiction rests, as it was found. */
function keepSuspected(rows: MixedProblem, deadline: Deadline): MixedProblem {
  const found = refuteByKnown(ofRows(rows), deadline)
  const pairs = found && findSuspects(found, deadline)[0]!.pairs
  if (pairs === null) return rows
  const open = new Uint8Array(rows.openCount)
  for (const pair of pairs) {
    if (pair >= rows.fixedKey.length) open[pair - rows.fixedKey.length] = 1
  }
  return restrict(rows, { ...wholeOf(rows), open })
}

/** The problem without those of the items that are not needed. */
function leaveOut(
  problem: MixedProblem,
  what: keyof Part,
  items: readonly number[],
  isRefuted: (part: MixedProblem) => boolean,
): MixedProblem {
  const whole = wholeOf(problem)
  const partOf = (kept: readonly number[]): MixedProblem => {
    const isKept = new Uint8Array(whole[what].length)
    for (const item of kept) isKept[item] = 1
    return restrict(problem, { ...whole, [what]: isKept })
  }
  return partOf(minimise(items, (rest) => (isRefuted(partOf(rest)) ? rest : null)))
}

/** Transactions that read or write anything at all. */
function actorsOf({ readNode, writerNode }: MixedProblem): number[] {
  const nodes = new Set<number>(writerNode)
  for (const node of readNode) nodes.add(node)
  nodes.delete(0)
  return [...nodes].sort((a, b) => a - b)
}

function conflictsOf({ openCount, zeroStart }: MixedProblem): number[] {
  const size = (conflict: number) => zeroStart[conflict + 1]! - zeroStart[conflict]!
  return range(openCount).sort((a, b) => size(b) - size(a) || a - b)
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
