// Firebird as a database to be tested. Firebird has no locks by name, so the tables of a run say
// whose they are: comments name the run, the user and the attachment that made them, which counts
// as there as long as the server lists it. CREATE TABLE lets one of two runs through. What a killed
// run left, the next one drops. A table of that name that is not ours is left alone.

import { randomBytes } from 'node:crypto'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import { Control, type Gate } from '../control.ts'
import {
  type Connection,
  type Database,
  ownLevel,
  type ScriptSupport,
  type TableTraits,
} from '../database.ts'
import { expectVersion } from '../least-version.ts'
import { MARK, TABLE } from '../registers.ts'
import { NO_TRAITS, PLAIN_TYPES, type RowTypes, rowTable, rowTableStatements } from '../rows.ts'
import { type FirebirdAddress, showAddress } from './address.ts'
import {
  asDatabaseError,
  connectClient,
  execute,
  type FirebirdClient,
  hangUp,
  type ServerError,
  scalar,
  together,
} from './client.ts'
import { isLastWord } from './codes.ts'
import { askFor, FIREBIRD_LEVELS, FirebirdConnection } from './connection.ts'
import { insertRows, keysBlock } from './row-statements.ts'

const CONNECT_PATIENCE_MS = 10_000
/** Of what MON$TRANSACTIONS says, in the order of its numbers. */
const MODES = [
  'SNAPSHOT TABLE STABILITY',
  'SNAPSHOT',
  'READ COMMITTED',
  'READ COMMITTED NO RECORD_VERSION',
]
/** Texts that compare by their bytes: others are the same with blanks at the end. */
const TYPES: RowTypes = { ...PLAIN_TYPES, text: 'VARCHAR(255) CHARACTER SET OCTETS' }
const LIST = "VARCHAR(32000) CHARACTER SET ASCII DEFAULT '' NOT NULL"

/** A table of ours, and what its comment says. */
interface OwnedTable {
  readonly name: string
  readonly run: string
  /** Whether the attachment that made it is there, or may be. */
  readonly isInUse: boolean
}

export class FirebirdDatabase implements Database {
  readonly levels = FIREBIRD_LEVELS
  readonly isAudited = true
  readonly place: string
  private keyCount = 0 // keys that have rows from the beginning

  private constructor(
    readonly name: string,
    private readonly address: FirebirdAddress,
    private readonly entrance: FirebirdAddress, // where sessions connect
    private readonly control: Control<FirebirdClient>,
    private readonly run: string,
  ) {
    this.place = showAddress(address)
  }

  /** Connects and creates the table of the run. Throws DatabaseError. */
  static async open(
    address: FirebirdAddress,
    entrance: Partial<FirebirdAddress>,
    patienceMs: number,
  ): Promise<FirebirdDatabase> {
    const run = randomBytes(6).toString('hex')
    const control = await Control.open(gateOf(address, run), patienceMs)
    try {
      const version = await control.use((client) =>
        scalar(client, "SELECT rdb$get_context('SYSTEM', 'ENGINE_VERSION') FROM rdb$database"),
      )
      const name = `Firebird ${version}`
      expectVersion(name, showAddress(address))
      await control.use((client) => createRegisters(client, run))
      const at = { ...address, ...entrance }
      return new FirebirdDatabase(name, address, at, control, run)
    } catch (error) {
      await control.close((client) => drop(client, run))
      throw error
    }
  }

  get gone(): AbortSignal {
    return this.control.gone
  }

  get script(): ScriptSupport {
    return {
      defersConstraints: false,
      locksRows: true,
      addTable: (table, rows, traits) => this.addTable(table, rows, traits),
      // The server does not tell who waits for whom, but what it has not finished. Who asks has
      // waited longer than a statement takes that has nothing to wait for.
      isBlocked: async (connection) => {
        const { id } = connection as FirebirdConnection
        const running = `SELECT COUNT(*) FROM mon$statements WHERE mon$attachment_id = ${id}
          AND mon$state = 1`
        return Number(await this.control.use((client) => scalar(client, running))) > 0
      },
    }
  }

  async addKeys(from: number, to: number): Promise<void> {
    await this.control.use((client) => together(client, keysBlock(TABLE, from, to)))
    this.keyCount = Math.max(this.keyCount, to)
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
    const [create, ...others] = rowTableStatements(table, rows, traits, TYPES, { insertRows })
    await this.control.use(async (client) => {
      await createOwned(client, rowTable(table), create!, this.run)
      for (const text of others) await together(client, text)
    })
  }

