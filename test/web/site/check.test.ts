// Checking in the browser, as somebody meets it: files of every format, the editor, links,
// downloads, and what is said of bad input.

import { readFileSync } from 'node:fs'
import { deflateRawSync, gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { FORMATS, findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { save } from '../../formats/storage.ts'
import { sample } from '../../long.ts'
import { HOSTILE_NAMES, hostileHistory } from '../../report/hostile.ts'
import { drop, dropLarge, executable, onSite, write } from './site.ts'

const LOST = 's0: w(1,1) [0,1]\ns1: r(1,1) w(1,2) [2,5]\ns2: r(1,1) w(1,3) [3,6]\n'
const UNTIMED = LOST.replaceAll(/ \[.*\]/g, '')
const ROOMS = readFileSync(new URL('../../../examples/rooms.jsonl', import.meta.url)) // SQL
const LOST_HEADLINE = 'Satisfies Prefix Consistency, violates Parallel Snapshot Isolation'

const stage = onSite()

const headline = (page: Page) => page.locator('#result h1')
const problem = (page: Page) => page.locator('#problem')
/** Waits until the page says so. */
const says = (page: Page, text: string) => headline(page).getByText(text, { exact: true }).waitFor()
/** Waits until another verdict is shown. */
async function shows(page: Page, act: () => Promise<void>): Promise<void> {
  const count = () => Number(document.getElementById('result')!.dataset['shown'] ?? 0)
  const before = await page.evaluate(count)
  await act()
  await page.waitForFunction(
    (least) => Number(document.getElementById('result')!.dataset['shown'] ?? 0) > least,
    before,
  )
}

describe.skipIf(executable === null)('checking in the browser', { timeout: 120_000 }, () => {
  it('judges every format that is dropped, compressed or not', async () => {
    const page = await stage.site.open()
    await says(page, LOST_HEADLINE)
    for (const format of sample(FORMATS, 3)) {
      await write(page, 's1: w(1,1)')
      await says(page, 'Satisfies Serializability')
      const isTimed = format.id.startsWith('jepsen')
      const files = save(format, parseNotation(isTimed ? LOST : UNTIMED))
      const named = new Map([...files].map(([name, bytes]) => [name || 'history', bytes]))
      await drop(page, named)
      await says(page, LOST_HEADLINE)
      const source = page.locator('#result .source').first()
      expect(await source.textContent(), format.id).toContain(`(${format.id}`)
      const packed = new Map([...named].map(([name, bytes]) => [`${name}.gz`, gzipSync(bytes)]))
      await shows(page, () => drop(page, packed))
      expect(await headline(page).textContent(), format.id).toBe(LOST_HEADLINE)
      await page.locator('#close-files').click()
    }
    await page.close()
  })

  it('judges what is typed as it is typed, and the levels that are chosen', async () => {
    const page = await stage.site.open()
    await says(page, LOST_HEADLINE)
    expect(await page.locator('#result .finding').count()).toBe(1)
    await write(page, 's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)')
    await says(page, 'Satisfies Serializability')
    await page.keyboard.press('ControlOrMeta+z')
    await says(page, LOST_HEADLINE)
    await page.getByRole('checkbox', { name: 'cc' }).check()
    await says(page, 'Causal Consistency: satisfied')
    await page.getByRole('checkbox', { name: 'ser', exact: true }).check()
    await says(page, 'Serializability: violated')
    await page.close()
  })

  it('judges lists and SQL statements, too', async () => {
    const page = await stage.site.open()
    await write(page, 's1: append(l,1) | r(l,[1])\ns2: r(l,[])')
    await says(page, 'Satisfies Serializability')
    await drop(page, new Map([['rooms.jsonl', ROOMS]]))
    await page.locator('#result h1', { hasText: 'iolates' }).waitFor()
    await page.locator('#result .source', { hasText: '(native' }).waitFor()
    await page.close()
  })

  it('marks an error at its line and column, and takes the mark away', async () => {
    const page = await stage.site.open()
    await write(page, 's1: w(x,1)\ns2: q(x,1)')
    await problem(page)
      .getByText(/^line 2, column 5: unknown operation/)
      .waitFor()
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('q')
    expect(await page.locator('#result').isHidden()).toBe(true)
    await write(page, 's1: w(x,1)')
    await says(page, 'Satisfies Serializability')
    expect(await page.locator('.cm-lintRange-error').count()).toBe(0)
    expect(await problem(page).isHidden()).toBe(true)
    await page.close()
  })

  it('completes operations and levels', async () => {
    const page = await stage.site.open()
    await write(page, 's1: ')
    await page.keyboard.type('app')
    await page.locator('.cm-completionLabel', { hasText: 'append(' }).click()
    await page.keyboard.type('l,1) [level=s')
    await page.locator('.cm-completionLabel', { hasText: /^sser$/ }).waitFor()
    await page.locator('.cm-completionLabel', { hasText: /^si$/ }).click()
    expect(await page.locator('#editor .cm-line').first().textContent()).toBe(
      's1: append(l,1) [level=si',
    )
    await page.close()
  })

  it('completes the fields of statements', async () => {
    const page = await stage.site.open()
    await write(page, '{"session":0,"ops":[')
    await page.keyboard.type('{sel')
    await page.locator('.cm-completionLabel', { hasText: '"select":' }).click()
    expect(await page.locator('#editor .cm-line').first().textContent()).toBe(
      '{"session":0,"ops":[{"select":"',
    )
    await page.close()
  })

  it('shows how far it is, and stops when it is told to', async () => {
    const page = await stage.site.open()
    await says(page, LOST_HEADLINE)
    // In the page itself: on a busy machine it may be read before a click from outside comes.
    await page.evaluate(() => {
      const phase = document.getElementById('phase')!
      new MutationObserver((_, observer) => {
        if (!phase.textContent.includes('reading: ')) return
        observer.disconnect()
        document.getElementById('cancel')!.click()
      }).observe(phase, { childList: true, characterData: true, subtree: true })
    })
    await dropLarge(page)
    await page.locator('#status', { hasText: 'Cancelled.' }).waitFor({ state: 'attached' })
    expect(await page.locator('#busy').isHidden()).toBe(true)
    expect(await page.locator('#result').isHidden()).toBe(true)
    await page.locator('#close-files').click()
    await page.locator('#check').click()
    await says(page, LOST_HEADLINE)
    await page.close()
  })

  it('carries a history and its levels in a link', async () => {
    const page = await stage.site.open()
    const text = 's1: w("ключ",1) | r(x,0)\ns2: r("ключ",1)'
    await write(page, text)
    await page.getByRole('checkbox', { name: 'ra', exact: true }).check()
    await page.locator('#share').click()
    await page.locator('#shared', { hasText: 'link' }).waitFor()
    const { hash } = new URL(page.url())
    const other = await stage.site.open(hash)
    await says(other, 'Read Atomic: satisfied')
    expect(await other.locator('#editor .cm-line').allTextContents()).toEqual(text.split('\n'))
    // Followed where a page is open already.
    await other.evaluate(() => {
      location.hash = ''
    })
    await write(other, 's1: w(x,1)')
    await other.evaluate((fragment) => {
      location.hash = fragment
    }, hash)
    await other.locator('#editor .cm-line', { hasText: 'ключ' }).first().waitFor()
    await page.close()
    await other.close()
  })

  it('says so when a link is broken, or unfolds to too much', async () => {
    const bomb = deflateRawSync(Buffer.alloc(5_000_000, 'x')).toString('base64url')
    for (const [fragment, words] of [
      ['#h=AAAA', 'the history in this link is damaged'],
      ['#h=%%%', 'the history in this link is damaged'],
      [`#h=${bomb}`, 'the history in this link is too large'],
    ]) {
      const page = await stage.site.open(fragment)
      await problem(page).getByText(words!).waitFor()
      await page.close()
    }
  })

  it('says what to do where a browser cannot do it', async () => {
    const page = await stage.site.open('docs/index.html')
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'DecompressionStream')
    })
    await page.goto(stage.site.address)
    const words = page.locator('#starting')
    await words.getByText('This browser has no DecompressionStream: use a newer one').waitFor()
    expect(await words.textContent()).toContain('isobar check FILE')
    await page.close()
    for (const path of ['', 'learn.html', 'differ.html']) {
      const plain = await stage.site.open(path, { scripts: false })
      await plain
        .locator('#starting', { hasText: /scripts are off: use the command line/ })
        .waitFor()
      await plain.close()
    }
  })

  it('goes on without a connection, and says so when it lacks something', async () => {
    const page = await stage.site.open()
    await says(page, LOST_HEADLINE)
    await page.locator('#result .zoom button').first().waitFor()
    await page.context().setOffline(true)
    await write(page, 's1: w(x,1)\ns2: r(x,1)')
    await says(page, 'Satisfies Serializability')
    await drop(page, new Map([['lost.txt.gz', gzipSync(LOST)]]))
    await says(page, LOST_HEADLINE)
    await drop(page, new Map([['rooms.jsonl', ROOMS]]))
    await problem(page).getByText('a part of this page could not be loaded').waitFor()
    await page.context().setOffline(false)
    await drop(page, new Map([['lost.txt.gz', gzipSync(LOST)]]))
    await says(page, LOST_HEADLINE)
    stage.site.complaints.splice(0) // of the connection
    await page.close()
  })

  it('refuses junk with a clear word', async () => {
    const page = await stage.site.open()
    const junk = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251)
    const cases: [Map<string, Uint8Array>, RegExp][] = [
      [new Map([['junk.bin', junk]]), /no known format/],
      [new Map([['empty.txt', new Uint8Array(0)]]), /no transactions/],
      [new Map([['h.gz', gzipSync(LOST).subarray(0, 30)]]), /compressed input is damaged/],
      [
        new Map([
          ['a.txt', Buffer.from(LOST)],
          ['b.txt', Buffer.from(LOST)],
        ]),
        /these are several histories/,
      ],
    ]
    for (const [files, words] of cases) {
      await drop(page, files)
      await problem(page).getByText(words).waitFor()
    }
    await page.close()
  })

  it('shows hostile names as they are', async () => {
    const page = await stage.site.open()
    for (const name of HOSTILE_NAMES) {
      const history = save(findFormat('native')!, parseNotation(hostileHistory(name))).get('')!
      const files = new Map([[`${name.slice(0, 40)}.jsonl`, gzipSync(history)]])
      await shows(page, () => drop(page, files))
      expect(await headline(page).textContent()).toBe(LOST_HEADLINE)
      expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)
      expect(await page.locator('#result script, #result img, #result style').count()).toBe(0)
    }
    await page.close()
  })

  it('gives the verdict, the report and the history as files', async () => {
    const page = await stage.site.open()
    await drop(page, new Map([['lost.txt.gz', gzipSync(LOST)]]))
    await says(page, LOST_HEADLINE)
    const files: Record<string, string> = {}
    for (const what of ['verdict', 'report', 'history']) {
      const waiting = page.waitForEvent('download')
      await page.locator(`[data-download="${what}"]`).click()
      const download = await waiting
      files[download.suggestedFilename()] = readFileSync(await download.path(), 'utf8')
    }
    expect(Object.keys(files)).toEqual(['lost.verdict.json', 'lost.html', 'lost.jsonl'])
    expect(JSON.parse(files['lost.verdict.json']!)).toMatchObject({
      path: 'lost.txt.gz',
      strongest: ['pc'],
      weakestViolated: ['psi'],
    })
    expect(files['lost.html']).toContain(`<h1>${LOST_HEADLINE}</h1>`)
    expect(parseHistory(files['lost.jsonl']!).txnCount).toBe(3)
    await page.close()
  })
})
