// Which of some numbers can be part of a sum. Main function: findParts.

/** What is known of a number: it is part of every such sum, of none, or of some. */
export const IN = 1
const OUT = 0
export const OPEN = 2

/** Steps that are left for finding out; beyond them everything is open. */
export interface Effort {
  left: number
}

/**
 * Of each positive number whether it is part of those that add up to the total; null if none do.
 * Sums are followed from both ends: what the first numbers can add up to, and from where the total
 * is still reached.
 */
export function findParts(
  numbers: ArrayLike<number>,
  total: number,
  effort: Effort,
): Uint8Array | null {
  const count = numbers.length
  const parts = new Uint8Array(count)
  let [all, areEqual] = [0, true]
  for (let i = 0; i < count; i++) {
    all += numbers[i]!
    if (numbers[i] !== numbers[0]) areEqual = false
  }
  if (total < 0 || total > all) return null
  if (total === 0) return parts
  if (total === all) return parts.fill(IN)
  if (areEqual) return total % numbers[0]! === 0 ? parts.fill(OPEN) : null
  const sums = reachable(numbers, total, effort)
  if (sums === null) return parts.fill(OPEN)
  if (!sums[count]!.has(total)) return null
  let good = new Set([total]) // sums of the first numbers from which the total is reached
  for (let i = count - 1; i >= 0; i--) {
    const before = new Set<number>()
    let [within, without] = [false, false]
    for (const sum of sums[i]!) {
      const [isWithin, isWithout] = [good.has(sum + numbers[i]!), good.has(sum)]
      if (isWithin || isWithout) before.add(sum)
      within ||= isWithin
      without ||= isWithout
    }
    parts[i] = within && without ? OPEN : within ? IN : OUT
    good = before
  }
  return parts
}

/** count -> what so many of the numbers, the first ones, can add up to; null: too much to find. */
function reachable(numbers: ArrayLike<number>, total: number, effort: Effort) {
  const sums: Set<number>[] = [new Set([0])]
  for (let i = 0; i < numbers.length; i++) {
    const next = new Set(sums[i]!)
    effort.left -= sums[i]!.size
    if (effort.left < 0) return null
    for (const sum of sums[i]!) if (sum + numbers[i]! <= total) next.add(sum + numbers[i]!)
    sums.push(next)
  }
  return sums
}
