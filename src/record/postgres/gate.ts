// How a run's control gets into PostgreSQL: its connection, and an advisory lock on the database.
// Main class: PostgresGate.

import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import { type Gate, wrestLock } from '../control.ts'
import { cutBy } from '../patience.ts'
import type { PostgresAddress } from './address.ts'
import { connectClient, hangUp } from './client.ts'
import { asDatabaseError, isAnswer, POOLER } from './failure.ts'
import { scalar } from './table.ts'

const LOCK = 0x150ba2
const QUERY_PATIENCE_MS = 30_000

export class PostgresGate implements Gate<Client> {
  readonly isAnswer = isAnswer
  private isKnown = false

  /** @param address from the first connection on, with the way to connect that is accepted */
  constructor(public address: PostgresAddress) {}

  async connect(signal: AbortSignal): Promise<Client> {
    const { client, address } = await connectClient(this.address, QUERY_PATIENCE_MS, signal)
    this.address = address
    return cutBy(
      signal,
      () => this.end(client),
      async () => {
        // What a run works on is to stay, whatever its sessions may lose.
        await client.query('SET synchronous_commit = on')
        if (!this.isKnown) await refusePooler(client, address, signal)
        this.isKnown = true
        return client
      },
    )
  }

  takeLock(client: Client, lost: Client | null): Promise<boolean> {
    return wrestLock(
      async () => (await scalar(client, `SELECT pg_try_advisory_lock(${LOCK})`)) === true,
      () =>
        scalar(
          client,
          `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid = ${LOCK}
              AND l.objsubid = 1 AND l.granted AND d.datname = current_database()`,
        ) as Promise<number | null>,
      lost === null ? 0 : pidOf(lost),
      (pid) => client.query(`SELECT pg_terminate_backend(${pid})`),
    )
  }

  onEnd(client: Client, over: () => void): void {
    client.once('end', over)
  }

  async end(client: Client): Promise<void> {
    await hangUp(client)
  }

  asDatabaseError(error: unknown): DatabaseError {
    return asDatabaseError(error, this.address)
  }
}

/**
 * Behind a pooler that hands connections round, statements that were prepared, settings and locks
 * would belong to whoever comes next. Two connections that share a process of the server give it
 * away.
 */
async function refusePooler(
  client: Client,
  address: PostgresAddress,
  signal: AbortSignal,
): Promise<void> {
  const ownPid = await scalar(client, 'SELECT pg_backend_pid()')
  if (ownPid === pidOf(client)) return // the server itself has let us in
  const other = (await connectClient(address, QUERY_PATIENCE_MS, signal)).client
  const end = () => other.end().catch(() => {})
  await cutBy(signal, end, async () => {
    for (let tries = 0; tries < 5; tries++) {
      const otherPid = await scalar(other, 'SELECT pg_backend_pid()')
      const laterPid = await scalar(client, 'SELECT pg_backend_pid()')
      if (otherPid !== ownPid && laterPid === ownPid) continue
      throw new DatabaseError('a pooler between us and the server makes sessions share it', POOLER)
    }
  })
  await end()
}

/** The process of the server, as it told us; the driver's types do not know it. */
function pidOf(client: Client): number {
  return (client as unknown as { processID: number | null }).processID ?? 0
}
