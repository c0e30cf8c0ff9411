// The site in Firefox: what a page needs of a browser is there as well, from module workers and
// decompression to the policy that lets it ask nobody. Whatever does not depend on the browser is
// tried in Chromium (site-*.test.ts).

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { hyphened, TOPICS } from '../../../src/levels/glossary.ts'
import { LONG, sample } from '../../long.ts'
import { findBroken } from '../axe.ts'
import { findFirefox, launchFirefox } from '../browser.ts'
import { findSmallLetters } from '../letters.ts'
import { drop, dropLarge, onSite, overflows, PAGES, write } from './site.ts'

const LOST = 's0: w(1,1)\ns1: r(1,1) w(1,2)\ns2: r(1,1) w(1,3)\n'
const LOST_HEADLINE = 'Satisfies Prefix Consistency, violates Parallel Snapshot Isolation'

const executable = findFirefox()
const folder = mkdtempSync(join(tmpdir(), 'isobar-firefox-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const stage = onSite(executable ? () => launchFirefox(executable, { downloadsPath: folder }) : null)

describe.skipIf(executable === null)('the site in Firefox', { timeout: 120_000 }, () => {
  it('is Firefox, whose requests are seen', async () => {
    const page = await stage.site.open()
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.goto(`${stage.site.address}learn.html`)
    await page.locator('#topic-more .finding').first().waitFor()
    expect(await page.evaluate(() => navigator.userAgent)).toContain('Firefox/')
    expect(urls).toContain(`${stage.site.address}learn.html`)
    expect(urls).toContain(`${stage.site.address}script/learn-page.js`)
    await page.close()
  })

  it('judges every anomaly of the gallery as the glossary says', async () => {
    const page = await stage.site.open('learn.html')
    for (const topic of sample(TOPICS, 4)) {
      if (topic.kind !== 'anomaly') continue
      const { name } = topic.entry
      await page.evaluate((id) => {
        location.hash = id
      }, hyphened(name))
      await page.locator(`#judged[data-topic="${name}"][data-found~="${name}"]`).waitFor()
      await page.locator('#topic-more .finding svg.lanes').first().waitFor()
    }
    await page.close()
  })

  it('judges files that are dropped and opened, compressed or not', async () => {
    const page = await stage.site.open()
    const headline = page.locator('#result h1')
    await drop(page, new Map([['ok.txt', Buffer.from('s1: w(1,1)')]]))
    await headline.getByText('Satisfies Serializability', { exact: true }).waitFor()
    await drop(page, new Map([['lost.txt.gz', gzipSync(LOST)]]))
    await headline.getByText(LOST_HEADLINE, { exact: true }).waitFor()
    await page.locator('#close-files').click()
    const file = join(folder, 'thin-air.txt')
    writeFileSync(file, 's1: r(x,7)')
    await page.locator('#file').setInputFiles(file)
    await headline.getByText('Violates Cut Isolation and Read Committed', { exact: true }).waitFor()
    await page.close()
  })

  it('marks an error at its line and column, and takes it back', async () => {
    const page = await stage.site.open()
    await write(page, 's1: w(x,1)\ns2: q(x,1)')
    await page
      .locator('#problem')
      .getByText(/^line 2, column 5: unknown operation/)
      .waitFor()
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('q')
    await page.keyboard.press('Control+z')
    await page.locator('#result h1').getByText(LOST_HEADLINE, { exact: true }).waitFor()
    expect(await page.locator('.cm-lintRange-error').count()).toBe(0)
    await page.close()
  })

  it('stops when it is told to', async () => {
    const page = await stage.site.open()
    await page.locator('#result .finding').first().waitFor()
    await dropLarge(page)
    await page.locator('#phase', { hasText: 'reading: ' }).waitFor()
    // Without waiting for it to stand still, which takes as long as reading does.
    await page.locator('#cancel').dispatchEvent('click')
    expect(await page.locator('#status').textContent()).toBe('Cancelled.')
    await page.close()
  })

  it('carries a history in a link, and gives files', async () => {
    const page = await stage.site.open()
    await write(page, 's1: w("ключ",1)\ns2: r("ключ",1)')
    await page.locator('#share').click()
    await page.locator('#shared', { hasText: 'link' }).waitFor()
    const other = await stage.site.open(new URL(page.url()).hash)
    await other.locator('#editor .cm-line', { hasText: 'ключ' }).first().waitFor()
    await other.locator('#result h1').getByText('Satisfies Serializability').waitFor()
    // The driver tells nothing of files that are saved: they are there.
    await other.locator('[data-download="verdict"]').click()
    const read = () => JSON.parse(readFileSync(join(folder, 'history.verdict.json'), 'utf8'))
    await expect.poll(read, { timeout: 20_000 }).toMatchObject({ strongest: ['ser'] })
    await page.close()
    await other.close()
  })

  it('checks an exercise live, shows where levels differ, and searches the documentation', async () => {
    const page = await stage.site.open('learn.html#si')
    await page.locator('.exercise[data-solved="false"]').waitFor()
    await write(page, 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', '.exercise-editor')
    await page.locator('.exercise[data-solved="true"]').waitFor()
    // Pictures have come to life: Firefox complains of scripts on their way when one leaves.
    await page.locator('.exercise .zoom button').first().waitFor()
    await page.goto(`${stage.site.address}differ.html#rc,ra`)
    await page.locator('.difference .zoom button').first().waitFor()
    await page.goto(`${stage.site.address}docs/index.html`)
    await page.locator('#search').fill('audits')
    await page.locator('#found a', { hasText: 'Audits' }).first().waitFor()
    await page.close()
  })
})

/** Those that differ in what is on them; Chromium shows all of them at any rate (axe.test.ts). */
const SEEN = ['', 'learn.html', 'learn.html#ra', 'differ.html#rc,ra', 'docs/reports.html'] as const

/** Dark colours where there is time, in a Firefox of their own. */
for (const dark of LONG ? [false, true] : [false]) {
  const colours = dark ? 'dark' : 'light'
  describe.skipIf(executable === null)(
    `Firefox in ${colours} colours`,
    { timeout: 240_000 },
    () => {
      const start = executable ? () => launchFirefox(executable, { dark }) : null
      const coloured = dark ? onSite(start) : stage
      for (const [number, path] of sample(SEEN, 2).entries()) {
        const widths = LONG ? [1440, 390] : [[1440, 390][(number + Number(dark)) % 2]!]
        it(`shows /${path} as axe-core wants it, in letters that can be read`, async () => {
          for (const width of widths) {
            const page = await coloured.site.open(path, { dark, width })
            await page.locator(PAGES[path]).first().waitFor()
            const seen = await page.evaluate(() => ({
              dark: matchMedia('(prefers-color-scheme: dark)').matches,
              width: innerWidth,
            }))
            expect(seen).toEqual({ dark, width })
            expect(await findBroken(page), `${width} pixels`).toEqual([])
            expect(await findSmallLetters(page), `${width} pixels`).toEqual([])
            expect(await overflows(page), `wider than the window of ${width} pixels`).toBe(false)
            await page.close()
          }
        })
      }
    },
  )
}
