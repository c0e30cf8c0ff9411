// A refutation as a case split: "if a is true: ...; if a is false: ...", each leaf a clause broken.
//
// Given clauses that cannot all hold, a tree of decisions is grown until each branch falsifies one.
// Where a clause has a single open literal its variable is split next, so that one side is a leaf
// at once; else the variable that occurs most in the shortest open clauses. A case whose leaves
// never mention the variable split above them stands without that split. The tree may be
// exponential in the clauses, hence a limit on its leaves. Meant for the few clauses of a
// minimised core: it scans all of them at each node. Main function: buildCaseSplit.

import { Deadline } from '../base/deadline.ts'

export interface CaseLeaf {
  readonly kind: 'leaf'
  readonly clause: number // index of the clause that is false here
}

export interface CaseNode {
  readonly kind: 'node'
  readonly variable: number
  readonly whenTrue: CaseSplit
  readonly whenFalse: CaseSplit
}

export type CaseSplit = CaseLeaf | CaseNode

/** A case under way: the tree of its first side, once that is done. */
interface Frame {
  readonly literal: number // the side tried now
  readonly first: CaseSplit | null
  readonly firstMentions: Set<number> | null // variables in the clauses of the first side's leaves
}

/**
 * The tree, or null when it would have more than `maxLeaves`. The clauses must be unsatisfiable.
 */
export function buildCaseSplit(
  clauses: readonly (readonly number[])[],
  maxLeaves: number,
  deadline: Deadline = Deadline.none(),
): CaseSplit | null {
  const truth = new Map<number, boolean>() // literal -> value
  const frames: Frame[] = []
  let leafCount = 0
  while (true) {
    deadline.step(8 * clauses.length)
    const broken = clauses.findIndex((clause) => clause.every((l) => truth.get(l) === false))
    if (broken < 0) {
      const literal = chooseLiteral(clauses, truth)
      if (literal === null) return null
      enter({ literal, first: null, firstMentions: null })
      continue
    }
    if (++leafCount > maxLeaves) return null
    let done: CaseSplit = { kind: 'leaf', clause: broken }
    const mentions = new Set(clauses[broken]!.map((l) => l >> 1))

    // Close every case that this completes; go on with the second side of the first that it does
    // not.
    while (true) {
      const frame = frames.pop()
      if (frame === undefined) return done
      const variable = frame.literal >> 1
      truth.delete(frame.literal)
      truth.delete(frame.literal ^ 1)
      if (!mentions.has(variable)) continue
      if (frame.first === null) {
        enter({ literal: frame.literal ^ 1, first: done, firstMentions: mentions })
        break
      }
      const positive = (frame.literal & 1) === 0
      const whenTrue: CaseSplit = positive ? done : frame.first
      const whenFalse: CaseSplit = positive ? frame.first : done
      done = { kind: 'node', variable, whenTrue, whenFalse }
      for (const mention of frame.firstMentions!) mentions.add(mention)
      mentions.delete(variable)
    }
  }

  function enter(frame: Frame): void {
    frames.push(frame)
    truth.set(frame.literal, true)
    truth.set(frame.literal ^ 1, false)
  }
}

/** The literal to try first, or null when every clause holds already. */
function chooseLiteral(
  clauses: readonly (readonly number[])[],
  truth: ReadonlyMap<number, boolean>,
): number | null {
  let shortest = Number.POSITIVE_INFINITY
  let scores = new Map<number, number>() // variable -> occurrences in the shortest open clauses
  let best: number | null = null
  for (const clause of clauses) {
    if (clause.some((l) => truth.get(l) === true)) continue
    const open = clause.filter((l) => !truth.has(l))
    if (open.length > shortest) continue
    if (open.length < shortest) {
      shortest = open.length
      scores = new Map()
      best = null
    }
    for (const literal of open) {
      const variable = literal >> 1
      const score = (scores.get(variable) ?? 0) + 1
      scores.set(variable, score)
      // The side that breaks the clause comes first: with one open literal it is a leaf.
      if (best === null || score > scores.get(best >> 1)!) best = literal ^ 1
    }
  }
  return best
}
