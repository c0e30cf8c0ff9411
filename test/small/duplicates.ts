// Drafts in which values are written twice, and what the definition says of them: a level is
// satisfied if some choice of writers satisfies it. Every choice is spelt out as a draft with
// unique values, and each of these goes to the oracle. Main functions: collapse, everyChoice.

import { HistoryBuilder } from '../../src/history/builder.ts'
import type { History } from '../../src/history/history.ts'
import type { Value } from '../../src/history/values.ts'
import { addDraft, type Draft, type DraftOp } from './draft.ts'

/** How values that differ become equal. */
export type Collapse = (value: number) => number

export const COLLAPSES: readonly Collapse[] = [
  (value) => (value === 0 ? 0 : 1), // every write writes the same
  (value) => (value === 0 ? 0 : 1 + (value % 2)),
  (value) => (value === 1 ? 0 : value), // somebody writes the initial value
  (value) => value % 2,
]

/** The draft with values made equal; what nobody wrote stays so. */
export function collapse(draft: Draft, by: Collapse): Draft {
  const change = (value: Value) => (typeof value === 'number' && value < 90 ? by(value) : value)
  return mapOps(draft, (op) =>
    op.kind === 'r' || op.kind === 'w' ? { ...op, value: change(op.value) } : op,
  )
}

export function buildDuplicates(draft: Draft): History {
  const builder = new HistoryBuilder(draft.initial, 32)
  const told = draft.sessions.flatMap((txns, session) => txns.map((txn) => ({ session, txn })))
  addDraft(builder, [...(draft.lead ?? []), ...told], (number) => number + 1)
  return builder.finish(null, true)
}

/** Every choice of writers, as a draft with unique values; null if there are more than `most`. */
export function everyChoice(draft: Draft, most: number): Draft[] | null {
  const ops = draft.sessions.flat().flatMap((txn) => txn.ops)
  const choices: { at: number; values: Value[] }[] = []
  let count = 1
  ops.forEach((op, at) => {
    if (op.kind !== 'r') return
    const values: Value[] = []
    ops.forEach((write, i) => {
      if (write.kind === 'w' && write.key === op.key && write.value === op.value) {
        values.push(unique(i))
      }
    })
    if (op.value === draft.initial) values.push(op.value)
    if (values.length === 0) return
    choices.push({ at, values })
    count *= values.length
  })
  if (count > most) return null
  return Array.from({ length: count }, (_, number) => {
    const seen = new Map<number, Value>()
    let rest = number
    for (const { at, values } of choices) {
      seen.set(at, values[rest % values.length]!)
      rest = Math.floor(rest / values.length)
    }
    let at = 0
    return mapOps(draft, (op) => {
      const i = at++
      if (op.kind === 'w') return { ...op, value: unique(i) }
      return op.kind === 'r' ? { ...op, value: seen.get(i) ?? op.value } : op
    })
  })
}

const unique = (op: number) => 1000 + op

function mapOps(draft: Draft, change: (op: DraftOp) => DraftOp): Draft {
  const sessions = draft.sessions.map((txns) =>
    txns.map((txn) => ({ ...txn, ops: txn.ops.map(change) })),
  )
  return { ...draft, sessions }
}
