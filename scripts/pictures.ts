// Makes the pictures of the README from real runs: a real PostgreSQL is stressed at a level that is
// weaker than the one judged, and what it got wrong is drawn. Needs a build and, for the picture of
// the page, a browser. Usage: node --import tsx scripts/pictures.ts

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findBrowser, launch } from '../test/web/browser.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PICTURES = join(ROOT, 'docs', 'pictures')

function isobar(...args: string[]): void {
  const { status, stderr } = spawnSync('node', [join(ROOT, 'bin/isobar.js'), ...args], {
    encoding: 'utf8',
  })
  // 1 is a violation, which is what these runs are for.
  if (status !== 0 && status !== 1) throw new Error(`isobar ${args.join(' ')}: ${stderr}`)
}

/** Runs against PostgreSQL; returns the path of the verdict. */
function run(folder: string, dbLevel: string, level: string): string {
  const out = join(folder, dbLevel)
  const size = ['--transactions', '4000', '--sessions', '8', '--keys', '10']
  isobar('run', '--db-level', dbLevel, '--level', level, ...size, '--out', out)
  return join(out, 'verdict.json')
}

function draw(verdict: string, anomaly: string, name: string): void {
  isobar('report', verdict, join(PICTURES, name), '--anomaly', anomaly, '--force')
}

/** The page as a whole screen, its overview, and a finding on a telephone. */
async function photograph(report: string, anomaly: string): Promise<void> {
  const executable = findBrowser()
  if (!executable) return
  const browser = await launch(executable)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(pathToFileURL(report).href)
  const overview = page.locator('section.overview')
  await overview.screenshot({ path: join(PICTURES, 'overview.png') })
  const kind = page.locator('section.group', { hasText: anomaly }).first()
  const finding = kind.locator('.finding').first()
  const isOpen = (await finding.getAttribute('open')) !== null
  if (!isOpen) await finding.locator('summary').first().click()
  await finding.locator('svg.graph g.arrow').first().focus()
  for (let i = 0; i < 4; i++) await finding.getByRole('button', { name: 'Next ▸' }).click()
  await finding.screenshot({ path: join(PICTURES, 'report.png') })
  await page.close()
  const phone = await browser.newPage({
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  })
  await phone.goto(pathToFileURL(report).href)
  await phone.locator('section.group h2').first().scrollIntoViewIfNeeded()
  await phone.locator('.evidence .dependencies').first().scrollIntoViewIfNeeded()
  await phone.screenshot({ path: join(PICTURES, 'report-phone.png') })
  await browser.close()
}

mkdirSync(PICTURES, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'isobar-pictures-'))
const lost = run(folder, 'rc', 'si')
draw(lost, 'LostUpdate', 'lost-update.svg')
await photograph(lost.replace('verdict.json', 'report.html'), 'LostUpdate')
const skew = run(folder, 'si', 'ser')
draw(skew, 'WriteSkew', 'write-skew.svg')
rmSync(folder, { recursive: true })
for (const name of readdirSync(PICTURES)) {
  process.stdout.write(`${name} ${statSync(join(PICTURES, name)).size} bytes\n`)
}
