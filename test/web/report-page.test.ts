// The report as a person meets it: opened from disk in a real browser. Every page opened here must
// do without a request, an error on the console, or a script that a hostile name smuggled in.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { renderJunit } from '../../src/report/junit.ts'
import { loadPageAssets } from '../../src/report/page/assets.ts'
import { renderHtml } from '../../src/report/page/html.ts'
import { renderSvg } from '../../src/report/picture/svg.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'
import { sample } from '../long.ts'
import { CASE_SPLIT, GALLERY, judge } from '../report/gallery.ts'
import { HOSTILE_NAMES, hostileHistory } from '../report/hostile.ts'
import { judgeSql, PASSED_OVER, SQL_GALLERY } from '../report/sql-gallery.ts'
import { findBrowser, launch } from './browser.ts'

const executable = findBrowser()
const folder = mkdtempSync(join(tmpdir(), 'isobar-web-'))
let browser: Browser
const complaints: string[] = []

beforeAll(async () => {
  if (executable) browser = await launch(executable)
}, 60_000)
afterEach(() => {
  expect(complaints.splice(0)).toEqual([])
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})

async function open(
  verdict: VerdictJson,
  options: { dark?: boolean; width?: number } = {},
): Promise<Page> {
  const page = await browser.newPage({
    colorScheme: options.dark ? 'dark' : 'light',
    viewport: { width: options.width ?? 1280, height: 900 },
  })
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (request.url() !== shown) complaints.push(`request: ${request.url()}`)
  })
  await show(page, verdict)
  return page
}

let fileCount = 0
let shown = '' // the only address that may be asked for

async function show(page: Page, verdict: VerdictJson): Promise<void> {
  const path = join(folder, `${fileCount++}.html`)
  writeFileSync(path, renderHtml(verdict, await loadPageAssets()))
  shown = pathToFileURL(path).href
  await page.goto(shown)
}

const exhibit = (name: string) => {
  const { notation, level } = GALLERY.find((each) => each.name === name)!
  return judge(notation, level)
}
const count = (page: Page, selector: string) => page.locator(selector).count()

