// The few transactions that contradict their levels. Leaving one out means that its reads are not
// judged, and that of its writes only those remain which somebody else read, or may have seen when
// passing a row over: so what remains is easier to satisfy, never harder, and if it is still
// inconsistent, so is the whole. Large parts are left out first, then single ones, until every one
// is needed. Main function: findMixedCore.

import type { MixedProblem } from './problem.ts'

/** @param isConsistent decides a problem */
export function findMixedCore(
  problem: MixedProblem,
  isConsistent: (problem: MixedProblem) => boolean,
): MixedProblem {
  let kept = actors(problem)
  let core = restrict(problem, kept)
  for (let size = kept.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < kept.length; ) {
      const rest = [...kept.slice(0, from), ...kept.slice(from + size)]
      const candidate = restrict(problem, rest)
      if (isConsistent(candidate)) {
        from += size
      } else {
        kept = rest
        core = candidate
      }
    }
  }
  return core
}

/** Transactions that read or write anything at all. */
function actors(problem: MixedProblem): number[] {
  const nodes = new Set<number>(problem.writerNode)
  for (const node of problem.readNode) nodes.add(node)
  nodes.delete(0)
  return [...nodes].sort((a, b) => a - b)
}

/** The problem in which only these transactions read and overwrite. */
export function restrict(problem: MixedProblem, nodes: readonly number[]): MixedProblem {
  const isKept = new Uint8Array(problem.nodeCount)
  isKept[0] = 1
  for (const node of nodes) isKept[node] = 1
  const part = { ...problem, ...keepReads(problem, isKept) }
  return { ...part, ...keepWriters(part, isKept) }
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

function keepReads(problem: MixedProblem, isKept: Uint8Array) {
  const reads: number[] = []
  const nodeReadStart = new Int32Array(problem.nodeCount + 1)
  for (let node = 0; node < problem.nodeCount; node++) {
    const end = isKept[node] ? problem.nodeReadStart[node + 1]! : problem.nodeReadStart[node]!
    for (let read = problem.nodeReadStart[node]!; read < end; read++) reads.push(read)
    nodeReadStart[node + 1] = reads.length
  }
  const fixed = slices(problem.fixedStart, reads)
  const open = slices(problem.openStart, reads)
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
function slices(start: Int32Array, rows: readonly number[]) {
  const items: number[] = []
  const kept = new Int32Array(rows.length + 1)
  rows.forEach((row, i) => {
    for (let item = start[row]!; item < start[row + 1]!; item++) items.push(item)
    kept[i + 1] = items.length
  })
  return { start: kept, items }
}
