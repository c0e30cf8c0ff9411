// The file of a schedule: the statements of a run in the order in which they were let go, so that
// they can be run again without the application. Main functions: renderScheduleFile,
// parseScheduleFile.

import { InputError } from '../../base/errors.ts'
import type { RaceRun } from './race-run.ts'

export interface ScheduledStatement {
  readonly actor: string
  /** Number of the connection. */
  readonly client: number
  readonly text: string
  readonly values: readonly unknown[]
}

export interface ScheduleFile {
  readonly level: string
  /** What makes the tables anew as they were before; null: they must be there. */
  readonly setUp: readonly string[] | null
  readonly statements: readonly ScheduledStatement[]
}

export function renderScheduleFile(
  run: RaceRun,
  level: string,
  setUp: readonly string[] | null,
): string {
  const statements = run.turns.map(({ actor, step }) => ({
    actor,
    client: step.client,
    text: step.text,
    values: step.values.map(plain),
    returned: step.error === undefined ? step.returned : `refused: ${step.error}`,
  }))
  const lines = statements.map((statement) => `    ${JSON.stringify(statement)}`)
  const head = `{\n  "isobarSchedule": 1,\n  "level": ${JSON.stringify(level)},\n  "setUp": ${JSON.stringify(setUp)},\n`
  return `${head}  "statements": [\n${lines.join(',\n')}\n  ]\n}\n`
}

/** As `pg` would send it: as text, but for what JSON holds by itself. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return value
}

/** Throws InputError. */
export function parseScheduleFile(text: string): ScheduleFile {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch (error) {
    throw bad(`it is not JSON: ${(error as Error).message}`)
  }
  const {
    isobarSchedule,
    level,
    setUp = null,
    statements,
  } = (read ?? {}) as Record<string, unknown>
  if (isobarSchedule !== 1) throw bad('"isobarSchedule": 1 is missing')
  if (typeof level !== 'string') throw bad('"level" is missing')
  if (
    setUp !== null &&
    !(Array.isArray(setUp) && setUp.every((each) => typeof each === 'string'))
  ) {
    throw bad('"setUp" is no list of statements')
  }
  if (!Array.isArray(statements) || statements.length === 0) throw bad('there are no "statements"')
  for (const [i, each] of statements.entries()) {
    const { actor, client, text: words, values } = (each ?? {}) as Record<string, unknown>
    const isWhole =
      typeof actor === 'string' &&
      Number.isInteger(client) &&
      typeof words === 'string' &&
      Array.isArray(values)
    if (!isWhole) throw bad(`statements[${i}] needs "actor", "client", "text" and "values"`)
  }
  return { level, setUp: setUp as string[] | null, statements: statements as ScheduledStatement[] }
}

function bad(why: string): InputError {
  return new InputError(
    'bad-schedule',
    `not the file of a schedule: ${why}`,
    null,
    'such files are what `result.save(file)` of a race writes',
  )
}
