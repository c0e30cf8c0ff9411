// The queue of a fleet: BullMQ's, in PostgreSQL or in Redis. It hands out bundles of jobs, takes
// back those of workers that died, and tries again what failed; what came of jobs is not its
// business (store.ts). Main class: FleetQueue.

import { setTimeout as pause } from 'node:timers/promises'
import type { Queue, Worker } from 'bullmq'
import { nowMs } from '../base/deadline.ts'
import { DatabaseError, UsageError } from '../base/errors.ts'
import { type Driver, loadDriver } from '../record/driver.ts'
import { parseRedisAddress } from '../record/redis/client.ts'
import type { FleetConnection } from './connection.ts'

const DRIVER: Driver = { name: 'bullmq', version: '6.7.0', least: '6.7' }
const QUEUE = 'isobar'
/** Beside the tables of anybody else's queues. */
const SCHEMA = 'isobar_queue'
/** Of what is in the queue. */
const BUNDLE_VERSION = 1
const AGAIN_AFTER_MS = 500
const GOODBYE_MS = 2000
/** A worker that is killed is not the fault of its jobs. */
const MOST_LOSSES = 10_000

/** Jobs that are handed out together. */
export interface Bundle {
  readonly version: number
  readonly night: number
  readonly numbers: readonly number[]
  /** How often a worker might not do all of it. */
  readonly refusals: number
}

/** A bundle that this worker may not do, and others perhaps: it goes to them, as if never tried. */
export class Refused extends Error {}

export interface BundleOptions {
  /** No two bundles have the same; one that is added again is not added. */
  readonly name: string
  readonly attempts: number
}

/** Does a bundle. Throws if it is to be tried again, Refused if by others. */
export type DoBundle = (bundle: Bundle, isLastTry: boolean) => Promise<void>

type Bull = typeof import('bullmq')

/** Where the queue is: in the PostgreSQL of the results, or in a Redis. */
export type QueuePlace =
  | { readonly kind: 'postgres'; readonly connection: FleetConnection }
  | { readonly kind: 'redis'; readonly address: string }

export class FleetQueue {
  /** Why the last connection broke. */
  private complaint: Error | null = null

  private constructor(
    private readonly bull: Bull,
    private readonly options: object,
    private readonly isPostgres: boolean,
    private readonly queue: Queue,
    private readonly patienceMs: number,
  ) {
    // It connects again by itself.
    queue.on('error', (error) => {
      this.complaint = error
    })
  }

  /** @param patienceMs how long the server may stay away. Throws UsageError, DatabaseError. */
  static async open(
    place: QueuePlace,
    environment: Record<string, string | undefined>,
    patienceMs: number,
  ): Promise<FleetQueue> {
    const bull = await loadDriver<Bull>(DRIVER)
    const isPostgres = place.kind === 'postgres'
    const connection = isPostgres
      ? { ...place.connection.config, schema: SCHEMA, migrate: true }
      : redisOptions(place.address, environment)
    const options = { connection }
    const queue = isPostgres
      ? new bull.Queue(QUEUE, options as never, bull.createPostgresBackend)
      : new bull.Queue(QUEUE, options as never)
    const made = new FleetQueue(bull, options, isPostgres, queue as unknown as Queue, patienceMs)
    try {
      await within(queue.waitUntilReady(), patienceMs)
      return made
    } catch (error) {
      await made.close()
      throw made.unusable(error)
    }
  }

  /** An answer, even if the server goes away meanwhile: what is asked does no harm when done twice. */
  private async ask<T>(question: () => Promise<T>): Promise<T> {
    const end = nowMs() + this.patienceMs
    for (;;) {
      try {
        return await within(question(), end - nowMs())
      } catch (error) {
        if (nowMs() >= end) throw this.unusable(error)
        await pause(AGAIN_AFTER_MS)
      }
    }
  }

  private unusable(error: unknown): DatabaseError {
    const { message } = error instanceof Silence ? (this.complaint ?? error) : (error as Error)
    return new DatabaseError(`the queue cannot be used: ${message}`, 'is its server running?')
  }

