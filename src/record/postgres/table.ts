// The tables that a run works on: one of registers, and those of SQL workloads. Their names begin
// with isobar_, and a comment says that they are ours, and of which run. A run that was killed
// leaves them behind; the next one, which holds the lock (control.ts), drops them. A table of such
// a name that is not ours is left alone. Main class: RunTables.

import { randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { SqlRow, SqlType } from '../../sql/value.ts'
import type { TableTraits } from '../database.ts'
import { BEFORE, WRITER } from '../rows.ts'
import { quote, tableName, textOf } from './statement.ts'

export const TABLE = 'isobar_registers'
const MARK = 'made by isobar for one run; safe to drop'

/** Text is ordered by its bytes, as in our own predicates, whatever the database's language. */
const TYPES: Readonly<Record<SqlType, string>> = {
  boolean: 'boolean',
  integer: 'bigint',
  numeric: 'numeric',
  text: 'text COLLATE "C"',
}

export class RunTables {
  private readonly mark = `${MARK} (${randomBytes(6).toString('hex')})`

  /** Drops what killed runs left, and creates the registers. */
  async begin(client: Client): Promise<void> {
    await dropMarked(client, MARK)
    const columns = `k integer PRIMARY KEY, v bigint, l bigint[] NOT NULL DEFAULT '{}'`
    await this.create(client, TABLE, columns)
  }

  /** Creates the tables of an SQL workload, with the rows that each holds at first. */
  async addSqlTables(
    client: Client,
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    for (const [id, table] of tables.entries()) {
      const name = tableName(table)
      const columns = table.columns.map((column) => `${quote(column.name)} ${TYPES[column.type]}`)
      const key = table.keyColumns.map((column) => quote(table.columns[column]!.name))
      columns.push(`${WRITER} bigint`, `${BEFORE} bigint`, `PRIMARY KEY (${key.join(', ')})`)
      await this.create(client, name, columns.join(', '))
      const types = table.columns.map(({ type }, i) => `$${i + 1}::${TYPES[type].split(' ')[0]}[]`)
      const values = table.columns.map((_, column) => rows[id]!.map((row) => textOf(row[column]!)))
      await client.query(`INSERT INTO ${name} SELECT * FROM unnest(${types.join(', ')})`, values)
    }
  }

  /** Creates the table of a script. */
  async addScriptTable(
    client: Client,
    table: SqlTable,
    rows: readonly SqlRow[],
    { indexed, uniqueAtCommit }: TableTraits,
  ): Promise<void> {
    await this.addSqlTables(client, [table], [rows])
    const name = tableName(table)
    for (const column of indexed) await client.query(`CREATE INDEX ON ${name} (${quote(column)})`)
    for (const column of uniqueAtCommit) {
      const constraint = `UNIQUE (${quote(column)}) DEFERRABLE INITIALLY DEFERRED`
      await client.query(`ALTER TABLE ${name} ADD ${constraint}`)
    }
  }

  async addRows(client: Client, from: number, to: number): Promise<void> {
    const rows = `SELECT generate_series($1::int, $2::int)`
    await client.query(`INSERT INTO ${TABLE} (k) ${rows}`, [from, to - 1])
  }

  /** Asks whether a node shows this run's table of that name, and not that of another run. */
  isThere(name: string): string {
    return `SELECT obj_description(to_regclass('${name}')::oid, 'pg_class') = '${this.mark}'`
  }

  /** Asks whether a node shows the key's row; an error where it has no table yet. */
  hasRow(key: number): string {
    return `SELECT EXISTS (SELECT 1 FROM ${TABLE} WHERE k = ${key})`
  }

  /** Asks whether a node shows a table of an SQL workload with the rows that it holds at first. */
  isFilled(table: SqlTable, rowCount: number): string[] {
    const name = tableName(table)
    return [this.isThere(name), `SELECT count(*) = ${rowCount} FROM ${name}`]
  }

  /** Drops the tables of this run. */
  async drop(client: Client): Promise<void> {
    await dropMarked(client, this.mark)
  }

  private async create(client: Client, name: string, columns: string): Promise<void> {
    if ((await scalar(client, `SELECT to_regclass('${name}')`)) !== null) {
      throw new DatabaseError(
        `there is a table ${name} already that isobar did not make; nothing was changed`,
        'rename it, or name another database',
      )
    }
    await client.query('BEGIN')
    // Room on the pages lets updates stay on theirs, without touching the index.
    await client.query(`CREATE TABLE ${name} (${columns}) WITH (fillfactor = 50)`)
    await client.query(`COMMENT ON TABLE ${name} IS '${this.mark}'`)
    await client.query('COMMIT')
  }
}

/** Drops the tables whose comment begins with the mark. */
async function dropMarked(client: Client, mark: string): Promise<void> {
  const { rows } = await client.query({
    text: `SELECT oid::regclass FROM pg_class
      WHERE relkind = 'r' AND relname LIKE 'isobar\\_%' AND pg_table_is_visible(oid)
        AND strpos(obj_description(oid, 'pg_class'), '${mark}') = 1`,
    rowMode: 'array',
  })
  if (rows.length > 0) await client.query(`DROP TABLE ${rows.join(', ')}`)
}

/** The first column of the first row, null if there is none. */
export async function scalar(client: Client, text: string): Promise<unknown> {
  const { rows } = await client.query({ text, rowMode: 'array' })
  return rows[0]?.[0] ?? null
}
