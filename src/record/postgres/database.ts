// PostgreSQL as a database to be tested: any server that speaks its protocol.

import type { Client } from 'pg'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import { Control } from '../control.ts'
import { type Connection, type Database, ownLevel, type ScriptSupport } from '../database.ts'
import { type PostgresAddress, showAddress } from './address.ts'
import { POSTGRES_LEVELS, PostgresConnection } from './connection.ts'
import { asDatabaseError } from './failure.ts'
import { PostgresGate } from './gate.ts'
import { NO_OTHERS, OtherNodes } from './nodes.ts'
import { RunTables, scalar } from './table.ts'

/** How long the server may stay away, where nothing is said. */
const PATIENCE_MS = 15_000

export class PostgresDatabase implements Database {
  readonly levels = POSTGRES_LEVELS
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning
  private opened = 0 // connections so far

  private constructor(
    readonly name: string,
    private readonly entrance: PostgresAddress,
    private readonly gate: PostgresGate,
    private readonly control: Control<Client>,
    private readonly tables: RunTables,
    private readonly others: OtherNodes = NO_OTHERS,
  ) {
    const places = [gate.address, ...others.addresses].map(showAddress)
    this.place = [...new Set(places)].join(', ')
  }

  /** Where all work on one node, that one shows all; a cluster may take its time. */
  get isAudited(): boolean {
    const { host, port } = this.gate.address
    return this.others.writers.every((other) => other.host === host && other.port === port)
  }

  get readers(): readonly Pick<Database, 'open'>[] {
    return this.others.readers.map((address) => this.at(address))
  }

  /**
   * Connects and creates the table of the run. Sessions connect to `entrance`, if it is given: a
   * proxy in front of the same server. Throws DatabaseError.
   */
  static async open(
    address: PostgresAddress,
    entrance: Partial<PostgresAddress> = {},
    patienceMs = PATIENCE_MS,
    others: readonly PostgresAddress[] = [],
  ): Promise<PostgresDatabase> {
    const gate = new PostgresGate(address)
    const control = await Control.open(gate, patienceMs)
    const tables = new RunTables()
    try {
      const version = await control.use((client) => scalar(client, 'SELECT version()'))
      await control.use((client) => tables.begin(client))
      const name = productOf(String(version))
      const nodes = await OtherNodes.find(others, patienceMs)
      const at = { ...gate.address, ...entrance }
      return new PostgresDatabase(name, at, gate, control, tables, nodes)
    } catch (error) {
      await control.close(async () => {})
      throw error
    }
  }

  /** The same database at another address, such as that of a replica, which gets no tables. */
  at(address: PostgresAddress): Pick<Database, 'open'> {
    return new PostgresDatabase(this.name, address, this.gate, this.control, this.tables)
  }

  get script(): ScriptSupport {
    return {
      defersConstraints: true,
      locksRows: true,
      addTable: (table, rows, traits) =>
        this.control.use((client) => this.tables.addScriptTable(client, table, rows, traits)),
      // Locks are handed on before the one who had them hears that its transaction has ended: who
      // is blocked then is blocked by somebody else.
      isBlocked: (connection) => {
        const { serverPid } = connection as PostgresConnection
        const text = `SELECT cardinality(pg_blocking_pids(${serverPid})) > 0`
        return this.control.use(async (client) => (await scalar(client, text)) === true)
      },
    }
  }

  get gone(): AbortSignal {
    return this.control.gone
  }

  async addKeys(from: number, to: number): Promise<void> {
    await this.control.use((client) => this.tables.addRows(client, from, to))
    this.keyCount = Math.max(this.keyCount, to)
    await this.spread()
  }

  async addTables(
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    await this.control.use((client) => this.tables.addSqlTables(client, tables, rows))
    await this.spread()
  }

  /** Waits until all nodes show what was set up. */
  private async spread(): Promise<void> {
    if (this.others.addresses.length > 0) await this.others.follow(this.control)
  }

  async grantedLevel(level: LevelId): Promise<string> {
    const own = ownLevel(this, level)
    return this.control.use(async (client) => {
      await client.query(`BEGIN ISOLATION LEVEL ${own}`)
      const granted = await scalar(client, 'SHOW transaction_isolation')
      await client.query('COMMIT')
      return String(granted).toUpperCase()
    })
  }

  async open(signal?: AbortSignal): Promise<Connection> {
    const { writers } = this.others
    const entrance = [this.entrance, ...writers][this.opened++ % (writers.length + 1)]!
    const timeout = AbortSignal.timeout(entrance.connectTimeoutMs)
    const connection = new PostgresConnection(entrance, () => this.keyCount)
    try {
      await connection.connect(signal ? AbortSignal.any([signal, timeout]) : timeout)
      return connection
    } catch (error) {
      connection.cut()
      throw asDatabaseError(error, entrance)
    }
  }

  async close(): Promise<void> {
    await this.control.close((client) => this.tables.drop(client))
  }
}

/**
 * Which database it is that speaks PostgreSQL's protocol, by what `version()` says: `PostgreSQL
 * 15.18 (Debian …) on …`, `PostgreSQL 11.2-YB-2.25.0.0-b0 on …`, `CockroachDB CCL v24.3.1 (…)`.
 */
export function productOf(version: string): string {
  const [, cockroach] = /^CockroachDB\D* v?(\S+)/.exec(version) ?? []
  if (cockroach !== undefined) return `CockroachDB ${cockroach}`
  const [, yugabyte] = /-YB-(\S+)/.exec(version) ?? []
  if (yugabyte !== undefined) return `YugabyteDB ${yugabyte}`
  return `PostgreSQL ${version.split(' ')[1] ?? version}`
}
