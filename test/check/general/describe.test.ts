// A violation that was found is not lost when there is no time to show it by few transactions.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { check } from '../../../src/check/check.ts'
import { describeViolation } from '../../../src/check/general/describe.ts'
import { decide } from '../../../src/check/general/engine.ts'
import { ofRows } from '../../../src/check/general/of-rows.ts'
import { ofRegisters } from '../../../src/check/general/problem.ts'
import { restrictTo } from '../../../src/check/general/restrict.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { checkMixed } from '../../../src/check/mixed/check-mixed.ts'
import { ProblemBuilder } from '../../../src/check/problem/register-problem.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { certifyMixed } from '../../../src/verdict/certify-mixed.ts'
import { certifyPlain } from '../../../src/verdict/certify-plain.ts'

/** No time for anything smaller, all the time for what is kept for the end. */
function inHaste(): Deadline {
  const deadline = Deadline.none()
  deadline.part = () => new Deadline(-1)
  deadline.toTheEnd = () => Deadline.none()
  return deadline
}

function noTime(): Deadline {
  const deadline = inHaste()
  deadline.toTheEnd = () => new Deadline(-1)
  return deadline
}

/** Registers of a store that keeps no snapshots. */
function registers(seed: number) {
  const { history } = generate({
    seed,
    workload: { shape: 'general', sessions: 8, transactions: 200, ops: 6, keys: 60, reads: 0.7 },
    store: { level: 'cc' },
  })
  const builder = new ProblemBuilder(history, checkReads(history))
  const partOf = (txns: readonly number[]) => ofRegisters(builder.build(txns), 'pc')
  return { history, partOf, found: decide(ofRegisters(builder.build(), 'pc'), Deadline.none()) }
}

function statements(seed: number) {
  const workload = { shape: 'tpcc', sessions: 10, transactions: 160, levels: 'si' } as const
  const { history } = generateSql({ seed, workload })
  const rows = buildMixedProblem(history, 'ser')
  const partOf = (txns: readonly number[]) => ofRows(restrictTo(rows, txns))
  return { history, partOf, found: decide(ofRows(rows), Deadline.none()) }
}

describe('describeViolation', () => {
  it('shows a violation of registers as it was found, and is believed', () => {
    let shown = 0
    for (let seed = 1; seed <= 10; seed++) {
      const { history, partOf, found } = registers(seed)
      if (found.satisfied || found.contradiction !== null) continue
      const anomaly = describeViolation(found, partOf, inHaste())
      const result = check(history, 'pc')
      expect(certifyPlain(history, { ...result, anomalies: [anomaly] }).problems).toEqual([])
      expect(anomaly.edges.length).toBeGreaterThan(0)
      shown++
    }
    expect(shown).toBeGreaterThan(3)
  })

  it('shows a violation of SQL statements as it was found, and is believed', () => {
    let shown = 0
    for (let seed = 1; seed <= 12; seed++) {
      const { history, partOf, found } = statements(seed)
      if (found.satisfied || found.contradiction !== null) continue
      const anomaly = describeViolation(found, partOf, inHaste())
      const [result] = checkMixed(history, ['ser'])
      expect(certifyMixed(history, { ...result!, anomalies: [anomaly] }).problems).toEqual([])
      shown++
    }
    expect(shown).toBeGreaterThan(3)
  })

  it('says what was found, and of how many transactions, where there is no time at all', () => {
    const { partOf, found } = registers(1)
    if (found.satisfied) throw new Error('the history is sound')
    expect(() => describeViolation(found, partOf, noTime())).toThrow(
      'no order of 200 transactions is valid, but those to blame were not singled out',
    )
  })
})
