// A history as plain data, the way one writes it on paper: sessions of transactions of operations.
// Generators make drafts, the oracle reads nothing else, and a draft can be cut down piece by
// piece. Converting it to the dense History goes through the public builder; converting back uses
// only the recorded operations and values, never what src/history derived from them.

import { InputError } from '../../src/base/errors.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import {
  APPEND,
  type History,
  listOf,
  READ,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  STATUS_NAMES,
  type StatusName,
  WRITE,
} from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { Value } from '../../src/history/values.ts'

export type DraftOp =
  | {
      readonly kind: 'r' | 'w' | 'append'
      readonly key: Value
      readonly value: Value
      readonly version?: number // as the store numbers it, of registers
    }
  | { readonly kind: 'list'; readonly key: Value; readonly list: readonly Value[] }
  | { readonly kind: 'rows'; readonly key: Value; readonly rows: readonly (Value | Value[])[] }

export interface DraftTxn {
  readonly status: StatusName
  readonly ops: readonly DraftOp[]
  readonly start?: number
  readonly finish?: number
  readonly audit?: true
  readonly id?: string
  readonly after?: readonly string[] // ids of others that come before it in session order
  readonly uses?: readonly Value[] // its keys as they were told, if its operations are spelled out
}

export interface Draft {
  /** The value every key has at first; undefined if there is none. */
  readonly initial: Value | undefined
  /** What leads the input and spells out the initial state: part of the initial transaction. */
  readonly lead?: readonly { readonly session: number; readonly txn: DraftTxn }[]
  readonly sessions: readonly (readonly DraftTxn[])[]
}

/** The dense history of a draft; transactions and operations are numbered session by session. */
export function buildHistory(draft: Draft, firstSession = 1): History {
  const builder = new HistoryBuilder(draft.initial, 32)
  const told = draft.sessions.flatMap((txns, session) => txns.map((txn) => ({ session, txn })))
  addDraft(builder, [...(draft.lead ?? []), ...told], (number) => number + firstSession)
  return builder.finish()
}

/** Adds transactions in the given order. @param nameOf the name of a session of the draft */
export function addDraft(
  builder: HistoryBuilder,
  told: NonNullable<Draft['lead']>,
  nameOf: (session: number) => Value,
): void {
  const ids = new Map<string, number>()
  const added = told.map(({ session, txn }) => {
    const id = addTxn(builder, builder.session(nameOf(session)), txn)
    if (txn.id !== undefined) ids.set(txn.id, id)
    return id
  })
  told.forEach(({ txn }, i) => {
    for (const name of txn.after ?? []) {
      const earlier = ids.get(name)
      if (earlier !== undefined) builder.addAfter(added[i]!, earlier)
    }
  })
}

function addTxn(builder: HistoryBuilder, session: number, txn: DraftTxn): number {
  const id = builder.addTxn(session, STATUS_NAMES.indexOf(txn.status), txn.id ?? null)
  for (const op of txn.ops) {
    if (op.kind === 'list') builder.readList(id, op.key, op.list)
    else if (op.kind === 'rows') builder.readRows(id, op.key, op.rows)
    else if (op.kind === 'r') builder.read(id, op.key, op.value)
    else if (op.kind === 'w') builder.write(id, op.key, op.value)
    else builder.append(id, op.key, op.value)
    if ('version' in op && op.version !== undefined) {
      builder.setVersion({ value: op.version, text: null, isLsn: false })
    }
  }
  if (txn.start !== undefined) builder.setStart(id, txn.start)
  if (txn.finish !== undefined) builder.setFinish(id, txn.finish)
  if (txn.audit) builder.setAudit(id)
  return id
}

/** Committed, writes something, reads nothing, and writes nothing but initial values. */
export function spellsInitial(txn: DraftTxn, initial: Value | undefined): boolean {
  if (initial === undefined || txn.status !== 'committed' || txn.ops.length === 0) return false
  return txn.ops.every((op) => op.kind === 'w' && op.value === initial)
}

/** The draft of a history. */
export function draftOf(history: History): { draft: Draft } {
  const { initial, txnCount, txnSession } = history
  const txns = Array.from({ length: txnCount }, (_, txn) => txnOf(history, txn))
  const other = txns.findIndex((txn) => !spellsInitial(txn, initial))
  const led = other < 0 ? txnCount : other
  const sessions: DraftTxn[][] = Array.from({ length: history.sessionCount }, () => [])
  for (let txn = led; txn < txnCount; txn++) sessions[txnSession[txn]!]!.push(txns[txn]!)
  const lead = txns.slice(0, led).map((txn, i) => ({ session: txnSession[i]!, txn }))
  return { draft: { initial, ...(led > 0 ? { lead } : {}), sessions } }
}

