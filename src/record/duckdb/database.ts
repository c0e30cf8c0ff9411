// DuckDB as a database to be tested, on a file or in memory. A comment on its table says that it is
// ours; what a killed run left, the next one drops. Two programs cannot open one file: DuckDB sees
// to that itself.

import { DatabaseError } from '../../base/errors.ts'
import type { Connection } from '../database.ts'
import { FileDatabase } from '../file-database.ts'
import { type FilePlace, holdsSomething, removeFiles } from '../file-place.ts'
import { MARK, TABLE } from '../registers.ts'
import { DUCKDB_LEVELS, DuckConnection } from './connection.ts'
import {
  asDatabaseError,
  type DuckClient,
  type DuckInstance,
  openInstance,
  query,
} from './driver.ts'

const MEMORY = ':memory:'

export class DuckDatabase extends FileDatabase {
  readonly levels = DUCKDB_LEVELS

  private constructor(
    name: string,
    path: string,
    private readonly instance: DuckInstance,
    private readonly control: DuckClient,
    private readonly isOurs: boolean, // the file
  ) {
    super(name, 'duckdb', path)
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

  async open(): Promise<Connection> {
    return new DuckConnection(await this.instance.connect(), this.keyCount)
  }

  protected async ask(text: string): Promise<void> {
    await query(this.control, text)
  }

  /** A comment is the mark. */
  protected override tableMark(): string {
    return ''
  }

  protected override create(name: string, statements: readonly string[]): Promise<void> {
    return createMarked(this.control, name, statements)
  }

  async close(): Promise<void> {
    for (const table of this.tables) {
      try {
        await query(this.control, `DROP TABLE IF EXISTS ${table}`)
      } catch {
        // A session that was cut off still has it; the next run drops the table.
      }
    }
    this.control.closeSync()
    this.instance.closeSync()
    if (this.isOurs) removeFiles(this.path, ['.wal'])
  }
}

/** Drops what killed runs left, and creates the registers. */
async function createTable(client: DuckClient): Promise<void> {
  const text = "SELECT table_name, comment FROM duckdb_tables() WHERE table_name LIKE 'isobar!_%'"
  const { rows } = await query(client, `${text} ESCAPE '!'`)
  for (const [name, comment] of rows) {
    const isMarked = String(comment).startsWith(MARK)
    if (isMarked) await query(client, `DROP TABLE ${name}`)
    else if (name === TABLE) {
      throw new DatabaseError(
        `there is a table ${TABLE} already that isobar did not make; nothing was changed`,
        'rename it, or name another file',
      )
    }
  }
  const columns = 'k INTEGER PRIMARY KEY, v BIGINT, l VARCHAR NOT NULL'
  await createMarked(client, TABLE, [`CREATE TABLE ${TABLE} (${columns})`])
}

/** The table and its mark come together, whatever happens in between. */
async function createMarked(
  client: DuckClient,
  table: string,
  [create, ...others]: readonly string[],
): Promise<void> {
  await query(client, 'BEGIN TRANSACTION')
  await query(client, create!)
  await query(client, `COMMENT ON TABLE ${table} IS '${MARK}'`)
  await query(client, 'COMMIT')
  for (const text of others) await query(client, text)
}
