// Partial histories against full ones: whatever statements are left out, what a part violates the
// whole violates, and a part satisfies nothing.

import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { judge } from '../../src/check/judge.ts'
import type { History } from '../../src/history/history.ts'
import { levelsOf, MIXES, type Mix } from './compare-sql.ts'
import { withoutStatements } from './partial-sql.ts'
import { randomSql } from './random-sql.ts'
import { historyOfSql, parseSql, renderSql, type SqlDraft } from './sql-draft.ts'
import { SqlOracle } from './sql-oracle.ts'

const SEEDS = process.env.ISOBAR_EXHAUSTIVE ? 20_000 : 250

const judged = async (history: History, mix: Mix) => (await judge(history, [mix]))[0]!

/** How often parts of a history that holds are violated, by the oracle of the whole. */
async function countLies(spare: (draft: SqlDraft) => readonly string[]): Promise<[number, number]> {
  let lies = 0
  let violated = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed ^ 0x9e37)
    const draft = randomSql(seed)
    const { draft: part, partial } = withoutStatements(draft, random, random.pick([0.1, 0.3, 0.6]))
    const mix = random.pick(MIXES)
    const tables = partial.tables.filter((name) => !spare(draft).includes(name))
    const history = historyOfSql(part, { ...partial, tables })
    const { verdict, reason } = await judged(history, mix)
    expect(verdict, renderSql(part)).not.toBe('satisfied')
    if (verdict === 'unknown') expect(reason).toMatch(/^the history is partial/)
    else violated++
    const truth = new SqlOracle(historyOfSql(draft), true).decide(levelsOf(draft, mix))
    if (verdict === 'violated' && truth.consistent) lies++
  }
  return [lies, violated]
}

describe('partial histories', () => {
  it('never violate what the whole satisfies', { timeout: 600_000 }, async () => {
    const [lies, violated] = await countLies(() => [])
    expect(lies).toBe(0)
    expect(violated).toBeGreaterThan(SEEDS / 20)
  })

  it('would, if rows passed over counted in tables with writes that are not told', async () => {
    const [lies] = await countLies(() => ['t', 'u'])
    expect(lies).toBeGreaterThan(0)
  }, 600_000)

  it('are violated by what they tell', async () => {
    const draft = parseSql(`
      init: x=0
      s1: [ser] select(id = 'x') x@0 ; update(id = 'x') as w1 x@0=1
      s2: [ser] select(id = 'x') x@0 ; update(id = 'x') as w2 x@0=2`)
    const partial = { reasons: { 'a join': 1 }, tables: ['t'] }
    expect((await judged(historyOfSql(draft, partial), 'ser')).verdict).toBe('violated')
    const first = { ...draft, sessions: draft.sessions.slice(0, 1) }
    const { verdict, reason } = await judged(historyOfSql(first, partial), 'ser')
    expect(verdict).toBe('unknown')
    expect(reason).toBe('the history is partial: it leaves out a join (1)')
  })
})