describe.skipIf(executable === null)('the report in a browser', { timeout: 240_000 }, () => {
  it('shows every kind of anomaly, with both pictures and its story', async () => {
    const page = await open(judge(CASE_SPLIT))
    for (const { name, notation, level } of sample(GALLERY, 4)) {
      await show(page, judge(notation, level))
      const heading = page.locator('section.group h2', { hasText: name }).first()
      expect(await heading.isVisible(), name).toBe(true)
      const finding = page.locator('.finding').first()
      expect(await finding.locator('svg.graph .node').count(), name).toBeGreaterThan(0)
      expect(await finding.locator('svg.lanes .txn').count(), name).toBeGreaterThan(0)
      expect(await finding.locator('button.step').count(), name).toBeGreaterThan(0)
      expect(await overflows(page), `${name} is wider than the window`).toBe(false)
      expect(await coveredTexts(page), name).toEqual([])
    }
    await page.close()
  })

  it('keeps one finding open at a time, however many there are', async () => {
    const skews = Array.from({ length: 40 }, (_, i) => {
      const [a, b] = [2 * i + 1, 2 * i + 2]
      return `s${a}: r(${a},0) r(${b},0) w(${a},1)\ns${b}: r(${a},0) r(${b},0) w(${b},1)`
    })
    const page = await open(judge(skews.join('\n'), 'ser', 'history.txt', true))
    expect(await count(page, '.finding')).toBe(40)
    expect(await page.locator('.finding summary h3').nth(6).textContent()).toBe(
      'T13 and T14 on k14 and k13',
    )
    const opened = () =>
      page.locator('.finding[open]').evaluateAll((all) => all.map((each) => each.id))
    expect(await opened()).toEqual(['a1'])
    await page.locator('#a3 > summary').click()
    expect(await opened()).toEqual(['a3'])
    await page.evaluate(() => {
      location.hash = '#a30'
    })
    await page.waitForFunction(() => document.querySelector<HTMLDetailsElement>('#a30')!.open)
    expect(await opened()).toEqual(['a30'])
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(5500)
    await page.close()
  })

  it('names the positions that a history without times has, and no more', async () => {
    const later = Array.from({ length: 5 }, (_, i) => ` | w(${i},1)`).join('')
    const page = await open(judge(`s1: r(x,0) w(x,1)${later}\ns2: r(x,0) w(x,2)`, 'si'))
    await page.waitForFunction(() => document.querySelector('canvas')!.height > 20)
    const reading = page.locator('#overview-plot .reading')
    expect(await reading.textContent()).toBe('Shown: 1 to 6')
    await page.close()
  })

  it('shows the whole history, zooms into what is brushed, and goes to what is clicked', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => {
      const failed = i % 5 === 2 ? 'aborted ' : ''
      return `s${i}: r(${i},0) w(${i},1) [${failed}start=${100 * i} finish=${100 * i + 80}]`
    })
    lines.push('s50: r(20,0) w(20,2) [start=2010 finish=2050]')
    const page = await open(judge(lines.join('\n'), 'si'))
    const canvas = page.locator('#overview-plot canvas')
    const reading = page.locator('#overview-plot .reading')
    await page.waitForFunction(() => document.querySelector('canvas')!.height > 100)
    expect(await reading.textContent()).toBe('Shown: 0 to 2980')
    const { x, y, width } = (await canvas.boundingBox())!
    await page.mouse.move(x + width / 2, y + 100)
    await page.mouse.down()
    await page.mouse.move(x + width - 5, y + 100, { steps: 3 })
    await page.mouse.up()
    const [, from, to] = /Shown: (.*) to (.*)/.exec((await reading.textContent())!)!
    expect(Number(from)).toBeGreaterThan(1300)
    expect(Number(to)).toBeGreaterThan(2900)
    await page.keyboard.press('Escape')
    expect(await reading.textContent()).toBe('Shown: 0 to 2980')
    for (const key of ['+', 'ArrowRight', '-', 'ArrowLeft']) await page.keyboard.press(key)
    const pixels = () => canvas.evaluate((each: HTMLCanvasElement) => each.toDataURL())
    const before = await pixels()
    await page.getByRole('checkbox', { name: 'failed and unknown' }).uncheck()
    expect(await pixels()).not.toBe(before)
    await page.getByRole('button', { name: 'Whole history' }).click()
    await page.evaluate(() => {
      document.querySelector<HTMLDetailsElement>('#a1')!.open = false
    })
    await canvas.scrollIntoViewIfNeeded()
    const left = await page.evaluate(() => {
      const context = document.querySelector('canvas')!.getContext('2d')!
      const { data, width: wide } = context.getImageData(0, 12, context.canvas.width, 1)
      for (let i = 0; i < wide; i++) if (data[4 * i + 3]! > 200) return i / devicePixelRatio
      return -1
    })
    const box = (await canvas.boundingBox())!
    await page.mouse.click(box.x + left + 4, box.y + 12)
    expect(await page.locator('#a1').getAttribute('open')).not.toBeNull()
    expect(await page.locator('.marks a').allTextContents()).toEqual([
      'LostUpdate: T21 and T31 on k20',
    ])
    await page.close()
  })

  it('replays what happened step by step, by buttons and by keys', async () => {
    const page = await open(exhibit('LostUpdate'))
    const now = page.locator('.scrub-now').first()
    const committed = page.locator('.scrub-committed').first()
    expect(await now.textContent()).toBe('Step 0 of 6: Nothing has happened yet.')
    expect(await committed.textContent()).toBe('Committed: x=0')
    await page.getByRole('slider', { name: 'Step of the replay' }).first().focus()
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowRight')
    expect(await now.textContent()).toBe('Step 2 of 6: T2 reads x=0.')
    expect(await page.locator('.op.now').first().textContent()).toBe('r(x,0)')
    await page.keyboard.press('End')
    expect(await committed.textContent()).toBe('Committed: x=2')
    expect(await page.locator('.scrubber tbody tr').first().allTextContents()).toEqual([
      'T1committedx=0x=1',
    ])
    await page.getByRole('button', { name: '◂ Back' }).first().click()
    expect(await committed.textContent()).toBe('Committed: x=1')
    await page.close()
  })

  it('fills the width with pictures, and lets them grow and shrink', async () => {
    const page = await open(exhibit('LongFork'), { width: 1440 })
    const lanes = page.locator('svg.lanes').first()
    const widthOf = async () => (await lanes.boundingBox())!.width
    await page.waitForFunction(() => {
      const svg = document.querySelector('svg.lanes')!
      return svg.clientWidth > svg.getAttribute('viewBox')!.split(' ').map(Number)[2]!
    })
    const fitted = await widthOf()
    await page.getByRole('button', { name: 'Larger: sessions' }).first().click()
    expect(await widthOf()).toBeGreaterThan(fitted * 1.2)
    await page.getByRole('button', { name: 'Fit the width: sessions' }).first().click()
    expect(await widthOf()).toBe(fitted)
    await page.getByRole('button', { name: 'Smaller: sessions' }).first().click()
    expect(await widthOf()).toBeLessThan(fitted)
    await page.close()
  })

  it('opens an arrow to its reasons in all views at once, and closes it again', async () => {
    const page = await open(exhibit('NonMonoReadCM'))
    const graph = 'svg.graph >> nth=0 >> g.arrow'
    expect(await count(page, graph)).toBe(3)
    await page.locator('svg.graph g.arrow[data-step="e1"] text').first().click()
    expect(await count(page, graph)).toBe(5)
    expect(
      await page.locator('details[data-step="e1"]').first().getAttribute('open'),
    ).not.toBeNull()
    const opened = page.locator('svg.graph g.arrow[data-step="e1"]').first()
    expect(await opened.getAttribute('aria-expanded')).toBe('true')
    await page.locator('details[data-step="e1"] > summary').first().click()
    await page.waitForFunction(() => document.querySelectorAll('svg.graph g.arrow').length === 3)
    await page.close()
  })

  it('lights the operations of an arrow that is pointed at, and says why it holds', async () => {
    const page = await open(exhibit('LostUpdate'))
    await page.locator('svg.graph g.arrow[data-step="e1"] text').first().hover()
    const lit = await page.locator('svg.lanes .op.lit').first().locator('text').textContent()
    expect(await page.locator('svg.lanes .op.lit').count()).toBe(2)
    expect(lit).toBe('r(x,0)')
    expect(await page.locator('.explain').first().textContent()).toContain(
      "T1 read the initial x=0, so it did not see T2's x=2",
    )
    expect(await count(page, 'button.step.lit')).toBe(1)
    await page.mouse.move(0, 0)
    expect(await count(page, '.lit')).toBe(0)
    await page.close()
  })

  it('walks through the cases of a split', async () => {
    const page = await open(judge(CASE_SPLIT))
    const position = page.locator('.position').first()
    const labels = () => page.locator('svg.graph').first().locator('text.label').allTextContents()
    expect(await position.textContent()).toBe('Case 1 of 4')
    const seen = new Set([(await labels()).sort().join()])
    for (const words of ['Case 2 of 4', 'Case 3 of 4', 'Case 4 of 4', 'Case 1 of 4']) {
      await page.getByRole('button', { name: 'Next case' }).first().click()
      expect(await position.textContent()).toBe(words)
      seen.add((await labels()).sort().join())
    }
    expect(seen.size).toBe(4)
    await page
      .getByRole('button', { name: /^Case 3/ })
      .first()
      .click()
    expect(await position.textContent()).toBe('Case 3 of 4')
    expect((await labels()).filter((label) => label.startsWith('if '))).toHaveLength(2)
    await page.close()
  })

  it('draws SQL statements, and walks through what a row that was not returned may have been', async () => {
    const page = await open(await judgeSql(PASSED_OVER, 'mixed'))
    expect(await page.locator('button.case').allTextContents()).toEqual([
      'Case 1. If T5 passed over orders(9) as it was at first (no such row):',
      'Case 2. If T5 passed over orders(9) as T2 left it (deleted):',
      "Case 3. If T5 passed over orders(9) as T3 left it (status = 'lost', total = 1):",
    ])
    const select = page.locator('svg.lanes .op.read').first()
    expect(await select.locator('text').allTextContents()).toEqual([
      "SELECT orders WHERE status = 'open'",
      '→ (2)@w5 (1)',
    ])
    expect(await select.locator('title').textContent()).toBe(
      "SELECT orders WHERE status = 'open' -> orders(1)@initial, orders(2)@w5",
    )
    await page.getByRole('button', { name: 'Next case' }).click()
    expect(await page.locator('.position').textContent()).toBe('Case 2 of 3')
    const unseen = page.locator('svg.graph g.arrow.rw text')
    expect(await unseen.allTextContents()).toEqual(['rw orders(9): unseen w4 +'])
    await unseen.hover()
    expect(await page.locator('svg.lanes .op.lit').count()).toBe(2)
    expect(await page.locator('.explain').textContent()).toContain(
      'T5 passed over orders(9) as T2 left it (deleted)',
    )
    expect(await count(page, 'a[download="Phantom.jsonl"]')).toBe(1)
    for (const { name, text, level } of sample(SQL_GALLERY, 3)) {
      await show(page, await judgeSql(text, level))
      expect(await page.locator('section.group h2').first().textContent()).toContain(name)
      expect(await page.locator('svg.lanes .op').count(), name).toBeGreaterThan(0)
      expect(await overflows(page), `${name} is wider than the window`).toBe(false)
      expect(await spills(page), `${name}: text beyond its box`).toBe(false)
    }
    await page.close()
  })

  it('works with the keyboard alone', async () => {
    const page = await open(exhibit('NonMonoReadCM'))
    const reached = new Set<string>()
    let opened = false
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      const what = await page.evaluate(() => {
        const element = document.activeElement
        return `${element?.tagName.toLowerCase()} ${element?.getAttribute('class') ?? ''}`
      })
      reached.add(what.split(' ').slice(0, 2).join(' '))
      if (!opened && what.startsWith('g arrow co')) {
        await page.keyboard.press('Enter')
        opened = true
        const still = await page.evaluate(() =>
          document.activeElement?.getAttribute('aria-expanded'),
        )
        expect(still).toBe('true')
        expect(await page.locator('.explain').first().textContent()).toContain('must commit before')
      }
    }
    expect(opened).toBe(true)
    for (const what of ['a skip', 'button step', 'summary ', 'g arrow', 'pre ', 'button ']) {
      expect([...reached], what).toContain(what)
    }
    await page.close()
  })

  it('has a name for whatever can be focused', async () => {
    const page = await open(exhibit('LongFork'))
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('[tabindex],button,a,summary')]
        .filter((element) => !element.getAttribute('aria-label') && !element.textContent?.trim())
        .map((element) => element.outerHTML),
    )
    expect(nameless).toEqual([])
    await page.close()
  })

  it('is readable in light and in dark, down to the smallest label', async () => {
    for (const dark of [false, true]) {
      const page = await open(exhibit('NonMonoReadCM'), { dark })
      await page.locator('details[data-step="e1"] > summary').first().click()
      const low = await page.evaluate(measureContrast)
      expect(low, dark ? 'dark' : 'light').toEqual([])
      await page.close()
    }
  })

  it('fits a telephone', async () => {
    const page = await open(exhibit('LongFork'), { width: 380 })
    expect(await overflows(page)).toBe(false)
    const hint = page.locator('.sessions .hint').first()
    await hint.waitFor({ state: 'visible' })
    for (let i = 0; i < 5; i++) {
      await page.getByRole('button', { name: 'Smaller: sessions' }).first().click()
    }
    expect(await hint.isVisible()).toBe(false)
    await page.close()
  })

  it('shows hostile names as text, and runs nothing of theirs', async () => {
    const page = await open(judge(CASE_SPLIT))
    for (const name of HOSTILE_NAMES) {
      await show(page, judge(hostileHistory(name), undefined, name))
      expect(await page.evaluate(() => 'broken' in globalThis), name).toBe(false)
      expect(await count(page, 'img,iframe,object,embed,form')).toBe(0)
      await page.locator('svg.graph g.arrow text').first().click()
      expect(await page.evaluate(() => 'broken' in globalThis), name).toBe(false)
      const text = await page.locator('.history pre').first().textContent()
      expect(parseNotation(text!).txnCount).toBe(2)
    }
    await page.close()
  })

  it('writes SVG and JUnit files that parse as XML, whatever the names', async () => {
    const page = await browser.newPage()
    for (const name of [...HOSTILE_NAMES, 'plain']) {
      const verdict = judge(hostileHistory(name), undefined, name)
      for (const text of [renderSvg(verdict), renderJunit([verdict])]) {
        const problem = await page.evaluate((xml) => {
          const parsed = new DOMParser().parseFromString(xml, 'application/xml')
          return parsed.querySelector('parsererror')?.textContent ?? null
        }, text)
        expect(problem, name).toBeNull()
      }
    }
    await page.close()
  })

  it('offers the history to download and the notation to copy', async () => {
    const page = await open(exhibit('LostUpdate'))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'native JSON Lines' }).first().click(),
    ])
    expect(download.suggestedFilename()).toBe('LostUpdate.jsonl')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).first().waitFor()
    await page.close()
  })
})

