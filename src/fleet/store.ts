// Nights, jobs and results in PostgreSQL, as whoever submits and whoever works needs them. What
// reports need is in read-results.ts. Main class: FleetStore.

import { randomBytes } from 'node:crypto'
import { DatabaseError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { FleetConnection } from './connection.ts'
import type { Job } from './job.ts'
import type { Limits } from './job-pool.ts'
import type { Keep, NightPlan } from './plan.ts'
import type { JobOutcome, JobResult } from './result.ts'
import { INSERT_RESULTS, SCHEMA, TABLES_VERSION } from './tables.ts'

/** What a worker has to know of a night. */
export interface NightSettings extends Limits {
  readonly budgetMs: number
  readonly attempts: number
  readonly keep: Keep
  readonly known: readonly string[]
}

export type NightState = 'filling' | 'queued' | 'done' | 'cancelled'

export interface Night {
  readonly id: number
  readonly name: string
  readonly hash: string
  readonly state: NightState
  readonly jobs: number
  readonly rounds: number
  readonly settings: NightSettings
}

/** A job that is to be done. */
export interface OpenJob {
  readonly number: number
  readonly spec: Job
  readonly bytes: Buffer | null
}

/** A job that has no result yet, and what it will take. */
export interface Waiting {
  readonly number: number
  /** Null of files. */
  readonly target: string | null
  /** Of a file. */
  readonly bytes: number | null
}

export type Counts = Readonly<Record<JobOutcome, number>> & {
  readonly done: number
  /** Different findings. */
  readonly findings: number
}

const NIGHT = 'id, name, hash, state, jobs, rounds, settings'
/**
 * The bytes that a job judges, and whether it has a result. Each is looked up by itself (that is
 * what the limits are for): of a night that is newer than its statistics the planner believes that
 * it is empty, and would go through all of it for every job.
 */
const INPUT_AND_RESULT = `
  left join lateral (select bytes from isobar_fleet.input i where i.night = $1
    and i.number = coalesce((j.spec->>'input')::int, j.number) limit 1) i on true
  left join lateral (select true as is_done from isobar_fleet.result r where r.night = $1
    and r.number = j.number limit 1) r on true`
/** Only one of those who create the tables at the same time goes on. */
const LOCK = 'select pg_advisory_xact_lock(4173265108)'

export class FleetStore {
  private constructor(readonly connection: FleetConnection) {}

  /** Makes the tables if they are not there. Throws UsageError, DatabaseError. */
  static async open(
    address: string,
    environment: Record<string, string | undefined>,
    patienceMs: number,
  ): Promise<FleetStore> {
    const connection = await FleetConnection.open(address, environment, patienceMs)
    try {
      await connection.ask(`${LOCK}; ${SCHEMA}`)
      const [about] = await connection.ask<{ version: number }>(
        'select version from isobar_fleet.about',
      )
      if (about?.version === TABLES_VERSION) return new FleetStore(connection)
      throw new DatabaseError(
        `the fleet at ${connection.place} is of version ${about?.version}, and this is ${TABLES_VERSION}`,
        'use the isobar that made it, or another database',
      )
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** The last night of a plan that is not over, if there is one. */
  async findOpen(hash: string): Promise<Night | null> {
    const [night] = await this.connection.ask<Night>(
      `select ${NIGHT} from isobar_fleet.night
       where hash = $1 and state in ('filling', 'queued') order by id desc limit 1`,
      [hash],
    )
    return night ?? null
  }

  /** @param hash of all that makes its jobs */
  async makeNight(plan: NightPlan, hash: string, version: string): Promise<Night> {
    const { name, text, budgetMs, timeMs, memoryBytes, attempts, keep, known } = plan
    const settings: NightSettings = { budgetMs, timeMs, memoryBytes, attempts, keep, known }
    const token = randomBytes(16).toString('hex')
    await this.connection.ask(
      `insert into isobar_fleet.night (token, name, plan, hash, settings, state, isobar)
       values ($1, $2, $3, $4, $5, 'filling', $6) on conflict do nothing`,
      [token, name, text, hash, JSON.stringify(settings), version],
    )
    const [night] = await this.connection.ask<Night>(
      `select ${NIGHT} from isobar_fleet.night where token = $1`,
      [token],
    )
    return night!
  }

  async addJobs(night: number, first: number, jobs: readonly Job[]): Promise<void> {
    await this.connection.ask(
      `insert into isobar_fleet.job (night, number, spec)
       select $1, $2 + place - 1, spec
       from jsonb_array_elements($3::jsonb) with ordinality as given(spec, place)
       on conflict do nothing`,
      [night, first, JSON.stringify(jobs)],
    )
  }

  async addInputs(night: number, inputs: ReadonlyMap<number, Buffer>): Promise<void> {
    await this.connection.ask(
      `insert into isobar_fleet.input (night, number, bytes)
       select $1, number, bytes from unnest($2::int[], $3::bytea[]) as given(number, bytes)
       on conflict do nothing`,
      [night, [...inputs.keys()], [...inputs.values()]],
    )
  }

  /** All jobs are written down and queued; a night that was cancelled meanwhile stays so. */
  async endFilling(id: number, jobs: number): Promise<void> {
    await this.connection.ask(
      `update isobar_fleet.night set jobs = $2,
         state = case when state = 'filling' then 'queued' else state end
       where id = $1`,
      [id, jobs],
    )
  }

  /** Whoever writes down the last result ends the night. */
  async endIfDone(id: number): Promise<void> {
    // Counting takes long, and is for nothing while the last job is not done: it is queued last.
    await this.connection.ask(
      `update isobar_fleet.night set state = 'done', ended = now()
       where id = $1 and state = 'queued' and jobs > 0 and case
         when exists (select from isobar_fleet.result where night = $1 and number = jobs - 1)
         then jobs <= (select count(*) from isobar_fleet.result where night = $1)
         else false end`,
      [id],
    )
  }

  async setNight(id: number, state: 'queued' | 'cancelled'): Promise<void> {
    await this.connection.ask(
      `update isobar_fleet.night set state = $2, ended = case when $2 = 'cancelled' then now() end
       where id = $1`,
      [id, state],
    )
  }

  /** Counts a round of queueing; its number, so that what is queued in it has names of its own. */
  async nextRound(id: number, before: number): Promise<number> {
    await this.connection.ask(
      'update isobar_fleet.night set rounds = $2 where id = $1 and rounds < $2',
      [id, before + 1],
    )
    return before + 1
  }

  /** The last night, or the one of that number. */
  async findNight(id: number | null): Promise<Night | null> {
    const [night] = await this.connection.ask<Night>(
      `select ${NIGHT} from isobar_fleet.night where $1::int is null or id = $1
       order by id desc limit 1`,
      [id],
    )
    return night ?? null
  }

  /** The jobs that have no result, in order, a page at a time. */
  async *openJobs(night: number): AsyncGenerator<readonly Waiting[]> {
    const page = 10_000
    for (let after = -1; ; ) {
      const rows: Waiting[] = await this.connection.ask<Waiting>(
        `select j.number, spec->>'target' as target, octet_length(i.bytes) as bytes
         from isobar_fleet.job j ${INPUT_AND_RESULT}
         where j.night = $1 and j.number > $2 and is_done is null
         order by number limit ${page}`,
        [night, after],
      )
      if (rows.length > 0) yield rows
      if (rows.length < page) return
      after = rows.at(-1)!.number
    }
  }

  /** Of these jobs, those that are still to be done. */
  takeOpen(night: number, numbers: readonly number[]): Promise<OpenJob[]> {
    return this.connection.ask<OpenJob>(
      `select j.number, j.spec, i.bytes
       from unnest($2::int[]) as given(number) cross join lateral (select number, spec
         from isobar_fleet.job where night = $1 and number = given.number limit 1) j
       ${INPUT_AND_RESULT}
       where is_done is null order by j.number`,
      [night, numbers],
    )
  }

  /** Adds results, but of jobs that have one already; how many were added. */
  async addResults(
    night: number,
    worker: string,
    results: readonly (readonly [number: number, result: JobResult])[],
  ): Promise<number> {
    if (results.length === 0) return 0
    const rows = results.map(([number, result]) => ({
      ...{ number, outcome: result.outcome, blame: result.blame, reason: result.reason },
      ...{ verdicts: result.verdicts, measures: result.measures, elapsed_ms: result.elapsedMs },
    }))
    const occurrences = results.flatMap(([number, result]) =>
      result.occurrences.map((each) => ({ number, ...each })),
    )
    const kept = results.filter(([, { history }]) => history !== null)
    const [added] = await this.connection.ask<{ count: number }>(INSERT_RESULTS, [
      ...[night, worker, textOf(rows), textOf(occurrences)],
      kept.map(([number]) => number),
      kept.map(([, { history }]) => Buffer.from(history!)),
    ])
    return added!.count
  }

  async count(night: number): Promise<Counts> {
    const rows = await this.connection.ask<{ outcome: JobOutcome; count: number }>(
      `select outcome, count(*)::int from isobar_fleet.result where night = $1 group by outcome`,
      [night],
    )
    const counts = { satisfied: 0, violated: 0, unknown: 0, failed: 0 }
    for (const { outcome, count } of rows) counts[outcome] = count
    const [found] = await this.connection.ask<{ count: number }>(
      `select count(distinct fingerprint)::int from isobar_fleet.occurrence where night = $1`,
      [night],
    )
    const done = counts.satisfied + counts.violated + counts.unknown + counts.failed
    return { ...counts, done, findings: found!.count }
  }

  /** Forgets the results of jobs that came to no verdict; how many. */
  async forgetFailed(night: number): Promise<number> {
    const rows = await this.connection.ask(
      `delete from isobar_fleet.result where night = $1 and outcome = 'failed' returning number`,
      [night],
    )
    return rows.length
  }

  close(): Promise<void> {
    return this.connection.close()
  }
}

/** What PostgreSQL takes for JSON: it has no use for the character 0. */
function textOf(rows: readonly object[]): string {
  return stringify(rows).replaceAll('\\u0000', '\\ufffd')
}
