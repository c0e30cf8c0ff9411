// MariaDB or MySQL as a database to be tested. The table of a run is of InnoDB, and a comment says
// that it is ours, and of which run; what a killed run left, the next one, which holds the lock,
// drops. A table of that name that is not ours is left alone.

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import { Control, type Gate, wrestLock } from '../control.ts'
import {
  type Connection,
  type Database,
  type Node,
  ownLevel,
  type ScriptSupport,
  type TableTraits,
} from '../database.ts'
import { expectVersion } from '../least-version.ts'
import { MARK, rowsFor, TABLE } from '../registers.ts'
import { NO_TRAITS, PLAIN_TYPES, type RowTypes, rowTable, rowTableStatements } from '../rows.ts'
import { type MysqlAddress, showAddress } from './address.ts'
import {
  asDatabaseError,
  codeOf,
  connectClient,
  hangUp,
  type MysqlClient,
  query,
  type ServerError,
  scalar,
} from './client.ts'
import { isLastWord } from './codes.ts'
import { askFor, MYSQL_LEVELS, MysqlConnection } from './connection.ts'
import { askNode, awaitOn, type ClusterNode } from './nodes.ts'

const CONNECT_PATIENCE_MS = 10_000
const LET_GO_MS = 1000
/** The server tells of lock waits from what it gathered, anew only if nobody asked for so long. */
const LOCKS_GATHERED_MS = 110
const LOCK = "CONCAT('isobar.', LEFT(MD5(DATABASE()), 16))"

/** Texts that may be part of a key, and are compared by their bytes, blanks at the end included. */
const MARIADB_TYPES: RowTypes = { ...PLAIN_TYPES, text: textBy('utf8mb4_nopad_bin') }
const MYSQL_TYPES: RowTypes = { ...PLAIN_TYPES, text: textBy('utf8mb4_0900_bin') }

function textBy(collation: string): string {
  return `VARCHAR(255) CHARACTER SET utf8mb4 COLLATE ${collation}`
}

interface Opening {
  /** Further nodes of the same cluster. */
  readonly others: readonly MysqlAddress[]
  /** Where sessions connect in place of each node: proxies in front of the same servers. */
  readonly entrances: readonly Partial<MysqlAddress>[]
  readonly patienceMs: number
}

export class MysqlDatabase implements Database {
  readonly levels = MYSQL_LEVELS
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning
  private askedForLocksMs = 0

  private constructor(
    readonly name: string,
    private readonly cluster: readonly ClusterNode[], // the first has the tables set up
    private readonly control: Control<MysqlClient>,
    private readonly mark: string,
    private readonly patienceMs: number,
  ) {
    this.place = cluster.map(({ address }) => showAddress(address)).join(', ')
  }

  /** One node shows all; in a cluster, others may be behind. */
  get isAudited(): boolean {
    return this.cluster.length === 1
  }

  get nodes(): readonly Node[] {
    return this.cluster.map((node) => ({
      isReader: false,
      open: (signal) => this.openAt(node, signal),
    }))
  }

  private get address(): MysqlAddress {
    return this.cluster[0]!.address
  }

  /** Connects and creates the table of the run. Throws DatabaseError. */
  static async open(
    address: MysqlAddress,
    { others, entrances, patienceMs }: Opening,
  ): Promise<MysqlDatabase> {
    const control = await Control.open(gateOf(address), patienceMs)
    const mark = `${MARK} (${randomBytes(6).toString('hex')})`
    try {
      const version = await control.use((client) => scalar(client, 'SELECT VERSION()'))
      const name = nameOf(String(version), others.length + 1)
      expectVersion(name, showAddress(address))
      await control.use((client) => createTable(client, mark))
      const cluster = [address, ...others].map((each, i) => {
        return { address: each, entrance: { ...each, ...entrances[i] } }
      })
      const database = new MysqlDatabase(name, cluster, control, mark, patienceMs)
      const isThere = `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
        AND TABLE_NAME = '${TABLE}' AND TABLE_COMMENT = '${mark}'`
      await database.spread([isThere])
      return database
    } catch (error) {
      await control.close((client) => dropMarked(client, mark))
      throw error
    }
  }

  get gone(): AbortSignal {
    return this.control.gone
  }

  async addKeys(from: number, to: number): Promise<void> {
    await this.control.use(async (client) => {
      for (const statement of rowsFor(from, to)) await query(client, statement)
    })
    this.keyCount = Math.max(this.keyCount, to)
    await this.spread([`SELECT COUNT(*) FROM ${TABLE} WHERE k = ${to - 1}`])
  }

  /** Waits until every other node answers these questions with 1. */
  private async spread(questions: readonly string[]): Promise<void> {
    for (const node of this.cluster.slice(1)) await awaitOn(node, questions, this.patienceMs)
  }

  get script(): ScriptSupport {
    return {
      defersConstraints: false,
      locksRows: true,
      addTable: (table, rows, traits) => this.addTable(table, rows, traits),
      isBlocked: (connection) => this.waitsForLock(connection as MysqlConnection),
    }
  }

