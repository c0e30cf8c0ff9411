// DuckDB as a database to be tested, on a file or in memory. A comment on its table says that it is
// ours; what a killed run left, the next one drops. Two programs cannot open one file: DuckDB sees
// to that itself.

import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import {
  type Connection,
  type Database,
  ownLevel,
  type ScriptSupport,
  type TableTraits,
} from '../database.ts'
import { type FilePlace, holdsSomething, removeFiles, showFile } from '../file-place.ts'
import { MARK, rowsFor, TABLE } from '../registers.ts'
import { NO_TRAITS, PLAIN_TYPES, rowTable, rowTableStatements } from '../rows.ts'
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
  private readonly tables = [TABLE] // of this run

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

  get script(): ScriptSupport {
    return {
      defersConstraints: false,
      locksRows: false,
      addTable: (table, rows, traits) => this.addTable(table, rows, traits),
      // Whoever is in another's way is refused at once.
      isBlocked: async () => false,
    }
  }

  async addTables(
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    for (const [id, table] of tables.entries()) await this.addTable(table, rows[id]!, NO_TRAITS)
  }

  private async addTable(
    table: SqlTable,
    rows: readonly SqlRow[],
    traits: TableTraits,
  ): Promise<void> {
    this.tables.push(rowTable(table))
    const statements = rowTableStatements(table, rows, traits, PLAIN_TYPES, {})
    await createMarked(this.control, rowTable(table), statements)
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  async open(): Promise<Connection> {
    return new DuckConnection(await this.instance.connect(), () => this.keyCount)
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
