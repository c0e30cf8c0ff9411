// Text that came from outside (histories, file names, arguments, servers) made fit to be shown: one
// line in which no terminal finds anything to obey, and no longer than a person reads. Whatever is
// printed passes through here, errors when they are made.

/** Controls, line breaks, marks of direction, and whatever else has no shape of its own. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\ufffe\uffff]/gu

/** U+202E becomes `\u202e`, as JSON and notation write it. */
function spell(character: string): string {
  let escaped = ''
  for (let i = 0; i < character.length; i++) {
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }
  return escaped
}

/** One line without anything that a terminal obeys. */
export function inert(text: string): string {
  return text.replace(OBEYED, spell)
}

/** The same for texts of our own making that have several lines, and for JSON. */
export function inertLines(text: string): string {
  return text.replace(OBEYED, (c) => (c === '\n' ? c : spell(c)))
}

/** At most so many characters, the last of them `…` where some are missing. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  // Half of a pair would be no character.
  const end = /[\ud800-\udbff]/.test(text.charAt(max - 2)) ? max - 2 : max - 1
  return `${text.slice(0, end)}…`
}

const MAX_QUOTED = 80
const HEAD = 600
const TAIL = 200

/**
 * A message with parts from outside in it: quoted parts are cut, and what is still too long loses
 * its middle, because messages begin with what is wrong and end with where.
 */
export function sentence(text: string): string {
  const short = cutQuoted(text)
  if (short.length <= HEAD + TAIL) return inert(short)
  return inert(`${cut(short, HEAD)} ${short.slice(-TAIL)}`)
}

/** No regular expression: its stack would not hold a key of megabytes. */
function cutQuoted(text: string): string {
  if (text.length <= MAX_QUOTED) return text
  let short = ''
  let done = 0
  for (let from = text.indexOf('"'); from >= 0; from = text.indexOf('"', done)) {
    const end = endOfQuoted(text, from)
    const quoted = text.slice(from, end)
    short += text.slice(done, from)
    short += quoted.length > MAX_QUOTED ? `${cut(quoted, MAX_QUOTED - 1)}"` : quoted
    done = end
  }
  return short + text.slice(done)
}

/** Where the string ends that begins with the quote at text[from]; behind its last quote. */
export function endOfQuoted(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** A word of the user's, in quotes. */
export function quote(text: string): string {
  return inert(JSON.stringify(cut(text, MAX_QUOTED)))
}
