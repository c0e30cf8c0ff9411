// The built site behind its own server, in a real browser: what every test of it needs. A page that
// is opened here may ask its own server for files and nobody else for anything; what it complains
// of is kept, and every test must leave none.

import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { makeServer } from '../../../src/cli/site-server.ts'
import { findBrowser, launch } from '../browser.ts'

const SITE = fileURLToPath(new URL('../../../dist/site', import.meta.url))

/** The browser to use; null, said loudly, if there is none. */
export const executable = findBrowser()

export interface PageOptions {
  readonly dark?: boolean
  readonly width?: number
  /** Without, pages are what they are where scripts are off. */
  readonly scripts?: boolean
}

/** Page -> what is there when it is complete. */
export const PAGES = {
  '': '#result .finding',
  'learn.html': '#topic-more .finding',
  'learn.html#ra': '.exercise .finding',
  'differ.html#rc,ra': '.difference .finding',
  'learn.html#phantom': '#topic-more .finding',
  'learn.html#lost-update-rolled-back': '#topic-more .scrubber',
  'learn.html#pl-2.99': '.exercise .goals li',
  'docs/index.html': '#search',
  'docs/levels.html': '.document h1',
  'docs/reports.html': '.document img',
  'docs/api-isobar-race.html': '.document h1',
}

class Site {
  /** What pages said on their consoles, and whom they asked for something. */
  readonly complaints: string[] = []

  private constructor(
    private readonly server: Server,
    private readonly browser: Browser,
    readonly address: string,
  ) {}

  static async start(browser: Browser): Promise<Site> {
    if (!existsSync(SITE)) throw new Error('the site is not built: npm run web')
    const server = makeServer({ site: SITE, reports: null, host: '127.0.0.1', token: null })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return new Site(server, browser, `http://127.0.0.1:${port}/`)
  }

  async stop(): Promise<void> {
    await this.browser.close()
    this.server.close()
  }

  async open(
    path = '',
    { dark = false, width = 1280, scripts = true }: PageOptions = {},
  ): Promise<Page> {
    const page = await this.browser.newPage({
      colorScheme: dark ? 'dark' : 'light',
      viewport: { width, height: 900 },
      javaScriptEnabled: scripts,
    })
    page.on('console', (message) => this.complaints.push(message.text()))
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => {
      const url = request.url()
      const isOurs = url.startsWith(this.address) || url.startsWith('blob:')
      if (!isOurs) this.complaints.push(`request: ${url}`)
    })
    await page.goto(this.address + path)
    return page
  }
}

/**
 * The site for the tests of a file, if there is a browser; each of them must leave no complaint.
 * @param start the browser to open it in; null: there is none
 */
export function onSite(
  start: (() => Promise<Browser>) | null = executable ? () => launch(executable) : null,
): { site: Site } {
  const stage = {} as { site: Site }
  beforeAll(async () => {
    if (start) stage.site = await Site.start(await start())
  }, 60_000)
  afterEach(() => {
    expect(stage.site?.complaints.splice(0) ?? []).toEqual([])
  })
  afterAll(() => stage.site?.stop())
  return stage
}

/** Whether a page is wider than its window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

/** Drops files on the page. */
export async function drop(page: Page, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const packed = [...files].map(([name, bytes]) => ({
    name,
    text: Buffer.from(bytes).toString('base64'),
  }))
  await page.evaluate((all) => {
    const transfer = new DataTransfer()
    for (const { name, text } of all) {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
      transfer.items.add(new File([bytes], name))
    }
    const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true })
    document.body.dispatchEvent(event)
  }, packed)
}

/** Drops a file of 2,000,000 transactions, made in the page: time enough to see it read. */
export async function dropLarge(page: Page): Promise<void> {
  await page.evaluate(() => {
    const lines: string[] = []
    for (let i = 1; i <= 2_000_000; i++) lines.push(`w(${i},${i},${i % 50},${i})`)
    const transfer = new DataTransfer()
    transfer.items.add(new File([lines.join('\n')], 'large.txt'))
    const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true })
    document.body.dispatchEvent(event)
  })
}

/** Puts a text into the editor in place of what is there, as pasting does. */
export async function write(page: Page, text: string, editor = '#editor'): Promise<void> {
  const content = page.locator(`${editor} .cm-content`)
  await content.click()
  await page.keyboard.press('ControlOrMeta+a')
  await content.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', pasted)
    const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true })
    // Firefox gives events that a script makes nothing to paste.
    Object.defineProperty(event, 'clipboardData', { value: clipboardData })
    element.dispatchEvent(event)
  }, text)
}
