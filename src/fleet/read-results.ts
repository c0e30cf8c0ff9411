// What reports need of the tables: findings, what failed and why, how targets fared at levels, how
// nights compare. Main class: Results.

import type { OccasionName } from '../pipeline/strength/occasions.ts'
import type { Outcome } from '../verdict/verdict.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import type { FleetConnection } from './connection.ts'
import type { Job } from './job.ts'
import type { Blame } from './result.ts'

/** Violations with one fingerprint. */
export interface Finding {
  readonly fingerprint: string
  readonly level: string
  readonly anomalies: string
  /** In the night at hand. */
  readonly count: number
  /** In all nights of the plan's name. */
  readonly total: number
  readonly firstNight: number
  readonly firstSeen: Date
  readonly targets: readonly string[]
  /** The shortest example. */
  readonly transactions: number
  readonly notation: string
  readonly verdict: VerdictJson
  readonly night: number
  readonly number: number
  readonly spec: Job
}

/** Jobs without a verdict that failed for one reason. */
export interface Failure {
  readonly blame: Blame
  readonly reason: string
  readonly count: number
  readonly spec: Job
}

/** How a target fared at a level; of files, those that were given. */
export interface Cell {
  readonly target: string
  readonly level: string
  readonly satisfied: number
  readonly violated: number
  readonly unknown: number
  /** When the level last held, in any night. */
  readonly verified: Date | null
}

/** A history that was judged in parts that do not communicate, at a level. */
export interface SplitVerdict {
  readonly path: string
  readonly level: string
  readonly parts: number
  /** Satisfied if every part is, violated if one is, else unknown. */
  readonly verdict: Outcome
}

export interface NightLine {
  readonly id: number
  readonly name: string
  readonly state: string
  readonly begun: Date
  readonly ended: Date | null
  readonly jobs: number
  readonly satisfied: number
  readonly violated: number
  readonly unknown: number
  readonly failed: number
  readonly findings: number
  readonly commitsPerSecond: number | null
  readonly abortRate: number | null
  readonly checkMs: number | null
  readonly peakBytes: number | null
}

export interface Coverage {
  readonly transactions: number
  readonly overlapping: number
  readonly conflicting: number
  /** Anomaly -> how often what it takes was there; those that never were are 0. */
  readonly occasions: Readonly<Partial<Record<OccasionName, number>>>
}

const TARGET = `coalesce(j.spec->>'target', 'histories')`

export class Results {
  constructor(private readonly connection: FleetConnection) {}

  /** Lets the server look at what has come since it last did: it takes new nights for empty. */
  async prepare(): Promise<void> {
    await this.connection.ask(
      'analyze isobar_fleet.job, isobar_fleet.result, isobar_fleet.occurrence',
    )
  }

  /** Findings of a night, those that came up most often first. */
  findings(night: number): Promise<Finding[]> {
    return this.connection.ask<Finding>(
      `with nights as (
         select id as night from isobar_fleet.night where id <= $1 and name =
           (select name from isobar_fleet.night where id = $1)
       ), here as (
         select fingerprint, count(*)::int as count,
           array_agg(distinct ${TARGET} order by ${TARGET}) as targets
         from isobar_fleet.occurrence o join isobar_fleet.job j using (night, number)
         where o.night = $1 group by fingerprint
       ), ever as (
         select fingerprint, count(*)::int as total, min(night) as "firstNight",
           min(r.ended) as "firstSeen"
         from isobar_fleet.occurrence o join isobar_fleet.result r using (night, number)
           join nights using (night)
         where fingerprint in (select fingerprint from here) group by fingerprint
       ), shortest as (
         select distinct on (fingerprint) fingerprint, level, anomalies, transactions, notation,
           verdict, night, number, spec
         from isobar_fleet.occurrence join isobar_fleet.job using (night, number)
           join nights using (night)
         where fingerprint in (select fingerprint from here)
         order by fingerprint, transactions, length(notation), night, number
       )
       select * from here join ever using (fingerprint) join shortest using (fingerprint)
       order by count desc, fingerprint collate "C"`,
      [night],
    )
  }

  /** What most jobs failed of first; the same everywhere, however a database sorts texts. */
  failures(night: number, most: number): Promise<Failure[]> {
    return this.connection.ask<Failure>(
      `select blame, reason, count(*)::int, (array_agg(spec order by number))[1] as spec
       from isobar_fleet.result join isobar_fleet.job using (night, number)
       where night = $1 and outcome = 'failed' group by blame, reason
       order by count(*) desc, blame collate "C", reason collate "C" limit $2`,
      [night, most],
    )
  }

  /** Whose fault it is that jobs have no verdict. */
  async blames(night: number): Promise<Blame[]> {
    const rows = await this.connection.ask<{ blame: Blame }>(
      `select distinct blame from isobar_fleet.result where night = $1 and outcome = 'failed'`,
      [night],
    )
    return rows.map(({ blame }) => blame).sort()
  }