function txnOf(history: History, txn: number): DraftTxn {
  const ops: DraftOp[] = []
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    ops.push(opOf(history, op))
  }
  const start = history.txnStartTime?.[txn] ?? Number.NaN
  const finish = history.txnFinishTime?.[txn] ?? Number.NaN
  return {
    status: STATUS_NAMES[history.txnStatus[txn]!]!,
    ops,
    ...(Number.isNaN(start) ? {} : { start }),
    ...(Number.isNaN(finish) ? {} : { finish }),
    ...(history.txnAudit?.[txn] ? { audit: true as const } : {}),
    ...(history.after ? { id: history.txnName(txn), after: namesOf(history, txn) } : {}),
  }
}

/** What the input says, as it says it. */
function namesOf({ after, txnName }: History, txn: number): string[] {
  return Array.from(after!.txn.subarray(after!.start[txn], after!.start[txn + 1]), txnName)
}

function opOf(history: History, op: number): DraftOp {
  const key = history.keyName(history.opKey[op]!)
  switch (history.opKind[op]) {
    case READ_LIST:
      return { kind: 'list', key, list: listOf(history, op) }
    case READ_ROWS:
      return { kind: 'rows', key, rows: rowsOf(history, op) }
    case READ:
      return { kind: 'r', key, value: history.valueOf(op), ...versionOf(history, op) }
    case WRITE:
      return { kind: 'w', key, value: history.valueOf(op), ...versionOf(history, op) }
    case APPEND:
      return { kind: 'append', key, value: history.valueOf(op) }
    default:
      throw new Error(`operation ${op} has an unknown kind`)
  }
}

function versionOf({ versions }: History, op: number): { version?: number } {
  const text = versions?.text(op) ?? null
  return text === null ? {} : { version: Number(text) }
}

export function renderDraft(draft: Draft): string {
  return renderNotation(buildHistory(draft))
}

/**
 * Cuts a draft down while `keeps` holds: whole transactions first, then single operations. A removed
 * write takes its reads with it, so that no read is left without its writer.
 */
export function shrinkDraft(draft: Draft, keeps: (smaller: Draft) => boolean): Draft {
  let best = draft
  for (let again = true; again; ) {
    again = false
    for (const smaller of cuts(best)) {
      if (!isHistory(smaller) || !keeps(smaller)) continue
      best = smaller
      again = true
      break
    }
  }
  return best
}

function isHistory(draft: Draft): boolean {
  try {
    buildHistory(draft)
    return true
  } catch (error) {
    if (error instanceof InputError) return false
    throw error
  }
}

/** The draft without one transaction, then without one operation, in every way. */
export function* cuts(draft: Draft): Generator<Draft> {
  const { lead, ...rest } = draft
  if (lead !== undefined) yield rest
  const places = draft.sessions.flatMap((txns, s) => txns.map((txn, t) => ({ s, t, txn })))
  for (const { s, t, txn } of places) yield withoutOps(draft, s, t, txn.ops, true)
  for (const { s, t, txn } of places) {
    for (const op of txn.ops) yield withoutOps(draft, s, t, [op], false)
  }
}

function withoutOps(
  draft: Draft,
  session: number,
  index: number,
  gone: readonly DraftOp[],
  wholeTxn: boolean,
): Draft {
  const lost = (op: DraftOp): boolean =>
    gone.some(
      (other) =>
        (other.kind === 'w' &&
          op.kind === 'r' &&
          op.key === other.key &&
          op.value === other.value) ||
        (other.kind === 'append' &&
          op.kind === 'list' &&
          op.key === other.key &&
          op.list.includes(other.value)) ||
        ((other.kind === 'w' || other.kind === 'append') &&
          op.kind === 'rows' &&
          op.key === other.key &&
          op.rows.flat().includes(other.value)),
    )
  const sessions = draft.sessions
    .map((txns, s) =>
      txns
        .filter((_, t) => !(wholeTxn && s === session && t === index))
        .map((txn) => ({ ...txn, ops: txn.ops.filter((op) => !gone.includes(op) && !lost(op)) })),
    )
    .filter((txns) => txns.length > 0)
  return { ...draft, sessions }
}
