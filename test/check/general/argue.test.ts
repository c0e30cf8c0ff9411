// Arguments about violated SQL histories: of the kind that a contended store with broken predicate
// locks makes, where every row has many versions that a statement may have passed over.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { stringify } from '../../../src/base/json.ts'
import type { Argument } from '../../../src/check/evidence/fold.ts'
import { nameViolation } from '../../../src/check/evidence/names.ts'
import { argue, explainPlainly } from '../../../src/check/general/argue.ts'
import { shrinkCore } from '../../../src/check/general/core.ts'
import { decide } from '../../../src/check/general/engine.ts'
import { ofRows } from '../../../src/check/general/of-rows.ts'
import type { Problem } from '../../../src/check/general/problem.ts'
import { restrictTo } from '../../../src/check/general/restrict.ts'
import { trimRows } from '../../../src/check/general/trim-rows.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { checkMixed } from '../../../src/check/mixed/check-mixed.ts'
import type { History } from '../../../src/history/history.ts'
import { type GenerateSqlOptions, generateSql } from '../../../src/pipeline/generate-sql.ts'
import { describeVerdict } from '../../../src/report/describe-verdict.ts'
import { renderText } from '../../../src/report/text.ts'
import { SQL_FAULTS } from '../../../src/sim/sql/faults.ts'
import { certifyMixed } from '../../../src/verdict/certify-mixed.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'

/** Few rows, many writers of each; every other seed a store at si, the others one that lost locks. */
function contended(seed: number, shape: 'sql' | 'tpcc', transactions: number): History {
  const workload: GenerateSqlOptions['workload'] = {
    shape,
    sessions: 10,
    transactions,
    keys: 6,
    levels: seed % 2 === 0 ? 'ser' : 'si',
  }
  if (seed % 2 === 1) return generateSql({ seed, workload }).history
  const fault = SQL_FAULTS.find(({ name }) => name === 'lost-predicate-lock')!
  return generateSql({ seed, workload, store: { faults: [{ fault, count: 2 }] } }).history
}

/** What the certifier says to an argument about serializable transactions. */
function certify(history: History, argument: Argument): readonly string[] {
  const [result] = checkMixed(history, ['ser'])
  const anomaly = nameViolation(history, null, () => true, argument)
  return certifyMixed(history, { ...result!, anomalies: [anomaly] }).problems
}

function explain(problem: Problem, deadline: Deadline): Argument {
  return explainPlainly(problem, Deadline.none()) ?? argue(problem, deadline, Deadline.none())
}

describe('a violated SQL history', () => {
  for (const shape of ['sql', 'tpcc'] as const) {
    it(`is told in at most 400 lines and 2 MB: ${shape}`, () => {
      let told = 0
      for (let seed = 1; seed <= 6; seed++) {
        const history = contended(seed, shape, 200)
        const [result] = checkMixed(history, ['ser'])
        if (result!.verdict === 'satisfied') continue
        told++
        expect(result).toMatchObject({ verdict: 'violated', certificate: { verified: true } })
        const text = [...renderText(history, [result!])].join('')
        expect(text.split('\n').length).toBeLessThanOrEqual(400)
        const context = { path: 'h', format: 'native', parseMs: 0 }
        const json = stringify(describeVerdict(history, [result!], context))
        expect(json.length).toBeLessThan(2_000_000)
      }
      expect(told).toBeGreaterThan(3)
    })
  }
})

describe('argue', () => {
  it('argues about what was not made smaller, too, and is believed', () => {
    const history = contended(1, 'sql', 60)
    const rows = buildMixedProblem(history, 'ser')
    const found = decide(ofRows(rows), Deadline.none())
    if (found.satisfied) throw new Error('the history is consistent')
    const whole = explain(ofRows(rows), new Deadline(0))
    expect(certify(history, whole)).toEqual([])
    const partOf = (txns: readonly number[]) => ofRows(restrictTo(rows, txns))
    const core = shrinkCore(partOf, found, Deadline.none(), Deadline.none())
    const few = trimRows(restrictTo(rows, core), false, Deadline.none())
    const small = explain(ofRows(few), Deadline.none())
    expect(certify(history, small)).toEqual([])
    expect(few.nodeCount).toBeLessThan(rows.nodeCount)
    expect(small.cases.length).toBeLessThanOrEqual(whole.cases.length)
  })

  it('speaks of a read that nothing but an indeterminate transaction explains', () => {
    // s2's update did not return y, so the delete before it took effect, and must have seen x.
    const history = historyOfSql(
      parseSql(`
      init: x=0 y=0 z=-
      s1: [ser indeterminate] insert as w2 y=0 z=2 | [cc indeterminate] insert as w7 x=null z=1
      s2: [ser indeterminate] delete(v = 0) as w4 y@w2 | [ser] update(v <> 1) as w5 x@0=0
      s3: [cc indeterminate] delete(id = 'x') as w1 x@0`),
    )
    const [result] = checkMixed(history, [{ level: 'cc' }])
    expect([result!.verdict, result!.certificate?.verified]).toEqual(['violated', true])
  })
})
