// Generates histories of SQL transactions: plans a workload, runs it against the simulated store,
// lays the outcome out as a history, and tells where faults struck, in the history's own numbers.
// Apart from generate.ts since it loads the parser of WHERE clauses.

import { layOutSql } from '../sim/sql/layout.ts'
import { type SqlSimOptions, simulateSql } from '../sim/sql/simulate.ts'
import { type SqlParameters, sqlParameters } from '../workload/sql/parameters.ts'
import { planSql } from '../workload/sql/workload.ts'
import { type Generated, type GenerateOptions, withMarks } from './generate.ts'

export interface GenerateSqlOptions extends Pick<GenerateOptions, 'seed' | 'layout' | 'times'> {
  readonly workload: Partial<Omit<SqlParameters, 'seed'>>
  readonly store: Partial<Omit<SqlSimOptions, 'seed'>>
}

/** The same options give the same history. */
export function generateSql(given: Partial<GenerateSqlOptions> = {}): Generated {
  const { seed = 1, layout = 'commit', times = true } = given
  const parameters = sqlParameters({ ...given.workload, seed })
  const plan = planSql(parameters)
  // Applications run on stores as they are; random SQL is to meet everything that levels allow.
  const lag = parameters.shape === 'sql' ? parameters.sessions : 0
  const execution = simulateSql(plan, { lag, ...given.store, seed })
  const { history, txnOf, keyOf } = layOutSql(execution, layout, times)
  const strikes = execution.strikes.map((strike) => ({
    fault: strike.fault,
    txns: strike.txns.map((txn) => txnOf[txn]!),
    keys: strike.rows.map(keyOf),
  }))
  return { history: withMarks(history, strikes), strikes, opOrder: null }
}
