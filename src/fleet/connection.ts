// A connection to the PostgreSQL of a fleet that outlasts restarts of the server: what is asked is
// asked again until there is an answer, so every statement must do no harm when it is carried out
// twice. Main class: FleetConnection.

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { nowMs } from '../base/deadline.ts'
import { DatabaseError } from '../base/errors.ts'
import {
  type PostgresAddress,
  parsePostgresAddress,
  showAddress,
} from '../record/postgres/address.ts'
import { configOf, connectClient, hangUp } from '../record/postgres/client.ts'
import { asDatabaseError } from '../record/postgres/failure.ts'

const AGAIN_AFTER_MS = 200
const QUERY_PATIENCE_MS = 60_000
const MOST_CONNECTIONS = 4

/** The server was stopped, is about to start, or the connection broke. */
const LOST = /^(08|57P|53300)|^E(CONN|PIPE|HOST|NET|TIMEDOUT)/

export class FleetConnection {
  private constructor(
    private readonly pool: pg.Pool,
    private readonly address: PostgresAddress,
    private readonly patienceMs: number,
  ) {
    pool.on('error', () => {}) // found out by the next use
  }

  /** @param patienceMs how long the server may stay away. Throws UsageError, DatabaseError. */
  static async open(
    text: string,
    environment: Record<string, string | undefined>,
    patienceMs: number,
  ): Promise<FleetConnection> {
    const named = parsePostgresAddress(text, environment)
    const address = await findWay(named, patienceMs)
    const pool = new pg.Pool({
      ...configOf(address, address.encryptions[0]!),
      max: MOST_CONNECTIONS,
    })
    return new FleetConnection(pool, address, patienceMs)
  }

  /** How the driver gets in, for whoever else has to. */
  get config(): pg.ClientConfig {
    return configOf(this.address, this.address.encryptions[0]!)
  }

  get place(): string {
    return showAddress(this.address)
  }

  /** The rows of the answer; without values, several statements are one transaction. */
  async ask<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const end = nowMs() + this.patienceMs
    for (;;) {
      try {
        return (await this.pool.query(text, [...values])).rows as Row[]
      } catch (error) {
        if (!isLost(error) || nowMs() > end) throw asDatabaseError(error, this.address)
        await pause(AGAIN_AFTER_MS)
      }
    }
  }

  async close(): Promise<void> {
    await this.pool.end().catch(() => {})
  }
}

/** The address with the one way to connect that the server accepts. */
async function findWay(address: PostgresAddress, patienceMs: number): Promise<PostgresAddress> {
  const end = nowMs() + patienceMs
  for (;;) {
    try {
      const connected = await connectClient(address, QUERY_PATIENCE_MS)
      await hangUp(connected.client)
      return connected.address
    } catch (error) {
      if (!isLost(error) || nowMs() > end) throw unreachable(error, address)
      await pause(AGAIN_AFTER_MS)
    }
  }
}

function unreachable(error: unknown, address: PostgresAddress): DatabaseError {
  const { message, hint } = asDatabaseError(error, address)
  return new DatabaseError(`the fleet's server cannot be reached: ${message}`, hint)
}

function isLost(error: unknown): boolean {
  const { code = '', message } = error as { code?: string; message: string }
  return LOST.test(code) || /terminated|timeout|not queryable|closed/i.test(message)
}
