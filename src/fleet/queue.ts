// The queue of a fleet: BullMQ's, in PostgreSQL or in Redis. It hands out bundles of jobs, takes
// back those of workers that died, and tries again what failed; what came of jobs is not its
// business (store.ts). Main class: FleetQueue.

import type { Queue, Worker } from 'bullmq'
import { DatabaseError, UsageError } from '../base/errors.ts'
import { type Driver, loadDriver } from '../record/driver.ts'
import { parseRedisAddress } from '../record/redis/client.ts'
import type { FleetConnection } from './connection.ts'

const DRIVER: Driver = { name: 'bullmq', version: '6.7.0' }
const QUEUE = 'isobar'
/** Beside the tables of anybody else's queues. */
const SCHEMA = 'isobar_queue'
/** Of what is in the queue. */
const BUNDLE_VERSION = 1
const AGAIN_AFTER_MS = 500
/** A worker that is killed is not the fault of its jobs. */
const MOST_LOSSES = 10_000

/** Jobs that are handed out together. */
export interface Bundle {
  readonly version: number
  readonly night: number
  readonly numbers: readonly number[]
}

export interface BundleOptions {
  /** No two bundles have the same; one that is added again is not added. */
  readonly name: string
  readonly attempts: number
}

/** Does a bundle. Throws if it is to be tried again. */
export type DoBundle = (bundle: Bundle, isLastTry: boolean) => Promise<void>

type Bull = typeof import('bullmq')

/** Where the queue is: in the PostgreSQL of the results, or in a Redis. */
export type QueuePlace =
  | { readonly kind: 'postgres'; readonly connection: FleetConnection }
  | { readonly kind: 'redis'; readonly address: string }

export class FleetQueue {
  private constructor(
    private readonly bull: Bull,
    private readonly options: object,
    private readonly isPostgres: boolean,
    private readonly queue: Queue,
  ) {}

  /** Throws UsageError, DatabaseError. */
  static async open(
    place: QueuePlace,
    environment: Record<string, string | undefined>,
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
    queue.on('error', () => {}) // it connects again by itself
    try {
      await queue.waitUntilReady()
    } catch (error) {
      await queue.close().catch(() => {})
      throw new DatabaseError(`the queue cannot be used: ${(error as Error).message}`)
    }
    return new FleetQueue(bull, options, isPostgres, queue as unknown as Queue)
  }

  async add(bundles: readonly (BundleOptions & { night: number; numbers: number[] })[]) {
    await this.queue.addBulk(
      bundles.map(({ name, attempts, night, numbers }) => ({
        name: 'bundle',
        data: { version: BUNDLE_VERSION, night, numbers } satisfies Bundle,
        opts: {
          jobId: name,
          attempts,
          backoff: { type: 'fixed', delay: AGAIN_AFTER_MS },
          // What came of it is elsewhere.
          removeOnComplete: true,
          removeOnFail: true,
        },
      })),
    )
  }

  /** Bundles that wait, are being done, or will be tried again. */
  async countOpen(): Promise<{ waiting: number; active: number }> {
    const counts = await this.queue.getJobCounts('wait', 'active', 'delayed', 'prioritized')
    const { active = 0, ...others } = counts
    return { active, waiting: Object.values(others).reduce((sum, count) => sum + count, 0) }
  }

  /** Throws away what nobody has begun. */
  async drain(): Promise<void> {
    await this.queue.drain(true)
  }

  /**
   * Does bundles as they come.
   * @param leaseMs how long a worker may be silent before its bundles go to others
   */
  work(doBundle: DoBundle, atOnce: number, leaseMs: number, name: string): QueueWorker {
    const process: import('bullmq').Processor<Bundle> = async (job) => {
      if (job.data.version !== BUNDLE_VERSION) {
        throw new this.bull.UnrecoverableError(`a bundle of version ${job.data.version}`)
      }
      await doBundle(job.data, job.attemptsMade + 1 >= (job.opts.attempts ?? 1))
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
    return worker as unknown as QueueWorker
  }

  async close(): Promise<void> {
    await this.queue.close().catch(() => {})
  }
}

/** What is used of a worker of the queue. */
export interface QueueWorker extends Pick<Worker, 'close'> {}

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
