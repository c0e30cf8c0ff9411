// Invocations and what became of them, by process. Main function: pairOperations.

import type { JepsenOperation } from '../../formats/jepsen/forms.ts'

export interface PairedOperation {
  readonly asked: JepsenOperation
  /** Null if nobody heard of it again. */
  readonly answer: JepsenOperation | null
  /** Places among all events: when it was asked for, and when it was answered. */
  readonly start: number
  readonly finish: number
}

/** In the order in which they were asked for; answers that nobody asked for stand for both. */
export function pairOperations(operations: readonly JepsenOperation[]): PairedOperation[] {
  const open = new Map<bigint, { asked: JepsenOperation; start: number }>()
  const pairs: PairedOperation[] = []
  const give = (asked: JepsenOperation, start: number) =>
    pairs.push({ asked, answer: null, start, finish: Number.POSITIVE_INFINITY })
  operations.forEach((operation, place) => {
    const before = open.get(operation.process)
    open.delete(operation.process)
    if (operation.type === 'invoke') {
      if (before) give(before.asked, before.start)
      open.set(operation.process, { asked: operation, start: place })
      return
    }
    const { asked, start } = before ?? { asked: operation, start: place }
    pairs.push({ asked, answer: operation, start, finish: place })
  })
  for (const { asked, start } of open.values()) give(asked, start)
  return pairs.sort((a, b) => a.start - b.start)
}
