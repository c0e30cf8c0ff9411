// Everything in a verdict that comes from a history is untrusted: keys, values, names of sessions
// and transactions, paths. Each output has its own way of making text harmless; nothing else in
// report/ may put such text into an output.

/** Characters that no XML 1.0 document may contain, escaped or not; also direction overrides. */
const UNFIT = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]', // controls
    '[\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]', // invisible
    '[\\ufffe\\uffff]|\\p{Surrogate}', // no characters at all
  ].join('|'),
  'gu',
)

/** Makes invisible and forbidden characters visible: U+202E becomes `\u202e`. */
export function visible(text: string): string {
  return text.replace(UNFIT, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text and quoted attributes of HTML, SVG and XML. */
export function escapeMarkup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (c) => ENTITIES[c]!)
}

/** For attributes of XML, where a line break would be read as a space. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(text).replace(/[\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** JSON that may stand inside a script element: nothing in it can end or open one. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A quoted string of the DOT language; its labels know `\n`, `\N` and other escapes. */
export function quoteDot(text: string): string {
  const oneLine = visible(text).replace(/[\t\r\n]/g, ' ')
  return `"${oneLine.replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"`
}

/** Plain words in Markdown: no emphasis, link, heading, table cell, mention, HTML or image. */
export function escapeMarkdown(text: string): string {
  const oneLine = visible(text).replace(/[\t\r\n]/g, ' ')
  return oneLine.replace(/[\\`*_{}[\]()#+.!|~<>&$:@^=-]/g, (c) =>
    /[<>&@:]/.test(c) ? `&#${c.charCodeAt(0)};` : `\\${c}`,
  )
}

/** A fenced block that no line of the text can close. */
export function fence(text: string, language = ''): string {
  const shown = text
    .split('\n')
    .map((line) => visible(line.replace(/\r/g, '\\r')))
    .join('\n')
  let longest = 2
  for (const run of shown.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${shown.replace(/\n$/, '')}\n${ticks}`
}

/** A quoted label of a Mermaid graph: characters by number, so that none of them means anything. */
export function quoteMermaid(text: string): string {
  const safe = visible(text).replace(/[^\p{L}\p{N} ,=→…]/gu, (c) => `#${c.codePointAt(0)};`)
  return `"${safe}"`
}
