// A server and a pool for the tests of a file, and tables that are fresh in every test.

import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { instrument, type Recorded } from '../../src/application/observe/instrument.ts'
import { judge } from '../../src/check/judge.ts'
import type { History } from '../../src/history/history.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'

export interface Stage {
  pool: pg.Pool
  server: EmbeddedServer
}

/**
 * @param max how many connections there may be
 * @param settings of the server
 */
export function onServer(max = 8, settings: Record<string, string> = {}): Stage {
  const stage = {} as Stage
  beforeAll(async () => {
    stage.server = await EmbeddedServer.start({ settings })
    stage.pool = new pg.Pool({ ...stage.server.address, max })
  })
  afterAll(async () => {
    await stage.pool?.end()
    await stage.server?.stop()
  })
  return stage
}

/** Makes tables anew. */
export async function reset(pool: pg.Pool, ...statements: string[]): Promise<void> {
  await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  for (const statement of statements) await pool.query(statement)
}

/** Runs work on a pool that is recorded meanwhile. */
export async function recording(
  pool: pg.Pool,
  work: (recorded: Recorded<pg.Pool>) => Promise<void>,
): Promise<Recorded<pg.Pool>> {
  const { recorded, restore } = instrument(pool)
  try {
    await work(recorded)
  } finally {
    restore()
  }
  return recorded
}

/** A transaction on a connection of its own, at a level. */
export function inTransaction(
  pool: pg.Pool,
  level: string,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  return transact(pool, `BEGIN ISOLATION LEVEL ${level}`, work)
}

/** @param begin the statement that begins it */
export async function transact(
  pool: pg.Pool,
  begin: string,
  work: (client: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query(begin)
    await work(client)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

export async function verdictOf(history: History, level: LevelId): Promise<string> {
  return (await judge(history, [level]))[0]!.verdict
}

/** What was recorded of statements, a line for each transaction: kind, clause, rows with versions. */
export function told(recorded: Recorded): string[] {
  const lines = recorded.text().trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line)).filter(({ ops }) => ops !== undefined)
  return parsed.map(({ ops }) => ops.map(tellStatement).join('; '))
}

interface Row {
  key?: unknown[]
  from?: unknown
  id?: unknown
}

function tellStatement(op: Record<string, unknown> & { rows: Row[] }): string {
  if ('abort' in op) return 'abort'
  const kind = ['select', 'insert', 'update', 'delete', 'refused'].find((each) => each in op)!
  const rows = op.rows.map((row) => (row.key ? `${row.key}<${row.from ?? 0}` : `${row.id}`))
  const where = op.where ? ` where ${op.where}` : ''
  const write = op.write ? ` as ${op.write}` : ''
  return `${kind} ${op[kind]}${where}${write}: ${rows.sort().join(' ')}`.trim()
}
