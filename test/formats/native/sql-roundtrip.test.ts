// SQL histories there and back, and what other formats say of them.

import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { randomSql } from '../../small/random-sql.ts'
import { historyOfSql, SQL_LEVELS } from '../../small/sql-draft.ts'
import { SqlOracle } from '../../small/sql-oracle.ts'
import { dump } from '../histories.ts'
import { cut, mutate, save } from '../storage.ts'
import { dumpSql, randomSqlHistory } from './sql-histories.ts'

const SEEDS = 400

describe('native SQL histories', () => {
  it('come back the same, in pieces of any size', () => {
    let statements = 0
    for (let seed = 0; seed < SEEDS; seed++) {
      const history = randomSqlHistory(seed)
      const bytes = save(findFormat('native')!, history).get('')!
      const back = parseHistory(cut(bytes, 1 + (seed % 90)))
      expect(dump(back), `seed ${seed}`).toEqual(dump(history))
      expect(dumpSql(back), `seed ${seed}`).toEqual(dumpSql(history))
      expect(Buffer.from(save(findFormat('native')!, back).get('')!).toString()).toBe(
        Buffer.from(bytes).toString(),
      )
      statements += history.sql!.eventCount
    }
    expect(statements).toBeGreaterThan(SEEDS)
  })

  it.each(['sql', 'tpcc', 'twitter'] as const)(
    'come back the same from a simulated %s',
    (shape) => {
      for (let seed = 1; seed <= 8; seed++) {
        const { history } = generateSql({ seed, workload: { shape } })
        const back = parseHistory(save(findFormat('native')!, history).get('')!)
        expect(dump(back), `seed ${seed}`).toEqual(dump(history))
        expect(dumpSql(back), `seed ${seed}`).toEqual(dumpSql(history))
        expect(history.sql!.eventCount).toBeGreaterThan(0)
      }
    },
  )

  it('are judged alike before and after', () => {
    for (let seed = 0; seed < 60; seed++) {
      const draft = randomSql(seed)
      const history = historyOfSql(draft)
      const back = parseHistory(save(findFormat('native')!, history).get('')!)
      const levels = Array.from(
        { length: history.txnCount },
        (_, txn) => SQL_LEVELS[(seed + txn) % 6]!,
      )
      const [truth, other] = [history, back].map((h) => new SqlOracle(h).decide(levels))
      expect(other, `seed ${seed}`).toEqual(truth)
    }
  })

  it('survive any mutated byte', () => {
    let refused = 0
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = new Random(seed)
      const bytes = save(findFormat('native')!, randomSqlHistory(seed)).get('')!
      const edits = Array.from({ length: 1 + random.below(3) }, (): [number, number, 0 | 1 | 2] => [
        random.below(bytes.length),
        random.below(256),
        random.below(3) as 0 | 1 | 2,
      ])
      try {
        parseHistory(mutate(bytes, edits), { format: 'native' })
      } catch (error) {
        if (!(error instanceof InputError)) throw error
        const whole = ['impossible-times', 'duplicate-value']
        if (!whole.includes(error.code)) expect(error.place, `seed ${seed}`).not.toBeNull()
        refused++
      }
    }
    expect(refused).toBeGreaterThan(SEEDS / 4)
  })
})
