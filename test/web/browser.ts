// A real browser for the report: Chromium as Debian packages it, or whatever CHROMIUM names. Where
// there is none the tests are skipped, loudly.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CANDIDATES = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export function findBrowser(): string | null {
  const found = CANDIDATES.find((path) => path !== undefined && existsSync(path)) ?? null
  if (found === null) {
    process.stderr.write(
      '\nSKIPPED: the tests of the report in a browser; install chromium or set CHROMIUM\n\n',
    )
  }
  return found
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
