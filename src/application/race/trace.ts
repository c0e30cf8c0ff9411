// A run as a partial order: its events, and which of them must come before which because they do
// not commute. Runs that differ only in the order of what commutes are one trace (Mazurkiewicz),
// and one schedule of it is enough. An event gets a number that stands for itself and everything
// that it depends on, so that two runs share an event exactly if it has the same number in both.
// Main functions: traceOf, reversals.

import { obtain, TupleMap } from '../../base/maps.ts'
import { conflict, type Footprint } from './footprint.ts'

/** One statement that was let go, with whatever came of it before the next was. */
export interface RunEvent {
  readonly actor: string
  /** Actors whose waiting statements were answered because of it. */
  readonly woke: readonly string[]
  /** What it and those it woke touched. */
  readonly footprint: Footprint
}

export interface Trace {
  readonly actors: readonly string[] // event -> who
  readonly index: readonly number[] // event -> which one of its actor's, from 0
  readonly ids: readonly number[] // event -> number of it with all that it depends on
  readonly members: ReadonlySet<number> // the same as a set
  readonly before: readonly (readonly number[])[] // event -> earlier events it conflicts with
  readonly isAfter: readonly Uint8Array[] // event -> earlier event -> 1 if it depends on that one
  readonly eventsOf: ReadonlyMap<string, readonly number[]> // actor -> its events in order
}

/** A way to begin a run that has not been tried: some events of another run, then one actor's. */
export interface Beginning {
  /** Who is let go, one after the other. */
  readonly schedule: readonly string[]
  /** The numbers of all events but the last. */
  readonly ids: ReadonlySet<number>
  /** Which statement of its actor the last one is. */
  readonly lastIndex: number
}

/** Gives the same number to the same thing with the same past, over many runs. */
export class EventNumbers {
  private readonly known = new TupleMap<(string | number)[], number>()

  of(actor: string, index: number, past: readonly number[]): number {
    const key = [actor, index, ...[...past].sort((a, b) => a - b)]
    return obtain(this.known, key, () => this.known.size)
  }
}

export function traceOf(events: readonly RunEvent[], numbers: EventNumbers): Trace {
  const index: number[] = []
  const ids: number[] = []
  const before: number[][] = []
  const isAfter: Uint8Array[] = []
  const eventsOf = new Map<string, number[]>()
  for (const [j, event] of events.entries()) {
    const own = obtain(eventsOf, event.actor, (): number[] => [])
    const count = own.push(j) - 1
    index.push(count)
    const past: number[] = []
    const after = new Uint8Array(j)
    for (let i = 0; i < j; i++) {
      if (!dependent(events[i]!, event)) continue
      past.push(i)
      after[i] = 1
      for (const [k, is] of isAfter[i]!.entries()) if (is) after[k] = 1
    }
    before.push(past)
    isAfter.push(after)
    const pastIds = past.map((i) => ids[i]!)
    ids.push(numbers.of(event.actor, count, pastIds))
  }
  const actors = events.map(({ actor }) => actor)
  return { actors, index, ids, members: new Set(ids), before, isAfter, eventsOf }
}

/** Two events that do not commute, or are of one actor. */
function dependent(a: RunEvent, b: RunEvent): boolean {
  if (a.actor === b.actor || a.woke.includes(b.actor) || b.woke.includes(a.actor)) return true
  if (a.woke.some((actor) => b.woke.includes(actor))) return true
  return conflict(a.footprint, b.footprint)
}

/**
 * For every two events next to each other in the partial order that could have come the other way
 * round, how a run begins in which they do (Flanagan and Godefroid's races, as Abdulla et al. have
 * them).
 */
export function reversals(trace: Trace, events: readonly RunEvent[]): Beginning[] {
  const found: Beginning[] = []
  for (const [j, event] of events.entries()) {
    for (const i of trace.before[j]!) {
      const first = events[i]!
      if (first.actor === event.actor || first.woke.includes(event.actor)) continue
      if (trace.before[j]!.some((k) => k > i && trace.isAfter[k]![i])) continue
      const schedule: string[] = []
      const ids = new Set<number>()
      for (let k = 0; k < j; k++) {
        if (k === i || (k > i && trace.isAfter[k]![i])) continue
        schedule.push(trace.actors[k]!)
        ids.add(trace.ids[k]!)
      }
      found.push({ schedule: [...schedule, event.actor], ids, lastIndex: trace.index[j]! })
    }
  }
  return found
}

/** Whether a run, in some order of what commutes, begins so. */
export function begins({ schedule, ids, lastIndex }: Beginning, trace: Trace): boolean {
  const last = trace.eventsOf.get(schedule.at(-1)!)?.[lastIndex]
  if (last === undefined) return false
  for (const id of ids) if (!trace.members.has(id)) return false
  return trace.before[last]!.every((i) => ids.has(trace.ids[i]!))
}

/** The same trace in the order that goes from one actor to another least often, or nearly so. */
export function calmest(trace: Trace): number[] {
  const left = new Set(trace.actors.keys())
  const order: number[] = []
  while (left.size > 0) {
    const last = order.length === 0 ? undefined : trace.actors[order.at(-1)!]
    const free = [...left].filter((j) => trace.before[j]!.every((i) => !left.has(i)))
    const next = free.find((j) => trace.actors[j] === last) ?? free[0]!
    left.delete(next)
    order.push(next)
  }
  return order
}
