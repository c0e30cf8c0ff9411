// Every small history within given bounds, up to renaming of sessions and (mostly) of keys: each
// assignment of operation kinds and keys to each shape of sessions, times each choice of what the
// reads return: the initial value, any write of the key, or, if asked for, a value nobody wrote; of
// lists, any of the appended values in any order.
// Values are numbered per key, so that two keys share them. Main function: smallHistories.

import type { StatusName } from '../../src/history/history.ts'
import { partitions } from '../../src/pipeline/differ/skeletons.ts'
import { timings } from '../../src/pipeline/differ/times.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'

export interface Bounds {
  readonly txns: number
  readonly maxOps: number // per transaction
  readonly maxTotalOps: number
  readonly keys: number
  readonly thinAir?: boolean
  readonly statuses?: readonly StatusName[] // committed only, unless told
  readonly maxSessions?: number
  readonly after?: boolean // one or two transactions name one of another session
  readonly lists?: boolean // keys are lists
  readonly lead?: boolean // a transaction of either session spells out the initial state of x
}

/**
 * Each family runs in seconds; together they hold every pattern that three transactions can make.
 */
export const FAMILIES: readonly Bounds[] = [
  { txns: 1, maxOps: 4, maxTotalOps: 4, keys: 2, thinAir: true },
  { txns: 2, maxOps: 3, maxTotalOps: 5, keys: 2, thinAir: true },
  { txns: 3, maxOps: 2, maxTotalOps: 5, keys: 2 },
  { txns: 3, maxOps: 3, maxTotalOps: 6, keys: 1 },
  { txns: 4, maxOps: 2, maxTotalOps: 5, keys: 2 },
  {
    txns: 2,
    maxOps: 2,
    maxTotalOps: 4,
    keys: 2,
    thinAir: true,
    statuses: ['committed', 'aborted', 'indeterminate'],
  },
  {
    txns: 3,
    maxOps: 2,
    maxTotalOps: 4,
    keys: 1,
    statuses: ['committed', 'aborted', 'indeterminate'],
  },
  { txns: 2, maxOps: 2, maxTotalOps: 3, keys: 2, thinAir: true, lead: true },
]

/** A transaction before its values are chosen: 2 * key for a read, 2 * key + 1 for a write. */
interface Form {
  readonly code: number // place among all forms, to put equal sessions in order
  readonly ops: readonly number[]
  readonly status: StatusName
}

const KEY_NAMES = ['x', 'y', 'z']
const NOBODY_WROTE = 99
const SPELLED_OUT: DraftTxn = {
  status: 'committed',
  ops: [{ kind: 'w', key: 'x', value: 0 }],
}

export function* smallHistories(bounds: Bounds): Generator<Draft> {
  const forms = formsWithin(bounds)
  for (const shape of partitions(bounds.txns, bounds.txns)) {
    if (shape.length > (bounds.maxSessions ?? bounds.txns)) continue
    for (const txns of sequences(forms, bounds.txns, bounds.maxTotalOps)) {
      if (!isCanonical(txns, shape)) continue
      for (const draft of withReads(txns, shape, bounds)) {
        if (bounds.after) yield* withNames(draft)
        else if (!bounds.lead) yield draft
        else for (const session of [0, 1]) yield { ...draft, lead: [{ session, txn: SPELLED_OUT }] }
      }
    }
  }
}

/** One or two pairs of transactions of different sessions, in every way that closes no circle. */
function* withNames(draft: Draft): Generator<Draft> {
  const sessionOf = draft.sessions.flatMap((txns, session) => txns.map(() => session))
  const pairs = sessionOf.flatMap((session, later) =>
    sessionOf.flatMap((other, earlier) => (session === other ? [] : [[earlier, later] as const])),
  )
  for (const [i, first] of pairs.entries()) {
    yield named(draft, [first])
    for (const second of pairs.slice(i + 1)) {
      // Two pairs close a circle if each leads, within a session, to where the other begins.
      const leads = (a: number, b: number) => sessionOf[a] === sessionOf[b] && a <= b
      if (leads(first[1], second[0]) && leads(second[1], first[0])) continue
      yield named(draft, [first, second])
    }
  }
}

function named(draft: Draft, pairs: readonly (readonly [number, number])[]): Draft {
  let number = 0
  const sessions = draft.sessions.map((txns) =>
    txns.map((txn): DraftTxn => {
      const own = number++
      const after = pairs.flatMap(([earlier, later]) => (later === own ? [`N${earlier}`] : []))
      return { ...txn, id: `N${own}`, after }
    }),
  )
  return { ...draft, sessions }
}

