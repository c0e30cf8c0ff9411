// The site as axe-core judges it, on a telephone, and by keyboard: no rule may be broken, nothing
// may be wider than the window, no letter too small to read, and whatever can be used can be
// reached.

import { describe, expect, it } from 'vitest'
import { hyphened, nameOf, TOPICS } from '../../../src/levels/glossary.ts'
import { sample } from '../../long.ts'
import { ALL_VIEWS, findBroken, VIEWS, viewsOf } from '../axe.ts'
import { findSmallLetters } from '../letters.ts'
import { executable, onSite, overflows, PAGES } from './site.ts'

const stage = onSite()

describe.skipIf(executable === null)('the site by axe-core', { timeout: 120_000 }, () => {
  for (const [number, [path, ready]] of Object.entries(PAGES).entries()) {
    it(`finds nothing to mend in /${path}`, async () => {
      for (const view of viewsOf(number, path === '' ? ALL_VIEWS : VIEWS)) {
        const page = await stage.site.open(path, view)
        await page.locator(ready).first().waitFor()
        expect(await findBroken(page), JSON.stringify(view)).toEqual([])
        expect(await overflows(page), `wider than the window: ${JSON.stringify(view)}`).toBe(false)
        expect(await findSmallLetters(page), JSON.stringify(view)).toEqual([])
        await page.close()
      }
    })
  }
})

describe.skipIf(executable === null)('the site on a telephone', { timeout: 240_000 }, () => {
  it('has letters that can be read in every lesson, and lessons as wide as it is', async () => {
    const page = await stage.site.open('learn.html', { width: 390 })
    for (const topic of sample(TOPICS, 4)) {
      const name = nameOf(topic)
      await page.evaluate((id) => {
        location.hash = id
      }, hyphened(name))
      const ready = topic.kind === 'level' ? '.exercise .goals li' : '#topic-more svg.lanes'
      await page.locator(`.topics [aria-current][href="#${hyphened(name)}"]`).waitFor()
      await page.locator(ready).first().waitFor()
      expect(await findSmallLetters(page), name).toEqual([])
      expect(await overflows(page), name).toBe(false)
    }
    await page.close()
  })

  it('says of a picture that is wider than the window that it scrolls', async () => {
    const page = await stage.site.open('learn.html#long-fork', { width: 390 })
    await page.locator('#topic-more .sessions .hint', { hasText: 'swipe' }).first().waitFor()
    await page.close()
  })
})

/** Runs in the page: marks what can be used, now, and is reached, later; says how much that is. */
function markUsable(): number {
  const all = document.querySelectorAll<HTMLElement>(
    'a[href], button, input, select, summary, textarea, [contenteditable="true"], [tabindex="0"]',
  )
  let count = 0
  for (const element of all) {
    const isThere = element.checkVisibility() && !element.matches(':disabled, [tabindex="-1"]')
    if (isThere && element.getClientRects().length > 0) element.dataset['usable'] = String(count++)
  }
  document.addEventListener('focusin', ({ target }) => {
    ;(target as HTMLElement | SVGElement).dataset['reached'] = ''
  })
  return count
}

/** Runs in the page: what can be used and was not reached yet. */
const findMissed = (): string[] =>
  [...document.querySelectorAll('[data-usable]:not([data-reached])')].map((element) =>
    element.outerHTML.slice(0, 80),
  )

describe.skipIf(executable === null)('the site by keyboard', { timeout: 120_000 }, () => {
  for (const [path, ready] of sample(Object.entries(PAGES), 2)) {
    if (path.startsWith('docs/api')) continue // hundreds of links, and nothing else
    it(`reaches with Tab all there is to use in /${path}`, async () => {
      const page = await stage.site.open(path)
      await page.locator(ready).first().waitFor()
      await page.waitForLoadState('networkidle')
      const count = await page.evaluate(markUsable)
      expect(count).toBeGreaterThan(5)
      let missed: string[] = []
      for (let i = 0; i < count + 20; i++) {
        await page.keyboard.press('Tab')
        if (i + 1 < count) continue
        missed = await page.evaluate(findMissed)
        if (missed.length === 0) break
      }
      expect(missed).toEqual([])
      await page.close()
    })
  }
})
