// A file of Turso as a database to be tested, in the mode in which transactions run beside each
// other (mvcc). A file that had another mode has it again when the run ends.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../../base/errors.ts'
import type { Connection } from '../database.ts'
import { FileDatabase } from '../file-database.ts'
import { type FilePlace, holdsSomething, removeFiles } from '../file-place.ts'
import { OWNED_TABLES, ownMark, tablesLeft } from '../owned-tables.ts'
import { TABLE } from '../registers.ts'
import { TURSO_LEVELS, TursoConnection } from './connection.ts'
import { asDatabaseError, logOf, openClient, query, type TursoClient, versionOf } from './driver.ts'
import { isBusy } from './messages.ts'

/** How long the run's own statements wait for those of sessions. */
const BUSY_PATIENCE_MS = 3000

export class TursoDatabase extends FileDatabase {
  readonly levels = TURSO_LEVELS

  private constructor(
    name: string,
    path: string,
    private readonly control: TursoClient,
    private readonly modeBefore: string,
    private readonly isOurs: boolean, // the file, and the log beside it
  ) {
    super(name, 'turso', path)
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

  async open(): Promise<Connection> {
    return new TursoConnection(await openClient(this.path), this.keyCount)
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
  protected async ask(text: string): Promise<void> {
    const endMs = performance.now() + BUSY_PATIENCE_MS
    for (;;) {
      try {
        await query(this.control, text)
        return
      } catch (error) {
        if (!isBusy((error as Error).message) || performance.now() > endMs) throw error
        await pause(5)
      }
    }
  }
}

async function scalar(client: TursoClient, text: string): Promise<string> {
  return String((await query(client, text)).rows[0]?.[0] ?? '')
}
