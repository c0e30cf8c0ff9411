// A file of SQLite as a database to be tested. Its table says in its own definition that it is
// ours, and of which process; what a killed run left, the next one drops. A table of that name that
// is not ours is left alone.

import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { LevelId } from '../../levels/levels.ts'
import type { Connection } from '../database.ts'
import { FileDatabase } from '../file-database.ts'
import { type FilePlace, holdsSomething, removeFiles } from '../file-place.ts'
import { OWNED_TABLES, ownMark, tablesLeft } from '../owned-tables.ts'
import { TABLE } from '../registers.ts'
import { SQLITE_LEVELS, SqliteConnection } from './connection.ts'
import { asDatabaseError, openClient, query, type SqliteClient } from './driver.ts'

/** How long the tables of the run are tried to be dropped. */
const DROP_PATIENCE_MS = 3000

export class SqliteDatabase extends FileDatabase {
  readonly levels = SQLITE_LEVELS

  private constructor(
    name: string,
    path: string,
    private readonly control: SqliteClient,
    private readonly journal: string,
    private readonly isOurs: boolean, // the file
  ) {
    super(name, 'sqlite', path)
  }

  /** Creates the table of the run. Throws DatabaseError. */
  static async open({ path, parameters }: FilePlace): Promise<SqliteDatabase> {
    const isOurs = !holdsSomething(path)
    const control = await openClient(path)
    try {
      const mode = parameters.get('journal') ?? (isOurs ? 'wal' : null)
      const journal = scalar(control, `PRAGMA journal_mode${mode ? ` = ${mode}` : ''}`)
      createTable(control)
      const version = scalar(control, 'SELECT sqlite_version()')
      return new SqliteDatabase(`SQLite ${version} (libSQL)`, path, control, journal, isOurs)
    } catch (error) {
      control.close()
      throw asDatabaseError(error, path)
    }
  }

  override async grantedLevel(level: LevelId): Promise<string> {
    return `${await super.grantedLevel(level)} (journal_mode ${this.journal})`
  }

  async open(): Promise<Connection> {
    return new SqliteConnection(await openClient(this.path), this.keyCount)
  }

  async close(): Promise<void> {
    const endMs = performance.now() + DROP_PATIENCE_MS
    for (const table of this.tables) await this.dropTable(table, endMs)
    this.control.close()
    if (this.isOurs) removeFiles(this.path, ['-wal', '-shm', '-journal'])
  }

  protected async ask(text: string): Promise<void> {
    query(this.control, text)
  }

  protected override isBlocked(connection: Connection): boolean {
    return (connection as SqliteConnection).isWaiting
  }

  /** Where another program goes on writing, the next run drops the table. */
  private async dropTable(table: string, endMs: number): Promise<void> {
    for (;;) {
      try {
        query(this.control, `DROP TABLE IF EXISTS ${table}`)
        return
      } catch {
        if (performance.now() > endMs) return
        collectGarbage()
        await pause(20)
      }
    }
  }
}

/**
 * A statement that was refused may keep its lock until its object is collected, and the driver has
 * no other way to let go of one. So collection is asked for, in a context that has it: this one
 * gets no `gc`, and contexts that come later get none either.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  try {
    runInNewContext('gc')()
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

function scalar(client: SqliteClient, text: string): string {
  return String(query(client, text).rows[0]?.[0] ?? '')
}

/** Drops what killed runs left, and creates the registers. */
function createTable(client: SqliteClient): void {
  for (const name of tablesLeft(query(client, OWNED_TABLES).rows)) {
    query(client, `DROP TABLE ${name}`)
  }
  const columns = 'k INTEGER PRIMARY KEY, v INTEGER, l TEXT NOT NULL'
  query(client, `CREATE TABLE ${TABLE} (${columns}${ownMark()})`)
}
