// The tables that a run works on: one of registers, and those of SQL workloads. Their names begin
// with isobar_, and a comment says that they are ours; a run that was killed leaves them behind,
// and the next one drops them, if no other run holds the advisory lock. A table of such a name that
// is not ours is left alone.

import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { SqlRow, SqlType } from '../../sql/value.ts'
import { BEFORE, quote, tableName, textOf, WRITER } from './statement.ts'

export const TABLE = 'isobar_registers'
const MARK = 'made by isobar for one run; safe to drop'
const LOCK = 0x150ba2

/** Text is ordered by its bytes, as in our own predicates, whatever the database's language. */
const TYPES: Readonly<Record<SqlType, string>> = {
  boolean: 'boolean',
  integer: 'bigint',
  text: 'text COLLATE "C"',
}

/** Drops what a killed run left, and creates the registers. Holds the lock from now on. */
export async function createTable(client: Client): Promise<void> {
  if ((await scalar(client, `SELECT pg_try_advisory_lock(${LOCK})`)) !== true) {
    throw new DatabaseError(
      'another run uses this database',
      'wait for its end, or give each run a database of its own',
    )
  }
  await dropTables(client)
  await create(client, TABLE, `k integer PRIMARY KEY, v bigint, l bigint[] NOT NULL DEFAULT '{}'`)
}

/** Creates the tables of an SQL workload, with the rows that each holds at first. */
export async function createSqlTables(
  client: Client,
  tables: readonly SqlTable[],
  rows: readonly (readonly SqlRow[])[],
): Promise<void> {
  for (const [id, table] of tables.entries()) {
    const name = tableName(table)
    const columns = table.columns.map((column) => `${quote(column.name)} ${TYPES[column.type]}`)
    const key = table.keyColumns.map((column) => quote(table.columns[column]!.name))
    columns.push(`${WRITER} bigint`, `${BEFORE} bigint`, `PRIMARY KEY (${key.join(', ')})`)
    await create(client, name, columns.join(', '))
    const types = table.columns.map(({ type }, i) => `$${i + 1}::${TYPES[type].split(' ')[0]}[]`)
    const values = table.columns.map((_, column) => rows[id]!.map((row) => textOf(row[column]!)))
    await client.query(`INSERT INTO ${name} SELECT * FROM unnest(${types.join(', ')})`, values)
  }
}

async function create(client: Client, name: string, columns: string): Promise<void> {
  if ((await scalar(client, `SELECT to_regclass('${name}')`)) !== null) {
    throw new DatabaseError(
      `there is a table ${name} already that isobar did not make; nothing was changed`,
      'rename it, or name another database',
    )
  }
  await client.query('BEGIN')
  // Room on the pages lets updates stay on theirs, without touching the index.
  await client.query(`CREATE TABLE ${name} (${columns}) WITH (fillfactor = 50)`)
  await client.query(`COMMENT ON TABLE ${name} IS '${MARK}'`)
  await client.query('COMMIT')
}

export async function addRows(client: Client, from: number, to: number): Promise<void> {
  await client.query(`INSERT INTO ${TABLE} (k) SELECT generate_series($1::int, $2::int)`, [
    from,
    to - 1,
  ])
}

/** Drops the tables that are ours. */
export async function dropTables(client: Client): Promise<void> {
  const { rows } = await client.query({
    text: `SELECT oid::regclass FROM pg_class
      WHERE relkind = 'r' AND relname LIKE 'isobar\\_%' AND pg_table_is_visible(oid)
        AND obj_description(oid, 'pg_class') = '${MARK}'`,
    rowMode: 'array',
  })
  if (rows.length > 0) await client.query(`DROP TABLE ${rows.join(', ')}`)
}

/** The first column of the first row, null if there is none. */
export async function scalar(client: Client, text: string): Promise<unknown> {
  const { rows } = await client.query({ text, rowMode: 'array' })
  return rows[0]?.[0] ?? null
}
