// PostgreSQL as a database to be tested: any server that speaks its protocol.

import type { Client } from 'pg'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import { Control } from '../control.ts'
import {
  type CommitLog,
  type Connection,
  type Database,
  type Node,
  ownLevel,
  type Reach,
  type ScriptSupport,
} from '../database.ts'
import { expectVersion } from '../least-version.ts'
import { type PostgresAddress, showAddress } from './address.ts'
import { PostgresCommitLog } from './commit-log.ts'
import { POSTGRES_LEVELS, type PostgresConnection } from './connection.ts'
import { PostgresGate } from './gate.ts'
import { ask, awaitOn, type ClusterNode, findNode, nodesOfPostgres } from './nodes.ts'
import { RunTables, scalar, TABLE } from './table.ts'

/** How long the server may stay away, where nothing is said. */
const PATIENCE_MS = 15_000

interface Opening {
  /** Further nodes of the same cluster. */
  readonly others?: readonly PostgresAddress[]
  /** Where sessions connect in place of each node: proxies in front of the same servers. */
  readonly entrances?: readonly Partial<PostgresAddress>[]
  readonly patienceMs?: number
  /** How long other nodes may take to show what is set up on the first. */
  readonly spreadMs?: number
}

export class PostgresDatabase implements Database {
  readonly levels = POSTGRES_LEVELS
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning

  private constructor(
    readonly name: string,
    private readonly cluster: readonly ClusterNode[], // the first has the tables set up
    private readonly control: Control<Client>,
    private readonly tables: RunTables,
    private readonly patienceMs: number,
    private readonly spreadMs: number,
  ) {
    this.place = [...new Set(cluster.map(({ address }) => showAddress(address)))].join(', ')
  }

  /** Where all work on one node, that one shows all; a cluster may take its time. */
  get isAudited(): boolean {
    const { host, port } = this.first.address
    const writers = this.cluster.filter(({ isReader }) => !isReader)
    return writers.every(({ address }) => address.host === host && address.port === port)
  }

  get nodes(): readonly Node[] {
    return nodesOfPostgres(this.cluster, () => this.keyCount)
  }

  get reach(): Reach {
    return { kind: 'postgres', places: this.cluster }
  }

  private get first(): ClusterNode {
    return this.cluster[0]!
  }

  /** Connects and creates the table of the run. Throws DatabaseError. */
  static async open(
    address: PostgresAddress,
    { others = [], entrances = [], patienceMs = PATIENCE_MS, spreadMs = patienceMs }: Opening = {},
  ): Promise<PostgresDatabase> {
    const gate = new PostgresGate(address)
    const control = await Control.open(gate, patienceMs)
    const tables = new RunTables()
    try {
      const version = await control.use((client) => scalar(client, 'SELECT version()'))
      const name = productOf(String(version))
      expectVersion(name, showAddress(gate.address))
      await control.use((client) => tables.begin(client))
      const at = { ...gate.address, ...entrances[0] }
      const cluster: ClusterNode[] = [{ address: gate.address, entrance: at, isReader: false }]
      for (const [i, other] of others.entries()) {
        cluster.push(await findNode(other, entrances[i + 1]))
      }
      const database = new PostgresDatabase(
        ...[name, cluster, control, tables, patienceMs, spreadMs],
      )
      await database.spread([tables.isThere(TABLE)])
      return database
    } catch (error) {
      await control.close((client) => tables.drop(client))
      throw error
    }
  }

  get script(): ScriptSupport {
    return {
      defersConstraints: true,
      locksRows: true,
      addTable: async (table, rows, traits) => {
        await this.control.use((client) => this.tables.addScriptTable(client, table, rows, traits))
        await this.spread(this.tables.isFilled(table, rows.length))
      },
      // Locks are handed on before the one who had them hears that its transaction has ended: who
      // is blocked then is blocked by somebody else.
      isBlocked: async (connection) => {
        const { serverPid, address } = connection as PostgresConnection
        const text = `SELECT cardinality(pg_blocking_pids(${serverPid})) > 0`
        // Processes are those of a node.
        const node = this.cluster.findIndex(({ entrance }) => entrance === address)
        if (node > 0) return (await ask(this.cluster[node]!.address, text)).answer === true
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
    await this.spread([this.tables.hasRow(to - 1)])
  }

  async addTables(
    tables: readonly SqlTable[],
    rows: readonly (readonly SqlRow[])[],
  ): Promise<void> {
    await this.control.use((client) => this.tables.addSqlTables(client, tables, rows))
    const questions = tables.map((table, id) => this.tables.isFilled(table, rows[id]!.length))
    await this.spread(questions.flat())
  }

  /** Waits until every other node answers these questions with true. */
  private async spread(questions: readonly string[]): Promise<void> {
    for (const node of this.cluster.slice(1)) await awaitOn(node, questions, this.spreadMs)
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

  open(signal?: AbortSignal): Promise<Connection> {
    return this.nodes[0]!.open(signal)
  }

  openCommitLog(): Promise<CommitLog> {
    return PostgresCommitLog.open(this.first.address, this.patienceMs)
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
  const [, postgres] = /^PostgreSQL (\S+)/.exec(version) ?? []
  return postgres === undefined ? version : `PostgreSQL ${postgres}`
}
