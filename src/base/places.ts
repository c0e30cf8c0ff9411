// The places of numbers in ascending order, equal ones as they stand, NaN at the end: for columns
// of times, which are long, and mostly in order already. Long columns that are not go by digits of
// 16 bits, least first (a radix sort of the numbers' own bits), 4 passes at most. O(n). Main
// function: placesByValue.

/** Below it, comparing is as fast. */
const FEW = 2_048
const DIGITS = 4 // of 16 bits in a double, least first on every machine that Node runs on

export function placesByValue(values: Float64Array): Int32Array {
  const places = new Int32Array(values.length)
  let isSorted = true
  for (let i = 0; i < values.length; i++) {
    places[i] = i
    if (i > 0 && !(values[i]! >= values[i - 1]!)) isSorted = false // NaN is not, either
  }
  if (isSorted) return places
  if (values.length >= FEW) return byDigits(places, sortable(values))
  return places.sort((a, b) => compare(values[a]!, values[b]!) || a - b)
}

function compare(a: number, b: number): number {
  if (a < b) return -1
  return a > b ? 1 : Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}

/** The same order in unsigned bits: negative numbers turned round, positive ones above them. */
function sortable(values: Float64Array): Uint16Array {
  const bits = new Uint32Array(2 * values.length)
  new Float64Array(bits.buffer).set(values)
  for (let i = 0; i < bits.length; i += 2) {
    const high = bits[i + 1]!
    if (high === 0x8000_0000 && bits[i] === 0) continue // -0 equals 0
    const isNegative = high >= 0x8000_0000
    if (isNegative) bits[i] = ~bits[i]!
    bits[i + 1] = isNegative ? ~high : high + 0x8000_0000
  }
  return new Uint16Array(bits.buffer)
}

function byDigits(places: Int32Array, digits: Uint16Array): Int32Array {
  let from: Int32Array = places
  let to: Int32Array = new Int32Array(places.length)
  const next = new Int32Array(0x1_0000)
  for (let digit = 0; digit < DIGITS; digit++) {
    next.fill(0)
    for (let i = digit; i < digits.length; i += DIGITS) next[digits[i]!]!++
    if (next[digits[digit]!] === places.length) continue // all have the same
    for (let value = 0, start = 0; value < next.length; value++) {
      const count = next[value]!
      next[value] = start
      start += count
    }
    for (let i = 0; i < from.length; i++) {
      const place = from[i]!
      to[next[digits[DIGITS * place + digit]!]!++] = place
    }
    ;[from, to] = [to, from]
  }
  return from
}
