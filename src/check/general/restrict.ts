// The part of a problem in which only some transactions read and overwrite, and only some rows
// count. Leaving a transaction out means that its reads are not judged, and that of its writes only
// those remain which somebody else read, or may have seen when passing a row over, in no order that
// lists show: so what remains is easier to satisfy, never harder, and if it is still inconsistent,
// so is the whole. Nodes and keys are numbered anew, so that a small part costs little. O(size of
// the problem). Main function: restrict.

import { IntColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { NONE } from '../../history/history.ts'
import type { MixedProblem } from '../problem/mixed-problem.ts'

/** What of a problem is kept. */
export interface Part {
  readonly nodes: Uint8Array // node -> 1 if it reads and overwrites
  readonly fixed: Uint8Array // fixed pair -> 1 if it stays
  readonly open: Uint8Array // conflict -> 1 if it stays
}

export function wholeOf({ nodeCount, fixedKey, openCount }: MixedProblem): Part {
  return {
    nodes: new Uint8Array(nodeCount).fill(1),
    fixed: new Uint8Array(fixedKey.length).fill(1),
    open: new Uint8Array(openCount).fill(1),
  }
}

export function restrict(problem: MixedProblem, kept: Part): MixedProblem {
  const reads = keepReads(problem, kept)
  const part = { ...problem, ...reads }
  return renumberKeys(renumber({ ...part, ...keepWriters(part, kept.nodes) }))
}

/** The part in which only these transactions of the history read and overwrite. */
export function restrictTo(problem: MixedProblem, txns: readonly number[]): MixedProblem {
  const whole = wholeOf(problem)
  const isKept = new Set(txns)
  return restrict(problem, {
    ...whole,
    nodes: whole.nodes.map((_, node) => (isKept.has(problem.txnOf[node]!) ? 1 : 0)),
  })
}

function keepReads(problem: MixedProblem, kept: Part) {
  const all = new IntColumn(64)
  const nodeReadStart = new Int32Array(problem.nodeCount + 1)
  for (let node = 0; node < problem.nodeCount; node++) {
    const end = kept.nodes[node] ? problem.nodeReadStart[node + 1]! : problem.nodeReadStart[node]!
    for (let read = problem.nodeReadStart[node]!; read < end; read++) all.push(read)
    nodeReadStart[node + 1] = all.length
  }
  const reads = all.view()
  const fixed = slices(problem.fixedStart, reads, kept.fixed)
  const open = slices(problem.openStart, reads, kept.open)
  const zero = slices(problem.zeroStart, open.items)
  const newRead = new Int32Array(problem.readCount)
  for (let i = 0; i < reads.length; i++) newRead[reads[i]!] = i
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
    openRead: pick(newRead, pick(problem.openRead, open.items)),
    openKey: pick(problem.openKey, open.items),
    zeroStart: zero.start,
    zeroNode: pick(problem.zeroNode, zero.items),
  }
}

/** item -> what the column has of it. A loop: TypedArray.from takes ten times as long. */
export function pick<C extends Int32Array | Uint8Array>(column: C, items: Int32Array): C {
  const picked = new (column.constructor as new (length: number) => C)(items.length)
  for (let i = 0; i < items.length; i++) picked[i] = column[items[i]!]!
  return picked
}

/** The items of some rows of a compressed table, and where each row's begin. */
function slices(start: Int32Array, rows: Int32Array, isKept: Uint8Array | null = null) {
  const items = new IntColumn(64)
  const kept = new Int32Array(rows.length + 1)
  for (let i = 0; i < rows.length; i++) {
    const end = start[rows[i]! + 1]!
    for (let item = start[rows[i]!]!; item < end; item++) {
      if (isKept === null || isKept[item]) items.push(item)
    }
    kept[i + 1] = items.length
  }
  return { start: kept, items: items.view() }
}

