// The few transactions that contradict their levels. Leaving one out means that its reads are not
// judged, and that of its writes only those remain which somebody else read, or may have seen when
// passing a row over: so what remains is easier to satisfy, never harder, and if it is still
// inconsistent, so is the whole. Large parts are left out first, then single ones, until every one
// is needed. But where an update is lost, that is the core: else only one read of each transaction
// would remain, maybe of two different rows, and look like a write skew. Main function:
// findMixedCore.

import { IN, type MixedProblem, SI } from './problem.ts'

/** @param isConsistent decides a problem */
export function findMixedCore(
  problem: MixedProblem,
  isConsistent: (problem: MixedProblem) => boolean,
): MixedProblem {
  const { nodeCount, fixedKey, openCount } = problem
  const lost = findLostUpdate(problem)
  if (lost !== null) return restrict(problem, lost)
  const kept: Part = {
    nodes: new Uint8Array(nodeCount).fill(1),
    fixed: new Uint8Array(fixedKey.length).fill(1),
    open: new Uint8Array(openCount).fill(1),
  }
  const isEnough = () => !isConsistent(restrict(problem, kept))
  minimise(kept.nodes, actors(problem), isEnough)
  // Of those who are left, the rows that matter.
  minimise(kept.open, indicesOf(pairNodes(problem, problem.openStart), kept.nodes), isEnough)
  minimise(kept.fixed, indicesOf(pairNodes(problem, problem.fixedStart), kept.nodes), isEnough)
  return restrict(problem, kept)
}

/** What of a problem is kept: transactions that read and overwrite, and their pairs. */
interface Part {
  readonly nodes: Uint8Array // node -> 1 if it stays
  readonly fixed: Uint8Array // fixed pair -> 1 if it stays
  readonly open: Uint8Array // conflict -> 1 if it stays
}

/** Two at si or ser that saw the same version of a row and both replaced it. */
function findLostUpdate(problem: MixedProblem): Part | null {
  const { nodeCount, level, state, fixedKey, fixedNode, writerStart, writerNode } = problem
  const readers = pairNodes(problem, problem.fixedStart)
  const replacing = new Map<number, number>() // version -> the first pair whose reader replaced it
  for (let pair = 0; pair < fixedKey.length; pair++) {
    const reader = readers[pair]!
    if (level[reader]! < SI || state[reader] !== IN) continue
    const key = fixedKey[pair]!
    const writers = writerNode.subarray(writerStart[key]!, writerStart[key + 1]!)
    if (!writers.includes(reader)) continue
    const version = key * nodeCount + fixedNode[pair]!
    const other = replacing.get(version)
    if (other === undefined) replacing.set(version, pair)
    else if (readers[other] !== reader) return partOf(problem, [other, pair], readers)
  }
  return null
}

function partOf(problem: MixedProblem, pairs: readonly number[], readers: readonly number[]): Part {
  const { nodeCount, fixedKey, openCount } = problem
  const nodes = new Uint8Array(nodeCount)
  const fixed = new Uint8Array(fixedKey.length)
  for (const pair of pairs) {
    nodes[readers[pair]!] = 1
    fixed[pair] = 1
  }
  return { nodes, fixed, open: new Uint8Array(openCount) }
}

/** Leaves out as many of the items as it can, large parts first, while the rest is enough. */
function minimise(kept: Uint8Array, items: readonly number[], isEnough: () => boolean): void {
  let left = items
  for (let size = Math.max(1, left.length >> 1); size >= 1; size >>= 1) {
    for (let from = 0; from < left.length; ) {
      const tried = left.slice(from, from + size)
      for (const item of tried) kept[item] = 0
      if (isEnough()) {
        left = [...left.slice(0, from), ...left.slice(from + size)]
      } else {
        for (const item of tried) kept[item] = 1
        from += size
      }
    }
  }
}

/** Pair -> the node that reads it. */
function pairNodes({ readNode, readCount }: MixedProblem, start: Int32Array): number[] {
  const nodes: number[] = []
  for (let read = 0; read < readCount; read++) {
    for (let pair = start[read]!; pair < start[read + 1]!; pair++) nodes.push(readNode[read]!)
  }
  return nodes
}

function indicesOf(nodes: readonly number[], isKept: Uint8Array): number[] {
  return nodes.flatMap((node, pair) => (isKept[node] ? [pair] : []))
}

