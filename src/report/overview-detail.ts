// Single transactions for the overview of a page, which a verdict file has no room for: all of a
// short history, of a long one those around the findings. Main function: buildDetail.

import { firstWhere } from '../base/search.ts'
import type { History } from '../history/history.ts'
import type { OverviewJson } from '../verdict/verdict-file.ts'
import { findAxis, finishOf, rowOf, startOf } from './overview.ts'

const MAX_TXNS = 20_000
const AROUND_PARTS = 1 // of the overview, before and behind a finding

/** Columns: transaction -> where it is; status as in the history. */
export interface OverviewDetail {
  row: number[]
  from: number[]
  to: number[]
  status: number[]
}

export function buildDetail(history: History, overview: OverviewJson): OverviewDetail {
  const axis = findAxis(history)
  const detail: OverviewDetail = { row: [], from: [], to: [], status: [] }
  const windows = history.txnCount <= MAX_TXNS ? null : findWindows(overview)
  for (let txn = 0; txn < history.txnCount && detail.row.length < MAX_TXNS; txn++) {
    const from = startOf(history, axis, txn)
    if (windows && !isInside(windows, from)) continue
    const finish = finishOf(history, axis, txn)
    detail.row.push(rowOf(history, axis, txn))
    detail.from.push(from)
    detail.to.push(Number.isNaN(finish) ? from : finish)
    detail.status.push(history.txnStatus[txn]!)
  }
  return detail
}

/** Around the findings, apart from each other and in order. */
function findWindows({ places, part }: OverviewJson): [number, number][] {
  const around = part * AROUND_PARTS
  const sorted = places
    .map(({ at, until = at }): [number, number] => [at - around, until + around])
    .sort((a, b) => a[0] - b[0])
  const windows: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = windows.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else windows.push([from, to])
  }
  return windows
}

function isInside(windows: readonly [number, number][], at: number): boolean {
  const next = firstWhere(0, windows.length, (i) => windows[i]![1] >= at)
  return next < windows.length && windows[next]![0] <= at
}
