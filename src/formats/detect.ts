// Telling formats apart by how a file begins, given as Latin-1 text. Each test looks for what only
// its format has; formats.ts tries them in an order in which the narrower ones come first.

const NATIVE_FIELD = /"(session|isobar|tables|pending|outcome)"\s*:/
/** A header: its tables may hold rows that look like the operations of others. */
const NATIVE_HEADER = /^\s*\{.*"(isobar|tables)"\s*:/

/** Anything that begins like an object, and nothing at all: an empty file is an empty history. */
export const NATIVE = /^\s*(\{\s*["}]|$)/

export function looksLikeDbcopJson(head: string): boolean {
  const begins = /^\s*\{\s*("params"|"info"|"data"\s*:\s*\[|"(start|end)"\s*:\s*")/.test(head)
  return begins && !NATIVE_FIELD.test(head)
}

export function looksLikeViper(head: string): boolean {
  const line = /^\s*(.*)/.exec(head)![1]!
  return line.startsWith('{') && /"value"\s*:\s*\[/.test(line) && !NATIVE_FIELD.test(line)
}

/** A map of EDN, whose first key is a keyword; in a vector, tagged, behind comments or not. */
export const JEPSEN = /^([\s,]|;.*\n)*[[(]?([\s,]|;.*\n)*(#[\w./-]+\s*)?\{[\s,]*:[A-Za-z]/

/** The same in JSON: an object that has one of the four types of operations. */
export function looksLikeJepsenJson(head: string): boolean {
  if (NATIVE_HEADER.test(head)) return false
  return /^\s*\[?\s*\{/.test(head) && /"type"\s*:\s*":?(invoke|ok|fail|info)"/.test(head)
}

export const PLUME = /^\s*[rw]\(\s*\d+\s*,/

export const AWDIT = /^(\s|[-=]+[ \t]*\r?\n)*[rw][ \t]+\d/

export const HIST = /^(\s|-{3,}[ \t]*\r?\n|\/\/.*\n)*\[\s*(\w+\s*(:=|==)|\])/

const NOTATION_COMMENTS = /^(\s|#.*(\n|$)|->.*(\n|$))*/
const NOTATION_LINE = /^(initial[ \t]|[\w.$@-]+[ \t]*:|"([^"\\\n]|\\.)*"[ \t]*:)/

/** Comments alone do not make it notation: many a file begins with a number sign. */
export function looksLikeNotation(head: string): boolean {
  const comments = NOTATION_COMMENTS.exec(head)![0]
  return NOTATION_LINE.test(head.slice(comments.length))
}

/** Five counts of which all but the first are small, then a short text. */
export function looksLikeDbcop(head: string): boolean {
  if (head.length < 48) return false
  for (let count = 1; count < 6; count++) {
    for (let i = 4; i < 8; i++) if (head.charCodeAt(count * 8 + i) !== 0) return false
  }
  const length = head.charCodeAt(40) + head.charCodeAt(41) * 256
  return head.length >= 48 + Math.min(length, 200) && !/[\0-\x08]/.test(head.slice(48, 48 + length))
}

/** A record that begins a transaction, and whatever record may follow it. */
export function looksLikeCobra(head: string): boolean {
  return head.startsWith('S') && head.length >= 9 && /^(S|W|R|C|\xff|$)/.test(head.slice(9, 10))
}
