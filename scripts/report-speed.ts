// How fast the page of a large history opens: makes one, judges it, opens its report in a real
// browser and zooms the overview by dragging. `node --import tsx scripts/report-speed.ts 1000000`;
// needs a build. The figure in docs/reports.md is from here.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBrowser, launch } from '../test/web/browser.ts'

const [transactions = '1000000'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'isobar-speed-'))
const [history, page] = [join(folder, 'history.jsonl'), join(folder, 'report.html')]

const WATCH = `
  globalThis.tasks = []
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration)
  }).observe({ entryTypes: ['longtask'] })
`

function isobar(...words: string[]): void {
  try {
    execFileSync('node', ['bin/isobar.js', ...words], { stdio: 'ignore' })
  } catch (error) {
    // 1 says that the history is violated, as it should be.
    if ((error as { status?: number }).status !== 1) throw error
  }
}

try {
  isobar('generate', history, '--transactions', transactions, '--inject', 'lost-update:5')
  isobar('check', history, '--level', 'si', '--report', page)
  const executable = findBrowser()
  if (executable !== null) await measure(executable)
} finally {
  rmSync(folder, { recursive: true })
}

async function measure(executable: string): Promise<void> {
  const browser = await launch(executable)
  try {
    const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    // Text, because it runs in the page, whose types are not those of Node.
    await tab.addInitScript({ content: WATCH })
    const started = performance.now()
    await tab.goto(`file://${page}`)
    const canvas = tab.locator('canvas').first()
    await canvas.hover()
    const openMs = performance.now() - started
    const box = (await canvas.boundingBox())!
    const middle = box.y + box.height / 2
    const zoomed = performance.now()
    await tab.mouse.move(box.x + box.width * 0.3, middle)
    await tab.mouse.down()
    await tab.mouse.move(box.x + box.width * 0.6, middle, { steps: 5 })
    await tab.mouse.up()
    await tab.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
    const zoomMs = performance.now() - zoomed
    const longest = await tab.evaluate<number>('Math.max(0, ...tasks)')
    const size = `${Math.round(statSync(page).size / 1000)} kB`
    process.stdout.write(
      `${transactions} transactions: page of ${size}, open to the pointer after ${Math.round(openMs)} ms, ` +
        `zoomed by dragging in ${Math.round(zoomMs)} ms, longest task ${Math.round(longest)} ms\n`,
    )
  } finally {
    await browser.close()
  }
}