  async add(bundles: readonly (BundleOptions & { night: number; numbers: number[] })[]) {
    const queued = bundles.map(({ name, attempts, night, numbers }) => ({
      name: 'bundle',
      data: { version: BUNDLE_VERSION, night, numbers, refusals: 0 } satisfies Bundle,
      opts: {
        jobId: name,
        attempts,
        backoff: { type: 'fixed', delay: AGAIN_AFTER_MS },
        // What came of it is elsewhere.
        removeOnComplete: true,
        removeOnFail: true,
      },
    }))
    await this.ask(() => this.queue.addBulk(queued))
  }

  /** Bundles that wait, are being done, or will be tried again. */
  async countOpen(): Promise<{ waiting: number; active: number }> {
    const counts = await this.ask(() =>
      this.queue.getJobCounts('wait', 'active', 'delayed', 'prioritized'),
    )
    const { active = 0, ...others } = counts
    return { active, waiting: Object.values(others).reduce((sum, count) => sum + count, 0) }
  }

  /** Does bundles as they come. */
  work(doBundle: DoBundle, { atOnce, leaseMs, name, onTrouble }: WorkOptions): QueueWorker {
    const process: import('bullmq').Processor<Bundle> = async (job, token) => {
      const leave = async () => {
        await job.moveToDelayed(Math.round(performance.timeOrigin + nowMs() + leaseMs), token)
        throw new this.bull.DelayedError()
      }
      const { version } = job.data
      if (version > BUNDLE_VERSION) {
        onTrouble(newerQueue(version))
        await leave()
      }
      // What an older isobar has queued is queued again by whoever waits for the night.
      if (version < BUNDLE_VERSION) throw new this.bull.UnrecoverableError(`version ${version}`)
      try {
        await doBundle(job.data, job.attemptsMade + 1 >= (job.opts.attempts ?? 1))
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        await job.updateData({ ...job.data, refusals: job.data.refusals + 1 })
        await leave()
      }
    }
    const options = {
      ...this.options,
      ...{ concurrency: atOnce, name, maxStalledCount: MOST_LOSSES, runRetryDelay: AGAIN_AFTER_MS },
      ...{ lockDuration: leaseMs, stalledInterval: Math.ceil(leaseMs / 2), drainDelay: 1 },
    }
    const worker = this.isPostgres
      ? new this.bull.Worker(QUEUE, process, options as never, this.bull.createPostgresBackend)
      : new this.bull.Worker(QUEUE, process, options as never)
    worker.on('error', () => {}) // it connects again by itself
    return { close: () => sayGoodbye(worker as unknown as Goodbye) }
  }

  async close(): Promise<void> {
    await sayGoodbye(this.queue)
  }
}

function newerQueue(version: number): DatabaseError {
  return new DatabaseError(
    `the queue is of version ${version}, and this is ${BUNDLE_VERSION}`,
    'a newer isobar has filled it: use the same one here',
  )
}

/** Nothing was heard in time. */
class Silence extends Error {
  constructor() {
    super('it does not answer')
  }
}

/** Throws Silence. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence()), ms)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

export interface WorkOptions {
  readonly atOnce: number
  /** How long a worker may be silent before its bundles go to others. */
  readonly leaseMs: number
  readonly name: string
  /** Is told what keeps it from doing bundles. */
  readonly onTrouble: (error: DatabaseError) => void
}

/** What is used of a worker of the queue. */
export interface QueueWorker {
  /** Ends at once, in the middle of whatever it does. */
  close(): Promise<void>
}

type Goodbye = Pick<Worker, 'close' | 'disconnect'>

/** A server that is not there cannot be told, and is not waited for. */
async function sayGoodbye(client: Goodbye): Promise<void> {
  try {
    await within(client.close(true), GOODBYE_MS)
  } catch {
    await within(client.disconnect(), GOODBYE_MS).catch(() => {})
  }
}

function redisOptions(address: string, environment: Record<string, string | undefined>): object {
  const given = { environment, password: undefined }
  const { host, port, user, password, database, isEncrypted } = parseRedisAddress(address, given)
  return {
    ...{ host, port, username: user, password, db: database },
    ...(isEncrypted ? { tls: {} } : {}),
    maxRetriesPerRequest: null,
  }
}

/** Whether an address is one of Redis. Throws UsageError if it is of neither kind. */
export function isRedis(address: string): boolean {
  if (/^rediss?:\/\//.test(address)) return true
  if (/^postgres(ql)?:\/\//.test(address)) return false
  throw new UsageError('a queue is in PostgreSQL or in Redis', 'postgres://… or redis://…')
}
