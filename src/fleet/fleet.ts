// A fleet: its queue and its results, wherever they are. By default both are in the embedded
// PostgreSQL of a directory, which the first to come starts. Main function: openFleet.

import { setTimeout as pause } from 'node:timers/promises'
import { nowMs } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { FleetConnection } from './connection.ts'
import { findServer, isServed, type RunningServer, startServer } from './data-directory.ts'
import { FleetQueue, isRedis } from './queue.ts'
import { FleetStore } from './store.ts'

const LOOK_EVERY_MS = 200

export interface FleetPlace {
  /** An address; null for the server of the directory. */
  readonly queue: string | null
  /** An address; null for where the queue is. */
  readonly results: string | null
  readonly data: string
  readonly patienceMs: number
  readonly environment: Record<string, string | undefined>
}

export interface Fleet {
  readonly store: FleetStore
  readonly queue: FleetQueue
  close(): Promise<void>
}

/**
 * Of the server of a directory: `make` it if it is not there, `start` it if it is there and does not
 * run, or `join` those who do so.
 */
export type Coming = 'make' | 'start' | 'join'

/** Throws UsageError, DatabaseError. */
export async function openFleet(place: FleetPlace, coming: Coming): Promise<Fleet> {
  const { environment, patienceMs } = place
  const isElsewhere = place.queue !== null && isRedis(place.queue)
  if (isElsewhere && place.results === null) {
    throw new UsageError('a queue in Redis needs --results postgres://…', 'Redis keeps no results')
  }
  if (place.results !== null && isRedis(place.results)) {
    throw new UsageError('results are in PostgreSQL', '--results postgres://…')
  }
  let server: RunningServer | null = null
  let store: FleetStore | null = null
  const close = async () => {
    await store?.close()
    await server?.stop()
  }
  try {
    const named = place.results ?? place.queue
    if (named === null && coming !== 'join' && !isServed(place.data)) {
      if (coming === 'start') findServer(place.data)
      server = await startServer(place.data)
    }
    const address = named ?? server?.address ?? (await awaitServer(place.data, patienceMs))
    store = await FleetStore.open(address, environment, patienceMs)
    const queue = await FleetQueue.open(
      place.queue !== null && isElsewhere
        ? { kind: 'redis', address: place.queue }
        : { kind: 'postgres', connection: await queueConnection(place, store) },
      environment,
      patienceMs,
    )
    return {
      ...{ store, queue },
      close: async () => {
        await queue.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The address of the server of a directory, which somebody else may be about to start. */
async function awaitServer(directory: string, patienceMs: number): Promise<string> {
  const end = nowMs() + patienceMs
  for (;;) {
    try {
      return findServer(directory)
    } catch (error) {
      if (nowMs() > end) throw error
      await pause(LOOK_EVERY_MS)
    }
  }
}

/** Of a queue in PostgreSQL: where the results are, unless it is in a server of its own. */
async function queueConnection(place: FleetPlace, store: FleetStore): Promise<FleetConnection> {
  if (place.queue === null || place.results === null) return store.connection
  const other = await FleetConnection.open(place.queue, place.environment, place.patienceMs)
  await other.close() // the queue has connections of its own
  return other
}
