// In which order PostgreSQL committed, by its own write-ahead log: logical decoding (the plugin
// test_decoding, which comes with the server) tells every value that was written to the registers,
// transaction by transaction, and at which place of the log each of these was committed. Who writes
// a row that another one wrote waits until that one has committed, so that the places order the
// versions of a row. Cost: eight bytes for each value written. Main class: PostgresCommitLog.
//
// The slot is a temporary one: it goes with its connection, however that ends, and no server is
// left to keep its log for somebody who does not come back.

import { randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import { NONE } from '../../history/history.ts'
import type { CommitLog } from '../database.ts'
import type { PostgresAddress } from './address.ts'
import { connectClient, hangUp } from './client.ts'
import { asDatabaseError } from './failure.ts'
import { scalar, TABLE } from './table.ts'

const HALF = 2 ** 32 // an LSN is two halves of 32 bits
const READ_EVERY_MS = 500
/** Changes that are taken at once, roughly: a transaction is not cut. */
const AT_ONCE = 20_000

export class PostgresCommitLog implements CommitLog {
  private places = new Float64Array(1024).fill(NONE) // value -> where it was committed
  private readonly timer: NodeJS.Timeout
  private reading: Promise<void> = Promise.resolve()
  private failure: unknown = null

  private constructor(
    private readonly client: Client,
    private readonly address: PostgresAddress,
    private readonly slot: string,
  ) {
    this.timer = setInterval(() => this.readSoon(), READ_EVERY_MS)
  }

  /** Throws DatabaseError where the server does not log what it takes, or not for us. */
  static async open(given: PostgresAddress, patienceMs: number): Promise<PostgresCommitLog> {
    try {
      const { client, address } = await connectClient(given, patienceMs)
      try {
        await expectLogical(client)
        const slot = `isobar_${randomBytes(6).toString('hex')}`
        await client.query(
          `SELECT pg_create_logical_replication_slot('${slot}', 'test_decoding', true)`,
        )
        return new PostgresCommitLog(client, address, slot)
      } catch (error) {
        await hangUp(client)
        throw error
      }
    } catch (error) {
      throw asDatabaseError(error, given)
    }
  }

  async finish(): Promise<void> {
    clearInterval(this.timer)
    try {
      await this.reading
      if (this.failure !== null) throw this.failure
      // A commit that waits for the disk, whatever others did, is behind all that came before it.
      await this.client.query('SET synchronous_commit = on')
      await this.client.query(`SELECT pg_logical_emit_message(true, 'isobar', 'end')`)
      await this.readAll()
    } catch (error) {
      throw asDatabaseError(error, this.address)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.reading
    await hangUp(this.client)
  }

  placeOf(value: number): string | null {
    const place = this.places[value] ?? NONE
    if (place === NONE) return null
    const hex = (half: number) => half.toString(16).toUpperCase()
    return `${hex(Math.floor(place / HALF))}/${hex(place % HALF)}`
  }

  /** One after another: a slow server is not asked twice. */
  private readSoon(): void {
    this.reading = this.reading.then(async () => {
      try {
        if (this.failure === null) await this.readAll()
      } catch (error) {
        this.failure = error
      }
    })
  }

  private async readAll(): Promise<void> {
    while ((await this.readSome()) >= AT_ONCE);
  }

  /** How many changes there were. */
  private async readSome(): Promise<number> {
    // Rows of registers with the value they got, and the end of each transaction, without one.
    const { rows } = await this.client.query({
      text: `SELECT lsn - '0/0'::pg_lsn, substring(data FROM ' v\\[bigint\\]:(\\d+)')
        FROM pg_logical_slot_get_changes('${this.slot}', NULL, ${AT_ONCE}, 'skip-empty-xacts', '1')
        WHERE data LIKE 'COMMIT%' OR data LIKE 'table %.${TABLE}: %'`,
      rowMode: 'array',
    })
    let values: number[] = [] // of the transaction so far
    for (const [lsn, value] of rows as [string, string | null][]) {
      if (value !== null) {
        values.push(Number(value))
        continue
      }
      for (const each of values) this.put(each, Number(lsn))
      values = []
    }
    return rows.length
  }

  private put(value: number, place: number): void {
    if (value >= this.places.length) {
      const larger = new Float64Array(2 ** Math.ceil(Math.log2(value + 1))).fill(NONE)
      larger.set(this.places)
      this.places = larger
    }
    this.places[value] = place
  }
}

async function expectLogical(client: Client): Promise<void> {
  const level = await scalar(client, 'SHOW wal_level')
  if (level === 'logical') return
  throw new DatabaseError(
    `the server's log does not tell the order of commits (wal_level is ${level})`,
    'ALTER SYSTEM SET wal_level = logical and restart it, or leave --commit-order out',
  )
}
