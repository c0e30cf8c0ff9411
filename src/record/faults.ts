// Faults that a run can be asked to bring about from outside: connections cut around COMMIT, slow
// answers, a crashing server. What they do to the database is its own affair; the recorder has to
// come through them with a true history. (Faults of the simulated store are those of sim/.)

import { UsageError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'

export interface FaultPlan {
  /** Share of transactions whose connection is cut. */
  readonly killShare: number
  /** Range of the delay of each message; null for none. */
  readonly latencyMs: readonly [from: number, to: number] | null
  /** Time between two crashes of the server; null for none. */
  readonly restartEveryMs: number | null
  /** Transactions that stay open between two operations: their share, and for how long. */
  readonly pause: { readonly share: number; readonly ms: number } | null
}

export const NO_FAULTS: FaultPlan = {
  killShare: 0,
  latencyMs: null,
  restartEveryMs: null,
  pause: null,
}

const KNOWN =
  'there are kill-connection:5%, latency:10ms, latency:1-20ms, pause:10%:3s, restart-server:3s'
const RESTART_EVERY_MS = 3000
const KILL_SHARE = 0.05

/** Where a connection is cut, seen from the transaction. */
export type CutPoint =
  | 'work' // between two operations: COMMIT is never sent
  | 'before' // the client has sent COMMIT, the server gets nothing of it
  | 'torn' // the server gets half of it
  | 'during' // the server gets COMMIT, and nobody waits for the answer
  | 'after' // the server has answered, the client does not get it

const CUT_POINTS: readonly CutPoint[] = ['work', 'before', 'torn', 'during', 'after']

/** Parses faults as given on the command line, one or several separated by commas. */
export function parseFaultPlan(texts: readonly string[]): FaultPlan {
  let plan = NO_FAULTS
  for (const text of texts.flatMap((each) => each.split(','))) {
    const [name = '', amount, time] = text.trim().split(':')
    if (name === 'kill-connection') plan = { ...plan, killShare: parseShare(text, amount) }
    else if (name === 'latency') plan = { ...plan, latencyMs: parseRange(text, amount) }
    else if (name === 'restart-server') {
      plan = { ...plan, restartEveryMs: parseEvery(text, amount) }
    } else if (name === 'pause') {
      plan = { ...plan, pause: parsePause(text, amount, time) }
    } else throw new UsageError(`unknown fault "${text.trim()}"`, KNOWN)
  }
  return plan
}

/** The point at which this transaction's connection is to be cut, or null. */
export function drawCut(plan: FaultPlan, random: Random): CutPoint | null {
  return plan.killShare > 0 && random.chance(plan.killShare) ? random.pick(CUT_POINTS) : null
}

function parseShare(text: string, amount: string | undefined): number {
  if (amount === undefined) return KILL_SHARE
  const match = /^(\d+(?:\.\d+)?)%$/.exec(amount)
  const share = match ? Number(match[1]) / 100 : Number.NaN
  if (!(share > 0 && share <= 1)) throw badFault(text, 'kill-connection:5%')
  return share
}

function parseRange(text: string, amount = ''): [number, number] {
  const match = /^(?:(\d+)-)?(\d+)ms$/.exec(amount)
  const to = Number(match?.[2])
  const from = match?.[1] === undefined ? to : Number(match[1])
  if (!match || from > to || to > 60_000) throw badFault(text, 'latency:10ms or latency:1-20ms')
  return [from, to]
}

function parseEvery(text: string, amount: string | undefined): number {
  if (amount === undefined) return RESTART_EVERY_MS
  const match = /^(\d+(?:\.\d+)?)s$/.exec(amount)
  const everyMs = match ? Number(match[1]) * 1000 : Number.NaN
  if (!(everyMs >= 500)) throw badFault(text, 'restart-server:3s (not more often than every 0.5s)')
  return everyMs
}

/** Sessions that wait for longer are cut off (runner.ts). */
const LONGEST_PAUSE_S = 20

function parsePause(
  text: string,
  amount = '10%',
  time = '3s',
): { readonly share: number; readonly ms: number } {
  const share = Number(/^(\d+(?:\.\d+)?)%$/.exec(amount)?.[1]) / 100
  const seconds = Number(/^(\d+(?:\.\d+)?)s$/.exec(time)?.[1])
  if (share > 0 && share <= 1 && seconds > 0 && seconds <= LONGEST_PAUSE_S) {
    return { share, ms: seconds * 1000 }
  }
  throw badFault(text, `pause:10%:3s (no longer than ${LONGEST_PAUSE_S}s)`)
}

function badFault(text: string, example: string): UsageError {
  return new UsageError(`bad fault "${text.trim()}"`, `write it as ${example}`)
}
