// The page that shows where two levels differ, in a real browser.

import { describe, expect, it } from 'vitest'
import { executable, onSite } from './site.ts'

const stage = onSite()

describe.skipIf(executable === null)('two levels in the browser', { timeout: 120_000 }, () => {
  it('shows the smallest histories of both directions, and opens them in the editor', async () => {
    const page = await stage.site.open('differ.html#rc,ci')
    await page.locator('.difference').nth(1).locator('.finding').first().waitFor()
    expect(await page.locator('.difference h2').first().textContent()).toBe(
      'Read Committed allows, Cut Isolation forbids',
    )
    expect(await page.locator('.difference > pre').allTextContents()).toEqual([
      's1: r(x,0) r(x,1)\ns2: w(x,1)\n',
      's1: r(x,1) | w(x,1)\n',
    ])
    await page.locator('#second').selectOption('ra')
    await page.locator('.difference', { hasText: 'Whatever ra allows, rc allows too.' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#rc,ra,general')
    await page.locator('.difference a', { hasText: 'Open it in the editor' }).first().click()
    await page.locator('#result h1', { hasText: 'violates Read Atomic' }).waitFor()
    await page.close()
  })

  it('refuses one level twice, and takes words that it does not know for its own', async () => {
    const page = await stage.site.open('differ.html#nonsense')
    expect(await page.locator('#first').inputValue()).toBe('si')
    await page.locator('#cancel').click()
    await page.locator('#second').selectOption('si')
    await page.locator('#problem', { hasText: 'both are the same level' }).waitFor()
    await page.close()
  })
})
