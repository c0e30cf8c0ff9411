// A schedule from its file, run again without the application: the statements that were recorded,
// in the order in which they were let go, in a schema of their own that is gone afterwards. What
// they see may be something else than it was, and is judged anew. Main function: replay.

import { randomUUID } from 'node:crypto'
import type { LevelWord } from '../../levels/words.ts'
import { race } from './race.ts'
import type { RaceResult } from './race-result.ts'
import type { ScheduledStatement, ScheduleFile } from './schedule-file.ts'

interface ReplayClient {
  query(text: string, values?: unknown[]): Promise<unknown>
  release(): void
}

export interface ReplayPool {
  connect(): Promise<ReplayClient>
  query(text: string): Promise<unknown>
  end(): Promise<void>
}

/** Makes a pool whose connections find tables where a schema's are. */
export type MakePool = (schema: string | null, size: number) => ReplayPool

export async function replay(file: ScheduleFile, makePool: MakePool): Promise<RaceResult> {
  const { setUp, statements } = file
  const schema = setUp === null ? null : `isobar_replay_${randomUUID().replaceAll('-', '_')}`
  const connections = new Set(statements.map(({ client }) => client)).size
  const names = [...new Set(statements.map(({ actor }) => actor))]
  const pool = makePool(schema, Math.max(connections, names.length))
  try {
    if (schema !== null) await pool.query(`CREATE SCHEMA ${schema}`)
    const make = async () => {
      if (schema === null) return
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.query(`CREATE SCHEMA ${schema}`)
      for (const statement of setUp ?? []) await pool.query(statement)
    }
    const actors = Object.fromEntries(
      names.map((name) => {
        const own = statements.filter(({ actor }) => actor === name)
        return [name, () => perform(own, pool)]
      }),
    )
    const schedule = statements.map(({ actor }) => actor)
    const level = file.level as LevelWord
    return await race(pool, actors, { before: make, schedule, level })
  } finally {
    if (schema !== null) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  }
}

/** One actor's statements; one that is refused ends nothing, since what came next is known. */
async function perform(statements: readonly ScheduledStatement[], pool: ReplayPool): Promise<void> {
  const clients = new Map<number, ReplayClient>()
  try {
    for (const { client, text, values } of statements) {
      const own = clients.get(client) ?? (await pool.connect())
      clients.set(client, own)
      await own.query(text, [...values]).catch(() => {})
    }
  } finally {
    for (const client of clients.values()) client.release()
  }
}
