// Real browsers: Chromium and Firefox as Debian packages them, or whatever CHROMIUM and FIREFOX
// name. Where there is none the tests are skipped, loudly.

import { existsSync } from 'node:fs'
import { type Browser, chromium, firefox } from 'playwright-core'

const CHROMIUMS = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const FIREFOXES = [
  process.env['FIREFOX'],
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
]

export function findBrowser(): string | null {
  const found = firstOf(CHROMIUMS)
  if (found === null) skip('the tests of the report in a browser; install chromium or set CHROMIUM')
  return found
}

export function findFirefox(): string | null {
  const found = firstOf(FIREFOXES)
  if (found === null) skip('the tests of the site in Firefox; install firefox-esr or set FIREFOX')
  return found
}

function firstOf(paths: readonly (string | undefined)[]): string | null {
  return paths.find((path) => path !== undefined && existsSync(path)) ?? null
}

function skip(what: string): void {
  process.stderr.write(`\nSKIPPED: ${what}\n\n`)
}

export interface FirefoxOptions {
  /** Where to put what is saved. */
  readonly downloadsPath?: string
  /** Dark colours: the driver cannot ask for them page by page. */
  readonly dark?: boolean
}

/** As it comes from its makers, driven by WebDriver BiDi. */
export function launchFirefox(
  executablePath: string,
  { downloadsPath, dark = false }: FirefoxOptions,
): Promise<Browser> {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    ...(downloadsPath === undefined ? {} : { downloadsPath }),
    firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1 },
  })
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
