// The operations of a text in notation, where they stand in it: for edits, which leave everything
// else as it is. Main function: readOperations.

/** An operation as it stands in the text. */
export interface Operation {
  readonly from: number
  readonly to: number
  readonly line: number
  readonly verb: string
  readonly key: string
  /** Of a read or a write; the last argument of others. */
  readonly value: string
  readonly text: string
  /** Which transaction of the text, counted from 0. */
  readonly txn: number
}

const VERB = /(?<![\w.$@-])(r|w|append|inc|cas|insert|range|rows)\(/y
const STRING = /"(?:[^"\\\n]|\\.)*"/y

export function readOperations(text: string): Operation[] {
  const ops: Operation[] = []
  let txn = 0
  let start = 0
  for (const [i, line] of text.split('\n').entries()) {
    txn++ // a line continues a session, never a transaction
    for (let at = 0; at < line.length; ) {
      if (line[at] === '#' || line.startsWith('->', at)) break
      if (line[at] === '|') txn++
      const string = matchAt(STRING, line, at)
      const verb = matchAt(VERB, line, at)
      if (verb === null) {
        at += string?.length ?? 1
        continue
      }
      const end = findEnd(line, at + verb.length)
      if (end === null) break
      const parts = splitArguments(line.slice(at + verb.length, end))
      ops.push({
        from: start + at,
        to: start + end + 1,
        line: i + 1,
        verb: verb.slice(0, -1),
        key: parts[0] ?? '',
        value: parts.at(-1) ?? '',
        text: line.slice(at, end + 1),
        txn,
      })
      at = end + 1
    }
    start += line.length + 1
  }
  return ops
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}

/** Where the parenthesis closes that opened before `at`. */
function findEnd(line: string, at: number): number | null {
  for (let i = at; i < line.length; ) {
    if (line[i] === ')') return i
    i += matchAt(STRING, line, i)?.length ?? 1
  }
  return null
}

/** At commas that stand neither in brackets nor in a string. */
export function splitArguments(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; ) {
    if (text[i] === '[') depth++
    if (text[i] === ']') depth--
    if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim())
      start = i + 1
    }
    i += matchAt(STRING, text, i)?.length ?? 1
  }
  parts.push(text.slice(start).trim())
  return parts
}
