// Times of transactions, exactly. A time is a decimal of any length, but is compared as a double:
// nearly all are told apart by one (every decimal of 15 digits, every integer up to 2^53, every
// double as programs print it). The few that lose digits (nanoseconds since 1970) keep their text;
// where two different times are nearest to one double, they and what follows are moved up to the
// next doubles, so that `<` on the columns is `<` on the times, and differences stay what they are
// but for the last digits.
//
// Cost: nothing for times that doubles tell apart. Main functions: readTime, TimeColumns.finish.

import { FloatColumn } from '../base/grow.ts'

/** How a text that stands for a time is kept. */
export interface Time {
  readonly value: number // the nearest double
  readonly text: string | null // the time, if the double, as it is printed, is not exactly it
}

const LONGEST = 400 // characters of a time
const EXPONENT = 400 // of its first digit, at most, in either direction
export const TIME_HINT = 'a time has at most 400 characters, and is 0 or between 1e-400 and 1e308'

/** The time that a decimal number stands for, null if it is too long, too large or too small. */
export function readTime(text: string): Time | null {
  if (text.length > LONGEST) return null
  const value = Number(text)
  if (text.length <= 15 && !/e/i.test(text)) return { value, text: null }
  if (text.length <= 20 && /^-?[1-9]\d*$/.test(text)) {
    return { value, text: String(value) === text ? null : text }
  }
  const decimal = parseDecimal(text)
  if (decimal === null || !Number.isFinite(value)) return null
  const isExact = sameDecimal(decimal, parseDecimal(String(value))!)
  return { value, text: isExact ? null : text.replace(/^(-?)0+(?=\d)/, '$1') }
}

/** mantissa · 10^exponent; 0 has the exponent 0, any other mantissa does not end in 0. */
export interface Decimal {
  readonly mantissa: string // with its sign
  readonly exponent: number
}

export function parseDecimal(text: string): Decimal | null {
  const [, sign, whole, fraction, power] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)!
  const digits = `${whole}${fraction ?? ''}`.replace(/^0+/, '')
  const mantissa = digits.replace(/0+$/, '')
  if (mantissa === '') return { mantissa: '0', exponent: 0 }
  const exponent = Number(power ?? 0) - (fraction ?? '').length + digits.length - mantissa.length
  if (Math.abs(exponent + mantissa.length) > EXPONENT) return null
  return { mantissa: `${sign}${mantissa}`, exponent }
}

function sameDecimal(a: Decimal, b: Decimal): boolean {
  return a.mantissa === b.mantissa && a.exponent === b.exponent
}

/** The times in their order, each as an integer of one common unit. */
function sortTimes(times: Iterable<string>): { text: string; units: bigint }[] {
  const decimals = Array.from(times, (text) => ({ text, ...parseDecimal(text)! }))
  const least = decimals.reduce((min, { exponent }) => Math.min(min, exponent), EXPONENT)
  const sorted = decimals.map(({ text, mantissa, exponent }) => ({
    text,
    units: BigInt(mantissa) * 10n ** BigInt(exponent - least),
  }))
  return sorted.sort((a, b) => (a.units < b.units ? -1 : a.units > b.units ? 1 : 0))
}

/** Starts and finishes while a history is built; NaN where a time is not known. */
export class TimeColumns {
  private start: FloatColumn | null = null
  private finishing: FloatColumn | null = null
  private readonly texts = new Map<number, string>() // slot -> a time that its double is not

  /** A transaction more, of which no times are known yet. */
  push(): void {
    this.start?.push(Number.NaN)
    this.finishing?.push(Number.NaN)
  }

  /** NaN if it is not known. */
  startOf(txn: number): number {
    return this.start?.data[txn] ?? Number.NaN
  }

  finishOf(txn: number): number {
    return this.finishing?.data[txn] ?? Number.NaN
  }

  /** @param text the time, if the double is not exactly it; see readTime */
  setStart(txn: number, time: number, txnCount: number, text: string | null = null): void {
    this.start ??= unknownTimes(txnCount)
    this.start.data[txn] = time
    this.setText(2 * txn, text)
  }

