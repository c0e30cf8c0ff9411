// Why a few transactions contradict their levels, as evidence: one circle that follows from what
// was read, or a split into cases, each of which ends in a circle. A case assumes either the order
// of two writers of a key, or whose version of a row a statement saw when it passed the row over.
// Splits that close most of their cases at once come first, so that the argument stays short. Main
// function: explainMixed.

import type { Deadline } from '../../base/deadline.ts'
import { type Case, type Edge, findEdges } from '../../verdict/verdict.ts'
import { MAYBE, type MixedProblem } from './problem.ts'
import { Reasons } from './reasons.ts'

const MAX_SPLITS = 20_000

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
  const proof = new Explainer(problem, deadline).prove(start)
  return proof && { edges: proof.edges, cases: proof.cases }
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

/** An argument, and the assumptions that it makes use of. */
interface Proof extends MixedArgument {
  readonly uses: ReadonlySet<string>
}

interface Branch {
  readonly assumption: Edge
  readonly state: Reasons
}

/** Used wherever an indeterminate transaction appears: some case must say that it took effect. */
const ANY_READ = 'any read'

class Explainer {
  private splitCount = 0

  constructor(
    private readonly problem: MixedProblem,
    private readonly deadline: Deadline,
  ) {}

  /**
   * A circle, or cases. A case whose argument does without its assumption proves the whole, and the
   * split was for nothing (as in backjumping). Nesting is bounded by the few pairs and conflicts of
   * a core.
   */
  prove(state: Reasons): Proof | null {
    if (state.cycle !== null) {
      return { edges: state.cycle, cases: [], uses: this.usesOf(state.cycle) }
    }
    this.deadline.check()
    const branches = this.splitCount++ < MAX_SPLITS ? this.bestSplit(state) : null
    if (branches === null) return null
    const cases: Case[] = []
    const uses = new Set<string>()
    for (const { assumption, state: inside } of branches) {
      const proof = this.prove(inside)
      if (proof === null) return null
      const own = nameOf(assumption)
      const isRead = assumption.kind === 'WR'
      if (!proof.uses.has(own) && !(isRead && proof.uses.has(ANY_READ))) return proof
      for (const name of proof.uses) if (name !== own) uses.add(name)
      cases.push({ assumption, cycle: proof.edges, cases: proof.cases })
    }
    return { edges: [], cases, uses }
  }

  private usesOf(cycle: readonly Edge[]): Set<string> {
    const { state } = this.problem
    const uses = new Set<string>()
    for (const edge of findEdges(cycle, [])) {
      if (edge.assumed) uses.add(nameOf(edge))
      if (state[edge.from + 1] === MAYBE || state[edge.to + 1] === MAYBE) uses.add(ANY_READ)
    }
    return uses
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
    const { openCount, zeroStart, zeroNode, readNode, openRead } = this.problem
    for (let conflict = 0; conflict < openCount; conflict++) {
      if (state.chosen.has(conflict)) continue
      if (!state.takesPart(readNode[openRead[conflict]!]!)) continue
      const sources = zeroNode.subarray(zeroStart[conflict]!, zeroStart[conflict + 1]!)
      yield Array.from(sources, (source) =>
        this.branch(state, (copy) => copy.choose(conflict, source, true)),
      )
    }
    for (const [a, b, key] of state.openPairs()) {
      yield [
        this.branch(state, (copy) => copy.assume(a, b, key)),
        this.branch(state, (copy) => copy.assume(b, a, key)),
      ]
    }
  }

  private branch(state: Reasons, assume: (copy: Reasons) => Edge): Branch {
    const copy = state.copy()
    const assumption = assume(copy)
    copy.propagate()
    return { assumption, state: copy }
  }
}

/** What an assumed edge assumes, whatever key it is told of. */
function nameOf({ kind, from, to, event, key }: Edge): string {
  return kind === 'WW' ? `${from} before ${to}` : `row ${key} of statement ${event} from ${from}`
}
