// What axe-core says of a page, with everything unfolded. Main function: findBroken.

import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { LONG } from '../long.ts'

/** Light and dark, on a wide screen and on a telephone: both widths and both colours, once each. */
export const VIEWS = [
  { dark: false, width: 1440 },
  { dark: true, width: 390 },
]

export const ALL_VIEWS = [...VIEWS, { dark: false, width: 390 }, { dark: true, width: 1440 }]

/** In which to look at the n-th of several pages: one after the other where time is short. */
export const viewsOf = (page: number, views = VIEWS) =>
  LONG ? views : [views[page % VIEWS.length]!]

export async function findBroken(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) {
      if (!details.hasAttribute('name')) details.open = true
    }
  })
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document)
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
