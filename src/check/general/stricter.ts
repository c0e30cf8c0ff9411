// A stricter problem, whose solutions solve the given one: every statement of a transaction at rc
// sees one snapshot, none older than the one before it in its session; transactions at ra and cc
// see one snapshot each, as at pc; and those that may take no part take none. That is what stores
// do that know no other way to read, and where the order of things is lost it leaves far less to
// try than a level that asks for so little. Statements at rc become transactions of their own,
// which only read, before what is left of theirs, which only writes. O(size of the problem). Main
// function: makeStricter.

import { IntColumn } from '../../base/grow.ts'
import { PC, RA, SER } from '../problem/levels.ts'
import { IN, type MixedProblem } from '../problem/mixed-problem.ts'
import { pick } from './restrict.ts'

export interface Stricter {
  readonly rows: MixedProblem
  readonly nodeOf: Int32Array // node of the whole -> the node here that writes what it wrote
  readonly wholeOf: Int32Array // node -> node of the whole
}

/** Null if what somebody saw can only be explained by one that may take no part. */
export function makeStricter(whole: MixedProblem): Stricter | null {
  const nodes = layOutNodes(whole)
  const { wholeOf, nodeOf } = nodes
  const pairs = layOutPairs(whole, nodes)
  if (pairs === null) return null
  const { reads, readNode, nodeReadStart } = nodes
  const rows: MixedProblem = {
    ...whole,
    nodeCount: wholeOf.length,
    txnOf: pick(whole.txnOf, wholeOf),
    state: new Uint8Array(wholeOf.length).fill(IN),
    level: pick(whole.level, wholeOf).map((its) => (its < RA ? SER : Math.max(PC, its))),
    before: findBefore(whole, nodes),
    readCount: reads.length,
    nodeReadStart,
    readNode,
    readEvent: pick(whole.readEvent, reads),
    readOp: pick(whole.readOp, reads),
    ...pairs,
    ...layOutWriters(whole, nodeOf),
  }
  return { rows, nodeOf, wholeOf }
}

type Nodes = ReturnType<typeof layOutNodes>

/** Numbers the nodes, those of one transaction side by side, and lists what they read. */
function layOutNodes({ nodeCount, state, level, nodeReadStart }: MixedProblem) {
  const wholeOf = new IntColumn(nodeCount)
  const nodeOf = new Int32Array(nodeCount).fill(-1)
  const reads = new IntColumn(64) // read -> read of the whole
  const readNode = new IntColumn(64)
  const readStart = new IntColumn(nodeCount)
  readStart.push(0)
  const endNode = (node: number) => {
    wholeOf.push(node)
    readStart.push(reads.length)
  }
  for (let node = 0; node < nodeCount; node++) {
    if (state[node] !== IN) continue
    for (let read = nodeReadStart[node]!; read < nodeReadStart[node + 1]!; read++) {
      reads.push(read)
      readNode.push(wholeOf.length)
      if (level[node]! < RA) endNode(node)
    }
    nodeOf[node] = wholeOf.length
    endNode(node)
  }
  return {
    wholeOf: wholeOf.view(),
    nodeOf,
    reads: reads.view(),
    readNode: readNode.view(),
    nodeReadStart: readStart.view(),
  }
}

function findBefore({ before, state }: MixedProblem, { wholeOf, nodeOf }: Nodes): Int32Array {
  return wholeOf.map((node, i) => {
    if (i > 0 && wholeOf[i - 1] === node) return i - 1
    let previous = before[node]!
    while (state[previous] !== IN) previous = before[previous]!
    return nodeOf[previous]!
  })
}

function layOutPairs(whole: MixedProblem, { reads, nodeOf }: Nodes) {
  const { fixedStart, fixedKey, fixedNode, fixedOp, openStart, openKey, zeroStart, zeroNode } =
    whole
  const fixed = { start: new IntColumn(64), items: new IntColumn(64) }
  const open = { start: new IntColumn(64), items: new IntColumn(64), read: new IntColumn(64) }
  const zero = { start: new IntColumn(64), node: new IntColumn(64) }
  for (let i = 0; i < reads.length; i++) {
    const read = reads[i]!
    fixed.start.push(fixed.items.length)
    for (let p = fixedStart[read]!; p < fixedStart[read + 1]!; p++) {
      if (nodeOf[fixedNode[p]!]! < 0) return null
      fixed.items.push(p)
    }
    open.start.push(open.items.length)
    for (let p = openStart[read]!; p < openStart[read + 1]!; p++) {
      open.items.push(p)
      open.read.push(i)
      const first = zero.node.length
      zero.start.push(first)
      for (let z = zeroStart[p]!; z < zeroStart[p + 1]!; z++) {
        if (nodeOf[zeroNode[z]!]! >= 0) zero.node.push(nodeOf[zeroNode[z]!]!)
      }
      if (zero.node.length === first) return null
    }
  }
  fixed.start.push(fixed.items.length)
  open.start.push(open.items.length)
  zero.start.push(zero.node.length)
  return {
    fixedStart: fixed.start.view(),
    fixedKey: pick(fixedKey, fixed.items.view()),
    fixedNode: pick(nodeOf, pick(fixedNode, fixed.items.view())),
    fixedOp: pick(fixedOp, fixed.items.view()),
    openCount: open.items.length,
    openStart: open.start.view(),
    openRead: open.read.view(),
    openKey: pick(openKey, open.items.view()),
    zeroStart: zero.start.view(),
    zeroNode: zero.node.view(),
  }
}

/** The writers that take part in any case; their order, by node, stays. */
function layOutWriters(whole: MixedProblem, nodeOf: Int32Array) {
  const { writerNode, writerOp, writerPlace } = whole
  const kept = new IntColumn(64)
  const writerStart = new Int32Array(whole.writerStart.length)
  for (let key = 0; key + 1 < writerStart.length; key++) {
    for (let w = whole.writerStart[key]!; w < whole.writerStart[key + 1]!; w++) {
      if (nodeOf[writerNode[w]!]! >= 0) kept.push(w)
    }
    writerStart[key + 1] = kept.length
  }
  const writers = kept.view()
  return {
    writerStart,
    writerNode: pick(nodeOf, pick(writerNode, writers)),
    writerOp: pick(writerOp, writers),
    writerPlace: writerPlace && pick(writerPlace, writers),
  }
}
