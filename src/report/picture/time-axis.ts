// Times as the pictures show them: since the first instant in them, in a unit that a person reads,
// where the history says in which unit it counts; else as the history has them. Main functions:
// timeTexts, tellAxis.

import type { TimeUnit } from '../../history/history.ts'
import type { Figure } from './figure.ts'

const SECONDS: Record<TimeUnit, number> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 }
const READABLE: [unit: string, seconds: number][] = [
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9],
]

/** The unit in which a length of time has few digits before the point, but some. */
function readable(length: number, unit: TimeUnit): [unit: string, seconds: number] {
  const seconds = length * SECONDS[unit]
  return READABLE.find(([, size]) => seconds >= size) ?? READABLE.at(-1)!
}

/** `12.3 ms`. */
export function durationText(length: number, unit: TimeUnit | null): string {
  if (unit === null) return String(Number(length.toPrecision(12)))
  if (length === 0) return '0'
  const [word, size] = readable(length, unit)
  return `${Number(((length * SECONDS[unit]) / size).toPrecision(4))} ${word}`
}

/** A text for each instant, the earliest first. */
export function timeTexts(instants: readonly number[], unit: TimeUnit | null): string[] {
  const [first = 0] = instants
  if (unit === null) return instants.map(String)
  const [word, size] = readable((instants.at(-1) ?? first) - first, unit)
  return instants.map((instant) => {
    const since = ((instant - first) * SECONDS[unit]) / size
    return `${Number(since.toFixed(3))} ${word}`
  })
}

/** What goes from left to right. */
export function tellAxis({ timed, unit }: Figure): string {
  if (!timed) return 'left to right: order within a session, and reads after what they read'
  const since = unit === null ? 'as the history counts it' : 'since the first start shown'
  return `left to right: time, ${since}; who overlaps whom is exact, distances are not to scale`
}
