// Leaves out of a list whatever is not needed: runs of items, long ones first, then single ones
// (Zeller and Hildebrandt's ddmin, by complements). The caller tries each shorter list. When the
// budget runs out, what is left so far is enough, if not the least. Main function: minimise.

import { BudgetExceeded } from '../../base/errors.ts'

/**
 * @param tryKeeping the items that are enough among those given, all or fewer; null if there are
 *   none
 * @param smallest the length of the shortest runs that are tried
 * @param isSpent whether to leave it at what is left so far
 */
export function minimise<T>(
  items: readonly T[],
  tryKeeping: (items: readonly T[]) => readonly T[] | null,
  { smallest = 1, isSpent = () => false }: { smallest?: number; isSpent?: () => boolean } = {},
): readonly T[] {
  let left = items
  try {
    for (let size = Math.max(left.length >> 1, 1); size >= smallest; ) {
      let removed = false
      for (let from = 0; from < left.length; ) {
        if (isSpent()) return left
        const enough = tryKeeping([...left.slice(0, from), ...left.slice(from + size)])
        if (enough === null) {
          from += size
          continue
        }
        left = enough
        removed = true
      }
      // Where one item went, others may have become superfluous.
      if (size > 1) size = Math.min(size >> 1, Math.max(left.length >> 1, 1))
      else if (!removed) break
    }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return left
}
