import { describe, expect, it } from 'vitest'
import { stringify } from '../../src/base/json.ts'
import { check } from '../../src/check/check.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { buildOverview } from '../../src/report/overview.ts'
import { buildDetail } from '../../src/report/overview-detail.ts'
import { findUntrue } from '../../src/report/verify-file.ts'
import type { OverviewJson } from '../../src/verdict/verdict-file.ts'
import { judge } from './gallery.ts'

/** Transactions of so many sessions in turn, with times, every tenth of them aborted. */
function manyTxns(sessions: number, count: number): History {
  const builder = new HistoryBuilder(null)
  for (let i = 0; i < count; i++) {
    const session = builder.sessions.ofSmall(i % sessions)
    const txn = builder.addTxn(session, i % 10 === 3 ? 1 : 0)
    builder.setStart(txn, i, null)
    builder.setFinish(txn, i + 0.5, null)
  }
  return builder.finish()
}

function sum({ rows }: OverviewJson, status: 'committed' | 'aborted' | 'indeterminate'): number {
  return rows.reduce((all, row) => all + (row[status] ?? []).reduce((a, b) => a + b, 0), 0)
}

describe('buildOverview', () => {
  it('counts every transaction once, where it begins', () => {
    const history = parseNotation(
      's1: w(x,1) [0,1] | w(x,2) [aborted start=2 finish=3]\ns2: r(x,1) [4,10] | w(y,1) [indeterminate start=11]',
    )
    expect(buildOverview(history, [2])).toEqual({
      axis: 'time',
      from: 0,
      part: 2.75,
      parts: 4,
      rows: [
        { name: 's1', sessions: 1, committed: [1], aborted: [1] },
        { name: 's2', sessions: 1, committed: [0, 1], indeterminate: [0, 0, 0, 1] },
      ],
      places: [{ transaction: 'T3', row: 1, at: 4, until: 10 }],
      events: [],
    })
  })

  it('goes by positions within sessions where a start is missing', () => {
    const history = parseNotation('s1: w(x,1) [0,1] | w(x,2)\ns2: r(x,1)')
    const { axis, part, parts, rows } = buildOverview(history, [])
    expect({ axis, part, parts }).toEqual({ axis: 'position', part: 1, parts: 2 })
    expect(rows.map(({ committed }) => committed)).toEqual([[1, 1], [1]])
  })

  it('tells marks one by one, or where there are too many, how often each comes in a while', () => {
    const history = manyTxns(3, 2000)
    const marks = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        time: i / 4,
        source: 'run',
        text: i % 3 === 0 ? 'long-fork strikes' : 'lost-update strikes',
      }))
    const eventsOf = (count: number) =>
      buildOverview({ ...history, annotations: marks(count) }, []).events
    expect(eventsOf(500)).toHaveLength(500)
    const gathered = eventsOf(8000)
    expect(gathered.length).toBeLessThanOrEqual(500)
    const times = gathered.map(({ text }) => Number(/, (\d+) times/.exec(text)?.[1] ?? 1))
    expect(times.reduce((sum, count) => sum + count)).toBe(8000)
    expect(gathered[0]!.text).toMatch(/^long-fork strikes, \d+ times from here on$/)
  })

  it('stays far below a megabyte, however many sessions and transactions there are', () => {
    const history = manyTxns(1000, 200_000)
    const overview = buildOverview(history, [...Array(5000).keys()])
    expect(overview.rows.length).toBeLessThanOrEqual(48)
    expect(overview.rows.reduce((all, { sessions }) => all + sessions, 0)).toBe(1000)
    expect(sum(overview, 'committed')).toBe(180_000)
    expect(sum(overview, 'aborted')).toBe(20_000)
    expect(stringify(overview).length).toBeLessThan(500_000)
  })

  it('holds a history without transactions, and one without time', () => {
    expect(buildOverview(parseNotation(''), []).rows).toEqual([])
    const still = buildOverview(parseNotation('s1: w(x,1) [5,5]\ns2: r(x,1) [5,5]'), [])
    expect(still.rows.map(({ committed }) => committed)).toEqual([[1], [1]])
  })

  it('is verified with the rest of a verdict file', () => {
    const notation = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
    const history = parseNotation(notation)
    const results = [check(history, 'si')]
    const file = judge(notation, 'si')
    expect(findUntrue(history, file, results)).toEqual([[]])
    const { overview, ...without } = file
    expect(findUntrue(history, without, results)).toEqual([[]])
    overview!.rows[0]!.committed = [2]
    expect(findUntrue(history, file, results)[0]![0]).toContain('overview.rows[0].committed')
  })
})

describe('buildDetail', () => {
  it('has every transaction of a short history', () => {
    const history = manyTxns(3, 30)
    const { row, from, to, status } = buildDetail(history, buildOverview(history, []))
    expect([row.length, from.at(-1), to.at(-1), row[4], status[3]]).toEqual([30, 29, 29.5, 1, 1])
  })

  it('has those around the findings of a long one', () => {
    const history = manyTxns(3, 40_000)
    const overview = buildOverview(history, [7000, 7001, 30_000])
    const { from } = buildDetail(history, overview)
    expect(from.length).toBeLessThan(1000)
    for (const at of [6950, 7000, 7001, 30_000]) expect(from).toContain(at)
    expect(from).not.toContain(20_000)
  })
})
