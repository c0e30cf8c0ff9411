// One night of a fleet on this machine, with its worker in this process, and what it took. Main
// function: timeNight.

import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { awaitEnd, submit } from '../src/fleet/coordinate.ts'
import { type Fleet, openFleet } from '../src/fleet/fleet.ts'
import type { NightPlan } from '../src/fleet/plan.ts'
import { FleetWorker } from '../src/fleet/worker.ts'
import { type ProcessorTime, processorTime } from './processor-time.ts'

export const CORES = availableParallelism()
/** What starts a process that does jobs, behind Node's own name. */
export const COMMAND = [
  join(resolve(import.meta.dirname, '..'), 'bin/isobar.js'),
  'fleet',
  'job-process',
]
const LOOK_EVERY_MS = 500

/** Time by the clock and of processors, in seconds. */
export interface Spent extends ProcessorTime {
  readonly clock: number
}

export function now(): Spent {
  return { clock: performance.now() / 1000, ...processorTime() }
}

export function since(before: Spent): Spent {
  const after = now()
  return {
    clock: after.clock - before.clock,
    own: after.own - before.own,
    server: after.server - before.server,
    others: after.others - before.others,
  }
}

export const ofProcessors = ({ own, server, others }: ProcessorTime) => own + server + others

/** A fleet in a directory. */
export function openIn(data: string): Promise<Fleet> {
  const place = { queue: null, results: null, data, patienceMs: 60_000, environment: {} }
  return openFleet(place, 'make')
}

export interface NightTime {
  readonly spent: Spent
  readonly night: number
  /** The most memory of this process that was seen. */
  readonly megabytes: number
}

/** Planning, queueing and writing down included. */
export async function timeNight(
  fleet: Fleet,
  plan: NightPlan,
  files: string[],
): Promise<NightTime> {
  const { store, queue } = fleet
  const worked = { atOnce: CORES, leaseMs: 15_000, allowed: null, leavesRefused: false }
  let bytes = 0
  const look = () => {
    bytes = Math.max(bytes, process.memoryUsage.rss())
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  const started = now()
  const worker = new FleetWorker(store, queue, { ...worked, command: COMMAND })
  try {
    const { night } = await submit(store, queue, { plan, files, version: 'bench' })
    await awaitEnd(store, queue, night.id, new AbortController().signal, look)
    return { spent: since(started), night: night.id, megabytes: bytes / 1e6 }
  } finally {
    clearInterval(looking)
    await worker.close()
  }
}
