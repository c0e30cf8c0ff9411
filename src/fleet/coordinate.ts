// From a plan to a night in the queue, and on to its end. A night that was interrupted goes on
// where it was: its jobs are made in the same order again, and those that have a result are left
// out. Main functions: submit, awaitEnd, queueOpen.

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { nowMs } from '../base/deadline.ts'
import { InputError } from '../base/errors.ts'
import type { FileJob, Job } from './job.ts'
import { Looks } from './looks.ts'
import { type NightPlan, runJobsOf } from './plan.ts'
import type { FleetQueue } from './queue.ts'
import { spread } from './spread.ts'
import type { Counts, FleetStore, Night, Waiting } from './store.ts'

/** Jobs that are written down at once. */
const CHUNK = 500
/** Bytes of histories that are written down at once. */
const CHUNK_BYTES = 8_000_000
const MAX_FILE_BYTES = 256_000_000
/** Bundles that are queued at once. */
const MANY_BUNDLES = 200

/** What fits into a bundle: small jobs share the cost of the queue. */
const MOST_WEIGHT = 20
/** Bundles that a night has at least, so that there is something for everybody. */
const LEAST_BUNDLES = 64
const BYTES_OF_A_SMALL_JOB = 50_000

/** A queue that has had nothing left for so long has lost what is missing: it is queued again. */
const IDLE_MS = 3000

export interface Submission {
  readonly plan: NightPlan
  /** The files that the plan's histories stand for, as they are named. */
  readonly files: readonly string[]
  readonly version: string
}

/** Queues a night, or goes on with one of the same plan that is not over. */
export async function submit(
  store: FleetStore,
  queue: FleetQueue,
  { plan, files, version }: Submission,
): Promise<{ night: Night; isContinued: boolean }> {
  const hash = hashOf(plan, files)
  const last = await store.findOpen(hash)
  if (last !== null) await store.endIfDone(last.id)
  const open = await store.findOpen(hash)
  const night = open ?? (await store.makeNight(plan, hash, version))
  if (night.state === 'filling') {
    const jobs = await fill(store, night.id, plan, files)
    await queueOpen(store, queue, { ...night, jobs }, 0)
    await store.endFilling(night.id, jobs)
    await store.endIfDone(night.id) // workers were at it already
  }
  return { night: (await store.findNight(night.id))!, isContinued: open !== null }
}

/** The same for plans that make the same jobs: in the same order, of files with the same content. */
function hashOf({ name, text }: NightPlan, files: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([name, text, files]))
  for (const path of files) hash.update(createHash('sha256').update(readSmall(path)).digest())
  return hash.digest('hex')
}

/** Writes all jobs down; how many there are. */
async function fill(
  store: FleetStore,
  night: number,
  plan: NightPlan,
  files: readonly string[],
): Promise<number> {
  let next = 0
  let jobs: Job[] = []
  const flush = async () => {
    await store.addJobs(night, next - jobs.length, jobs)
    jobs = []
  }
  for (const job of runJobsOf(plan)) {
    jobs.push(job)
    next++
    if (jobs.length === CHUNK) await flush()
  }
  await flush()
  const levels = plan.levels.map(({ value }) => value)
  const inputs = new Map<number, Buffer>()
  let bytes = 0
  const flushFiles = async () => {
    // First the bytes: a job without them cannot be done.
    await store.addInputs(night, inputs)
    await flush()
    inputs.clear()
    bytes = 0
  }
  for (const path of files) {
    const known = new Map<Buffer, number>()
    for (const piece of await spread(readSmall(path), levels, plan.split)) {
      const input = known.get(piece.bytes) ?? null
      const { levels: own, part } = piece
      jobs.push({ kind: 'file', path, levels: own, part, input } satisfies FileJob)
      if (input === null) {
        known.set(piece.bytes, next)
        inputs.set(next, piece.bytes)
        bytes += piece.bytes.length
      }
      next++
      if (jobs.length === CHUNK || bytes > CHUNK_BYTES) await flushFiles()
    }
  }
  await flushFiles()
  return next
}

function readSmall(path: string): Buffer {
  const { size } = statSync(path)
  if (size <= MAX_FILE_BYTES) return readFileSync(path)
  const error = new InputError(
    'too-large',
    `histories of a fleet have at most ${MAX_FILE_BYTES / 1e6} MB, and this has ${Math.ceil(size / 1e6)}`,
    null,
    'isobar check takes it',
  )
  error.path = path
  throw error
}

/** Queues every job that has no result. */
export async function queueOpen(
  store: FleetStore,
  queue: FleetQueue,
  night: Night,
  round: number,
): Promise<void> {
  const most = Math.min(MOST_WEIGHT, Math.max(1, Math.floor(night.jobs / LEAST_BUNDLES)))
  for await (const page of store.openJobs(night.id)) {
    const bundles = bundlesOf(page, most).map((numbers) => ({
      name: `night-${night.id}-round-${round}-job-${numbers[0]}`,
      attempts: night.settings.attempts,
      night: night.id,
      numbers,
    }))
    for (let i = 0; i < bundles.length; i += MANY_BUNDLES) {
      await queue.add(bundles.slice(i, i + MANY_BUNDLES))
    }
  }
}

/** Neighbours together, as long as they are light. */
function bundlesOf(jobs: readonly Waiting[], most: number): number[][] {
  const bundles: number[][] = []
  let weight = Number.POSITIVE_INFINITY
  for (const job of jobs) {
    const own = weightOf(job)
    if (weight + own > most) {
      bundles.push([])
      weight = 0
    }
    bundles.at(-1)!.push(job.number)
    weight += own
  }
  return bundles
}

function weightOf({ target, bytes }: Waiting): number {
  if (target === null) return 1 + (bytes ?? 0) / BYTES_OF_A_SMALL_JOB
  return target.startsWith('sim:') ? 1 : MOST_WEIGHT
}

/** Looks on until every job has a result, or the night is cancelled, or the signal comes. */
export async function awaitEnd(
  store: FleetStore,
  queue: FleetQueue,
  id: number,
  signal: AbortSignal,
  onProgress: (night: Night, counts: Counts) => void,
): Promise<Night> {
  const looks = new Looks()
  let idleSince: number | null = null
  for (;;) {
    await store.endIfDone(id)
    // Read every time: somebody else may be filling it, or giving it up.
    const night = (await store.findNight(id))!
    const counts = await store.count(id)
    onProgress(night, counts)
    if (night.state === 'done' || night.state === 'cancelled' || signal.aborted) return night
    const { waiting, active } = await queue.countOpen()
    const isIdle = night.state === 'queued' && waiting + active === 0
    idleSince = isIdle ? (idleSince ?? nowMs()) : null
    if (idleSince !== null && nowMs() - idleSince >= IDLE_MS) {
      // The queue has lost something, or whoever filled it was killed.
      await queueOpen(store, queue, night, await store.nextRound(id, night.rounds))
      idleSince = null
    }
    const ms = looks.next(nowMs(), counts.done, night.jobs)
    await pause(ms, undefined, { signal }).catch(() => {})
  }
}
