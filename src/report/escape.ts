// Everything in a verdict that comes from a history is untrusted: keys, values, names of sessions
// and transactions, paths. Each output has its own way of making text harmless; nothing else in
// report/ may put such text into an output. Characters that a terminal obeys, and those that no XML
// document may hold, are spelt out everywhere (base/inert.ts).

import { inert, inertLines } from '../base/inert.ts'

const ENTITIES = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }

/** For text and quoted attributes of HTML, SVG and XML. */
export function escapeMarkup(text: string): string {
  return inertLines(text).replace(/[&<>"']/g, (c) => `&${ENTITIES[c as '&']};`)
}

/** For one line: attributes, headings. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(inert(text))
}

/** JSON that may stand inside a script element: nothing in it can end or open one. */
export function scriptJson(value: unknown): string {
  return inertLines(JSON.stringify(value)).replace(
    /[<>&]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A quoted string of the DOT language; its labels know `\n`, `\N` and other escapes. */
export function quoteDot(text: string): string {
  return `"${inert(text).replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"`
}

/** Plain words in Markdown: no emphasis, link, heading, table cell, mention, HTML or image. */
export function escapeMarkdown(text: string): string {
  return inert(text).replace(/[\\`*_{}[\]()#+.!|~<>&$:@^=-]/g, (c) =>
    /[<>&@:]/.test(c) ? `&#${c.charCodeAt(0)};` : `\\${c}`,
  )
}

/** A fenced block that no line of the text can close. */
export function fence(text: string, language = ''): string {
  const shown = inertLines(text)
  const runs = shown.match(/`+/g) ?? []
  const ticks = '`'.repeat(Math.max(2, ...runs.map((run) => run.length)) + 1)
  return `${ticks}${language}\n${shown.replace(/\n$/, '')}\n${ticks}`
}

/** A quoted label of a Mermaid graph: characters by number, so that none of them means anything. */
export function quoteMermaid(text: string): string {
  const safe = inert(text).replace(/[^\p{L}\p{N} ,=→…]/gu, (c) => `#${c.codePointAt(0)};`)
  return `"${safe}"`
}
