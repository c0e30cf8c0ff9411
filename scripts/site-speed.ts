// How fast the site is, in a real browser: the first verdict of the page that teaches, and large
// files against the command line. `node --import tsx scripts/site-speed.ts 500000 1900000` takes
// files of so many transactions, 100 MB and 400 MB; needs a build. The figures in docs/site.md are from here.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { makeServer } from '../src/cli/site-server.ts'
import { findBrowser, launch } from '../test/web/browser.ts'

const counts = process.argv.length > 2 ? process.argv.slice(2) : ['500000']
const folder = mkdtempSync(join(tmpdir(), 'isobar-speed-'))
const history = join(folder, 'history.plume')
const TRIES = 5

/** Text, because it runs in the page: when it was loaded, when it said so, and the longest frame. */
const WATCH = `
  globalThis.seen = { loaded: 0, said: 0, frame: 0 }
  addEventListener('load', () => { seen.loaded = performance.now() })
  new MutationObserver(() => {
    if (seen.said === 0 && document.querySelector('#topic-levels li')) seen.said = performance.now()
  }).observe(document, { childList: true, subtree: true })
  let last = 0
  const frame = (now) => {
    if (last > 0) seen.frame = Math.max(seen.frame, now - last)
    last = now
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
`

/** Runs in the page. */
function readSeen(): { loaded: number; said: number; frame: number } {
  const { seen } = globalThis as unknown as { seen: ReturnType<typeof readSeen> }
  const { frame } = seen
  seen.frame = 0
  return { ...seen, frame }
}

async function measureLearning(browser: Browser, address: string): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const tab = await browser.newPage()
    await tab.addInitScript({ content: WATCH })
    await tab.goto(`${address}learn.html#lost-update`)
    await tab.locator('#topic-levels li').first().waitFor()
    const { loaded, said } = await tab.evaluate(readSeen)
    const after = Math.round(said - loaded)
    process.stdout.write(`learn: loaded after ${Math.round(loaded)} ms, verdict ${after} later\n`)
    await tab.close()
  }
}

async function measureLarge(
  browser: Browser,
  address: string,
  transactions: string,
): Promise<void> {
  const options = ['--shape', 'general', '--ops', '8', '--to', 'plume']
  isobar('generate', history, '--force', '--transactions', transactions, ...options)
  const size = `${Math.round(statSync(history).size / 1e6)} MB`
  const began = performance.now()
  isobar('check', history, '--level', 'cc')
  const commandMs = performance.now() - began
  const tab = await browser.newPage()
  await tab.addInitScript({ content: WATCH })
  await tab.goto(address)
  await tab.locator('#result .finding').first().waitFor()
  await tab.getByRole('checkbox', { name: 'cc' }).check()
  await tab.locator('#result h1', { hasText: 'Causal Consistency' }).waitFor()
  const earlier = (await tab.evaluate(readSeen)).frame
  const started = performance.now()
  await tab.locator('#file').setInputFiles(history)
  const source = tab.locator('#result .source', { hasText: 'plume' })
  await source.or(tab.locator('#problem:not([hidden])')).waitFor({ timeout: 900_000 })
  const browserMs = performance.now() - started
  const { frame } = await tab.evaluate(readSeen)
  const said = await tab.locator('#result h1, #problem:not([hidden])').textContent()
  process.stdout.write(
    `${transactions} transactions, ${size}: ${Math.round(browserMs)} ms in the browser, ` +
      `${Math.round(commandMs)} ms on the command line, longest frame ${Math.round(frame)} ms ` +
      `(${Math.round(earlier)} before), ${peakMb()} MB in the page's process: ${said}\n`,
  )
  await tab.close()
}

/** The most that one of the browser's processes had in memory, where the system tells. */
function peakMb(): number {
  const peaks = new Map<number, number>([[process.pid, 0]])
  const rows = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  for (const pid of rows.map(Number).sort((a, b) => a - b)) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const field = (name: string) =>
        Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1])
      if (peaks.has(field('PPid'))) peaks.set(pid, field('VmHWM') / 1000)
    } catch {} // it has ended
  }
  return Math.round(Math.max(...peaks.values()))
}

function isobar(...words: string[]): void {
  execFileSync('node', ['bin/isobar.js', ...words], { stdio: 'ignore' })
}

const executable = findBrowser()
if (executable !== null) {
  const server = makeServer({ site: 'dist/site', reports: null, host: '127.0.0.1', token: null })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const browser = await launch(executable)
  try {
    await measureLearning(browser, address)
    for (const count of counts) await measureLarge(browser, address, count)
  } finally {
    await browser.close()
    server.close()
    rmSync(folder, { recursive: true })
  }
}
