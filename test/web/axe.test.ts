// The report as axe-core judges it: in light and in dark, on a wide screen and on a telephone, with
// everything unfolded. No rule may be broken, and no letter too small to read.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadPageAssets } from '../../src/report/page/assets.ts'
import { renderHtml } from '../../src/report/page/html.ts'
import type { ToldSchedule } from '../../src/report/page/schedule.ts'
import type { RunJson, VerdictJson } from '../../src/verdict/verdict-file.ts'
import { judge } from '../report/gallery.ts'
import { judgeSql, PASSED_OVER } from '../report/sql-gallery.ts'
import { ALL_VIEWS, findBroken, viewsOf } from './axe.ts'
import { findBrowser, launch } from './browser.ts'
import { findSmallLetters } from './letters.ts'

const executable = findBrowser()
const folder = mkdtempSync(join(tmpdir(), 'isobar-axe-'))
let browser: Browser

beforeAll(async () => {
  if (executable) browser = await launch(executable)
}, 60_000)
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})

/** A lost update, a write skew, a dirty read, and an aborted transaction. */
const MIXED = [
  's1: r(1,0) w(1,1) [start=0 finish=9]',
  's2: r(1,0) w(1,2) [start=1 finish=8]',
  's3: r(2,0) r(3,0) w(2,1) [start=3 finish=7]',
  's4: r(2,0) r(3,0) w(3,1) [start=2 finish=9]',
  's5: w(4,1) [aborted start=4 finish=5]',
  's6: r(4,1) [start=5 finish=8]',
].join('\n')

const RUN: RunJson = {
  database: { name: 'PostgreSQL 18', place: 'here' },
  level: { asked: 'rc', granted: 'READ COMMITTED' },
  workload: { shape: 'churn' },
  faults: { killShare: 0.05 },
  transactions: {
    recorded: 6,
    committed: 5,
    aborted: 1,
    indeterminate: 0,
    failures: { '40001': 1 },
  },
  throughput: { perSecond: 6, commitsPerSecond: 5 },
  time: { runMs: 1000, generationShare: 0.9, verificationShare: 0.1 },
  command: 'isobar run',
  timeline: {
    partUs: 500_000,
    committed: [3, 2],
    aborted: [0, 1],
    indeterminate: [0, 0],
    medianUs: [100, 120],
    p99Us: [900, null],
  },
}

/** A race that loses an update, long statements and markup in it. */
const SCHEDULE: ToldSchedule = {
  coverage: '1 schedule; there may be more: the first violation ended the race',
  turns: ['ann', 'bob', 'ann', 'bob'].map((actor, i) => ({
    actor,
    statement: i < 2 ? `SELECT ${'left_over, '.repeat(8)}id FROM stock` : 'UPDATE <b>stock</b>',
    answer: i < 3 ? 'left_over = 10' : 'waited for 3, then 1 row',
  })),
  notes: ['bob ended with: out of stock'],
  cures: [
    { name: 'FOR UPDATE', helps: true, facts: 'satisfied by all 2 schedules that matter' },
    { name: 'SERIALIZABLE', helps: false, facts: 'not satisfied' },
  ],
}

const A_RACE = 'a race'
const PAGES: Record<string, () => VerdictJson | Promise<VerdictJson>> = {
  'several kinds of findings': () => ({ ...judge(MIXED), run: RUN, unit: 'us' }),
  'a satisfied history': () => judge('s1: w(x,1)\ns2: r(x,1)'),
  'SQL statements': () => judgeSql(PASSED_OVER, 'mixed'),
  [A_RACE]: () => judge(MIXED),
}

describe.skipIf(executable === null)('the report by axe-core', { timeout: 120_000 }, () => {
  for (const [number, [name, verdictOf]] of Object.entries(PAGES).entries()) {
    it(`finds nothing to mend in a page of ${name}`, async () => {
      const path = join(folder, `${name}.html`)
      const schedule = name === A_RACE ? SCHEDULE : undefined
      writeFileSync(path, renderHtml(await verdictOf(), await loadPageAssets(), { schedule }))
      for (const { dark, width } of viewsOf(number, ALL_VIEWS)) {
        const colorScheme = dark ? 'dark' : 'light'
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
        await page.goto(pathToFileURL(path).href)
        expect(await findBroken(page), `${colorScheme}, ${width} pixels`).toEqual([])
        expect(await findSmallLetters(page), `${width} pixels`).toEqual([])
        await page.close()
      }
    })
  }
})