  setFinish(txn: number, time: number, txnCount: number, text: string | null = null): void {
    this.finishing ??= unknownTimes(txnCount)
    this.finishing.data[txn] = time
    this.setText(2 * txn + 1, text)
  }

  private setText(slot: number, text: string | null): void {
    if (text !== null) this.texts.set(slot, text)
    else if (this.texts.size > 0) this.texts.delete(slot)
  }

  /** The columns, ordered as the times are, and how each time is written; see History. */
  finish() {
    const columns = [this.start?.view() ?? null, this.finishing?.view() ?? null] as const
    const { texts } = this
    if (texts.size > 0) spread(columns, texts)
    const text = (column: Float64Array | null, slot: number): string | null => {
      const time = column?.[slot >> 1] ?? Number.NaN
      return Number.isNaN(time) ? null : (texts.get(slot) ?? String(time))
    }
    return {
      txnStartTime: columns[0],
      txnFinishTime: columns[1],
      startText: (txn: number) => text(columns[0], 2 * txn),
      finishText: (txn: number) => text(columns[1], 2 * txn + 1),
    }
  }
}

function unknownTimes(txnCount: number): FloatColumn {
  const column = new FloatColumn(txnCount)
  for (let txn = 0; txn < txnCount; txn++) column.push(Number.NaN)
  return column
}

type Columns = readonly [start: Float64Array | null, finish: Float64Array | null]

/** Gives different times different doubles, in their order. What is moved gets a text. */
export function spread(columns: Columns, texts: Map<number, string>): void {
  const nearest = new Map<number, Set<string>>() // double -> its times, if some are not exactly it
  const all: number[] = []
  forEachTime(columns, (slot, time) => {
    const text = texts.get(slot)
    if (text === undefined) return
    const known = nearest.get(time)
    if (known === undefined) nearest.set(time, new Set([text]))
    else known.add(text)
  })
  forEachTime(columns, (slot, time) => {
    if (!texts.has(slot)) nearest.get(time)?.add(String(time))
  })
  if (![...nearest.values()].some((times) => times.size > 1)) return
  forEachTime(columns, (_, time) => all.push(time))
  const moved = moveUp(Float64Array.from(all).sort(), nearest)
  forEachTime(columns, (slot, time) => {
    const text = texts.get(slot) ?? String(time)
    const place = moved.get(nearest.has(time) ? text : time)
    if (place === undefined || place === time) return
    texts.set(slot, text)
    columns[slot & 1]![slot >> 1] = place
  })
}

/** Text of a time, or double that no other time is nearest to -> the double it gets. */
function moveUp(sorted: Float64Array, nearest: ReadonlyMap<number, ReadonlySet<string>>) {
  const moved = new Map<string | number, number>()
  let last = Number.NEGATIVE_INFINITY
  for (let i = 0; i < sorted.length; i++) {
    const time = sorted[i]!
    if (i > 0 && sorted[i - 1] === time) continue
    const times = nearest.get(time)
    if (times === undefined) {
      last = time > last ? time : nextUp(last)
      moved.set(time, last)
      continue
    }
    let before: bigint | null = null
    for (const { text, units } of sortTimes(times)) {
      if (units !== before) last = time > last ? time : nextUp(last)
      before = units
      moved.set(text, last)
    }
  }
  return moved
}

function forEachTime(columns: Columns, visit: (slot: number, time: number) => void): void {
  for (const [which, column] of columns.entries()) {
    for (let txn = 0; column !== null && txn < column.length; txn++) {
      if (!Number.isNaN(column[txn]!)) visit(2 * txn + which, column[txn]!)
    }
  }
}

const DOUBLE = new Float64Array(1)
const BITS = new BigInt64Array(DOUBLE.buffer)

/** The smallest double above another. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  DOUBLE[0] = value
  BITS[0]! += value > 0 ? 1n : -1n
  return DOUBLE[0]
}
