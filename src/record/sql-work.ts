// Sessions run programs of SQL statements: each statement is sent, its rows are handed to the
// program, which says what comes next. A transaction that is tried again begins its program anew.

import { assert } from '../base/errors.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlPlan, SqlTask } from '../workload/sql/plan.ts'
import { type Operations, Work } from './work.ts'

export class SqlWork extends Work {
  private readonly tables: ReadonlyMap<string, SqlTable>
  private readonly dealt: SqlTask[][] // session -> its transactions
  private readonly cursor: Int32Array // session -> place of its current transaction
  private readonly repeats: boolean

  /** @param repeats whether sessions begin the plan again when they come to its end */
  constructor(plan: SqlPlan, repeats = false) {
    super()
    this.tables = new Map(plan.tables.map((table) => [table.name, table]))
    this.dealt = Array.from({ length: plan.sessionCount }, () => [])
    for (const task of plan.tasks) this.dealt[task.session]!.push(task)
    this.cursor = new Int32Array(plan.sessionCount).fill(-1)
    this.repeats = repeats
  }

  next(session: number): boolean {
    const { length } = this.dealt[session]!
    const next = this.cursor[session]! + 1
    if (length === 0 || (next === length && !this.repeats)) return false
    this.cursor[session] = next % length
    return true
  }

  override level(session: number): LevelId {
    return this.current(session).level
  }

  async perform(session: number, operations: Operations): Promise<'commit' | 'abort'> {
    const steps = this.current(session).start()
    let step = steps.next()
    while (!step.done) {
      const table = this.tables.get(step.value.table)
      assert(table !== undefined, `a table of the plan, not ${step.value.table}`)
      step = steps.next(await operations.run(table, step.value))
    }
    return step.value
  }

  private current(session: number): SqlTask {
    return this.dealt[session]![this.cursor[session]!]!
  }
}