/** Transactions that read or write anything at all. */
function actors(problem: MixedProblem): number[] {
  const nodes = new Set<number>(problem.writerNode)
  for (const node of problem.readNode) nodes.add(node)
  nodes.delete(0)
  return [...nodes].sort((a, b) => a - b)
}

/** The problem in which only these transactions read and overwrite, and only these rows count. */
function restrict(problem: MixedProblem, kept: Part): MixedProblem {
  const part = { ...problem, ...keepReads(problem, kept) }
  return { ...part, ...keepWriters(part, kept.nodes) }
}

function keepWriters(problem: MixedProblem, isKept: Uint8Array) {
  const { writerStart, writerNode, writerOp } = problem
  const seen = findSeen(problem)
  const start = new Int32Array(writerStart.length)
  const node: number[] = []
  const op: number[] = []
  for (let key = 0; key + 1 < writerStart.length; key++) {
    for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
      if (!isKept[writerNode[i]!] && !seen.get(key)?.has(writerNode[i]!)) continue
      node.push(writerNode[i]!)
      op.push(writerOp[i]!)
    }
    start[key + 1] = node.length
  }
  return {
    writerStart: start,
    writerNode: Int32Array.from(node),
    writerOp: Int32Array.from(op),
  }
}

/** Key -> whose versions of it were read, or may have been passed over. */
function findSeen(problem: MixedProblem): Map<number, Set<number>> {
  const { fixedKey, fixedNode, openCount, openKey, zeroStart, zeroNode } = problem
  const seen = new Map<number, Set<number>>()
  const note = (key: number, node: number) => {
    const known = seen.get(key)
    if (known) known.add(node)
    else seen.set(key, new Set([node]))
  }
  fixedKey.forEach((key, pair) => {
    note(key, fixedNode[pair]!)
  })
  for (let conflict = 0; conflict < openCount; conflict++) {
    for (let i = zeroStart[conflict]!; i < zeroStart[conflict + 1]!; i++) {
      note(openKey[conflict]!, zeroNode[i]!)
    }
  }
  return seen
}

function keepReads(problem: MixedProblem, kept: Part) {
  const isKept = kept.nodes
  const reads: number[] = []
  const nodeReadStart = new Int32Array(problem.nodeCount + 1)
  for (let node = 0; node < problem.nodeCount; node++) {
    const end = isKept[node] ? problem.nodeReadStart[node + 1]! : problem.nodeReadStart[node]!
    for (let read = problem.nodeReadStart[node]!; read < end; read++) reads.push(read)
    nodeReadStart[node + 1] = reads.length
  }
  const fixed = slices(problem.fixedStart, reads, kept.fixed)
  const open = slices(problem.openStart, reads, kept.open)
  const zero = slices(problem.zeroStart, open.items)
  const newRead = new Int32Array(problem.readCount)
  reads.forEach((read, i) => {
    newRead[read] = i
  })
  const pick = (column: Int32Array, items: readonly number[]) =>
    Int32Array.from(items, (item) => column[item]!)
  return {
    readCount: reads.length,
    nodeReadStart,
    readNode: pick(problem.readNode, reads),
    readEvent: pick(problem.readEvent, reads),
    readOp: pick(problem.readOp, reads),
    fixedStart: fixed.start,
    fixedKey: pick(problem.fixedKey, fixed.items),
    fixedNode: pick(problem.fixedNode, fixed.items),
    fixedOp: pick(problem.fixedOp, fixed.items),
    openCount: open.items.length,
    openStart: open.start,
    openRead: Int32Array.from(open.items, (conflict) => newRead[problem.openRead[conflict]!]!),
    openKey: pick(problem.openKey, open.items),
    zeroStart: zero.start,
    zeroNode: pick(problem.zeroNode, zero.items),
  }
}

/** The items of some rows of a compressed table, and where each row's begin. */
function slices(start: Int32Array, rows: readonly number[], isKept: Uint8Array | null = null) {
  const items: number[] = []
  const kept = new Int32Array(rows.length + 1)
  rows.forEach((row, i) => {
    for (let item = start[row]!; item < start[row + 1]!; item++) {
      if (isKept === null || isKept[item]) items.push(item)
    }
    kept[i + 1] = items.length
  })
  return { start: kept, items }
}