function overflows(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1)
}

/** Labels of arrows in the lanes that lie over a text or another label. */
function coveredTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const covered: string[] = []
    for (const svg of document.querySelectorAll('details[open] svg.lanes')) {
      const boxes = [...svg.querySelectorAll('text')].map((text) => ({
        text: text.textContent,
        isLabel: text.classList.contains('label'),
        at: text.getBoundingClientRect(),
      }))
      boxes.forEach((one, i) => {
        for (const other of boxes.slice(i + 1)) {
          if (!one.isLabel && !other.isLabel) continue
          const [a, b] = [one.at, other.at]
          const meet = a.x < b.right && b.x < a.right && a.y < b.bottom - 3 && b.y < a.bottom - 3
          if (meet) covered.push(`${one.text} and ${other.text}`)
        }
      })
    }
    return covered
  })
}

/** Whether a line in the lanes is wider than what is drawn behind it. */
function spills(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    [...document.querySelectorAll<SVGGElement>('svg.lanes .op')].some((op) => {
      const ground = op.querySelector('rect')!.getBoundingClientRect()
      return [...op.querySelectorAll('text')].some((text) => {
        const { right, bottom } = text.getBoundingClientRect()
        return right > ground.right + 1 || bottom > ground.bottom + 2
      })
    }),
  )
}

/** Texts whose colour stands out too little from what is behind them: below 4.5 to 1. */
function measureContrast(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const rgb = (colour: string): [number, number, number, number] => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a]
  }
  const luminance = (colour: string) => {
    const [r, g, b] = rgb(colour).map((part) => {
      const share = part / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const behind = (element: Element): string => {
    for (let at: Element | null = element; at; at = at.parentElement) {
      const tag = at.querySelector(':scope > rect')
      if (tag && at.tagName === 'g') return getComputedStyle(tag).fill
      const { backgroundColor } = getComputedStyle(at)
      if (rgb(backgroundColor)[3] > 200) return backgroundColor
    }
    return 'white'
  }
  const low: string[] = []
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(
      (node) => node.nodeType === 3 && node.nodeValue?.trim(),
    )
    if (!own || element.closest('script,style,.skip')) continue
    const style = getComputedStyle(element)
    const colour = element.namespaceURI?.endsWith('svg') ? style.fill : style.color
    const [a, b] = [luminance(colour), luminance(behind(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (ratio < 4.5) low.push(`${element.textContent?.slice(0, 40)}: ${ratio.toFixed(2)}`)
  }
  return low
}
