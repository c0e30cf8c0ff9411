// The other nodes of a cluster than the one where a run sets up its tables: replicas, which answer
// reads, and nodes that can be written to like the first. Which of the two a node is it says
// itself. Main class: OtherNodes.

import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { Control } from '../control.ts'
import { type PostgresAddress, showAddress } from './address.ts'
import { connectClient } from './client.ts'
import { asDatabaseError } from './failure.ts'
import { scalar, TABLE } from './table.ts'

const ASKED_EVERY_MS = 20

export class OtherNodes {
  private constructor(
    readonly readers: readonly PostgresAddress[],
    readonly writers: readonly PostgresAddress[],
    private readonly patienceMs: number,
  ) {}

  static readonly none = new OtherNodes([], [], 0)

  /** Asks each what it is. Throws DatabaseError if one is not there. */
  static async find(
    addresses: readonly PostgresAddress[],
    patienceMs: number,
  ): Promise<OtherNodes> {
    const readers: PostgresAddress[] = []
    const writers: PostgresAddress[] = []
    for (const address of addresses) {
      const isReplica = await ask(address, 'SELECT pg_is_in_recovery()')
      if (isReplica === true) readers.push(address)
      else writers.push(address)
    }
    return new OtherNodes(readers, writers, patienceMs)
  }

  get addresses(): readonly PostgresAddress[] {
    return [...this.readers, ...this.writers]
  }

  /** Waits until each shows what the first node has by now. Throws DatabaseError. */
  async follow(control: Control<Client>): Promise<void> {
    if (this.readers.length > 0) {
      const text = 'SELECT pg_current_wal_lsn()::text'
      const place = await control.use((client) => scalar(client, text))
      const arrived = `SELECT pg_last_wal_replay_lsn() >= '${place}'`
      for (const address of this.readers) await this.await(address, arrived)
    }
    const isThere = `SELECT to_regclass('${TABLE}') IS NOT NULL`
    for (const address of this.writers) await this.await(address, isThere)
  }

  private async await(address: PostgresAddress, question: string): Promise<void> {
    const endMs = performance.now() + this.patienceMs
    while ((await ask(address, question)) !== true) {
      if (performance.now() > endMs) {
        throw new DatabaseError(
          `${showAddress(address)} does not show what was written to the first node`,
          'are they nodes of one cluster?',
        )
      }
      await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS))
    }
  }
}

export const NO_OTHERS = OtherNodes.none

async function ask(address: PostgresAddress, question: string): Promise<unknown> {
  try {
    const { client } = await connectClient(address, address.connectTimeoutMs)
    try {
      return await scalar(client, question)
    } finally {
      await client.end().catch(() => {})
    }
  } catch (error) {
    throw asDatabaseError(error, address)
  }
}
