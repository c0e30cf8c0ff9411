// Writers for the rows passed over that no search had to decide: of those visible to the read under
// the commit order found, the last one (Bouajjani, Enea, Román-Calvo, Equation 10). It satisfies no
// predicate that matters and makes nothing visible that was not. Main function: completeChoice.

import { NONE } from '../../history/history.ts'
import { RC, RC_SQL } from '../problem/levels.ts'
import type { Extension } from './extension.ts'
import { fillVisible } from './saturate.ts'

/** Conflict -> writer; NONE where the reader does not take part. */
export function completeChoice(extension: Extension, order: Int32Array): Int32Array {
  const { problem, takesPart } = extension
  const choice = extension.choice.slice()
  const total = extension.order
  for (let i = 0; i < order.length; i++) {
    for (let j = 0; j < i; j++) total.add(order[j]!, order[i]!)
  }
  const visible = new Uint32Array(total.words)
  for (let conflict = 0; conflict < problem.openCount; conflict++) {
    const read = problem.openRead[conflict]!
    const reader = problem.readNode[read]!
    if (choice[conflict] !== NONE || !takesPart[reader]) continue
    if (problem.level[reader]! <= RC_SQL) fillSeen(extension, read, visible)
    else fillVisible(extension, reader, visible)
    choice[conflict] = lastVisible(extension, problem.openKey[conflict]!, reader, visible)
  }
  return choice
}

/** What a read at rc sees: session order, and what it and the reads before it saw. */
function fillSeen(extension: Extension, read: number, visible: Uint32Array): void {
  const { problem, sessions } = extension
  const reader = problem.readNode[read]!
  visible.fill(0)
  if (problem.level[reader] !== RC) {
    visible.set(sessions.rows.subarray(reader * sessions.words, (reader + 1) * sessions.words))
  }
  for (let earlier = problem.nodeReadStart[reader]!; earlier <= read; earlier++) {
    extension.forEachPair(earlier, (_, writer) => {
      visible[writer >>> 5]! |= 1 << (writer & 31)
    })
  }
}

function lastVisible(
  { problem, takesPart, order }: Extension,
  key: number,
  reader: number,
  visible: Uint32Array,
): number {
  const { writerStart, writerNode } = problem
  let last = 0
  for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
    const node = writerNode[i]!
    if (node === reader || !takesPart[node]) continue
    if (((visible[node >>> 5]! >>> (node & 31)) & 1) === 1 && order.has(last, node)) last = node
  }
  return last
}
