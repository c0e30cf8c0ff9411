// Verdicts on SQL statements in every report.

import { describe, expect, it } from 'vitest'
import { stringify } from '../../src/base/json.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { findFormat } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { renderDot } from '../../src/report/dot.ts'
import { Example } from '../../src/report/example.ts'
import { renderJunit } from '../../src/report/junit.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { renderHtml } from '../../src/report/page/html.ts'
import { findSections } from '../../src/report/page/sections.ts'
import { buildFigure } from '../../src/report/picture/figure.ts'
import { renderSvg } from '../../src/report/picture/svg.ts'
import { buildSqlCore } from '../../src/report/sql-core.ts'
import { renderText } from '../../src/report/text.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import type { AnomalyJson, TxnJson, VerdictJson } from '../../src/verdict/verdict-file.ts'
import { some } from '../long.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql } from '../small/sql-draft.ts'
import { HOSTILE_NAMES } from './hostile.ts'
import {
  BOOKING_SKEW,
  hostileSql,
  judgeSql,
  LOST,
  LOST_BESIDE,
  PASSED_OVER,
  PHANTOM,
  SQL_GALLERY,
} from './sql-gallery.ts'

const assets = {
  script: 'void 0',
  style: 'body{margin:0}',
  sha256: (text: string) => text.slice(9),
}

async function exampleOf(text: string, level: LevelId): Promise<Example> {
  return findSections(await judgeSql(text, level))[0]!.evidence[0]!.example
}

async function anomalyOf(text: string, level: LevelId): Promise<AnomalyJson> {
  return (await exampleOf(text, level)).anomaly
}

