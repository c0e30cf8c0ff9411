// Which schedules to run first: those that show the classic anomalies, told from what each actor
// did when it ran alone. Most of them need all reads before any write (lost update, write skew, two
// who find nothing and both insert), which is what `eager` does by itself; the rest need one actor
// to run between two statements of another (fractured and non-repeatable reads). Main functions:
// predict, follow.

import { addAll, type Rows } from './footprint.ts'
import type { Choose, Ready } from './play.ts'
import type { RunEvent } from './trace.ts'

/** Lets everybody read before anybody writes, and write before anybody commits. */
function eager(ready: readonly Ready[]): string {
  const best = ready.reduce((a, b) => (compare(b, a) < 0 ? b : a))
  return best.actor
}

/** Follows a schedule; where it ends or cannot be followed, `eager`. */
export function follow(schedule: readonly string[]): Choose {
  return (ready, turn) => {
    const wanted = schedule[turn]
    return ready.some(({ actor }) => actor === wanted) ? wanted! : eager(ready)
  }
}

const RANKS = {
  begin: 0,
  set: 0,
  savepoint: 0,
  read: 1,
  other: 2,
  write: 2,
  commit: 3,
  rollback: 3,
}

function compare(a: Ready, b: Ready): number {
  return RANKS[a.step.kind] - RANKS[b.step.kind] || a.count - b.count
}

/** Actor -> what it did alone. */
export function predict(alone: ReadonlyMap<string, readonly RunEvent[]>): string[][] {
  const schedules: string[][] = [[]]
  for (const [a, events] of alone) {
    for (const [b, others] of alone) {
      if (a === b) continue
      const written = new Map<string, Rows>()
      for (const { footprint } of others) addAll(written, footprint.writes)
      const all = others.map(() => b)
      for (const [i, { footprint }] of events.slice(0, -1).entries()) {
        const isTold = [...footprint.reads.keys()].some((table) => written.has(table))
        if (!isTold && !footprint.isUnknown) continue
        schedules.push([...events.slice(0, i + 1).map(() => a), ...all])
      }
    }
  }
  return schedules
}
