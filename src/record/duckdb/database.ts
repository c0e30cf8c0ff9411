// DuckDB as a database to be tested, on a file or in memory. A comment on its table says that it is
// ours; what a killed run left, the next one drops. Two programs cannot open one file: DuckDB sees
// to that itself.

import { DatabaseError } from '../../base/errors.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Connection, type Database, noSqlWorkloads, ownLevel } from '../database.ts'
import { type FilePlace, holdsSomething, removeFiles, showFile } from '../file-place.ts'
import { MARK, rowsFor, TABLE } from '../registers.ts'
import { DUCKDB_LEVELS, DuckConnection } from './connection.ts'
import {
  asDatabaseError,
  type DuckClient,
  type DuckInstance,
  openInstance,
  query,
} from './driver.ts'

const MEMORY = ':memory:'

export class DuckDatabase implements Database {
  readonly levels = DUCKDB_LEVELS
  readonly isAudited = true
  readonly gone = null
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning

  private constructor(
    readonly name: string,
    private readonly path: string,
    private readonly instance: DuckInstance,
    private readonly control: DuckClient,
    private readonly isOurs: boolean, // the file
  ) {
    this.place = showFile('duckdb', path)
  }

  /** Creates the table of the run. Throws DatabaseError. */
  static async open({ path }: FilePlace): Promise<DuckDatabase> {
    const isOurs = path !== MEMORY && !holdsSomething(path)
    const instance = await openInstance(path)
    try {
      const control = await instance.connect()
      await createTable(control)
      const version = String((await query(control, 'SELECT version()')).rows[0]![0])
      const name = `DuckDB ${version.replace(/^v/, '')}`
      return new DuckDatabase(name, path, instance, control, isOurs)
    } catch (error) {
      instance.closeSync()
      throw asDatabaseError(error, path)
    }
  }

  async addKeys(from: number, to: number): Promise<void> {
    for (const statement of rowsFor(from, to)) await query(this.control, statement)
    this.keyCount = Math.max(this.keyCount, to)
  }

  async addTables(): Promise<void> {
    throw noSqlWorkloads('DuckDB')
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  async open(): Promise<Connection> {
    return new DuckConnection(await this.instance.connect(), () => this.keyCount)
  }

  async close(): Promise<void> {
    try {
      await query(this.control, `DROP TABLE ${TABLE}`)
    } catch {
      // A session that was cut off still has it; the next run drops the table.
    }
    this.control.closeSync()
    this.instance.closeSync()
    if (this.isOurs) removeFiles(this.path, ['.wal'])
  }
}

async function createTable(client: DuckClient): Promise<void> {
  const text = `SELECT comment FROM duckdb_tables() WHERE table_name = '${TABLE}'`
  const { rows } = await query(client, text)
  if (rows.length > 0) {
    if (!String(rows[0]![0]).startsWith(MARK)) {
      throw new DatabaseError(
        `there is a table ${TABLE} already that isobar did not make; nothing was changed`,
        'rename it, or name another file',
      )
    }
    await query(client, `DROP TABLE ${TABLE}`)
  }
  await query(client, 'BEGIN TRANSACTION')
  await query(client, `CREATE TABLE ${TABLE} (k INTEGER PRIMARY KEY, v BIGINT, l VARCHAR NOT NULL)`)
  await query(client, `COMMENT ON TABLE ${TABLE} IS '${MARK}'`)
  await query(client, 'COMMIT')
}