  private async waitsForLock({ threadId, address }: MysqlConnection): Promise<boolean> {
    const leftMs = this.askedForLocksMs + LOCKS_GATHERED_MS - performance.now()
    if (leftMs > 0) await pause(leftMs)
    const text = `SELECT COUNT(*) FROM information_schema.INNODB_TRX
      WHERE trx_mysql_thread_id = ${threadId} AND trx_state = 'LOCK WAIT'`
    const ask = (client: MysqlClient) =>
      scalar(client, text).catch((error: ServerError) => {
        if (error.code !== 'ER_SPECIFIC_ACCESS_DENIED_ERROR') throw error
        throw new DatabaseError(
          'this account may not ask the server who waits for whom',
          `GRANT PROCESS ON *.* TO ${this.address.user}`,
        )
      })
    // Locks, and the numbers of threads, are those of a node.
    const node = this.cluster.findIndex(({ entrance }) => entrance === address)
    const count = await (node > 0 ? askNode(this.cluster[node]!, ask) : this.control.use(ask))
    this.askedForLocksMs = performance.now()
    return Number(count) > 0
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
    await this.control.use(async (client) => {
      const behind = `ENGINE = InnoDB COMMENT = '${this.mark}'`
      const types = this.name.startsWith('MariaDB') ? MARIADB_TYPES : MYSQL_TYPES
      for (const text of rowTableStatements(table, rows, traits, types, { behind })) {
        await query(client, text)
      }
    })
    await this.spread([`SELECT COUNT(*) = ${rows.length} FROM ${rowTable(table)}`])
  }

  async grantedLevel(level: LevelId): Promise<string> {
    ownLevel(this, level)
    const session = await this.open()
    await session.close()
    return this.control.use(async (client) => {
      await query(client, askFor(this.address, level))
      const names = "('transaction_isolation', 'tx_isolation')"
      const { rows } = await query(client, `SHOW VARIABLES WHERE Variable_name IN ${names}`)
      return String(rows[0]![1]).replace('-', ' ')
    })
  }

  open(signal?: AbortSignal): Promise<Connection> {
    return this.openAt(this.cluster[0]!, signal)
  }

  private async openAt(node: ClusterNode, signal?: AbortSignal): Promise<Connection> {
    const timeout = AbortSignal.timeout(CONNECT_PATIENCE_MS)
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      const client = await connectClient(node.entrance, either)
      return new MysqlConnection(client, node.entrance, () => this.keyCount)
    } catch (error) {
      throw asDatabaseError(error, node.address)
    }
  }

  async close(): Promise<void> {
    await this.control.close((client) => dropMarked(client, this.mark))
  }
}

function gateOf(address: MysqlAddress): Gate<MysqlClient> {
  return {
    connect: (signal) => connectClient(address, signal),
    takeLock: (client, lost) =>
      wrestLock(
        async () => Number(await scalar(client, `SELECT GET_LOCK(${LOCK}, 0)`)) === 1,
        () => scalar(client, `SELECT IS_USED_LOCK(${LOCK})`) as Promise<number | null>,
        lost?.threadId ?? 0,
        (id) => query(client, `KILL ${id}`),
      ),
    onEnd: (client, over) => client.on('end', over),
    end: letGo,
    isAnswer: (error) => !isLastWord(codeOf(error as ServerError)),
    asDatabaseError: (error) => asDatabaseError(error, address),
  }
}

/** The server lets go of the lock some time after the connection is over, unless it is told to. */
async function letGo(client: MysqlClient): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, LET_GO_MS).unref())
  await Promise.race([query(client, `SELECT RELEASE_LOCK(${LOCK})`).catch(() => {}), late])
  hangUp(client)
}

/** `10.11.19-MariaDB-0+deb12u1` → `MariaDB 10.11.19` */
function nameOf(version: string, nodeCount: number): string {
  const product = /mariadb/i.test(version) ? 'MariaDB' : 'MySQL'
  const name = `${product} ${version.split('-')[0]}`
  return nodeCount === 1 ? name : `${name} (${nodeCount} nodes)`
}

async function createTable(client: MysqlClient, mark: string): Promise<void> {
  await dropMarked(client, MARK)
  const columns = 'k INT PRIMARY KEY, v BIGINT NULL, l LONGTEXT NOT NULL'
  try {
    await query(client, `CREATE TABLE ${TABLE} (${columns}) ENGINE = InnoDB COMMENT = '${mark}'`)
  } catch (error) {
    if ((error as ServerError).code !== 'ER_TABLE_EXISTS_ERROR') throw error
    throw new DatabaseError(
      `there is a table ${TABLE} already that isobar did not make; nothing was changed`,
      'rename it, or name another database',
    )
  }
}

/** Drops the tables whose comment begins with the mark. */
async function dropMarked(client: MysqlClient, mark: string): Promise<void> {
  const { rows } = await query(
    client,
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
      AND TABLE_NAME LIKE 'isobar\\_%' AND TABLE_COMMENT LIKE '${mark}%'`,
  )
  if (rows.length > 0) await query(client, `DROP TABLE ${rows.flat().join(', ')}`)
}
