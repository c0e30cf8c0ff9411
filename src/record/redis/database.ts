// Redis as a database to be tested. A run has the names that begin with PREFIX for itself: a lock
// says whose they are, and connections are named after their run, so that the lock of one that was
// killed is seen to be nobody's. What it left, the next one deletes.

import { randomBytes } from 'node:crypto'
import type { LevelId } from '../../levels/levels.ts'
import { Control, type Gate } from '../control.ts'
import { type Connection, type Database, noSqlWorkloads, ownLevel } from '../database.ts'
import { expectVersion } from '../least-version.ts'
import { cutBy } from '../patience.ts'
import {
  asDatabaseError,
  codeOf,
  connectClient,
  type RedisAddress,
  type RedisClient,
  showAddress,
} from './client.ts'
import { PREFIX, REDIS_LEVELS, RedisConnection } from './connection.ts'

const LOCK = `${PREFIX}lock`
const CONNECT_PATIENCE_MS = 10_000
/** Takes the lock from nobody, or from the one that is named. */
const TAKE = `local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

export class RedisDatabase implements Database {
  readonly levels = REDIS_LEVELS
  readonly script = null
  readonly isAudited = true
  readonly place: string

  private constructor(
    readonly name: string,
    private readonly address: RedisAddress,
    private readonly entrance: Partial<RedisAddress>,
    private readonly control: Control<RedisClient>,
  ) {
    this.place = showAddress(address)
  }

  /** Connects, and deletes what a killed run has left. Throws DatabaseError. */
  static async open(
    address: RedisAddress,
    entrance: Partial<RedisAddress>,
    patienceMs: number,
  ): Promise<RedisDatabase> {
    const control = await Control.open(gateOf(address), patienceMs)
    try {
      const info = await control.use((client) => client.call('INFO', 'server'))
      const version = /redis_version:(\S+)/.exec(String(info))?.[1] ?? '(version unknown)'
      const name = `Redis ${version}`
      expectVersion(name, showAddress(address))
      await control.use((client) => deleteAll(client, [LOCK]))
      return new RedisDatabase(name, address, entrance, control)
    } catch (error) {
      await control.close(async () => {})
      throw error
    }
  }

  get gone(): AbortSignal {
    return this.control.gone
  }

  async addKeys(): Promise<void> {
    // Every key is in its initial state until it is written.
  }

  async addTables(): Promise<void> {
    throw noSqlWorkloads('Redis, which has no tables')
  }

  async grantedLevel(level: LevelId): Promise<string> {
    return ownLevel(this, level)
  }

  async open(signal?: AbortSignal): Promise<Connection> {
    const timeout = AbortSignal.timeout(CONNECT_PATIENCE_MS)
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      return new RedisConnection(await connectClient({ ...this.address, ...this.entrance }, either))
    } catch (error) {
      throw asDatabaseError(error, this.address)
    }
  }

  async close(): Promise<void> {
    await this.control.close((client) => deleteAll(client, []))
  }
}

function gateOf(address: RedisAddress): Gate<RedisClient> {
  const run = randomBytes(6).toString('hex')
  return {
    connect: async (signal) => {
      const client = await connectClient(address, signal)
      const cut = () => client.disconnect()
      await cutBy(signal, cut, () => client.call('CLIENT', 'SETNAME', `isobar-${run}`))
      return client
    },
    takeLock: async (client) => {
      const holder = String((await client.call('GET', LOCK)) ?? '')
      if (holder === run) return true
      if (holder !== '') {
        const clients = String(await client.call('CLIENT', 'LIST'))
        if (clients.includes(`name=isobar-${holder} `)) return false
      }
      return Number(await client.call('EVAL', TAKE, 1, LOCK, holder, run)) === 1
    },
    onEnd: (client, over) => client.on('end', over),
    end: async (client) => client.disconnect(),
    isAnswer: (error) => codeOf(error) !== null && codeOf(error) !== 'LOADING',
    asDatabaseError: (error) => asDatabaseError(error, address),
  }
}

/** Deletes all that a run has made. */
async function deleteAll(client: RedisClient, but: readonly string[]): Promise<void> {
  let cursor = '0'
  do {
    const answer = await client.call('SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', 1000)
    const [next, names] = answer as [string, string[]]
    const doomed = names.filter((name) => !but.includes(name))
    if (doomed.length > 0) await client.call('UNLINK', ...doomed)
    cursor = next
  } while (cursor !== '0')
}
