// Random histories for round trips, and a full dump of a history to compare two of them.

import fc from 'fast-check'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { APPEND, type History, listOf, NONE, READ, READ_LIST } from '../../src/history/history.ts'
import type { Value } from '../../src/history/values.ts'
import { LEVELS } from '../../src/levels/levels.ts'

/**
 * Everything a format could keep, one line a transaction, in the history's own order.
 * @param maskInitial show the initial value by that name, since formats have their own.
 */
export function dump(history: History, maskInitial = false): string[] {
  const lines = [`initial ${show(history.initial)}`]
  const render = (op: number) => {
    const value = history.valueOf(op)
    return maskInitial && value === history.initial ? 'initial' : show(value)
  }
  for (let txn = 0; txn < history.txnCount; txn++) {
    const ops: string[] = []
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const key = show(history.keyName(history.opKey[op]!))
      const kind = history.opKind[op]!
      const value = kind === READ_LIST ? listOf(history, op).map(show) : render(op)
      ops.push(`${['r', 'w', 'a', 'l'][kind]}(${key},${value})`)
    }
    lines.push(
      [
        show(history.sessionLabel(history.txnSession[txn]!)),
        history.txnName(txn),
        history.txnStatus[txn],
        history.txnStartTime?.[txn] ?? Number.NaN,
        history.txnFinishTime?.[txn] ?? Number.NaN,
        LEVELS[history.txnLevel?.[txn] ?? NONE]?.id ?? NONE,
        ...ops,
      ].join(' '),
    )
  }
  return lines
}

/**
 * Formats list transactions session by session, in an order of their own: compare them so.
 * @param original has names of transactions worth comparing, or has not.
 */
export function bySession(history: History, original: History): string[] {
  const lines = dump(history, true)
  const sessions = Array.from({ length: history.sessionCount }, (_, session) => session)
  const label = (session: number) => JSON.stringify(String(history.sessionLabel(session)))
  sessions.sort((a, b) => (label(a) < label(b) ? -1 : 1))
  const body = sessions.flatMap((session) => {
    const from = history.sessionTxnStart[session]!
    const to = history.sessionTxnStart[session + 1]!
    return Array.from(history.sessionTxns.subarray(from, to), (txn) => lines[txn + 1]!)
  })
  return hasNames(original) ? body : body.map((line) => line.replace(/ (T|#)\d+ /, ' '))
}

function hasNames(history: History): boolean {
  for (let txn = 0; txn < history.txnCount; txn++) if (history.txnLabel(txn) !== null) return true
  return false
}

function show(value: Value | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

export interface Shape {
  integersOnly: boolean
  lists: boolean
  times: boolean
  levels: boolean
  /** Statuses that may occur, as numbers. */
  statuses: number[]
  names: 'none' | 'integers' | 'any'
  emptyTxns: boolean
  initial: Value | undefined
  /** Number sessions from 0 in the order in which they appear. */
  positions?: boolean
}

const bigs = fc.constantFrom<Value>(2 ** 40, 2n ** 63n + 1n, 2n ** 64n - 1n, 999_999_999, 2 ** 30)
const negatives = fc.constantFrom<Value>(-1, -(2n ** 63n), -(2 ** 40))
const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('x', 'null', '1', 'ä€😀', '"\\\n\u0000', '\u007f\u202e'),
)

/** Keys or values: mostly small integers, sometimes everything else that is allowed. */
function symbols(integersOnly: boolean): fc.Arbitrary<Value> {
  const small: fc.Arbitrary<Value> = fc.nat(12)
  if (integersOnly) return fc.oneof({ weight: 20, arbitrary: small }, bigs)
  return fc.oneof({ weight: 4, arbitrary: small }, bigs, negatives, words)
}

interface Draft {
  session: Value
  name: Value
  status: number
  start: number
  length: number
  level: number
  ops: { kind: number; key: Value; value: Value }[]
}

function drafts(shape: Shape): fc.Arbitrary<Draft[]> {
  const symbol = symbols(shape.integersOnly)
  const op = fc.record({
    kind: shape.lists ? fc.constantFrom(READ, 1, APPEND, READ_LIST) : fc.constantFrom(READ, 1),
    key: symbol,
    value: symbol,
  })
  const session = shape.integersOnly
    ? fc.nat(3)
    : fc.oneof(fc.nat(3), fc.constantFrom<Value>('a', 'b c', -7))
  return fc.array(
    fc.record({
      session,
      name: shape.names === 'any' ? fc.option(words) : fc.nat(1_000_000),
      status: fc.constantFrom(...shape.statuses),
      start: fc.nat(5),
      length: fc.constantFrom(0, 1, 2.5),
      level: shape.levels ? fc.integer({ min: NONE, max: LEVELS.length - 1 }) : fc.constant(NONE),
      ops: fc.array(op, { minLength: shape.emptyTxns ? 0 : 1, maxLength: 6 }),
    }),
    { maxLength: 12 },
  )
}

/** Histories of that shape. Writes get unique values; keys are registers or lists, never both. */
export function histories(shape: Shape): fc.Arbitrary<History> {
  return drafts(shape).map((txns) => {
    const builder = new HistoryBuilder(shape.initial)
    const written = new Set<string>()
    const named = new Set<Value>()
    const clocks = new Map<Value, number>()
    const seen: Value[] = []
    for (const draft of txns) {
      if (!seen.includes(draft.session)) seen.push(draft.session)
      const name = shape.positions ? seen.indexOf(draft.session) : draft.session
      const txn = builder.addTxn(builder.session(name), draft.status)
      if (shape.names !== 'none' && draft.name !== null && !named.has(draft.name)) {
        if (shape.names === 'any' || draft.status !== 1) builder.setLabel(txn, draft.name)
        named.add(draft.name)
      } else if (shape.names === 'integers' && draft.status !== 1) {
        builder.setLabel(txn, 2_000_000 + txn)
      }
      if (shape.times) {
        const start = (clocks.get(draft.session) ?? -3) + draft.start
        builder.setStart(txn, start)
        builder.setFinish(txn, start + draft.length)
        clocks.set(draft.session, start + draft.length)
      }
      if (draft.level !== NONE) builder.setLevel(txn, draft.level)
      for (const op of draft.ops) addOp(builder, txn, draft.status, op, written)
    }
    const history = builder.finish()
    return Object.assign(history, { [fc.toStringMethod]: () => dump(history).join('\n') })
  })
}

function addOp(
  builder: HistoryBuilder,
  txn: number,
  status: number,
  op: Draft['ops'][number],
  written: Set<string>,
): void {
  // Lists live on keys of their own.
  const isList = op.kind >= APPEND
  const key = isList ? `list ${op.key}` : op.key
  const slot = `${typeof key}${key}=${typeof op.value}${op.value}`
  if (op.kind === READ) {
    if (status !== 1) builder.read(txn, key, op.value)
  } else if (op.kind === READ_LIST) {
    builder.readList(txn, key, [op.value, 'z', 3])
  } else if (!written.has(slot) && op.value !== builder.initial) {
    written.add(slot)
    if (isList) builder.append(txn, key, op.value)
    else builder.write(txn, key, op.value)
  }
}
