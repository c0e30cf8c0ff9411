// A worker: takes bundles of jobs from the queue, has them done by processes of their own, and
// writes down what came of each. It runs no target that it was not told it may. Main class:
// FleetWorker.

import { hostname } from 'node:os'
import { nowMs } from '../base/deadline.ts'
import { resolveTarget, variableOf } from './job.ts'
import { JobPool } from './job-pool.ts'
import { type Bundle, type FleetQueue, type QueueWorker, Refused } from './queue.ts'
import { failure, type JobResult } from './result.ts'
import type { FleetStore, Night, OpenJob } from './store.ts'

export interface WorkerOptions {
  /** How many jobs are done at once. */
  readonly atOnce: number
  /** How long it may be silent before others get its jobs. */
  readonly leaseMs: number
  /** Targets that it may run, * for anything in them; null: all. */
  readonly allowed: readonly string[] | null
  /** Whether jobs that it may not do are left to others, for a while; else they have failed. */
  readonly leavesRefused: boolean
  /** What starts a process that does jobs, behind Node's own name. */
  readonly command: readonly string[]
}

/** Results are written down at least this often, so that little is done twice. */
const WRITE_EVERY_MS = 2000
/** After so many refusals, a lease apart each, nobody is expected any more who may do a job. */
const MOST_REFUSALS = 40

export class FleetWorker {
  private readonly pool: JobPool
  private readonly worker: QueueWorker
  private readonly name = `${hostname()}:${process.pid}`
  private isEnding = false
  /** What keeps it from doing anything. */
  private readonly trouble: Promise<never>

  constructor(
    private readonly store: FleetStore,
    queue: FleetQueue,
    private readonly options: WorkerOptions,
  ) {
    const { atOnce, leaseMs, command } = options
    let onTrouble: (error: Error) => void = () => {}
    this.trouble = new Promise((_, reject) => {
      onTrouble = reject
    })
    this.trouble.catch(() => {}) // if nobody asks
    this.pool = new JobPool(atOnce, command)
    const doBundle = (bundle: Bundle, isLastTry: boolean) => this.do(bundle, isLastTry)
    // One more than are done at once: the next one is at hand when a process is free.
    const { name } = this
    this.worker = queue.work(doBundle, { atOnce: atOnce + 1, leaseMs, name, onTrouble })
  }

  private async do(bundle: Bundle, isLastTry: boolean): Promise<void> {
    const { night: id, numbers, refusals } = bundle
    const leavesRefused = this.options.leavesRefused && refusals < MOST_REFUSALS
    const night = await this.store.findNight(id)
    if (night === null || night.state === 'cancelled') return
    let results: [number, JobResult][] = []
    let written = nowMs()
    let unfinished: Error | null = null
    const write = async () => {
      await this.store.addResults(id, this.name, results)
      results = []
      written = nowMs()
    }
    for (const job of await this.store.takeOpen(id, numbers)) {
      const refusal = job.spec.kind === 'run' ? this.refuse(job.spec.target) : null
      const result = refusal === null ? await this.perform(job, night) : failure('plan', refusal, 0)
      // What was cut off by our own end is no result. To fail would use up one of its tries, so
      // nothing is said: the lease runs out, and the queue hands it to somebody else.
      if (this.isEnding) await new Promise(() => {})
      if (refusal !== null && leavesRefused) unfinished ??= new Refused(refusal)
      else if (isWorthATry(result) && !isLastTry) unfinished = new Error(result.reason ?? '')
      else results.push([job.number, result])
      if (nowMs() - written > WRITE_EVERY_MS) await write()
    }
    await write()
    await this.store.endIfDone(id)
    if (unfinished !== null) throw unfinished
  }

  private perform({ spec, bytes }: OpenJob, { settings }: Night): Promise<JobResult> {
    const { budgetMs, keep } = settings
    return this.pool.run({ job: spec, bytes, budgetMs, keep }, settings)
  }

  /** Why a target may not be run here; null if it may. */
  private refuse(target: string): string | null {
    const { allowed } = this.options
    if (allowed === null || isAllowed(target, allowed)) return null
    const variable = variableOf(target)
    try {
      // What the operator of this machine put into a variable may be allowed by what it holds.
      if (variable !== null && isAllowed(resolveTarget(target, process.env), allowed)) return null
    } catch {
      return `${variable} is not set on the worker ${this.name}`
    }
    return `the worker ${this.name} may not run ${target}: start it with --allow`
  }

  /** What comes of something, unless the worker cannot go on before. Throws DatabaseError. */
  during<T>(something: Promise<T>): Promise<T> {
    return Promise.race([something, this.trouble])
  }

  /** Ends at once; what is being done is done again by others. */
  async close(): Promise<void> {
    this.isEnding = true
    this.pool.close()
    await this.worker.close()
  }
}

/** Machines and databases may do better the next time. */
function isWorthATry({ outcome, blame }: JobResult): boolean {
  return outcome === 'failed' && (blame === 'machine' || blame === 'database')
}

/** Whether one of the patterns matches all of the target. */
export function isAllowed(target: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`, 's').test(target)
  })
}
