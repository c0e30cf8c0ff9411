// The order of list versions that every commit order has to contain, where each transaction has a
// level of its own: each writer that reads show, then the next one; the last of them, then all that
// nobody saw. O(writers · log). Main function: findListOrder.

import { IntColumn } from '../../base/grow.ts'
import { type MixedProblem, UNSEEN } from './mixed-problem.ts'

export interface ListOrder {
  readonly from: Int32Array // pair -> node
  readonly to: Int32Array // pair -> node right after it, or that nobody saw
  readonly key: Int32Array // pair -> key of the history
}

export function findListOrder({
  keyOf,
  writerStart,
  writerNode,
  writerPlace,
}: Pick<MixedProblem, 'keyOf' | 'writerStart' | 'writerNode' | 'writerPlace'>): ListOrder {
  const from = new IntColumn(16)
  const to = new IntColumn(16)
  const key = new IntColumn(16)
  for (let k = 0; writerPlace !== null && k < keyOf.length; k++) {
    const writers: number[] = []
    for (let i = writerStart[k]!; i < writerStart[k + 1]!; i++) {
      if (writerPlace[i]! >= 0) writers.push(i)
    }
    writers.sort((a, b) => writerPlace[a]! - writerPlace[b]!)
    for (let i = 0, before = 0; i + 1 < writers.length; i++) {
      if (writerPlace[writers[i]!] !== UNSEEN) before = i
      else if (i === 0) break // reads show nothing
      from.push(writerNode[writers[before]!]!)
      to.push(writerNode[writers[i + 1]!]!)
      key.push(keyOf[k]!)
    }
  }
  return { from: from.view(), to: to.view(), key: key.view() }
}
