// Times for small histories: every way in which transactions can follow one another or overlap,
// once each. Main function: timings.

export interface Interval {
  readonly start: number
  readonly finish: number
}

/** @param sessions how many transactions each has, in the order of the transactions */
export function timings(sessions: readonly number[]): readonly (readonly Interval[])[] {
  const name = sessions.join()
  let found = known.get(name)
  found ??= search(sessions)
  known.set(name, found)
  return found
}

const known = new Map<string, (readonly Interval[])[]>()

/**
 * Transactions start and finish one event at a time; of equal relations the first is kept. Among
 * starts that follow one another, and among finishes, the order says nothing: it is the numbers'.
 */
function search(sessions: readonly number[]): (readonly Interval[])[] {
  const count = sessions.reduce((sum, each) => sum + each, 0)
  // txn -> whether the one before it is of its session
  const isLater = sessions.flatMap((length) => Array.from({ length }, (_, i) => i > 0))
  const found = new Map<string, Interval[]>()
  const starts = new Array<number>(count).fill(-1)
  const finishes = new Array<number>(count).fill(-1)
  const visit = (now: number, last: number): void => {
    if (now === 2 * count) {
      const intervals = starts.map((start, txn) => ({ start, finish: finishes[txn]! }))
      const relation = intervals
        .flatMap(({ finish }) => intervals.map(({ start }) => (finish < start ? 1 : 0)))
        .join('')
      if (!found.has(relation)) found.set(relation, intervals)
      return
    }
    // `last` is the number, from 1, of who started just before; negative: of who finished.
    for (let txn = 0; txn < count; txn++) {
      if (starts[txn] === -1) {
        if (isLater[txn] && finishes[txn - 1] === -1) continue
        if (last > 0 && txn + 1 < last) continue
        starts[txn] = now
        visit(now + 1, txn + 1)
        starts[txn] = -1
      } else if (finishes[txn] === -1) {
        if (last < 0 && -(txn + 1) > last) continue
        finishes[txn] = now
        visit(now + 1, -(txn + 1))
        finishes[txn] = -1
      }
    }
  }
  visit(0, 0)
  // Those in which later sessions come first, which are those that write: so the first example
  // found is a stale read.
  return [...found.values()].toReversed()
}
