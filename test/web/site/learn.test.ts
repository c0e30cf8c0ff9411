// The page that teaches, in a real browser: every word of the glossary is judged live, and what
// comes out is what it says; exercises are solved by what solves them; single edits mend a
// history.

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { EXERCISES } from '../../../src/levels/exercises.ts'
import { hyphened, nameOf, TOPICS } from '../../../src/levels/glossary.ts'
import { CHAIN } from '../../../src/levels/levels.ts'
import { findForbidding } from '../../../src/pipeline/forbidding.ts'
import { sample } from '../../long.ts'
import { executable, onSite, write } from './site.ts'

const stage = onSite()

const go = (page: Page, id: string) =>
  page.evaluate((fragment) => {
    location.hash = fragment
  }, id)
const textsOf = (page: Page, selector: string) => page.locator(selector).allTextContents()

describe.skipIf(executable === null)('learning in the browser', { timeout: 120_000 }, () => {
  it('shows every anomaly and small history, and judges it as the glossary says', async () => {
    const page = await stage.site.open('learn.html')
    for (const topic of sample(TOPICS, 4)) {
      if (topic.kind === 'level') continue
      const { name, sql, cure, where, harm } = topic.entry
      await go(page, hyphened(name))
      const found = topic.kind === 'anomaly' ? `[data-found~="${name}"]` : ''
      await page.locator(`#judged[data-topic="${name}"]${found}`).waitFor()
      const forbidding = await findForbidding(topic)
      const weakest = CHAIN.findIndex((level) => forbidding.includes(level))
      const told = await textsOf(page, '#topic-levels li.violated b')
      expect(told.filter((level) => level !== 'ci' && CHAIN.includes(level as 'rc'))).toEqual(
        weakest < 0 ? [] : CHAIN.slice(weakest),
      )
      expect(told.includes('ci'), name).toBe(forbidding.includes('ci'))
      expect(await page.locator('.terminals tbody tr').count(), name).toBe(sql.length)
      const words = await page.locator('#topic').textContent()
      for (const part of [cure, where, harm]) expect(words).toContain(part)
      await page.locator('#topic-more .finding svg.lanes').first().waitFor()
      await page.locator('#topic-more .scrubber input').first().waitFor()
      if (forbidding.length > 0) await page.locator('#topic-more svg.graph').first().waitFor()
    }
    await page.close()
  })

  it('needs little script, pictures included', async () => {
    const page = await stage.site.open('learn.html')
    await page.locator('#topic-more .scrubber').first().waitFor()
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.endsWith('.js')),
    )
    const packed = [...new Set(scripts)].map((path) => {
      const file = new URL(`../../../dist/site${path}`, import.meta.url)
      return gzipSync(readFileSync(file)).length
    })
    expect(packed.length).toBeGreaterThan(5)
    expect(packed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(260 * 1024)
    await page.close()
  })

  it('goes to the editor with the history of an anomaly', async () => {
    const page = await stage.site.open('learn.html#write-skew')
    await page.locator('#topic-open[href*="#h="]').click()
    await page.locator('#result h1', { hasText: 'violates Serializability' }).waitFor()
    expect(await textsOf(page, '#editor .cm-line')).toEqual([
      's1: r(x,0) r(y,0) w(x,1)',
      's2: r(x,0) r(y,0) w(y,1)',
    ])
    await page.close()
  })

  it('shows every level, with an exercise that its solution solves', async () => {
    const page = await stage.site.open('learn.html')
    for (const { level, task } of sample(EXERCISES, 3)) {
      await go(page, level)
      await page.locator('.axiom svg rect').first().waitFor()
      await page.locator('.exercise .task', { hasText: task }).waitFor()
      await page.locator('.exercise[data-solved="false"]').waitFor()
      await page.locator('.exercise .solve').click()
      await page.locator('.exercise[data-solved="true"] .finding').first().waitFor()
      expect(await textsOf(page, '.goals .violated'), level).toEqual([])
    }
    await page.close()
  })

  it('says what an attempt lacks, and what is not allowed', async () => {
    const page = await stage.site.open('learn.html#si')
    await page.locator('.goals .violated', { hasText: 'si is to be broken' }).waitFor()
    await write(page, 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,3)', '.exercise-editor')
    await page.locator('.goals .violated', { hasText: 'only one read may change' }).waitFor()
    expect(await page.locator('.exercise').getAttribute('data-solved')).toBe('false')
    await write(page, 's1: r(x,0', '.exercise-editor')
    await page.locator('.goals .violated', { hasText: 'expected' }).waitFor()
    await write(page, 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', '.exercise-editor')
    await page.locator('.exercise[data-solved="true"]').waitFor()
    await page.close()
  })

  it('replays a history in which nothing is wrong', async () => {
    const page = await stage.site.open('learn.html#lost-update-rolled-back')
    await page.locator('#judged', { hasText: 'every level allows it' }).waitFor()
    const slider = page.locator('#topic-more .scrubber input')
    await slider.press('End')
    await page.locator('.scrub-now', { hasText: 'aborts' }).waitFor()
    expect(await page.locator('#topic-levels li.violated').count()).toBe(0)
    await page.close()
  })

  it('lists what a level is the first to forbid', async () => {
    const page = await stage.site.open('learn.html#pc')
    await page.locator('#topic-more a', { hasText: 'LongFork' }).click()
    await page.locator('#judged[data-topic="LongFork"]').waitFor()
    await page.close()
  })

  it('knows words by any name, and stays where it is at a word that it does not know', async () => {
    const page = await stage.site.open('learn.html#WriteSkew')
    await page.locator('#judged[data-topic="WriteSkew"]').waitFor()
    await go(page, '%3Cimg%20src=x%20onerror=broken=1%3E')
    await go(page, 'no-such-word')
    expect(await page.locator('#topic h1').textContent()).toContain('WriteSkew')
    expect(TOPICS.map(nameOf)).toContain('WriteSkew')
    await page.close()
  })

  it('finds the single edits that satisfy a level, makes one, and takes it back', async () => {
    const page = await stage.site.open()
    await write(page, 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    const button = page.getByRole('button', { name: 'Which single edit satisfies it?' })
    await button.click()
    const edit = page.locator('.edits button', { hasText: 'line 2: r(x,0) becomes r(x,1)' })
    await edit.click()
    await page.locator('#result h1', { hasText: /^Satisfies Serializability$/ }).waitFor()
    expect(await textsOf(page, '#editor .cm-line')).toEqual([
      's1: r(x,0) w(x,1)',
      's2: r(x,1) w(x,2)',
    ])
    expect(await button.isHidden()).toBe(true)
    await page.keyboard.press('ControlOrMeta+z')
    await page.locator('#result h1', { hasText: 'violates Parallel Snapshot Isolation' }).waitFor()
    await page.close()
  })
})
