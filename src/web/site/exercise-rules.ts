// Whether somebody kept to what an exercise allows to change: the value of one read, or the place
// of operations. Whether that breaks the right level is for a judge to say. Main function:
// findBreach.

import type { Exercise } from '../../levels/exercises.ts'
import { type Operation, readOperations } from './operations.ts'

/** What is not allowed about an attempt, in words; null if nothing is. */
export function findBreach({ start, change }: Exercise, attempt: string): string | null {
  const [before, after] = [readOperations(start), readOperations(attempt)]
  if (change === 'place') {
    const list = (ops: readonly Operation[]) => JSON.stringify(ops.map(({ text }) => text).sort())
    const isSame = list(before) === list(after) && frame(start, before) === frame(attempt, after)
    return isSame ? null : 'operations may move, but not change'
  }
  if (frame(start, before) !== frame(attempt, after) || before.length !== after.length) {
    return 'only the value of a read may change'
  }
  const changed = before.flatMap((op, i) => (op.text === after[i]!.text ? [] : [[op, after[i]!]]))
  if (changed.length > 1) return 'only one read may change'
  const isRead = changed.every(([a, b]) => a!.verb === 'r' && b!.verb === 'r' && a!.key === b!.key)
  return isRead ? null : 'only the value of a read may change'
}

/** What is left of a text without its operations. */
function frame(text: string, ops: readonly Operation[]): string {
  let rest = ''
  let at = 0
  for (const { from, to } of ops) {
    rest += text.slice(at, from)
    at = to
  }
  return (rest + text.slice(at)).replace(/\s+/g, ' ').trim()
}
