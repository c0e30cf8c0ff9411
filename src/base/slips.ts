// What a person may have meant by a name that is nearly a known one. Main functions: findMeant,
// hintFor.

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
      if (lower === known.toLowerCase()) return known
    } else if (
      lower.length <= known.length + 2 &&
      distance(lower, known.toLowerCase()) <= (known.length > 4 ? 2 : 1)
    ) {
      return known
    }
  }
  return null
}

/** What is said of an unknown word: the one that was meant, and all there are. */
export function hintFor(word: string, words: readonly string[]): string {
  const lower = word.toLowerCase()
  const begun =
    lower.length < 3 ? undefined : words.find((known) => known.toLowerCase().startsWith(lower))
  const meant = begun ?? findMeant(word, words)
  const known = `there are ${words.join(', ')}`
  return meant === null ? known : `did you mean ${meant}? ${known}`
}

/** Edit distance of two short words, where two letters that changed places are one slip. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? before[j - 2]! + 1
          : Number.POSITIVE_INFINITY
      next.push(Math.min(change, swap, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