describe('describeVerdict', () => {
  it('tells the statements of the transactions, those without rows too', async () => {
    const { txns, tables, anomaly } = await exampleOf(BOOKING_SKEW, 'ser')
    expect(txns[0]!.statements).toMatchObject([
      { kind: 'select', table: 'bookings', result: 'no rows', first: 0, count: 0, rows: [] },
      { text: 'INSERT bookings', result: 'bookings(1)@w1 = (1,4,10,12)', first: 0, count: 1 },
    ])
    expect(tables).toMatchObject([{ name: 'bookings', key: ['id'], rows: [] }])
    expect(anomaly.shared).toEqual([])
  })

  it('says of a row that was not returned which statement passed it over, and what it held', async () => {
    const { cases, story } = await anomalyOf(PASSED_OVER, 'mixed')
    expect(story).toBeNull()
    expect(cases.map(({ heading }) => heading)).toEqual([
      'If T5 passed over orders(9) as it was at first (no such row)',
      'If T5 passed over orders(9) as T2 left it (deleted)',
      "If T5 passed over orders(9) as T3 left it (status = 'lost', total = 1)",
    ])
    expect(cases.map(({ assumptions }) => assumptions[0]!.passed)).toMatchObject([
      { transaction: 'T5', statement: 0, level: 'ser', row: null, held: 'no such row' },
      { text: "SELECT orders WHERE status = 'open'", row: null, held: 'deleted' },
      { key: 'orders(9)', row: { id: 9, status: 'lost', total: 1 } },
    ])
  })

  it('tells a story of a row that had to be returned', async () => {
    const [missing, own] = await Promise.all(
      ['VanishedRow', 'NotMyOwnWrite'].map((name) => {
        const { text, level } = SQL_GALLERY.find((exhibit) => exhibit.name === name)!
        return anomalyOf(text, level)
      }),
    )
    expect(missing!.story).toBe(
      "T1 did not return orders(1) for SELECT orders WHERE status = 'open', though every version of it satisfies that",
    )
    expect(missing!.absence).toMatchObject({ statement: 0, row: { id: 1, status: 'open' } })
    expect(own!.story).toContain('though it had written a version itself')
    expect(own!.absence).toMatchObject({ statement: 1, key: 'orders(3)' })
  })

  it('shows what an aborted transaction asked for, supported or not', async () => {
    const text = `
      {"isobar":1,"tables":{"t":{"columns":{"id":"integer","n":"integer"},"key":["id"],"rows":[{"id":1,"n":1}]}}}
      {"session":1,"status":"aborted","ops":[{"update":"t","where":"n < 1.5","write":"w1","rows":[{"key":1,"from":null,"row":{"id":1,"n":2}}]}]}
      {"session":2,"ops":[{"select":"t","where":"id = 1","rows":[{"key":1,"from":"w1"}]}]}`
    const { anomaly, txns } = await exampleOf(text, 'rc')
    expect(anomaly.name).toBe('AbortedRead')
    expect(txns.flatMap(({ statements }) => statements!.map((each) => each.text))).toContain(
      'UPDATE t WHERE n < 1.5',
    )
  })

  it('tells of a long row first what the clause asks for', async () => {
    const columns = '"id":"integer","note":"text","done":"boolean"'
    const row = `"id":1,"note":"${'long '.repeat(20)}"`
    const text = `
      {"isobar":1,"tables":{"t":{"columns":{${columns}},"key":["id"]}}}
      {"session":1,"ops":[{"insert":"t","write":"w1","rows":[{${row},"done":true}]}]}
      {"session":1,"ops":[{"select":"t","where":"done IS NOT NULL","rows":[]}]}`
    const { edges } = await anomalyOf(text, 'ser')
    expect(edges.map(({ because }) => because).join('; ')).toContain(
      "T1's version (done = TRUE, note = 'long ",
    )
  })

  it('counts the rows that a satisfied verdict explains, and names them on request', async () => {
    const [short] = (await judgeSql(BOOKING_SKEW, 'si')).results
    expect(short!.witness).toEqual({ passedOver: 2, statements: 2 })
    const [whole] = (await judgeSql(BOOKING_SKEW, 'si', true)).results
    expect(whole!.witness!.rows).toMatchObject([
      { transaction: 'T1', statement: 0, key: 'bookings(2)', from: null, held: 'no such row' },
      { transaction: 'T2', statement: 0, key: 'bookings(1)', from: null },
    ])
  })

  it('comes back from its file, and draws the same page', async () => {
    for (const { text, level } of SQL_GALLERY) {
      const verdict = await judgeSql(text, level, true)
      const [found] = parseVerdicts(stringify(verdict))
      expect(found!.verdict).toEqual(verdict)
      expect(renderHtml(found!.verdict, assets)).toBe(renderHtml(verdict, assets))
    }
  })

  it('is turned away where it is damaged', async () => {
    const text = stringify(await judgeSql(PASSED_OVER, 'mixed'))
    for (const [from, to, problem] of [
      ['"kind":"select"', '"kind":"merge"', 'kind is "merge", not select or insert'],
      ['"held":"deleted"', '"held":7', 'held is 7, not a string'],
      ['"row":null', '"row":[1]', 'row is a list, not a row'],
      ['"first":0', '"first":-1', 'first is -1, not a count'],
      ['"type":"integer"', '"type":"float"', 'type is "float"'],
    ] as const) {
      expect(() => parseVerdicts(text.replace(from, to))).toThrow(problem)
    }
  })

  it('is turned away where its rows are not those of their tables', async () => {
    const text = stringify(await judgeSql(PASSED_OVER, 'mixed'))
    for (const [from, to, problem] of [
      [/"key":\[\d+\]/, '"key":[1,2]', 'the key of a row of orders has 2 columns, not 1'],
      ['"key":["id"]', '"key":["none"]', 'a key of orders is not among its columns'],
      ['"table":"orders"', '"table":"none"', 'there is no table none'],
    ] as const) {
      const [found] = parseVerdicts(text.replace(from, to))
      expect(() => renderHtml(found!.verdict, assets)).toThrow(`damaged verdict: ${problem}`)
    }
  })

  it('may lack all that is not always there', async () => {
    const late = new Set(['statements', 'passed', 'tables', 'shared', 'absence', 'witness'])
    for (const { text, level } of SQL_GALLERY) {
      const verdict = await judgeSql(text, level)
      const old = JSON.stringify(verdict, (name, value) => (late.has(name) ? undefined : value))
      const [found] = parseVerdicts(old)
      expect(renderHtml(found!.verdict, assets)).toContain('class="finding"')
      expect(renderJunit([found!.verdict])).toContain('<failure')
    }
  })
})

