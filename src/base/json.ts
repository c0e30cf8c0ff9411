// JSON that keeps what JavaScript's own loses: integers beyond 2^53 are bigints here and plain
// digits in the text. What is written is inert, comes in pieces, because a string cannot hold any
// amount of evidence, and nothing recurses, however deep the data. Main functions: stringifyPieces,
// stringify, parseExact.

import { endOfQuoted, inertLines } from './inert.ts'

const PIECE = 1 << 16 // characters
const NUMBERS = 1 << 12 // numbers written at once

/** An object or a list that is being written. */
interface Open {
  readonly names: readonly string[] | null // null for a list
  readonly parts: readonly unknown[]
  at: number
}

/** The value as JSON, in pieces. Fields that are undefined are left out. */
export function* stringifyPieces(value: unknown): Generator<string> {
  let text = ''
  const stack: Open[] = []
  for (let next = value, isDone = false; !isDone; ) {
    const opened = open(next)
    if (opened === null) text += scalar(next)
    else if (isNumbers(opened.parts)) {
      for (const piece of numbers(opened.parts)) {
        text += piece
        if (text.length < PIECE) continue
        yield text
        text = ''
      }
    } else {
      text += opened.names ? '{' : '['
      stack.push(opened)
    }
    let top = stack.at(-1)
    for (; top && top.at === top.parts.length; top = stack.at(-1)) {
      text += top.names ? '}' : ']'
      stack.pop()
    }
    if (top) {
      if (top.at > 0) text += ','
      if (top.names) text += `${scalar(top.names[top.at])}:`
      next = top.parts[top.at++]
    } else {
      isDone = true
    }
    if (text.length >= PIECE) {
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

/** The same, with the end of a line behind it. */
export function* stringifyLine(value: unknown): Generator<string> {
  yield* stringifyPieces(value)
  yield '\n'
}

export function stringify(value: unknown): string {
  return [...stringifyPieces(value)].join('')
}

function open(value: unknown): Open | null {
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return { names: null, parts: value, at: 0 }
  const all = Object.entries(value).filter(([, part]) => part !== undefined)
  return { names: all.map(([name]) => name), parts: all.map(([, part]) => part), at: 0 }
}

/** Orders of a million transactions are written as they are. */
function isNumbers(parts: readonly unknown[]): parts is number[] {
  return parts.length > 64 && parts.every((part) => Number.isSafeInteger(part))
}

function* numbers(parts: readonly number[]): Generator<string> {
  for (let at = 0; at < parts.length; at += NUMBERS) {
    yield `${at === 0 ? '[' : ','}${parts.slice(at, at + NUMBERS).join(',')}`
  }
  yield ']'
}

function scalar(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null'
  return /^[ !#-[\]-~]*$/.test(value) ? `"${value}"` : inertLines(JSON.stringify(value))
}

/** JSON.parse that keeps integers beyond 2^53, as bigints. Throws SyntaxError. */
export function parseExact(text: string): unknown {
  const plain = JSON.parse(text) // so that what follows meets only JSON
  const large = findLargeIntegers(text)
  if (large.length === 0) return plain
  // Integers are marked by more controls than any string of the text begins with.
  let mark = '\\u0001'
  while (text.includes(`"${mark}`)) mark += '\\u0001'
  let marked = ''
  let done = 0
  for (const [from, to] of large) {
    marked += `${text.slice(done, from)}"${mark}${text.slice(from, to)}"`
    done = to
  }
  const controls = '\u0001'.repeat(mark.length / 6)
  const holder = { whole: JSON.parse(marked + text.slice(done)) as unknown }
  const pending: Record<string, unknown>[] = [holder]
  for (let parts = pending.pop(); parts; parts = pending.pop()) {
    for (const [name, part] of Object.entries(parts)) {
      if (typeof part === 'object' && part !== null) pending.push(part as Record<string, unknown>)
      else if (typeof part === 'string' && part.startsWith(controls)) {
        const exact = BigInt(part.slice(controls.length))
        parts[name] = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
      }
    }
  }
  return holder.whole
}

/** Where JSON has integers of 16 digits and more. */
function findLargeIntegers(text: string): [from: number, to: number][] {
  const found: [number, number][] = []
  const token = /"|-?\d{16,}(?![\d.eE])/g
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === '"') token.lastIndex = endOfQuoted(text, match.index)
    else if (!/[\d.eE+-]/.test(text.charAt(match.index - 1)))
      found.push([match.index, token.lastIndex])
  }
  return found
}
