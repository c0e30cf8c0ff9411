// The table that a run works on. It has a fixed name, so that a run that was killed leaves at most
// one behind; the next run replaces it, if a comment says it is ours and no other run holds the
// advisory lock. A table of that name that is not ours is left alone.

import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'

export const TABLE = 'isobar_registers'
const MARK = 'made by isobar for one run; safe to drop'
const LOCK = 0x150ba2

/** Creates the table, empty. The connection holds the lock from now on. Throws DatabaseError. */
export async function createTable(client: Client): Promise<void> {
  if ((await scalar(client, `SELECT pg_try_advisory_lock(${LOCK})`)) !== true) {
    throw new DatabaseError(
      'another run uses this database',
      'wait for its end, or give each run a database of its own',
    )
  }
  const comment = await tableComment(client)
  if (comment !== null && comment !== MARK) {
    throw new DatabaseError(
      `there is a table ${TABLE} already that isobar did not make; nothing was changed`,
      'rename it, or name another database',
    )
  }
  await client.query('BEGIN')
  if (comment === MARK) await client.query(`DROP TABLE ${TABLE}`)
  // Room on the pages lets updates stay on theirs, without touching the index.
  await client.query(
    `CREATE TABLE ${TABLE} (k integer PRIMARY KEY, v bigint, l bigint[] NOT NULL DEFAULT '{}')
     WITH (fillfactor = 50)`,
  )
  await client.query(`COMMENT ON TABLE ${TABLE} IS '${MARK}'`)
  await client.query('COMMIT')
}

export async function addRows(client: Client, from: number, to: number): Promise<void> {
  await client.query(`INSERT INTO ${TABLE} (k) SELECT generate_series($1::int, $2::int)`, [
    from,
    to - 1,
  ])
}

/** Drops the table if it is still ours. */
export async function dropTable(client: Client): Promise<void> {
  if ((await tableComment(client)) === MARK) await client.query(`DROP TABLE ${TABLE}`)
}

/** The comment on the table of our name, '' if it has none, null if there is no such table. */
async function tableComment(client: Client): Promise<string | null> {
  const comment = await scalar(
    client,
    `SELECT coalesce(obj_description(to_regclass('${TABLE}'), 'pg_class'), '')
     WHERE to_regclass('${TABLE}') IS NOT NULL`,
  )
  return comment === null ? null : String(comment)
}

/** The first column of the first row, null if there is none. */
export async function scalar(client: Client, text: string): Promise<unknown> {
  const { rows } = await client.query({ text, rowMode: 'array' })
  return rows[0]?.[0] ?? null
}
