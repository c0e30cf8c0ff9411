// A join that was answered, among the statements of its transaction: one SELECT for each of its
// tables, of all rows that it may have depended on. Main functions: joined,
// looksAtNothing.

import { type Cells, type Seen, TOLD_ROWS } from '../probe.ts'
import type { Recorder } from '../recorder.ts'
import type { Shape } from '../shape.ts'
import { makeRow, type StatementEvent } from '../transaction.ts'
import { isOdd, noteFunctions, numberOf } from '../witness.ts'
import { type Join, supposedBy } from './join-claims.ts'
import type { JoinPlan } from './join-plan.ts'
import { readJoin } from './join-probe.ts'
import type { JoinShape } from './join-shape.ts'

/** What it depended on; counts why that is not known. */
export function joined(
  recorder: Recorder,
  { shape, values, cells }: { shape: Shape; values: readonly unknown[]; cells: readonly Cells[] },
  plan: JoinPlan,
  rowCount: number,
): StatementEvent[] {
  noteFunctions(recorder, shape)
  const rows = readJoin(plan, cells)
  const problem = findUntold(plan, rows)
  if (problem !== null) {
    recorder.skipped.count(problem)
    return []
  }
  const returnsSet = shape.functions.some((name) => recorder.catalog.traitsOf(name)?.returnsSet)
  const atMost = returnsSet ? 0 : limitOf(shape.join!, values)
  return joinEvents(recorder, { plan, rows, rowCount, atMost })
}

function joinEvents({ versions }: Recorder, join: Join): StatementEvent[] {
  return supposedBy(join).map(({ table, clause, rows }) => {
    const { table: of } = join.plan.tables[table]!
    const told = [...rows].map((seen) => makeRow(of, seen, null, versions))
    const part = { join, table }
    return { kind: 'select', table: of, clause, rows: told, write: null, part }
  })
}

/** Why what was told of a join cannot be used; null if it can. */
function findUntold({ tables }: JoinPlan, rows: readonly (readonly Seen[])[]): string | null {
  if (rows.some(({ length }) => length > TOLD_ROWS)) return `a join of more than ${TOLD_ROWS} rows`
  const isSpeltOddly = tables.some(({ table }, i) => rows[i]!.some((seen) => isOdd(table, seen)))
  return isSpeltOddly ? 'a date in another spelling' : null
}

/** Behind LIMIT 0. Who asks for its rows makes it conflict with those who write them. */
export function looksAtNothing({ limit }: JoinShape, values: readonly unknown[]): boolean {
  return limit !== null && numberOf(limit, values) === 0
}

/** How many rows it returns of those that it finds; 0 if nobody knows. */
function limitOf({ limit, offset, isGrouped }: JoinShape, values: readonly unknown[]): number {
  if (offset !== null && numberOf(offset, values) !== 0) return 0
  if (limit === null) return Number.POSITIVE_INFINITY
  return isGrouped ? 0 : (numberOf(limit, values) ?? 0)
}
