// What databases on a file of this machine have in common, whose statements run in this process:
// the tables of a run, and whose they are. Main class: FileDatabase.

import type { SqlTable } from '../history/sql-events.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlRow } from '../sql/value.ts'
import {
  type Connection,
  type Database,
  ownLevel,
  type ScriptSupport,
  type TableTraits,
} from './database.ts'
import { showFile } from './file-place.ts'
import { ownMark } from './owned-tables.ts'
import { rowsFor, TABLE } from './registers.ts'
import { NO_TRAITS, PLAIN_TYPES, rowTable, rowTableStatements } from './rows.ts'
import type { Target } from './target.ts'

/** A target whose database runs in this process: nothing comes between it and its sessions. */
export function fileTarget(
  about: Pick<Target, 'product' | 'levels' | 'usualLevel'>,
  open: () => Promise<Database>,
): Target {
  return {
    ...about,
    undisturbed: 'it runs in this process',
    ownsServer: false,
    tidyMs: 1500,
    open: async () => {
      const database = await open()
      return { database, proxies: [], makers: {}, close: () => database.close() }
    },
  }
}

export abstract class FileDatabase implements Database {
  abstract readonly levels: Database['levels']
  readonly isAudited = true
  readonly gone = null
  readonly place: string
  protected readonly tables = [TABLE] // of this run
  private keysAtFirst = 0

  protected constructor(
    readonly name: string,
    scheme: string,
    protected readonly path: string,
  ) {
    this.place = showFile(scheme, path)
  }

  abstract open(): Promise<Connection>
  abstract close(): Promise<void>

  /** Runs a statement of the run's own. */
  protected abstract ask(text: string): Promise<unknown>

  /** How many keys have rows from the beginning. */
  protected readonly keyCount = (): number => this.keysAtFirst

  async addKeys(from: number, to: number): Promise<void> {
    for (const statement of rowsFor(from, to)) await this.ask(statement)
    this.keysAtFirst = Math.max(this.keysAtFirst, to)
  }

  get script(): ScriptSupport {
    return {
      defersConstraints: false,
      locksRows: false,
      addTable: (table, rows, traits) => this.addTable(table, rows, traits),
      isBlocked: async (connection) => this.isBlocked(connection),
    }
  }

  async addTables(
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    for (const [id, table] of tables.entries()) await this.addTable(table, rows[id]!, NO_TRAITS)
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  /** Unless told, whoever is in another's way is refused at once. */
  protected isBlocked(_: Connection): boolean {
    return false
  }

  /** What says in a table's definition that it is ours. */
  protected tableMark(): string {
    return ownMark()
  }

  /** Runs what creates and fills a table. */
  protected async create(_: string, statements: readonly string[]): Promise<void> {
    for (const text of statements) await this.ask(text)
  }

  private async addTable(
    table: SqlTable,
    rows: readonly SqlRow[],
    traits: TableTraits,
  ): Promise<void> {
    const name = rowTable(table)
    this.tables.push(name)
    const mark = { inside: this.tableMark() }
    await this.create(name, rowTableStatements(table, rows, traits, PLAIN_TYPES, mark))
  }
}
