// Why a few transactions contradict their levels, as evidence: one circle that follows from what
// was read, or a split into cases, each of which ends in a circle. A case assumes either the order
// of two writers of a key, or whose version of a row a statement saw when it passed the row over.
// Splits that close most of their cases at once come first, so that the argument stays short. Main
// function: explainMixed.

import type { Deadline } from '../../base/deadline.ts'
import type { Case, Edge } from '../../verdict/verdict.ts'
import type { MixedProblem } from './problem.ts'
import { Reasons } from './reasons.ts'

const MAX_LEAVES = 2000

export interface MixedArgument {
  readonly edges: Edge[]
  readonly cases: Case[]
}

/**
 * @param problem of a core: only its transactions read and overwrite
 * @returns null if the argument would be too long, or there is none
 */
export function explainMixed(problem: MixedProblem, deadline: Deadline): MixedArgument | null {
  const start = new Reasons(problem, nodesOf(problem))
  start.begin()
  if (start.cycle !== null) return { edges: start.cycle, cases: [] }
  const explainer = new Explainer(problem, deadline)
  const cases = explainer.split(start)
  return cases && { edges: [], cases }
}

/** The transactions that a problem speaks of: readers, writers, and whom they read from. */
function nodesOf(problem: MixedProblem): number[] {
  const nodes = new Set<number>([0])
  for (const node of problem.readNode) nodes.add(node)
  for (const node of problem.writerNode) nodes.add(node)
  for (const node of problem.fixedNode) nodes.add(node)
  for (const node of problem.zeroNode) nodes.add(node)
  return [...nodes].sort((a, b) => a - b)
}

interface Branch {
  readonly assumption: Edge
  readonly state: Reasons
}

class Explainer {
  private leaves = 0

  constructor(
    private readonly problem: MixedProblem,
    private readonly deadline: Deadline,
  ) {}

  /** Nesting is bounded by the few pairs and conflicts of a core. */
  split(state: Reasons): Case[] | null {
    const branches = this.bestSplit(state)
    if (branches === null) return null
    const cases: Case[] = []
    for (const { assumption, state: inside } of branches) {
      this.leaves++
      this.deadline.check()
      if (inside.cycle !== null) {
        cases.push({ assumption, cycle: inside.cycle, cases: [] })
        continue
      }
      const further = this.leaves > MAX_LEAVES ? null : this.split(inside)
      if (further === null) return null
      cases.push({ assumption, cycle: [], cases: further })
    }
    return cases
  }

  /** The split with the fewest cases left open. */
  private bestSplit(state: Reasons): Branch[] | null {
    let best: Branch[] | null = null
    let fewest = Number.POSITIVE_INFINITY
    for (const branches of this.splits(state)) {
      const open = branches.filter((branch) => branch.state.cycle === null).length
      if (open < fewest) {
        fewest = open
        best = branches
      }
      if (open <= 1) break
    }
    return best
  }

  private *splits(state: Reasons): Generator<Branch[]> {
    for (const [a, b, key] of state.openPairs()) {
      yield [
        this.branch(state, (copy) => copy.assume(a, b, key)),
        this.branch(state, (copy) => copy.assume(b, a, key)),
      ]
    }
    const { openCount, zeroStart, zeroNode, readNode, openRead } = this.problem
    for (let conflict = 0; conflict < openCount; conflict++) {
      if (state.chosen.has(conflict)) continue
      if (!state.takesPart(readNode[openRead[conflict]!]!)) continue
      const sources = zeroNode.subarray(zeroStart[conflict]!, zeroStart[conflict + 1]!)
      yield Array.from(sources, (source) =>
        this.branch(state, (copy) => copy.choose(conflict, source, true)),
      )
    }
  }

  private branch(state: Reasons, assume: (copy: Reasons) => Edge): Branch {
    const copy = state.copy()
    const assumption = assume(copy)
    copy.propagate()
    return { assumption, state: copy }
  }
}