/** Writers that are kept, and those whose version was read or may have been passed over. */
function keepWriters(problem: MixedProblem, isKept: Uint8Array) {
  const { writerStart, writerNode, fixedKey, fixedNode } = problem
  const { openCount, openKey, zeroStart, zeroNode } = problem
  const isSeen = new Uint8Array(writerNode.length) // writer -> 1
  const note = (key: number, node: number) => {
    // Writers are in the order of their nodes.
    isSeen[lowerBound(writerNode, node, writerStart[key]!, writerStart[key + 1]! - 1)] = 1
  }
  for (let pair = 0; pair < fixedKey.length; pair++) note(fixedKey[pair]!, fixedNode[pair]!)
  for (let conflict = 0; conflict < openCount; conflict++) {
    for (let i = zeroStart[conflict]!; i < zeroStart[conflict + 1]!; i++) {
      note(openKey[conflict]!, zeroNode[i]!)
    }
  }
  const start = new Int32Array(writerStart.length)
  const column = new IntColumn(64)
  for (let key = 0; key + 1 < writerStart.length; key++) {
    for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
      // The initial version stays, as others rely on its being the first.
      if (isSeen[i] || i === writerStart[key] || isKept[writerNode[i]!]) column.push(i)
    }
    start[key + 1] = column.length
  }
  const kept = column.view()
  const picked = pickWriters(problem, kept)
  const place = picked.writerPlace
  picked.writerNode.forEach((node, i) => {
    if (!isKept[node] && place !== null) place[i] = NONE
  })
  return { writerStart: start, ...picked }
}

function pickWriters({ writerNode, writerOp, writerPlace }: MixedProblem, kept: Int32Array) {
  return {
    writerNode: pick(writerNode, kept),
    writerOp: pick(writerOp, kept),
    writerPlace: writerPlace && pick(writerPlace, kept),
  }
}

/** What is marked, and the number of each among those. */
function numbered(isMarked: Uint8Array): { items: Int32Array; local: Int32Array } {
  const items = new IntColumn(64)
  const local = new Int32Array(isMarked.length)
  for (let item = 0; item < isMarked.length; item++) {
    if (isMarked[item] === 0) continue
    local[item] = items.length
    items.push(item)
  }
  return { items: items.view(), local }
}

/** The problem without the nodes that neither read nor write, nor were read from. */
function renumber(problem: MixedProblem): MixedProblem {
  const { nodeCount, state, level, before, txnOf, nodeReadStart } = problem
  const isUsed = new Uint8Array(nodeCount)
  isUsed[0] = 1
  const columns = [problem.readNode, problem.writerNode, problem.fixedNode, problem.zeroNode]
  for (const column of columns) for (const node of column) isUsed[node] = 1
  const { items: nodes, local } = numbered(isUsed)
  const newBefore = new Int32Array(nodes.length)
  const readStart = new Int32Array(nodes.length + 1)
  for (let i = 0; i < nodes.length; i++) {
    let previous = before[nodes[i]!]!
    while (!isUsed[previous]) previous = before[previous]!
    newBefore[i] = local[previous]!
    readStart[i + 1] = nodeReadStart[nodes[i]! + 1]!
  }
  return {
    ...problem,
    nodeCount: nodes.length,
    txnOf: pick(txnOf, nodes),
    state: pick(state, nodes),
    level: pick(level, nodes),
    before: newBefore,
    nodeReadStart: readStart,
    readNode: pick(local, problem.readNode),
    writerNode: pick(local, problem.writerNode),
    fixedNode: pick(local, problem.fixedNode),
    zeroNode: pick(local, problem.zeroNode),
  }
}

/** The problem without the keys that nobody reads, passes over or writes. */
function renumberKeys(problem: MixedProblem): MixedProblem {
  const { keyOf, writerStart, fixedKey, openKey } = problem
  const isUsed = new Uint8Array(keyOf.length)
  for (const key of fixedKey) isUsed[key] = 1
  for (const key of openKey) isUsed[key] = 1
  for (let key = 0; key < keyOf.length; key++) {
    // Every key has an initial writer.
    if (writerStart[key + 1]! - writerStart[key]! > 1) isUsed[key] = 1
  }
  const { items: keys, local } = numbered(isUsed)
  const writers = slices(writerStart, keys)
  return {
    ...problem,
    keyOf: pick(keyOf, keys),
    writerStart: writers.start,
    ...pickWriters(problem, writers.items),
    fixedKey: pick(local, fixedKey),
    openKey: pick(local, openKey),
  }
}