function formsWithin(bounds: Bounds): Form[] {
  const forms: Form[] = []
  for (const status of bounds.statuses ?? (['committed'] as const)) {
    let ofLength: number[][] = [[]]
    for (let length = 1; length <= bounds.maxOps; length++) {
      ofLength = ofLength.flatMap((ops) =>
        Array.from({ length: bounds.keys * 2 }, (_, op) => [...ops, op]),
      )
      for (const ops of ofLength) forms.push({ code: forms.length, ops, status })
    }
  }
  return forms
}

function* sequences(forms: readonly Form[], length: number, maxOps: number): Generator<Form[]> {
  if (length === 0) {
    yield []
    return
  }
  for (const form of forms) {
    const left = maxOps - form.ops.length
    if (left < length - 1) continue
    for (const rest of sequences(forms, length - 1, left)) yield [form, ...rest]
  }
}

/**
 * Sessions of equal length stand in order, and the first key used is x: other copies are skipped.
 */
function isCanonical(txns: readonly Form[], shape: readonly number[]): boolean {
  if (txns[0]!.ops[0]! >= 2) return false
  let at = 0
  for (let session = 0; session + 1 < shape.length; session++) {
    const length = shape[session]!
    if (shape[session + 1] === length) {
      for (let i = 0; i < length; i++) {
        const difference = txns[at + i]!.code - txns[at + length + i]!.code
        if (difference > 0) return false
        if (difference < 0) break
      }
    }
    at += length
  }
  return true
}

/** Chooses what each read returns, in all ways. */
function* withReads(
  txns: readonly Form[],
  shape: readonly number[],
  { thinAir = false, lists = false }: Bounds,
): Generator<Draft> {
  const flat = txns.flatMap((txn) => txn.ops)
  const written = [0, 0, 0] // key -> how many writes it has
  const values = flat.map((op) => (op % 2 === 1 ? ++written[op >> 1]! : 0))
  const reads = flat.flatMap((op, i) => (op % 2 === 0 ? [i] : []))
  for (;;) {
    yield layOut(txns, shape, values, lists ? written : null)
    let next = 0
    for (; next < reads.length; next++) {
      const read = reads[next]!
      const count = written[flat[read]! >> 1]!
      const last = lists ? LISTS[count]!.length - 1 : count
      if (values[read]! < last) {
        values[read]!++
        break
      }
      if (thinAir && values[read] !== NOBODY_WROTE) {
        values[read] = NOBODY_WROTE
        break
      }
      values[read] = 0
    }
    if (next === reads.length) return
  }
}

/** How many values there are -> all lists of some of them. */
const LISTS: readonly (readonly number[])[][] = [0, 1, 2, 3, 4, 5].map((count) => listsOf(count))

function listsOf(count: number): number[][] {
  const lists: number[][] = [[]]
  for (const list of lists) {
    for (let value = 1; value <= count; value++) {
      if (!list.includes(value)) lists.push([...list, value])
    }
  }
  return lists
}

/** @param written null: keys are registers; else key -> how many values are appended to it */
function layOut(
  txns: readonly Form[],
  shape: readonly number[],
  values: readonly number[],
  written: readonly number[] | null,
): Draft {
  let at = 0
  const done: DraftTxn[] = txns.map(({ ops, status }) => ({
    status,
    ops: ops.map((op): DraftOp => {
      const key = KEY_NAMES[op >> 1]!
      const value = values[at++]!
      if (written === null) return { kind: op % 2 === 0 ? 'r' : 'w', key, value }
      if (op % 2 === 1) return { kind: 'append', key, value }
      return { kind: 'list', key, list: LISTS[written[op >> 1]!]![value]! }
    }),
  }))
  const sessions: DraftTxn[][] = []
  for (const length of shape) sessions.push(done.splice(0, length))
  return { initial: 0, sessions }
}

/** The same draft with every timing of its sessions. */
export function* everyTiming(draft: Draft): Generator<Draft> {
  for (const intervals of timings(draft.sessions.map(({ length }) => length))) {
    let at = 0
    const sessions = draft.sessions.map((txns) =>
      txns.map((txn) => ({ ...txn, ...intervals[at++]! })),
    )
    yield { ...draft, sessions }
  }
}
