// Work as other threads are told of it: plain data, from which each makes its own. A plan lies in
// memory that all of them share; programs of SQL statements are planned anew, which comes out the
// same. Main function: workOf.

import type { LevelId } from '../levels/levels.ts'
import type { Plan } from '../workload/plan.ts'
import type { SqlParameters } from '../workload/sql/parameters.ts'
import { planSql } from '../workload/sql/workload.ts'
import { SqlWork } from './sql-work.ts'
import { PlannedWork, type Work } from './work.ts'

export type WorkOrder = { readonly repeats: boolean } & (
  | { readonly plan: Plan }
  | { readonly sql: SqlParameters; readonly offered: readonly LevelId[] }
)

export function workOf(order: WorkOrder): Work {
  if ('plan' in order) return new PlannedWork(order.plan, order.repeats)
  return new SqlWork(planSql(order.sql, order.offered), order.repeats)
}

/** The same order, with what is large in memory that goes from thread to thread uncopied. */
export function shared(order: WorkOrder): WorkOrder {
  if (!('plan' in order)) return order
  const columns = Object.entries(order.plan).map(([name, column]) => {
    return [name, typeof column === 'object' ? sharedColumn(column) : column]
  })
  return { ...order, plan: Object.fromEntries(columns) as Plan }
}

function sharedColumn(column: Int32Array | Uint8Array): Int32Array | Uint8Array {
  const memory = new SharedArrayBuffer(column.byteLength)
  const copy = column instanceof Int32Array ? new Int32Array(memory) : new Uint8Array(memory)
  copy.set(column)
  return copy
}
