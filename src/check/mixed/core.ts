// The few transactions that contradict their levels, and what of them does. What a contradiction
// was traced back to (suspects.ts) is taken again and again; then transactions are left out, large
// parts first, then conflicts, those with the most candidates first, then reads, until all that is
// left is needed. A contradiction that follows without choice is kept one that does:
// fewer transactions might do, but would take cases upon cases to argue about. But where an update
// is lost, that is the core: else only one read of each transaction would remain, maybe of two
// different rows, and look like a write skew. When the deadline passes, what is left so far is a
// core, if not the smallest. Main function: findMixedCore.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { minimise } from '../evidence/minimise.ts'
import { IN, type MixedProblem, SI } from '../problem/mixed-problem.ts'
import { Layout } from './layout.ts'
import { type Part, restrict, wholeOf } from './restrict.ts'
import type { Saturation } from './saturate.ts'
import { type MixedRefutation, refuteByKnown, solveMixed } from './solve.ts'
import { findSuspects } from './suspects.ts'

/** Parts with fewer transactions are not worth numbering anew on the way. */
const SMALL = 64

/** @param refutation of the problem */
export function findMixedCore(
  problem: MixedProblem,
  refutation: MixedRefutation,
  deadline: Deadline,
): MixedProblem {
  const lost = findLostUpdate(problem)
  if (lost !== null) return restrict(problem, lost)
  let core = problem
  try {
    const { layout, known } = refutation
    core = known ? narrow(problem, layout, known, deadline) : problem
    const isRefuted = (part: MixedProblem) =>
      known
        ? refuteByKnown(new Layout(part), deadline) !== null
        : solveMixed(part, deadline) === null
    for (let size = Infinity; core.nodeCount < size; ) {
      size = core.nodeCount
      core = leaveOut(core, 'nodes', actors(core), isRefuted, size > SMALL ? size >> 3 : 1)
    }
    core = leaveOut(core, 'open', conflicts(core), isRefuted)
    core = leaveOut(core, 'fixed', range(core.fixedKey.length), isRefuted)
    core = leaveOut(core, 'nodes', actors(core), isRefuted)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return core
}

/** A part of what contradicts itself without choice that does so too. */
function narrow(
  problem: MixedProblem,
  whole: Layout,
  contradiction: Saturation,
  deadline: Deadline,
): MixedProblem {
  let core = problem
  let layout = whole
  let found = contradiction
  for (let size = Infinity; sizeOf(core) < size; ) {
    size = sizeOf(core)
    const suspects: Part[] = findSuspects(layout, found, deadline)
    const parts: MixedProblem[] = suspects.map((part) => restrict(core, part))
    parts.sort((a, b) => sizeOf(a) - sizeOf(b))
    for (const part of parts.filter((smaller) => sizeOf(smaller) < size)) {
      const inside = new Layout(part)
      const again = refuteByKnown(inside, deadline)
      if (again === null) continue
      core = part
      layout = inside
      found = again
      break
    }
  }
  return core
}

/** What an argument about it would have to go through. */
function sizeOf({ nodeCount, fixedKey, openCount, zeroNode }: MixedProblem): number {
  return nodeCount + fixedKey.length + openCount + zeroNode.length
}

/** The problem without those of the items that are not needed. */
function leaveOut(
  problem: MixedProblem,
  what: keyof Part,
  items: readonly number[],
  isRefuted: (part: MixedProblem) => boolean,
  smallest = 1,
): MixedProblem {
  const whole = wholeOf(problem)
  const partOf = (kept: readonly number[]): MixedProblem => {
    const isKept = new Uint8Array(whole[what].length)
    for (const item of kept) isKept[item] = 1
    return restrict(problem, { ...whole, [what]: isKept })
  }
  const kept = minimise(items, (rest) => (isRefuted(partOf(rest)) ? rest : null), {
    smallest,
  })
  return partOf(kept)
}

/** Transactions that read or write anything at all. */
function actors({ readNode, writerNode }: MixedProblem): number[] {
  const nodes = new Set<number>(writerNode)
  for (const node of readNode) nodes.add(node)
  nodes.delete(0)
  return [...nodes].sort((a, b) => a - b)
}

/** Those with the most candidates first: each candidate is one more case. */
function conflicts({ openCount, zeroStart }: MixedProblem): number[] {
  const size = (conflict: number) => zeroStart[conflict + 1]! - zeroStart[conflict]!
  return range(openCount).sort((a, b) => size(b) - size(a) || a - b)
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

/** Two at si or ser that saw the same version of a row and both replaced it. */
function findLostUpdate(problem: MixedProblem): Part | null {
  const { nodeCount, readNode, level, state, fixedKey, fixedNode } = problem
  const { fixedStart, readCount, writerStart, writerNode } = problem
  // Version -> the first who replaced it.
  const replacing = new Map<number, { reader: number; pair: number }>()
  for (let read = 0; read < readCount; read++) {
    const reader = readNode[read]!
    if (level[reader]! < SI || state[reader] !== IN) continue
    for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
      const key = fixedKey[pair]!
      const writers = writerNode.subarray(writerStart[key]!, writerStart[key + 1]!)
      if (!writers.includes(reader)) continue
      const version = key * nodeCount + fixedNode[pair]!
      const other = replacing.get(version)
      if (other === undefined) replacing.set(version, { reader, pair })
      else if (other.reader !== reader) return partOf(problem, [other, { reader, pair }])
    }
  }
  return null
}

function partOf(problem: MixedProblem, replaced: readonly { reader: number; pair: number }[]) {
  const nodes = new Uint8Array(problem.nodeCount)
  const fixed = new Uint8Array(problem.fixedKey.length)
  for (const { reader, pair } of replaced) {
    nodes[reader] = 1
    fixed[pair] = 1
  }
  return { nodes, fixed, open: new Uint8Array(problem.openCount) }
}
