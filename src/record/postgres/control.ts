// The connection by which a run sets up and guards its tables. It holds an advisory lock on the
// database, so that no two runs work on the same tables. If it is lost, a new one is opened and the
// lock taken again at once; where another run was quicker, `gone` says that this one must stop, and
// what there is now is theirs. Main class: Control.

import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { PostgresAddress } from './address.ts'
import { connectClient } from './client.ts'
import { asDatabaseError, isAnswer, POOLER } from './failure.ts'
import { scalar } from './table.ts'

const LOCK = 0x150ba2
const QUERY_PATIENCE_MS = 30_000
const TRIES_EVERY_MS = 100

export class Control {
  private readonly abort = new AbortController()
  private recovering: Promise<void> | null = null
  private isClosed = false

  private constructor(
    /** With the way to connect that the server accepts. */
    readonly address: PostgresAddress,
    private client: Client,
    private readonly patienceMs: number,
  ) {
    this.watch(client)
  }

  /** Connects and takes the lock. Throws DatabaseError. */
  static async open(address: PostgresAddress, patienceMs: number): Promise<Control> {
    let client: Client | null = null
    try {
      const connected = await connectClient(address, QUERY_PATIENCE_MS)
      client = connected.client
      await prepareClient(client)
      await refusePooler(client, connected.address)
      if (!(await takeLock(client, 0))) {
        throw new DatabaseError(
          'another run uses this database',
          'wait for its end, or give each run a database of its own',
        )
      }
      return new Control(connected.address, client, patienceMs)
    } catch (error) {
      await client?.end().catch(() => {})
      throw asDatabaseError(error, address)
    }
  }

  /** Aborted, with a DatabaseError, when the run has no right to go on. */
  get gone(): AbortSignal {
    return this.abort.signal
  }

  /** Works on the connection; on a new one, and once more, whenever the server goes away. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    await this.recovering
    const endMs = performance.now() + this.patienceMs
    for (;;) {
      try {
        return await work(this.client)
      } catch (error) {
        const isFinal = this.isClosed || isAnswer(error) || error instanceof DatabaseError
        if (isFinal || performance.now() > endMs) throw asDatabaseError(error, this.address)
      }
      // A server that is going down may let us in once more.
      await this.recover()
    }
  }

  /** Does what is left to do, if that can be done, and lets go of everything. */
  async close(last: (client: Client) => Promise<void>): Promise<void> {
    this.isClosed = true
    await this.recovering?.catch(() => {})
    try {
      if (!this.gone.aborted) await last(this.client)
    } catch {
      // The server is gone, or does not let us; the next run drops the tables.
    }
    await this.client.end().catch(() => {})
  }

  private watch(client: Client): void {
    client.once('end', () => {
      if (!this.isClosed && client === this.client) this.recover().catch(() => {})
    })
  }

  private recover(): Promise<void> {
    this.recovering ??= this.reconnect().finally(() => {
      this.recovering = null
    })
    return this.recovering
  }

  private async reconnect(): Promise<void> {
    const endMs = performance.now() + this.patienceMs
    const lostPid = pidOf(this.client)
    for (;;) {
      if (this.isClosed) return
      try {
        const { client } = await connectClient(this.address, QUERY_PATIENCE_MS)
        await prepareClient(client)
        if (!(await takeLock(client, lostPid))) {
          await client.end()
          return this.giveUp()
        }
        this.client = client
        this.watch(client)
        return
      } catch (error) {
        if (error instanceof DatabaseError) throw error
        if (performance.now() > endMs) throw asDatabaseError(error, this.address)
      }
      await pause(TRIES_EVERY_MS)
    }
  }

  private giveUp(): never {
    const error = new DatabaseError(
      'another run has taken this database while our connection to it was lost',
      'give each run a database of its own',
    )
    this.abort.abort(error)
    throw error
  }
}

/** What a run works on is to stay, whatever its sessions may lose. */
async function prepareClient(client: Client): Promise<void> {
  await client.query('SET synchronous_commit = on')
}

/** Takes the lock; from the connection that was ours before, too, if the server keeps it. */
async function takeLock(client: Client, lostPid: number): Promise<boolean> {
  for (;;) {
    if ((await scalar(client, `SELECT pg_try_advisory_lock(${LOCK})`)) === true) return true
    const holder = await scalar(
      client,
      `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid = ${LOCK} AND l.objsubid = 1
          AND l.granted AND d.datname = current_database()`,
    )
    if (holder !== null && holder !== lostPid) return false
    if (holder === lostPid) await client.query(`SELECT pg_terminate_backend(${lostPid})`)
    await pause(TRIES_EVERY_MS)
  }
}

/**
 * Behind a pooler that hands connections round, statements that were prepared, settings and locks
 * would belong to whoever comes next. Two connections that share a process of the server give it
 * away.
 */
async function refusePooler(client: Client, address: PostgresAddress): Promise<void> {
  const ownPid = await scalar(client, 'SELECT pg_backend_pid()')
  if (ownPid === pidOf(client)) return // the server itself has let us in
  const other = (await connectClient(address, QUERY_PATIENCE_MS)).client
  try {
    for (let tries = 0; tries < 5; tries++) {
      const otherPid = await scalar(other, 'SELECT pg_backend_pid()')
      const laterPid = await scalar(client, 'SELECT pg_backend_pid()')
      if (otherPid !== ownPid && laterPid === ownPid) continue
      throw new DatabaseError('a pooler between us and the server makes sessions share it', POOLER)
    }
  } finally {
    await other.end().catch(() => {})
  }
}

/** The process of the server, as it told us; the driver's types do not know it. */
function pidOf(client: Client): number {
  return (client as unknown as { processID: number | null }).processID ?? 0
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