describe('buildFigure', () => {
  it('draws statements as the operations of a transaction, shortened, with all in the title', async () => {
    const figure = buildFigure(await exampleOf(BOOKING_SKEW, 'ser'))
    expect(figure.txns[0]).toMatchObject({ label: 'T1', note: 'si' })
    expect(figure.txns[0]!.ops).toEqual([
      {
        text: 'SELECT bookings WHERE room = 4 AND start_ho…',
        result: '→ no rows',
        title: 'SELECT bookings WHERE room = 4 AND start_hour < 12 AND end_hour > 10 -> no rows',
        isWrite: false,
      },
      {
        text: 'INSERT bookings → (1)@w1',
        title: 'INSERT bookings -> bookings(1)@w1 = (1,4,10,12)',
        isWrite: true,
      },
    ])
    expect(figure.steps.map(({ label }) => label)).toEqual([
      'rw bookings(2): unseen w2',
      'rw bookings(1): unseen w1',
    ])
    // From the SELECT of one to the INSERT of the other.
    expect(figure.steps[0]!.ops).toEqual(
      expect.arrayContaining([
        [0, 0],
        [1, 1],
      ]),
    )
  })

  it('names the rows that matter first, where there is no room for all', async () => {
    const many = Array.from({ length: 30 }, (_, i) => `{"key":${100 + i},"from":"w0"}`).join()
    const rows = Array.from({ length: 30 }, (_, i) => `{"id":${100 + i},"status":"open"}`).join()
    const text = PHANTOM.replaceAll('{"key":1,"from":null}', `{"key":1,"from":null},${many}`)
    const before = `{"session":0,"ops":[{"insert":"orders","write":"w0","rows":[${rows}]}]}`
    const figure = buildFigure(await exampleOf(`${text}\n${before}`, 'ser'))
    expect(figure.txns[0]!.ops[1]!.result).toBe('→ (17)@w1 (1) (100)@w0 (101)@w0 and 28 more')
  })

  it('labels arrows between rows with the writes that made the versions', async () => {
    const labels = (figure: ReturnType<typeof buildFigure>) =>
      figure.steps.map(({ label }) => label).sort()
    expect(labels(buildFigure(await exampleOf(LOST, 'si')))).toEqual([
      'rw orders(1): initial→w1',
      'rw orders(1): initial→w2',
    ])
    expect(labels(buildFigure(await exampleOf(PHANTOM, 'mixed')))).toEqual([
      'rw orders(17): unseen w1',
      'wr orders(17)@w1',
    ])
  })

  it('draws an arrow for every finding, from and to statements that are there', async () => {
    for (const { name, text, level } of SQL_GALLERY) {
      const figure = buildFigure(await exampleOf(text, level))
      expect(figure.steps.length + figure.branches.length, name).toBeGreaterThan(0)
      for (const { ops } of figure.steps) {
        for (const [txn, op] of ops) expect(figure.txns[txn]!.ops[op], name).toBeDefined()
      }
    }
  })

  it('turns away a statement that is not there', async () => {
    const verdict = await judgeSql(PHANTOM, 'mixed')
    const [anomaly] = verdict.results[0]!.anomalies
    const draw = (transactions: TxnJson[]) =>
      buildFigure(new Example({ ...verdict, transactions }, anomaly!))
    const without = verdict.transactions.map((txn) => ({ ...txn, statements: [] }))
    expect(() => draw(without)).toThrow('T1 has no statement 0')
    const huge = verdict.transactions.map((txn) => ({
      ...txn,
      statements: txn.statements!.map((statement) => ({ ...statement, count: 1e15 })),
    }))
    expect(draw(huge).txns).toHaveLength(2)
  })
})

describe('files about a verdict on SQL', () => {
  it('head every case with what it assumes', async () => {
    const verdict = await judgeSql(PASSED_OVER, 'mixed')
    const heading = 'passed over orders(9) as T2 left it (deleted)'
    expect(renderMarkdown([verdict])).toContain(`If T5 ${heading}:`)
    expect(renderJunit([verdict])).toContain(`If T5 ${heading}:`)
    expect(renderHtml(verdict, assets)).toContain(`If T5 ${heading}:`)
    const first = 'One case of several: if T5 passed over orders(9) as it was at first'
    expect(renderSvg(verdict)).toContain(first)
    expect(renderDot(verdict)).toContain(first)
  })

  it('say of levels that are not for statements that they are not', () => {
    const history = parseHistory(BOOKING_SKEW)
    const context = { path: 'h', format: 'native', parseMs: 0 }
    const profile = describeVerdict(history, checkMixed(history, ['rc', 'si']), context)
    expect(renderHtml(profile, assets)).toContain('not for SQL statements')
    expect(renderHtml(profile, assets)).toContain('whose versions were not returned (2 rows)')
  })

  it('show the statements in full', async () => {
    const verdict = await judgeSql(BOOKING_SKEW, 'ser')
    const lines = [
      's1: T1 (ran at si)',
      '  SELECT bookings WHERE room = 4 AND start_hour < 12 AND end_hour > 10 -> no rows',
      '  INSERT bookings -> bookings(1)@w1 = (1,4,10,12)',
    ]
    expect(renderMarkdown([verdict])).toContain(lines.join('\n'))
    expect(renderHtml(verdict, assets)).toContain(
      lines.join('\n').replace(/[<>]/g, (c) => (c === '<' ? '&lt;' : '&gt;')),
    )
  })

  it('let no hostile name through', async () => {
    for (const name of HOSTILE_NAMES) {
      const verdict = await judgeSql(hostileSql(name), 'mixed')
      expect(verdict.results[0]!.verdict).toBe('violated')
      const html = renderHtml(verdict, assets)
      expect(html.match(/<script/g)).toHaveLength(2)
      for (const markup of [html, renderSvg(verdict), renderJunit([verdict])]) {
        expect(markup).not.toMatch(/<(img|iframe|style>\*|svg onload)|<failure><failure>/)
        const bare = markup.replace(/"[^"]*"/g, '""')
        for (const tag of bare.match(/<[a-z][^>]*>/g) ?? []) expect(tag).not.toMatch(/\son\w+=/)
        expect(markup).not.toMatch(/[\u0000-\u0008\u001b\u202e]/)
      }
      expect(renderMarkdown([verdict])).not.toMatch(/[\u0000-\u0008\u001b\u202e]/)
    }
  })
})

