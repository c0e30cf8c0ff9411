// The digits of whole numbers, written straight into bytes. Main functions: isWhole, writeDigits.

/** Numbers below this have digits that are computed without fractions. */
const SMALL_END = 2 ** 31
/** Of the largest whole number that is exact. */
export const MOST_DIGITS = 16

/** Whether a number has digits and nothing else. */
export function isWhole(value: number): boolean {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value
}

/** Writes a number that is whole where there is room for so many digits; returns where they end. */
export function writeDigits(bytes: Uint8Array, start: number, value: number): number {
  let end = start + 1
  for (let power = 10; end < start + MOST_DIGITS && power <= value; power *= 10) end++
  let at = end
  let rest = value
  while (rest >= SMALL_END) {
    const tenth = Math.floor(rest / 10)
    bytes[--at] = 0x30 + (rest - 10 * tenth)
    rest = tenth
  }
  while (at > start) {
    const tenth = (rest / 10) | 0
    bytes[--at] = 0x30 + (rest - 10 * tenth)
    rest = tenth
  }
  return end
}
