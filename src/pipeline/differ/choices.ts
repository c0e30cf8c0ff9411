// Counting through everything that can be chosen. Main function: choices.

/** All ways to choose a number below each of these; the array is the same each time. */
export function* choices(sizes: readonly number[]): Generator<readonly number[]> {
  if (sizes.includes(0)) return
  const chosen = sizes.map(() => 0)
  for (;;) {
    yield chosen
    let at = 0
    while (at < sizes.length && ++chosen[at]! === sizes[at]) chosen[at++] = 0
    if (at === sizes.length) return
  }
}
