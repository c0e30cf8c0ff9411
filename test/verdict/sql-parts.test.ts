// Parts of SQL histories, and what is left of them when nothing more can be left out.

import { describe, expect, test } from 'vitest'
import { BudgetExceeded } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { findFormat } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { findPart } from '../../src/history/sub-history.ts'
import { LEVELS, type LevelId } from '../../src/levels/levels.ts'
import { generateSql } from '../../src/pipeline/generate-sql.ts'
import { SQL_FAULTS } from '../../src/sim/sql/faults.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import { partsOf } from '../../src/verdict/parts.ts'
import { shrinkHistory } from '../../src/verdict/shrink.ts'
import { some } from '../long.ts'
import { MIXES } from '../small/compare-sql.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql, type SqlLevel } from '../small/sql-draft.ts'
import { SqlOracle } from '../small/sql-oracle.ts'

const at = (level: LevelId) => (history: History) => checkMixed(history, [level])[0]!

/** Evidence withheld: the search is on its own. */
const silentAt = (level: LevelId) => (history: History) => ({
  ...checkMixed(history, [level])[0]!,
  anomalies: [],
})

/** What brute force says of a part, whose transactions keep their levels. */
function truthOf(history: History, level: LevelId): 'satisfied' | 'violated' {
  const own = (txn: number) => LEVELS[history.txnLevel![txn]!]!.id as SqlLevel
  const levels = Array.from(history.txnStatus, (_, txn) =>
    level === 'mixed' ? own(txn) : (level as SqlLevel),
  )
  return new SqlOracle(history).decide(levels).consistent ? 'satisfied' : 'violated'
}

/** Asserts that without any one row, transaction, statement or mention of a row the level holds. */
async function expectMinimal(history: History, level: LevelId): Promise<void> {
  expect(at(level)(history).verdict).toBe('violated')
  const parts = await partsOf(history)
  const all = Array.from({ length: parts.itemCount }, (_, item) => item)
  for (const group of parts.groups(Int32Array.from(all)).flat()) {
    const left = findPart(
      all.filter((item) => !group.includes(item)),
      (item) => parts.needs(item),
    )
    const part = parts.build(left).history
    if (at(level)(part).verdict !== 'violated') continue
    const [was, is] = [renderNotation(history), renderNotation(part)]
    expect.unreachable(`${level} is still violated by a part\n${was}\n${is}`)
  }
}

/** Written in the native format and read back, it is the same history. */
function expectKept(history: History): void {
  const chunks: Uint8Array[] = []
  findFormat('native')!.write(history, (bytes) => chunks.push(bytes.slice()))
  const back = parseHistory(Buffer.concat(chunks).toString())
  expect(renderNotation(back)).toBe(renderNotation(history))
}

