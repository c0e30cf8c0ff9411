// PostgreSQL as a database to be tested: any server that speaks its protocol.

import { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { Connection, Database } from '../database.ts'
import { ownLevel } from '../database.ts'
import { type PostgresAddress, showAddress } from './address.ts'
import { POSTGRES_LEVELS, PostgresConnection } from './connection.ts'
import { addRows, createSqlTables, createTable, dropTables, scalar } from './table.ts'

export class PostgresDatabase implements Database {
  readonly levels = POSTGRES_LEVELS
  readonly isAudited = true
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning

  private constructor(
    readonly name: string,
    private readonly address: PostgresAddress,
    private readonly entrance: PostgresAddress,
    private control: Client,
  ) {
    this.place = showAddress(address)
  }

  /**
   * Connects and creates the table of the run. Sessions connect to `entrance`, if it is given: a
   * proxy in front of the same server. Throws DatabaseError.
   */
  static async open(
    address: PostgresAddress,
    entrance: Partial<PostgresAddress> = {},
  ): Promise<PostgresDatabase> {
    const control = await connectControl(address)
    try {
      const version = String(await scalar(control, 'SHOW server_version')).split(' ')[0]!
      await createTable(control)
      const sessions = { ...address, ...entrance }
      return new PostgresDatabase(`PostgreSQL ${version}`, address, sessions, control)
    } catch (error) {
      await control.end().catch(() => {})
      throw asDatabaseError(error, address)
    }
  }

  /** The same database at another address, such as that of a replica, which gets no tables. */
  at(address: PostgresAddress): Pick<Database, 'open'> {
    return new PostgresDatabase(this.name, address, address, this.control)
  }

  async addKeys(from: number, to: number): Promise<void> {
    await this.withControl((control) => addRows(control, from, to))
    this.keyCount = Math.max(this.keyCount, to)
  }

  async addTables(
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    await this.withControl((control) => createSqlTables(control, tables, rows))
  }

  async grantedLevel(level: LevelId): Promise<string> {
    const own = ownLevel(this, level)
    return this.withControl(async (control) => {
      await control.query(`BEGIN ISOLATION LEVEL ${own}`)
      const granted = await scalar(control, 'SHOW transaction_isolation')
      await control.query('COMMIT')
      return String(granted).toUpperCase()
    })
  }

  async open(): Promise<Connection> {
    const connection = new PostgresConnection(this.entrance, () => this.keyCount)
    try {
      await connection.connect()
      return connection
    } catch (error) {
      connection.cut()
      throw asDatabaseError(error, this.address)
    }
  }

  async close(): Promise<void> {
    try {
      await this.withControl(dropTables)
    } catch {
      // The server is gone, or does not let us; the next run drops the tables.
    }
    await this.control.end().catch(() => {})
  }

  /** Works on the control connection; opens a new one if the server went away meanwhile. */
  private async withControl<T>(work: (control: Client) => Promise<T>): Promise<T> {
    try {
      return await work(this.control)
    } catch (error) {
      // An error proper comes from a server that is well; anything else ended the connection.
      const isAnswer = (error as { severity?: string }).severity === 'ERROR'
      if (isAnswer || error instanceof DatabaseError) throw asDatabaseError(error, this.address)
    }
    try {
      this.control = await connectControl(this.address)
      return await work(this.control)
    } catch (error) {
      throw asDatabaseError(error, this.address)
    }
  }
}

async function connectControl(address: PostgresAddress): Promise<Client> {
  const control = new Client({
    ...address,
    application_name: 'isobar',
    connectionTimeoutMillis: 10_000,
  })
  control.on('error', () => {}) // found out by the next use
  try {
    await control.connect()
    // What a run works on is to stay, whatever its sessions may lose.
    await control.query('SET synchronous_commit = on')
    return control
  } catch (error) {
    await control.end().catch(() => {})
    throw asDatabaseError(error, address)
  }
}

const HINTS: Record<string, string> = {
  '28P01': 'set PGPASSWORD or use --password-file',
  '28000':
    'the server does not let this user in from here, or only encrypted: add ?sslmode=require',
  '3D000': 'create it, or name another: postgres://user@host/database',
  '42501': 'the user must be allowed to create a table; grant it, or name another database',
  '53300': 'ask for fewer --sessions, or raise max_connections',
  '25006': 'name the primary, not a standby',
  ECONNREFUSED: 'is it running, and is the port right?',
  ENOTFOUND: 'is the host spelled right?',
  EAI_AGAIN: 'is the host spelled right?',
}

/** Says what went wrong in terms of the server's address; messages never contain the password. */
function asDatabaseError(error: unknown, address: PostgresAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message, errors } = error as {
    code?: string
    message: string
    errors?: Error[]
  }
  // Several addresses of one host were tried: an AggregateError without a message of its own.
  const why = message || errors?.map((each) => each.message).join('; ') || 'no answer'
  const hint = code === undefined ? null : (HINTS[code] ?? null)
  return new DatabaseError(`${showAddress(address)}: ${why}`, hint)
}
