// Entries of a table that is larger than the cache are waited for one after another where what is
// done with one decides, by a branch that nobody can foretell, what is asked for next. Asked for
// together beforehand, they are waited for together. Main function: touch.

/** So many operations ahead: what they ask for still lies in the cache when they come. */
export const TOUCHED_OPS = 1024

/**
 * Loads the entries table[at · stride] for each `at` of some places.
 * @returns what keeps the compiler from leaving it out; to be stored somewhere
 */
export function touch(
  table: Int32Array,
  stride: number,
  places: Int32Array,
  from: number,
  to: number,
): number {
  let all = 0
  for (let i = from; i < to; i++) all |= table[places[i]! * stride]!
  return all
}
