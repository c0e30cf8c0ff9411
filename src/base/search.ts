// Searching what is in order, by halves. Main functions: lowerBound, firstWhere.

/** The first place in [from, to) whose number is not below the one given; `to` if there is none. */
export function lowerBound(
  ascending: Int32Array | Float64Array,
  number: number,
  from = 0,
  to = ascending.length,
): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The first place in [from, to) where it holds, as it then does at all behind it; `to` if there is
 * none. Where numbers in a column are sought that often that a call counts, take lowerBound.
 */
export function firstWhere(from: number, to: number, holds: (place: number) => boolean): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