describe('SqlParts', () => {
  test('satisfy what the whole satisfies, whatever is left out', async () => {
    let narrowed = 0
    const judged = new Map<LevelId, number>()
    for (let seed = 1; seed <= some(400, 2); seed++) {
      const history = historyOfSql(randomSql(seed))
      const random = new Random(seed)
      const share = random.pick([0.5, 0.8, 0.95])
      const parts = await partsOf(history)
      const all = Array.from({ length: parts.itemCount }, (_, item) => item)
      const left = findPart(
        all.filter(() => random.chance(share)),
        (item) => parts.needs(item),
      )
      const part = parts.build(left).history
      if (part.txnCount === 0) continue
      expectKept(part)
      if (part.sql!.predicates.some(({ text }) => text.includes('NOT ('))) narrowed++
      for (const mix of MIXES) {
        if (truthOf(history, mix) === 'violated') continue
        judged.set(mix, (judged.get(mix) ?? 0) + 1)
        const text = () => `${seed} ${mix}\n${renderNotation(history)}\n${renderNotation(part)}`
        expect(truthOf(part, mix), text()).toBe('satisfied')
        expect(at(mix)(part).verdict, text()).toBe('satisfied')
      }
    }
    expect(narrowed).toBeGreaterThan(some(50, 2))
    for (const mix of MIXES) expect(judged.get(mix)).toBeGreaterThan(some(20, 2))
  })

  test('narrow no clause for rows that have no version it could show', async () => {
    const lines = [
      { isobar: 1, tables: { t: { columns: { id: 'integer', v: 'integer' }, key: ['id'] } } },
      { session: 'a', ops: [{ insert: 't', write: 'w1', rows: [{ id: 1, v: 5 }] }] },
      { session: 'a', ops: [{ insert: 't', write: 'w2', rows: [{ id: 1, v: 6 }] }] },
      { session: 'b', ops: [{ select: 't', where: 'v = 5', rows: [] }] },
      { session: 'b', ops: [{ select: 't', where: 'v = 7', rows: [] }] },
    ]
    const history = parseHistory(lines.map((line) => JSON.stringify(line)).join('\n'))
    const parts = await partsOf(history)
    const all = Array.from({ length: parts.itemCount }, (_, item) => item)
    const part = parts.build(
      findPart(all.slice(0, 1).concat(all.slice(2)), parts.needs.bind(parts)),
    )
    expect(part.history.sql!.predicates.map(({ text }) => text)).toEqual([
      '(v = 5) AND NOT (id = 1)',
      'v = 7',
    ])
  })

  test('are the whole if nothing is left out', async () => {
    for (let seed = 1; seed <= some(100, 2); seed++) {
      const history = historyOfSql(randomSql(seed))
      const parts = await partsOf(history)
      const all = Int32Array.from({ length: parts.itemCount }, (_, item) => item)
      const part = parts.build(all).history
      // But for transactions and tables that nobody uses.
      const lines = (text: string) => text.split('\n').filter((line) => / -> /.test(line))
      expect(lines(renderNotation(part)).length).toBe(lines(renderNotation(history)).length)
      for (const mix of MIXES) expect(at(mix)(part).verdict).toBe(at(mix)(history).verdict)
    }
  })
})

describe('shrinkHistory on SQL statements', () => {
  test('leaves nothing that could go of random histories, with evidence or without', async () => {
    const found = new Map<LevelId, number>()
    for (let seed = 1; seed <= some(150); seed++) {
      const history = historyOfSql(randomSql(seed))
      for (const mix of MIXES) {
        if (at(mix)(history).verdict !== 'violated') continue
        const shrunk = await shrinkHistory(history, (seed % 2 === 0 ? at : silentAt)(mix))
        expect([shrunk.result.verdict, shrunk.isLeast]).toEqual(['violated', true])
        expect(certifyMixed(shrunk.history, at(mix)(shrunk.history)).problems).toEqual([])
        expect(truthOf(shrunk.history, mix)).toBe('violated')
        expectKept(shrunk.history)
        await expectMinimal(shrunk.history, mix)
        found.set(mix, (found.get(mix) ?? 0) + 1)
      }
    }
    for (const mix of MIXES) expect(found.get(mix)).toBeGreaterThan(some(15))
  })

  for (const fault of SQL_FAULTS) {
    test(`leaves of ${fault.name} what it takes`, async () => {
      const workload = { shape: 'sql' as const, sessions: 5, transactions: 60 }
      const store = { level: 'ser' as const, faults: [{ fault, count: 1 }] }
      const { history } = generateSql({ seed: 3, workload, store })
      const level = fault.forbiddenFrom
      const shrunk = await shrinkHistory(history, at(level))
      expect(shrunk.result.verdict).toBe('violated')
      expect(shrunk.history.txnCount).toBeLessThanOrEqual(6)
      expectKept(shrunk.history)
      await expectMinimal(shrunk.history, level)
    })
  }

  test('ends with what violates the level when the budget runs out', async () => {
    const [fault] = SQL_FAULTS
    const store = { level: 'ser' as const, faults: [{ fault: fault!, count: 1 }] }
    const workload = { shape: 'sql' as const, sessions: 5, transactions: 60 }
    const { history } = generateSql({ seed: 3, workload, store })
    let steps = 0
    const shrunk = await shrinkHistory(history, silentAt('ser'), {
      onStep: () => {
        if (++steps === 9) throw new BudgetExceeded('time')
      },
    })
    expect([shrunk.isLeast, shrunk.verdicts]).toEqual([false, 10])
    expect(shrunk.history.opCount).toBeLessThan(history.opCount)
    expect(at('ser')(shrunk.history).verdict).toBe('violated')
  })
})
