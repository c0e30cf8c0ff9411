// The site as axe-core judges it, and on a telephone: no rule may be broken, nothing may be wider
// than the window.

import { describe, expect, it } from 'vitest'
import { LONG } from '../long.ts'
import { ALL_VIEWS, findBroken, VIEWS } from './axe.ts'
import { executable, onSite } from './site.ts'

const stage = onSite()

/** Page -> what is there when it is complete. */
const PAGES = {
  '': '#result .finding',
  'learn.html': '#topic-more .finding',
  'learn.html#ra': '.exercise .finding',
  'differ.html#rc,ra': '.difference .finding',
  'learn.html#phantom': '#topic-more .finding',
  'docs/index.html': '#search',
  'docs/levels.html': '.document h1',
  'docs/api-isobar-race.html': '.document h1',
}

/** One after the other, so that a short test has every page in one of them. */
const viewsOf = (page: number) => (LONG ? VIEWS : [VIEWS[page % VIEWS.length]!])

describe.skipIf(executable === null)('the site by axe-core', { timeout: 120_000 }, () => {
  for (const [number, [path, ready]] of Object.entries(PAGES).entries()) {
    it(`finds nothing to mend in /${path}`, async () => {
      for (const view of path === '' ? ALL_VIEWS : viewsOf(number)) {
        const page = await stage.site.open(path, view)
        await page.locator(ready).first().waitFor()
        expect(await findBroken(page), JSON.stringify(view)).toEqual([])
        const overflows = await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        )
        expect(overflows, `wider than the window: ${JSON.stringify(view)}`).toBe(false)
        await page.close()
      }
    })
  }
})