  /** Targets and levels of a night. */
  cells(night: number): Promise<Cell[]> {
    return this.connection.ask<Cell>(
      `select ${TARGET} as target, v.key as level,
         (count(*) filter (where r.night = $1 and v.value = 'satisfied'))::int as satisfied,
         (count(*) filter (where r.night = $1 and v.value = 'violated'))::int as violated,
         (count(*) filter (where r.night = $1 and v.value = 'unknown'))::int as unknown,
         max(r.ended) filter (where v.value = 'satisfied') as verified
       from isobar_fleet.result r join isobar_fleet.job j using (night, number),
         jsonb_each_text(r.verdicts) v
       where r.night <= $1 and r.night in
         (select id from isobar_fleet.night where name =
           (select name from isobar_fleet.night where id = $1))
       group by 1, 2 having count(*) filter (where r.night = $1) > 0 order by 1, 2`,
      [night],
    )
  }

  /** Targets of a night that have jobs without a verdict, and how many. */
  unjudged(night: number): Promise<{ target: string; count: number }[]> {
    return this.connection.ask<{ target: string; count: number }>(
      `select ${TARGET} as target, count(*)::int
       from isobar_fleet.result r join isobar_fleet.job j using (night, number)
       where night = $1 and outcome = 'failed' group by 1 order by 1`,
      [night],
    )
  }

  /** What the verdicts on parts say of the histories; jobs that failed leave their levels unknown. */
  splitVerdicts(night: number): Promise<SplitVerdict[]> {
    return this.connection.ask<SplitVerdict>(
      `select spec->>'path' as path, v.key as level, max((spec->'part'->>'of')::int) as parts,
         case when bool_or(v.value = 'violated') then 'violated'
           when count(distinct spec->'part') filter (where v.value = 'satisfied') =
             max((spec->'part'->>'of')::int) then 'satisfied'
           else 'unknown' end as verdict
       from isobar_fleet.job join isobar_fleet.result using (night, number),
         lateral (select key, value from jsonb_each_text(verdicts)
           union all select word, 'failed' from jsonb_array_elements_text(spec->'levels') word
           where outcome = 'failed') v
       where night = $1 and jsonb_typeof(spec->'part') = 'object'
       group by 1, 2 order by min(number), v.key collate "C"`,
      [night],
    )
  }

  /** The nights of the same plan until this one, the latest first. */
  nights(night: number, most: number): Promise<NightLine[]> {
    const median = (what: string) =>
      `percentile_cont(0.5) within group (order by (measures->>'${what}')::float8)`
    return this.connection.ask<NightLine>(
      `select n.id, n.name, n.state, n.begun, n.ended, n.jobs,
         (count(*) filter (where outcome = 'satisfied'))::int as satisfied,
         (count(*) filter (where outcome = 'violated'))::int as violated,
         (count(*) filter (where outcome = 'unknown'))::int as unknown,
         (count(*) filter (where outcome = 'failed'))::int as failed,
         (select count(distinct fingerprint)::int from isobar_fleet.occurrence o
           where o.night = n.id) as findings,
         ${median('commitsPerSecond')} as "commitsPerSecond", ${median('abortRate')} as "abortRate",
         ${median('checkMs')} as "checkMs", max((measures->>'peakBytes')::float8) as "peakBytes"
       from isobar_fleet.night n left join isobar_fleet.result r on r.night = n.id
       where n.id <= $1 and n.name = (select name from isobar_fleet.night where id = $1)
       group by n.id order by n.id desc limit $2`,
      [night, most],
    )
  }

  async coverage(night: number): Promise<Coverage> {
    const [sums] = await this.connection.ask<Omit<Coverage, 'occasions'>>(
      `select coalesce(sum((measures->>'transactions')::int), 0)::float8 as transactions,
         coalesce(sum((measures->'concurrency'->>'overlapping')::int), 0)::float8 as overlapping,
         coalesce(sum((measures->'concurrency'->>'conflicting')::int), 0)::float8 as conflicting
       from isobar_fleet.result where night = $1`,
      [night],
    )
    const rows = await this.connection.ask<{ name: OccasionName; count: number }>(
      `select o.key as name, sum(o.value::bigint)::float8 as count from isobar_fleet.result,
         jsonb_each_text(measures->'strength'->'occasions') o
       where night = $1 group by 1 order by 1`,
      [night],
    )
    const occasions = Object.fromEntries(rows.map(({ name, count }) => [name, count]))
    return { ...sums!, occasions }
  }

  /** Fingerprints of the last night of the same plan that is over; null if there was none. */
  async fingerprintsBefore(night: number): Promise<{ id: number; found: string[] } | null> {
    const [before] = await this.connection.ask<{ id: number }>(
      `select id from isobar_fleet.night where id < $1 and state = 'done' and name =
         (select name from isobar_fleet.night where id = $1) order by id desc limit 1`,
      [night],
    )
    if (!before) return null
    const rows = await this.connection.ask<{ fingerprint: string }>(
      'select distinct fingerprint from isobar_fleet.occurrence where night = $1 order by 1',
      [before.id],
    )
    return { id: before.id, found: rows.map(({ fingerprint }) => fingerprint) }
  }

  /** A history that was kept, compressed; null if it was not. */
  async history(night: number, number: number): Promise<Buffer | null> {
    const [row] = await this.connection.ask<{ bytes: Buffer }>(
      'select bytes from isobar_fleet.kept where night = $1 and number = $2',
      [night, number],
    )
    return row?.bytes ?? null
  }
}
