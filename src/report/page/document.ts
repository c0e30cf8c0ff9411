// The frame of every page of a report: one HTML file that needs nothing else. Its content policy
// admits only the very styles, and the very script, that are put in. Main function: renderDocument.

import { escapeMarkup as esc } from '../escape.ts'

/** What pages are made of besides what they tell. */
export interface PageAssets {
  script: string
  style: string
  /** The digest of a text, in base64. */
  sha256(text: string): string
}

export interface PageParts {
  readonly title: string
  /** Style sheets, in their order. */
  readonly styles: readonly string[]
  /** The script, if the page has one. */
  readonly script?: string
  /** Lines of markup; empty ones are left out. */
  readonly body: readonly string[]
}

export function renderDocument(
  { title, styles, script, body }: PageParts,
  { sha256 }: PageAssets,
): string {
  const hash = (text: string) => `'sha256-${sha256(text)}'`
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hash(script)}`]),
    `style-src ${styles.map(hash).join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${esc(title)}</title>`,
    ...styles.map((style) => `<style>${style}</style>`),
    '</head>',
    '<body>',
    ...body.filter((line) => line !== ''),
    ...(script === undefined ? [] : [`<script>${script}</script>`]),
    '</body>',
    '</html>',
  ]
  return `${lines.join('\n')}\n`
}
