// What functions of text compute. Characters are code points; letters beyond ASCII have no other
// case, as in the collation C.

import { Decimal } from './decimal.ts'
import type { Place } from './error.ts'
import { type Expression, makeResult, resolve } from './expression.ts'
import type { Value } from './types.ts'

export type Sides = 'both' | 'start' | 'end'

const MAX_INT = 2n ** 31n - 1n

export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

export function countCharacters(text: string): bigint {
  let count = text.length
  for (const { length } of text) if (length > 1) count--
  return BigInt(count)
}

/** Without the characters of a set at its ends. */
export function trim(text: string, characters: string, sides: Sides): string {
  const set = new Set(characters)
  const all = [...text]
  let from = 0
  let to = all.length
  if (sides !== 'end') while (from < to && set.has(all[from]!)) from++
  if (sides !== 'start') while (to > from && set.has(all[to - 1]!)) to--
  return all.slice(from, to).join('')
}

/** From a character on, counted from 1 and perhaps before the first; without a count to the end. */
export function substring(
  text: string,
  from: bigint,
  count: bigint | undefined,
  place: Place,
): string {
  const all = [...text]
  const start = from < 1n ? 0 : Math.min(Number(from) - 1, all.length)
  if (count === undefined) return all.slice(start).join('')
  if (count < 0n) throw place.error('negative substring length not allowed')
  const end = from + count
  if (end > MAX_INT) return all.slice(start).join('')
  return end < 1n ? '' : all.slice(start, Number(end) - 1).join('')
}

/** So many characters; negative: all but so many at the end. */
export function left(text: string, count: bigint): string {
  return [...text].slice(0, Number(count)).join('')
}

/** So many of the last characters; negative: all but so many at the start. */
export function right(text: string, count: bigint): string {
  if (count === 0n) return ''
  return [...text].slice(-Number(count)).join('')
}

export function replace(text: string, from: string, to: string): string {
  return from === '' ? text : text.split(from).join(to)
}

/** Where a part first begins, counted from 1; 0 if nowhere. */
export function indexOf(text: string, part: string): bigint {
  const at = text.indexOf(part)
  return at < 0 ? 0n : countCharacters(text.slice(0, at)) + 1n
}

/** concat: the texts of all that are not NULL. A boolean is t or f here. */
export function makeConcatenation(args: readonly Expression[], place: Place): Expression {
  const parts = args.map((arg) => resolve(arg, 'text'))
  return makeResult('text', parts, place, (row) =>
    parts.map(({ evaluate }) => outputOf(evaluate(row))).join(''),
  )
}

function outputOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return value instanceof Decimal ? value.toString() : String(value)
}