describe('renderText', () => {
  it('tells how rows that were not returned are explained, each level that differs once', async () => {
    const history = parseHistory(BOOKING_SKEW)
    const results = checkMixed(history, ['rc', 'si'])
    expect(renderText(history, results).match(/2 rows not returned are explained/g)).toHaveLength(1)
    const all = renderText(history, results, { all: true })
    const line =
      'T1 passed over bookings(2) as it was at first (no such row), which fails `room = 4 AND start_hour < 12 AND end_hour > 10`'
    expect(all.split(line)).toHaveLength(2)
  })
})

/** The file of a core, written and read back, judged again. */
function rejudge(history: History, level: LevelId) {
  const chunks: Uint8Array[] = []
  findFormat('native')!.write(history, (bytes) => chunks.push(bytes.slice()))
  return checkMixed(parseHistory(Buffer.concat(chunks).toString()), [level])[0]!
}

describe('buildSqlCore', () => {
  it('is violated in the same way, for every exhibit', async () => {
    for (const { name, text, level } of SQL_GALLERY) {
      const core = buildSqlCore(await exampleOf(text, level), [level])
      if (core.history === null) throw new Error(core.reason)
      expect(rejudge(core.history, level).anomalies.map((each) => each.name)).toContain(name)
    }
  })

  it('is violated wherever the whole is, for seeded histories', () => {
    let built = 0
    let refused = 0
    for (let seed = 1; seed <= some(400); seed++) {
      const history = historyOfSql(randomSql(seed))
      for (const level of ['mixed', 'ser', 'si', 'rc'] as const) {
        const results = checkMixed(history, [level])
        const context = { path: 'h', format: 'native', parseMs: 0 }
        const verdict: VerdictJson = describeVerdict(history, results, context)
        for (const anomaly of verdict.results[0]!.anomalies) {
          const core = buildSqlCore(new Example(verdict, anomaly), [level])
          if (core.history === null) refused++
          else expect(`${seed} ${rejudge(core.history, level).verdict}`).toBe(`${seed} violated`)
          built++
        }
      }
    }
    expect(built).toBeGreaterThan(some(300))
    expect(refused / built).toBeLessThan(0.05)
  })

  it('keeps clauses from speaking of rows whose other writers are left out', async () => {
    const example = await exampleOf(LOST_BESIDE, 'si')
    expect(example.anomaly.core).toEqual(['T1', 'T2'])
    expect(example.anomaly.shared).toEqual(['orders(1)'])
    const core = buildSqlCore(example, ['si'])
    if (core.history === null) throw new Error(core.reason)
    expect(renderNotation(core.history)).toContain(
      "select orders where (status = 'gone') AND NOT (id = 1) -> no rows; update orders",
    )
    expect(rejudge(core.history, 'si').anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
  })

  it('says why there is none', async () => {
    const verdict = await judgeSql(PASSED_OVER, 'mixed')
    const [anomaly] = verdict.results[0]!.anomalies
    const core = anomaly!.core.filter((id) => id !== 'T1')
    expect(buildSqlCore(new Example(verdict, { ...anomaly!, core }), ['mixed'])).toEqual({
      history: null,
      reason: 'T2 deleted orders(9) in a version that another transaction wrote',
    })
  })
})
