// The order that an acyclic graph gives, in the form certify replays: a commit order for ser and
// sser, snapshots and commits for pc and si. Main function: buildProof.

import type { Proof } from '../../verdict/verdict.ts'
import type { KnownEdges } from './known-edges.ts'

/** @param position node -> place in a topological order of the graph */
export function buildProof(known: KnownEdges, position: Int32Array): Proof {
  const { problem, shape } = known
  const nodeAt = new Int32Array(position.length)
  for (let node = 0; node < position.length; node++) nodeAt[position[node]!] = node
  const events = new Int32Array(shape.width * problem.txnCount)
  let count = 0
  for (const node of nodeAt) {
    const local = known.txnOf(node)
    if (local < 0) continue // an instant
    const txn = problem.txnOf[local]!
    events[count++] = shape.width === 2 ? 2 * txn + (node & 1) : txn
  }
  return shape.width === 2 ? { kind: 'snapshots', events } : { kind: 'commit-order', order: events }
}
