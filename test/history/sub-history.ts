// The history of as many of some operations as have what they need.

import type { History } from '../../src/history/history.ts'
import { buildPart, findPart, needsOf } from '../../src/history/sub-history.ts'

export function subHistory(history: History, ops: Iterable<number>): History {
  return buildPart(
    history,
    findPart(ops, (op) => needsOf(history, op)),
  )
}
