// What a database really gives at each of its levels: every schedule is played on it, what its
// clients saw is judged like any history, and the strongest level that nothing broke is held
// against what the database promises. Main function: examine.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { judge } from '../check/judge.ts'
import type { CheckOptions } from '../check/options.ts'
import { readHistory } from '../formats/open.ts'
import { departuresOf, findOwnLevel } from '../levels/databases.ts'
import { type LevelId, OWN_LEVELS } from '../levels/levels.ts'
import type { Connection, Database } from '../record/database.ts'
import { NO_FAULTS } from '../record/faults.ts'
import { keysOf, playSchedule, type Stage, whyNot, writersOf } from '../record/script.ts'
import { openTarget, type Target } from '../record/target.ts'
import { type Conformance, type LevelOutcome, type Outcome, weigh } from '../verdict/conformance.ts'
import { SCHEDULES, type Schedule } from '../workload/schedules.ts'
import { Interrupted } from './run.ts'

export interface ConformanceOptions {
  readonly target: Target
  /** The levels to ask for; null for all that it offers. */
  readonly levels: readonly LevelId[] | null
  readonly patienceMs: number
  readonly check?: CheckOptions
  readonly signal: AbortSignal | null
  readonly onProgress?: (level: string, schedule: Schedule) => void
  /** All of them, unless a test has fewer. */
  readonly schedules?: readonly Schedule[]
}

/** As many transactions as a schedule has at most. */
const SESSIONS = 4

/** Throws UsageError, DatabaseError, Interrupted. */
export async function examine(options: ConformanceOptions): Promise<Conformance> {
  const directory = makeDirectory()
  try {
    return await examineIn(directory, options)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'isobar-conformance-'))
  } catch (error) {
    const hint = 'set TMPDIR to a directory with room'
    throw new UsageError(`no room for what is played: ${(error as Error).message}`, hint)
  }
}

async function examineIn(directory: string, options: ConformanceOptions): Promise<Conformance> {
  const { target, patienceMs } = options
  const asked = levelsOf(target).filter(
    ({ name }) => options.levels?.some((level) => target.levels.get(level) === name) ?? true,
  )
  const opened = await openTarget(target, {
    levels: options.levels ?? asked.map(({ level }) => level),
    ...{ sessions: SESSIONS, seed: 1, faults: NO_FAULTS, patienceMs },
  })
  const connections: Connection[] = []
  try {
    const levels: LevelOutcome[] = []
    let firstKey = 0
    for (const { level, name } of asked) {
      const outcomes: Outcome[] = []
      for (const schedule of options.schedules ?? SCHEDULES) {
        if (options.signal?.aborted) throw new Interrupted()
        options.onProgress?.(name, schedule)
        const path = join(directory, `${schedule.id}-${level}.jsonl`)
        const at = { level, name, path, firstKey, connections }
        outcomes.push(await play(schedule, opened.database, at, options.check))
        firstKey += keysOf(schedule).there.length + keysOf(schedule).absent.length
      }
      levels.push(weigh(name, level, outcomes))
    }
    const { name: database, place, nodes = [] } = opened.database
    const replicaCount = nodes.filter(({ isReader }) => isReader).length
    const nodeCount = writersOf(opened.database).length
    return { database, place, nodeCount, replicaCount, levels }
  } finally {
    for (const connection of connections) await connection?.close()
    await opened.close()
  }
}

/**
 * What one can ask for, and what one is promised by it. A database with one level, whatever it is
 * asked for, promises its usual one.
 */
function levelsOf({ levels, usualLevel }: Target): { level: LevelId; name: string }[] {
  const names = [...new Set(levels.values())]
  return names.map((name) => {
    const level = names.length === 1 ? usualLevel : findOwnLevel(levels, name)!
    return { level, name }
  })
}

async function play(
  schedule: Schedule,
  database: Database,
  at: Omit<Stage, 'database'> & { readonly name: string },
  check: CheckOptions = {},
): Promise<Outcome> {
  const notPlayed = whyNot(schedule, database)
  const nothing = { schedule, notPlayed, steps: [], ends: [], history: '', departure: null }
  if (notPlayed !== null) return { ...nothing, strongest: null, violated: null, anomalies: [] }
  const { there } = keysOf(schedule)
  if (there.length > 0) await database.addKeys(at.firstKey, at.firstKey + there.length)
  const { steps, ends } = await playSchedule(schedule, { database, ...at })
  const { history } = await readHistory(at.path)
  const results = await judge(history, OWN_LEVELS, check)
  const kept = results.filter(({ verdict }) => verdict === 'satisfied').map(({ level }) => level)
  const broken = results.find(({ verdict }) => verdict === 'violated')
  const departures = departuresOf(database.name, at.name)
  return {
    ...{ schedule, notPlayed, steps, ends },
    strongest: kept.at(-1) ?? null,
    violated: broken?.level ?? null,
    anomalies: [...new Set(broken?.anomalies.map(({ name }) => name))],
    history: readFileSync(at.path, 'utf8'),
    departure: departures.find(({ schedules }) => schedules.includes(schedule.id)) ?? null,
  }
}
