// Faults that a run can be asked to bring about from outside: connections cut around COMMIT, slow
// answers, transactions that stay open, and events that come to all at once (trouble.ts). What they
// do to the database is its own affair; the recorder has to come through them with a true history.
// (Faults of the simulated store are those of sim/.)

import { UsageError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import { findMeant } from '../base/slips.ts'

export interface FaultPlan {
  /** Share of transactions whose connection is cut. */
  readonly killShare: number
  /** Range of the delay of each message; null for none. */
  readonly latencyMs: readonly [from: number, to: number] | null
  /** What comes to all sessions at once, now and then or at its time. */
  readonly events: readonly PlannedEvent[]
  /** Transactions that stay open between two operations: their share, and for how long. */
  readonly pause: { readonly share: number; readonly ms: number } | null
}

/** Something that happens beside the transactions. */
export type Event =
  | { readonly kind: 'restart' } // the server crashes, and recovers
  | { readonly kind: 'kill' } // all its processes are killed, and it is started again
  | { readonly kind: 'stop'; readonly ms: number } // it does nothing for so long
  | { readonly kind: 'partition'; readonly ms: number } // replicas hear nothing for so long
  | { readonly kind: 'storm'; readonly connections: number } // so many connect at once
  | { readonly kind: 'clock'; readonly aheadMs: readonly number[] } // its clock is set, in turn

export type EventKind = Event['kind']

export interface PlannedEvent {
  readonly event: Event
  /** When it comes first, since the beginning. */
  readonly firstMs: number
  /** How long after its end it comes again; null for never. */
  readonly everyMs: number | null
}

export const NO_FAULTS: FaultPlan = { killShare: 0, latencyMs: null, events: [], pause: null }

/** For how long nodes of a cluster may hear nothing of each other. */
export function longestPartitionMs({ events }: FaultPlan): number {
  return Math.max(0, ...events.map(({ event }) => (event.kind === 'partition' ? event.ms : 0)))
}

/** Every fault, as it is written. */
export const FAULT_FORMS = [
  'kill-connection:5%',
  'latency:1-20ms',
  'pause:10%:3s',
  'restart-server:3s',
  'kill-server:5s',
  'stop-server:3s',
  'partition:5s',
  'connection-storm:100',
  'clock:±2s',
] as const

const KNOWN = `there are ${FAULT_FORMS.join(', ')}`
const STORM_EVERY_MS = 2000
const STORM_CONNECTIONS = 100
const CLOCK_EVERY_MS = 1000

/** Where a connection is cut, seen from the transaction. */
export type CutPoint =
  | 'work' // between two operations: COMMIT is never sent
  | 'before' // the client has sent COMMIT, the server gets nothing of it
  | 'torn' // the server gets half of it
  | 'during' // the server gets COMMIT, and nobody waits for the answer
  | 'after' // the server has answered, the client does not get it

const CUT_WORDS: Readonly<Record<CutPoint, string>> = {
  work: 'between two operations',
  before: 'before COMMIT arrives',
  torn: 'in the middle of COMMIT',
  during: 'while COMMIT is carried out',
  after: 'before the answer to COMMIT arrives',
}
const CUT_POINTS = Object.keys(CUT_WORDS) as CutPoint[]

/** What reports say of a connection that is cut there, or, without a point, between operations. */
export function cutWords(point: CutPoint | null): string {
  return `a connection is cut ${CUT_WORDS[point ?? 'work']}`
}

/** What reports say of slow messages while they last. */
export function latencyWords([from, to]: readonly [number, number]): string {
  return `from here on every message takes ${from === to ? to : `${from} to ${to}`} ms longer`
}

/** Parses faults as given on the command line, one or several separated by commas. */
export function parseFaultPlan(texts: readonly string[]): FaultPlan {
  let plan = NO_FAULTS
  for (const text of texts.flatMap((each) => each.split(','))) {
    const [name = '', amount, time] = text.trim().split(':')
    if (name === 'kill-connection') plan = { ...plan, killShare: parseShare(text, amount) }
    else if (name === 'latency') plan = { ...plan, latencyMs: parseRange(text, amount) }
    else if (name === 'pause') plan = { ...plan, pause: parsePause(text, amount, time) }
    else {
      const planned = parsePlanned(text.trim())
      if (planned === null) throw refusal(name, text)
      plan = { ...plan, events: [...plan.events, planned] }
    }
  }
  return plan
}

/** Faults that come to all at once; null if it is none of them. Throws UsageError. */
export function parsePlanned(text: string): PlannedEvent | null {
  const [name = '', amount] = text.split(':')
  const every = (example: string) => parseSeconds(text, amount, example)
  if (name === 'restart-server') return again({ kind: 'restart' }, every('restart-server:3s'))
  if (name === 'kill-server') return again({ kind: 'kill' }, every('kill-server:5s'))
  if (name === 'stop-server') return lasting('stop', every('stop-server:3s'))
  if (name === 'partition') return lasting('partition', every('partition:5s'))
  if (name === 'connection-storm') {
    return again({ kind: 'storm', connections: parseCount(text, amount) }, STORM_EVERY_MS)
  }
  if (name !== 'clock') return null
  return again({ kind: 'clock', aheadMs: parseAhead(text, amount) }, CLOCK_EVERY_MS)
}

const lasting = (kind: 'stop' | 'partition', ms: number) => again({ kind, ms }, ms)

function again(event: Event, everyMs: number): PlannedEvent {
  return { event, firstMs: everyMs, everyMs }
}

function refusal(name: string, text: string): UsageError {
  const names = FAULT_FORMS.map((form) => form.split(':')[0]!)
  const meant = findMeant(name, names)
  const hint = meant === null ? KNOWN : `did you mean ${meant}? ${KNOWN}`
  return new UsageError(`unknown fault "${text.trim()}"`, hint)
}

/** `±2s` (or `2s`): ahead, then behind; `+2s`, `-2s`: one of them. */
function parseAhead(text: string, amount = '±2s'): number[] {
  const [, sign = '', digits] = /^([±+-]?)(\d+(?:\.\d+)?)s$/.exec(amount) ?? []
  const ms = Number(digits) * 1000
  if (!(ms > 0 && ms <= 3_600_000)) throw badFault(text, 'clock:±2s, clock:+2s or clock:-2s')
  if (sign === '+') return [ms]
  return sign === '-' ? [-ms] : [ms, -ms]
}

function parseCount(text: string, amount = String(STORM_CONNECTIONS)): number {
  const count = Number(amount)
  if (Number.isInteger(count) && count > 0 && count <= 10_000) return count
  throw badFault(text, 'connection-storm:100')
}

/** The point at which this transaction's connection is to be cut, or null. */
export function drawCut(plan: FaultPlan, random: Random): CutPoint | null {
  return plan.killShare > 0 && random.chance(plan.killShare) ? random.pick(CUT_POINTS) : null
}

function parseShare(text: string, amount = '5%'): number {
  const share = shareOf(amount)
  if (share > 0 && share <= 1) return share
  throw badFault(text, 'kill-connection:5%')
}

/** `5%`; NaN if it is none. */
function shareOf(amount: string): number {
  return Number(/^(\d+(?:\.\d+)?)%$/.exec(amount)?.[1]) / 100
}

/** `3s`; NaN if it is none. */
function secondsOf(amount: string): number {
  return Number(/^(\d+(?:\.\d+)?)s$/.exec(amount)?.[1])
}

function parseRange(text: string, amount = ''): [number, number] {
  const match = /^(?:(\d+)-)?(\d+)ms$/.exec(amount)
  const to = Number(match?.[2])
  const from = match?.[1] === undefined ? to : Number(match[1])
  if (!match || from > to || to > 60_000) throw badFault(text, 'latency:10ms or latency:1-20ms')
  return [from, to]
}

/** @param example how it is written, with the time that is meant if none is given */
function parseSeconds(text: string, amount: string | undefined, example: string): number {
  const seconds = secondsOf(amount ?? example.split(':')[1]!)
  if (seconds >= 0.5 && seconds <= LONGEST_S) return seconds * 1000
  throw badFault(text, `${example} (from 0.5s to ${LONGEST_S}s)`)
}

/** Sessions that wait for longer are cut off (runner.ts). */
const LONGEST_S = 20

function parsePause(text: string, amount = '10%', time = '3s'): NonNullable<FaultPlan['pause']> {
  const [share, seconds] = [shareOf(amount), secondsOf(time)]
  if (share > 0 && share <= 1 && seconds > 0 && seconds <= LONGEST_S) {
    return { share, ms: seconds * 1000 }
  }
  throw badFault(text, `pause:10%:3s (no longer than ${LONGEST_S}s)`)
}

function badFault(text: string, example: string): UsageError {
  return new UsageError(`bad fault "${text.trim()}"`, `write it as ${example}`)
}
