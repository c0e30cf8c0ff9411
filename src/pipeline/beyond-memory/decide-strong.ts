// Decides ser or si of a history on disk (docs/beyond-memory.md): reads that an order cannot
// explain span windows of it, which are ordered anew until none is left. A violation is what some
// transactions of the file violate by themselves. Main function: decideStrong.

import { assert, BudgetExceeded } from '../../base/errors.ts'
import { check } from '../../check/check.ts'
import { NONE } from '../../history/history.ts'
import { ReaderRecords } from '../../spill/by-position.ts'
import { type CommitOrder, FILE_ORDER, orderOf } from '../../spill/commit-order.ts'
import { loadPart } from '../../spill/part.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { DecideTools, Decision } from './decision.ts'
import type { StrongSpilledLevel } from './levels.ts'
import { mendStrong, mostTxns, type StrongInput } from './mend-strong.ts'
import { type Merged, mergeSessions } from './merge-sessions.ts'
import { findTooOld } from './snapshots.ts'
import { StaleReads } from './stale-reads.ts'
import { sweepInto } from './sweep.ts'
import type { Span } from './windows.ts'

/** Transactions between what was read and who replaced it that are still ordered with them. */
const NEAR = 4096

/** How often an order is put right before it is given up. */
const ROUNDS = 16

export function decideStrong(
  spilled: SpilledHistory,
  level: StrongSpilledLevel,
  tools: DecideTools,
): Decision {
  let order = tools.first
  const wide: Span[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const stale = new StaleReads(spilled.sizes.windowBytes)
    const onBucket = (bucket: number) => tools.onStep('matching', bucket, spilled.sizes.buckets)
    const { offences, isLate } = sweepInto(spilled, order, level, stale, onBucket)
    if (offences.length > 0) return { verdict: 'violated', offences, txns: new Set() }
    if (isLate) {
      assert(order === FILE_ORDER, 'only in the order of the file a read may be late')
      const { txnAt, cycle } = merge(spilled, tools)
      if (txnAt === null) return { verdict: 'violated', offences, txns: cycle }
      order = orderOf(txnAt)
      continue
    }
    const mended = mendRound({ spilled, order, level, tools }, stale, wide)
    if (!('txnAt' in mended)) return mended
    if (mended === order) return { verdict: 'satisfied', order, stale }
    order = mended
  }
  throw new BudgetExceeded('no order that was tried was right')
}

/** An order that contains session order and reads-from, where the file's own does not. */
function merge(spilled: SpilledHistory, { scratch, onStep }: DecideTools): Merged {
  const { buckets } = spilled.sizes
  const records = new ReaderRecords(spilled, scratch)
  try {
    // Of stale reads nothing is asked, so the level that keeps the least of them will do.
    sweepInto(spilled, FILE_ORDER, 'ser', records, (bucket) => onStep('matching', bucket, buckets))
    records.finish()
    return mergeSessions(spilled, records, scratch, (done, all) => onStep('ordering', done, all))
  } finally {
    records.close()
  }
}

/**
 * One round: what the order cannot explain, put right.
 * @param wide windows that were too narrow in the rounds before; those of this one are added
 * @returns the next order, the same if it was right, or a decision
 */
function mendRound(input: StrongInput, stale: StaleReads, wide: Span[]): CommitOrder | Decision {
  const { spilled, order, level, tools } = input
  const onBucket = (bucket: number) => tools.onStep('comparing', bucket, spilled.sizes.buckets)
  const bad = level === 'si' ? findTooOld(spilled, order, stale, onBucket) : null
  const spans = spansOf(stale, bad)
  if (spans.length === 0 && stale.isComplete) return order
  const touched = wide.filter((each) => spans.some((span) => meets(each, span)))
  const mended = mendStrong(input, spans.concat(touched))
  const { failed, suspects } = mended
  for (const txns of suspects) {
    const core = findViolation(input, txns)
    if (core !== null) return { verdict: 'violated', offences: [], txns: core }
  }
  if (!mended.isComplete) throw tooLong()
  if (!stale.isComplete) throw new BudgetExceeded('too many reads contradict the order')
  for (const span of failed) wide.push(widened(span, spilled))
  return mended.order
}

/** @param chosen which stale reads; null: all */
function spansOf({ reader, source, next, count }: StaleReads, chosen: number[] | null): Span[] {
  const spans: Span[] = []
  const total = chosen === null ? count : chosen.length
  for (let i = 0; i < total; i++) {
    const read = chosen === null ? i : chosen[i]!
    const from = source.data[read]!
    const replaced = next.data[read]!
    const first = from !== NONE && replaced - from < NEAR ? from : replaced
    spans.push({ first, last: reader.data[read]! })
  }
  return spans
}

function meets(a: Span, b: Span): boolean {
  return a.first <= b.last && b.first <= a.last
}

/** A window in which no order was found, with as much again on either side. */
function widened({ first, last }: Span, { txnCount }: SpilledHistory): Span {
  const more = last - first + 1
  if (first === 0 && last === txnCount - 1) throw new BudgetExceeded('no order was found')
  return { first: Math.max(0, first - more), last: Math.min(txnCount - 1, last + more) }
}

function tooLong(): BudgetExceeded {
  return new BudgetExceeded(
    'more transactions would have to be put into order at once than fit into this memory, and no violation shows among a few of them',
  )
}

/** Those, and what makes them count, if they violate the level by themselves; null if not. */
function findViolation(
  { spilled, level, tools }: StrongInput,
  suspects: ReadonlySet<number>,
): ReadonlySet<number> | null {
  const { observers, memoryBytes, check: options } = tools
  if (suspects.size > 4 * mostTxns(spilled)) return null
  const txns = new Set(suspects)
  // A set that grows while it is gone through: those that count because they were read.
  for (const txn of txns) {
    const observer = observers.get(txn)
    if (observer !== undefined) txns.add(observer)
  }
  const part = loadPart(spilled, txns, memoryBytes)
  const { budgetMs = null, budgetFromMs } = options
  const from = budgetFromMs === undefined ? {} : { budgetFromMs }
  const result = check(part.history, level, { budgetMs, ...from })
  return result.verdict === 'violated' ? txns : null
}
