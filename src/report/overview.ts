// The whole history at a glance, as verdict files have it: how many transactions begin in each of a
// few hundred parts of the time, session by session, where the transactions of the evidence are,
// and what happened beside them. One pass; below a megabyte, however long the history is.
// Main function: buildOverview.

import { counted } from '../base/counted.ts'
import { cut } from '../base/inert.ts'
import { obtain, TupleMap } from '../base/maps.ts'
import { ABORTED, COMMITTED, type History, INDETERMINATE } from '../history/history.ts'
import type { OverviewJson, OverviewRowJson } from '../verdict/verdict-file.ts'

const MAX_PARTS = 400
const MAX_ROWS = 48
const MAX_PLACES = 2000
const MAX_EVENTS = 500
const MAX_NAME = 60
const MAX_TEXT = 120

/** Where transactions stand: by time if all of them have a start, else by position. */
export interface Axis {
  readonly kind: OverviewJson['axis']
  readonly from: number
  readonly part: number
  readonly parts: number
  /** How many sessions share a row. */
  readonly sessionsPerRow: number
}

/** @param txns those that the evidence names */
export function buildOverview(history: History, txns: readonly number[]): OverviewJson {
  const axis = findAxis(history)
  return {
    axis: axis.kind,
    from: axis.from,
    part: axis.part,
    parts: axis.parts,
    rows: countRows(history, axis),
    places: txns.slice(0, MAX_PLACES).map((txn) => {
      const finish = finishOf(history, axis, txn)
      return {
        transaction: history.txnName(txn),
        row: rowOf(history, axis, txn),
        at: startOf(history, axis, txn),
        ...(Number.isNaN(finish) ? {} : { until: finish }),
      }
    }),
    events: gatherEvents(history, axis),
  }
}

/**
 * What happened beside the transactions. Where that is too much to be told one by one, what is
 * alike and falls into one stretch of the time is told once, with how often.
 */
function gatherEvents({ annotations }: History, { from, part }: Axis): OverviewJson['events'] {
  const told = annotations.map(({ time, source, text }) => ({
    at: time,
    source: cut(source, MAX_NAME),
    text: cut(text, MAX_TEXT),
  }))
  if (told.length <= MAX_EVENTS) return told
  for (let stretch = part; ; stretch *= 2) {
    const groups = new TupleMap<unknown[], { first: (typeof told)[0]; count: number }>()
    for (const event of told) {
      const where = Math.floor((event.at - from) / stretch)
      const blank = () => ({ first: event, count: 0 })
      obtain(groups, [where, event.source, event.text], blank).count++
    }
    const isLast = stretch > part * MAX_PARTS
    if (groups.size > MAX_EVENTS && !isLast) continue
    const kept = [...groups.values()].slice(0, MAX_EVENTS).map(({ first, count }) => ({
      ...first,
      text: count === 1 ? first.text : `${first.text}, ${count} times from here on`,
    }))
    const left = groups.size - kept.length
    if (left > 0)
      kept[kept.length - 1]!.text += `; ${counted(left, 'more kind')} of marks not shown`
    return kept
  }
}

export function findAxis(history: History): Axis {
  const { txnCount, sessionCount, sessionTxnStart } = history
  const sessionsPerRow = Math.max(1, Math.ceil(sessionCount / MAX_ROWS))
  const times = findTimes(history)
  if (times) {
    const parts = Math.max(1, Math.min(MAX_PARTS, txnCount))
    const part = (times.last - times.first) / parts || 1
    return { kind: 'time', from: times.first, part, parts, sessionsPerRow }
  }
  let longest = 0
  for (let session = 0; session < sessionCount; session++) {
    longest = Math.max(longest, sessionTxnStart[session + 1]! - sessionTxnStart[session]!)
  }
  const part = Math.max(1, Math.ceil(longest / MAX_PARTS))
  const parts = Math.max(1, Math.ceil(longest / part))
  return { kind: 'position', from: 0, part, parts, sessionsPerRow }
}

/** The first start and the last finish; null if a transaction has no start, or there is none. */
function findTimes(history: History): { first: number; last: number } | null {
  const { txnStartTime, txnFinishTime, txnCount, annotations } = history
  if (!txnStartTime || txnCount === 0) return null
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (let txn = 0; txn < txnCount; txn++) {
    const start = txnStartTime[txn]!
    if (Number.isNaN(start)) return null
    const finish = txnFinishTime?.[txn] ?? Number.NaN
    if (start < first) first = start
    if (start > last) last = start
    if (finish > last) last = finish
  }
  for (const { time } of annotations) {
    if (time < first) first = time
    if (time > last) last = time
  }
  return { first, last }
}

export function rowOf({ txnSession }: History, { sessionsPerRow }: Axis, txn: number): number {
  return Math.floor(txnSession[txn]! / sessionsPerRow)
}

export function startOf({ txnStartTime, txnIndex }: History, { kind }: Axis, txn: number): number {
  return kind === 'time' ? txnStartTime![txn]! : txnIndex[txn]!
}

/** NaN if it is not known. */
export function finishOf(history: History, { kind }: Axis, txn: number): number {
  if (kind === 'position') return history.txnIndex[txn]! + 1
  return history.txnFinishTime?.[txn] ?? Number.NaN
}

function countRows(history: History, axis: Axis): OverviewRowJson[] {
  const { txnCount, txnStatus, sessionCount } = history
  const { from, part, parts, sessionsPerRow } = axis
  const rowCount = Math.ceil(sessionCount / sessionsPerRow)
  const size = rowCount * parts
  const counts = [COMMITTED, ABORTED, INDETERMINATE].map(() => new Int32Array(size))
  for (let txn = 0; txn < txnCount; txn++) {
    const at = Math.floor((startOf(history, axis, txn) - from) / part)
    const cell = rowOf(history, axis, txn) * parts + Math.min(parts - 1, Math.max(0, at))
    counts[txnStatus[txn]!]![cell]!++
  }
  return Array.from({ length: rowCount }, (_, row) => {
    const first = row * sessionsPerRow
    const series = (status: number) =>
      trim(counts[status]!.subarray(row * parts, (row + 1) * parts))
    const [committed, aborted, indeterminate] = [COMMITTED, ABORTED, INDETERMINATE].map(series)
    return {
      name: cut(history.sessionName(first), MAX_NAME),
      sessions: Math.min(sessionsPerRow, sessionCount - first),
      ...(committed ? { committed } : {}),
      ...(aborted ? { aborted } : {}),
      ...(indeterminate ? { indeterminate } : {}),
    }
  })
}

/** Without the zeros at the end; null if there is nothing else. */
function trim(counts: Int32Array): number[] | null {
  let length = counts.length
  while (length > 0 && counts[length - 1] === 0) length--
  return length === 0 ? null : Array.from(counts.subarray(0, length))
}