  async grantedLevel(level: LevelId): Promise<string> {
    ownLevel(this, level)
    return this.control.use(async (client) => {
      const transaction = await client.transactionAsync(askFor(this.address, level))
      const { rows } = await execute(
        transaction,
        `SELECT mon$isolation_mode FROM mon$transactions
          WHERE mon$transaction_id = current_transaction`,
      )
      await transaction.commitAsync()
      return MODES[Number(rows[0]?.[0])] ?? 'unknown'
    })
  }

  async open(signal?: AbortSignal): Promise<Connection> {
    const timeout = AbortSignal.timeout(CONNECT_PATIENCE_MS)
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      const client = await connectClient(this.entrance, either)
      const id = Number(await scalar(client, 'SELECT current_connection FROM rdb$database'))
      return new FirebirdConnection(client, this.entrance, id, () => this.keyCount)
    } catch (error) {
      throw asDatabaseError(error, this.address)
    }
  }

  async close(): Promise<void> {
    await this.control.close((client) => drop(client, this.run))
  }
}

function gateOf(address: FirebirdAddress, run: string): Gate<FirebirdClient> {
  return {
    connect: (signal) => connectClient(address, signal),
    takeLock: (client, lost) => (lost === null ? isFree(client) : takeOver(client, run)),
    onEnd: (client, over) => client.connection._socket.once('close', over),
    end: async (client) => hangUp(client),
    isAnswer: (error) => !isLastWord((error as ServerError).gdscode ?? null),
    asDatabaseError: (error) => asDatabaseError(error, address),
  }
}

/** Whether no other run is at work. */
async function isFree(client: FirebirdClient): Promise<boolean> {
  return (await ownedTables(client)).every(({ isInUse }) => !isInUse)
}

/** The tables of the run are from now on those of this attachment; false if they are gone. */
async function takeOver(client: FirebirdClient, run: string): Promise<boolean> {
  const ours = (await ownedTables(client)).filter((table) => table.run === run)
  for (const { name } of ours) await together(client, await commentOn(client, name, run))
  return ours.length > 0
}

async function createRegisters(client: FirebirdClient, run: string): Promise<void> {
  for (const { name, isInUse } of await ownedTables(client)) {
    if (!isInUse) await together(client, `DROP TABLE ${name}`)
  }
  const columns = `k INT NOT NULL PRIMARY KEY, v BIGINT, l ${LIST}`
  await createOwned(client, TABLE, `CREATE TABLE ${TABLE} (${columns})`, run)
}

/** With its comment, or not at all: what is made is part of the transaction. */
async function createOwned(
  client: FirebirdClient,
  name: string,
  create: string,
  run: string,
): Promise<void> {
  const isThere = `SELECT COUNT(*) FROM rdb$relations WHERE rdb$relation_name = UPPER('${name}')`
  if (Number(await scalar(client, isThere)) > 0) {
    throw new DatabaseError(
      `there is a table ${name} already that isobar did not make; nothing was changed`,
      'rename it, or name another database',
    )
  }
  await together(client, create, await commentOn(client, name, run))
}

async function commentOn(client: FirebirdClient, name: string, run: string): Promise<string> {
  const id = await scalar(client, 'SELECT current_connection FROM rdb$database')
  const user = await scalar(client, 'SELECT current_user FROM rdb$database')
  const words = `${MARK} (${run}, attachment ${id}, user ${user})`
  return `COMMENT ON TABLE ${name} IS '${words.replaceAll("'", "''")}'`
}

/** Of other users' attachments one is not told, so theirs may be there. */
async function ownedTables(client: FirebirdClient): Promise<OwnedTable[]> {
  const { rows } = await together(
    client,
    `SELECT TRIM(rdb$relation_name), CAST(rdb$description AS VARCHAR(500)), current_user
      FROM rdb$relations WHERE rdb$relation_name STARTING WITH 'ISOBAR_'
      AND rdb$description STARTING WITH '${MARK}'`,
  )
  const here = await together(client, 'SELECT mon$attachment_id FROM mon$attachments')
  const attachments = new Set(here.rows.map(([id]) => Number(id)))
  return rows.flatMap(([name, words, self]) => {
    const match = /\((\w+), attachment (\d+), user (.*)\)/.exec(String(words))
    if (match === null) return []
    const isInUse = match[3] !== self || attachments.has(Number(match[2]))
    return [{ name: String(name), run: match[1]!, isInUse }]
  })
}

/** Drops the tables of the run. */
async function drop(client: FirebirdClient, run: string): Promise<void> {
  const owned = await ownedTables(client)
  for (const table of owned) {
    if (table.run === run) await together(client, `DROP TABLE ${table.name}`)
  }
}
