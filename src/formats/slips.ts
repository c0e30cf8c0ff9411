// What a person may have meant by a name that is nearly a known one. Main function: findMeant.

/** The one of `names` that `name` is a slip of, or null. */
export function findMeant(
  name: string,
  names: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): string | null {
  const lower = name.toLowerCase()
  if (Object.hasOwn(aliases, lower)) return aliases[lower]!
  for (const known of names) {
    if (known.length < 3) {
      if (lower === known) return known
    } else if (
      lower.length <= known.length + 2 &&
      distance(lower, known) <= (known.length > 4 ? 2 : 1)
    ) {
      return known
    }
  }
  return null
}

/** Edit distance (Levenshtein) of two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
