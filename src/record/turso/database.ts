// A file of Turso as a database to be tested, in the mode in which transactions run beside each
// other (mvcc). A file that had another mode has it again when the run ends.

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
import { OWNED_TABLES, ownMark, tablesLeft } from '../owned-tables.ts'
import { rowsFor, TABLE } from '../registers.ts'
import { NO_TRAITS, PLAIN_TYPES, rowTable, rowTableStatements } from '../rows.ts'
import { TURSO_LEVELS, TursoConnection } from './connection.ts'
import { asDatabaseError, logOf, openClient, query, type TursoClient, versionOf } from './driver.ts'
import { isBusy } from './messages.ts'

/** How long the run's own statements wait for those of sessions. */
const BUSY_PATIENCE_MS = 3000

export class TursoDatabase implements Database {
  readonly levels = TURSO_LEVELS
  readonly isAudited = true
  readonly gone = null
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning
  private readonly tables = [TABLE] // of this run

  private constructor(
    readonly name: string,
    private readonly path: string,
    private readonly control: TursoClient,
    private readonly modeBefore: string,
    private readonly isOurs: boolean, // the file, and the log beside it
  ) {
    this.place = showFile('turso', path)
  }

  /** Creates the table of the run. Throws DatabaseError. */
  static async open({ path }: FilePlace): Promise<TursoDatabase> {
    const isOurs = !holdsSomething(path)
    if (isOurs && holdsSomething(logOf(path))) {
      throw new DatabaseError(
        `turso:${path}: there is a log beside it already, ${logOf(path)}`,
        'it belongs to another file, whose name differs in its ending alone: name another one',
      )
    }
    const control = await openClient(path)
    try {
      const left = tablesLeft((await query(control, OWNED_TABLES)).rows)
      const modeBefore = await scalar(control, 'PRAGMA journal_mode')
      await query(control, "PRAGMA journal_mode = 'mvcc'")
      for (const name of left) await query(control, `DROP TABLE ${name}`)
      const columns = 'k INTEGER PRIMARY KEY, v INTEGER, l TEXT NOT NULL'
      await query(control, `CREATE TABLE ${TABLE} (${columns}${ownMark()})`)
      const name = `Turso ${await versionOf()}`
      return new TursoDatabase(name, path, control, modeBefore, isOurs)
    } catch (error) {
      await control.close()
      throw asDatabaseError(error, path)
    }
  }

  async addKeys(from: number, to: number): Promise<void> {
    for (const statement of rowsFor(from, to)) await this.ask(statement)
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
    const mark = { inside: ownMark() }
    const statements = rowTableStatements(table, rows, traits, PLAIN_TYPES, mark)
    for (const text of statements) await this.ask(text)
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  async open(): Promise<Connection> {
    return new TursoConnection(await openClient(this.path), () => this.keyCount)
  }

  async close(): Promise<void> {
    try {
      for (const table of this.tables) await this.ask(`DROP TABLE IF EXISTS ${table}`)
      if (!this.isOurs) await this.ask(`PRAGMA journal_mode = '${this.modeBefore}'`)
    } catch {
      // A session that was cut off still has it; the next run drops the table.
    }
    await this.control.close()
    if (!this.isOurs) return
    removeFiles(this.path, ['-wal', '-shm', '-tshm'])
    removeFiles(logOf(this.path), [])
  }

  /** A statement outside of transactions, which does not run beside those that write. */
  private async ask(text: string): Promise<void> {
    const endMs = performance.now() + BUSY_PATIENCE_MS
    for (;;) {
      try {
        await query(this.control, text)
        return
      } catch (error) {
        if (!isBusy((error as Error).message) || performance.now() > endMs) throw error
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
}

async function scalar(client: TursoClient, text: string): Promise<string> {
  return String((await query(client, text)).rows[0]?.[0] ?? '')
}
