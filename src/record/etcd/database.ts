// etcd as a database to be tested. A run has the names that begin with its prefix for itself, by a
// lock on a lease that it renews. If the run is killed, the lock goes with the lease, and what was
// left the next run deletes; one that could not renew it in time, and finds another in its place,
// stops.

import { randomBytes } from 'node:crypto'
import { DatabaseError } from '../../base/errors.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Connection, type Database, noSqlWorkloads, ownLevel } from '../database.ts'
import { cutBy, withinPatience } from '../patience.ts'
import { asDatabaseError, type EtcdAddress, EtcdClient, showAddress } from './client.ts'
import { ETCD_LEVELS, EtcdConnection } from './connection.ts'

const LEASE_S = 20
const RENEW_EVERY_MS = 3000

export class EtcdDatabase implements Database {
  readonly levels = ETCD_LEVELS
  readonly script = null
  readonly isAudited = true
  readonly place: string
  private readonly abort = new AbortController()
  private readonly run = randomBytes(6).toString('hex')
  private lease = ''
  private timer: NodeJS.Timeout | null = null

  private constructor(
    readonly name: string,
    private readonly address: EtcdAddress,
    private readonly entrance: Partial<EtcdAddress>,
    private client: EtcdClient,
  ) {
    this.place = showAddress(address)
  }

  /** Takes the lock, and deletes what a killed run has left. Throws DatabaseError. */
  static async open(
    address: EtcdAddress,
    entrance: Partial<EtcdAddress>,
    patienceMs: number,
  ): Promise<EtcdDatabase> {
    const client = new EtcdClient(address)
    const begin = async () => {
      const name = `etcd ${await client.version()}`
      const database = new EtcdDatabase(name, address, entrance, client)
      if (!(await database.takeLock())) {
        throw new DatabaseError(
          'another run uses this database, or was killed a moment ago',
          `wait for its end; the lock of a killed run goes after ${LEASE_S} s`,
        )
      }
      await client.deletePrefix(prefixOf(address))
      database.timer = setInterval(() => void database.renew(), RENEW_EVERY_MS).unref()
      return database
    }
    try {
      return await withinPatience(patienceMs, (signal) => {
        return cutBy(signal, () => client.cut(), begin)
      })
    } catch (error) {
      throw asDatabaseError(error, address)
    }
  }

  get gone(): AbortSignal {
    return this.abort.signal
  }

  async addKeys(): Promise<void> {
    // Every key is in its initial state until it is written.
  }

  async addTables(): Promise<void> {
    throw noSqlWorkloads('etcd, which has no tables')
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  async open(signal: AbortSignal | null = null): Promise<Connection> {
    const client = new EtcdClient({ ...this.address, ...this.entrance })
    try {
      // Connects.
      await cutBy(
        signal,
        () => client.cut(),
        () => client.version(),
      )
      return new EtcdConnection(client, prefixOf(this.address))
    } catch (error) {
      throw asDatabaseError(error, this.address)
    }
  }

  async close(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    try {
      if (!this.gone.aborted) await this.client.deletePrefix(prefixOf(this.address))
      await this.client.revokeLease(this.lease)
    } catch {
      // The server is gone; the next run deletes what is left.
    }
    this.client.cut()
  }

  private async takeLock(): Promise<boolean> {
    this.lease = await this.client.grantLease(LEASE_S)
    const lock = `isobar-run-lock/${this.address.name}`
    const { value, revision } = await this.client.find(lock)
    if (value !== null && value !== this.run) return false
    return this.client.putIf([{ key: lock, revision }], [[lock, this.run]], this.lease)
  }

  private async renew(): Promise<void> {
    try {
      if (this.client.isLost) this.client = new EtcdClient(this.address)
      if (await this.client.renewLease(this.lease)) return
      if (await this.takeLock()) return
    } catch {
      return // the server is away; the next time tells
    }
    this.abort.abort(
      new DatabaseError(
        'another run has taken this database while our connection to it was lost',
        'give each run a name of its own: etcd://host:2379/name',
      ),
    )
  }
}

/** All that a run writes has names that begin with this. */
export function prefixOf({ name }: EtcdAddress): string {
  return `isobar-run-safe-to-drop/${name}/`
}
