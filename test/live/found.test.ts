// What docs/found.md tells, each by the few statements that show it, with a twin that does not.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LevelId } from '../../src/levels/levels.ts'
import { type Connection, TransactionFailure } from '../../src/record/database.ts'
import {
  PRIMARY_SETTINGS,
  Replica,
  SYNCHRONOUS_SETTINGS,
} from '../../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { parseMysqlAddress } from '../../src/record/mysql/address.ts'
import { connectClient, query, scalar } from '../../src/record/mysql/client.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { openClient, query as queryTurso } from '../../src/record/turso/driver.ts'
import { REPLACE, UPDATE, type Way } from '../../src/workload/plan.ts'
import { inDirectory } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'
import { mysqlDatabase } from './targets.ts'

const MARIADB = await mysqlDatabase('found')

/** Two sessions on one key, which has a row. */
async function withTwo<T>(
  target: string,
  work: (one: Connection, other: Connection) => Promise<T>,
): Promise<T> {
  const options = { levels: [], sessions: 2, seed: 1, faults: NO_FAULTS, patienceMs: 10_000 }
  const { database, close } = await openTarget(parseTarget(target), options)
  try {
    await database.addKeys(0, 1)
    const [one, other] = [await database.open(), await database.open()]
    try {
      return await work(one, other)
    } finally {
      await one.close()
      await other!.close()
    }
  } finally {
    await close()
  }
}

/** Both read the key, then both write it; whether both could commit, and what is there then. */
function bothWrite(target: string, level: LevelId, ways: readonly [Way, Way]) {
  return withTwo(target, async (one, other) => {
    for (const session of [one, other]) {
      await session.begin(level)
      expect(await session.read(0)).toEqual([null])
    }
    await one.write(0, 1, ways[0])
    await one.commit()
    try {
      await other!.write(0, 2, ways[1])
      await other!.commit()
    } catch (error) {
      expect(error).toBeInstanceOf(TransactionFailure)
      await other!.rollback()
      return ['refused', (error as TransactionFailure).code]
    }
    return ['lost update', ...(await one.get(0, level))]
  })
}

describe('DuckDB', () => {
  it('lets one transaction update a row and another replace it', async () => {
    expect(await bothWrite('duckdb::memory:', 'si', [UPDATE, REPLACE])).toEqual(['lost update', 2])
    expect(await bothWrite('duckdb::memory:', 'si', [REPLACE, UPDATE])).toEqual(['lost update', 1])
  })

  it('refuses two updates, and two replacements', async () => {
    const updates = await bothWrite('duckdb::memory:', 'si', [UPDATE, UPDATE])
    expect(updates).toEqual(['refused', 'Conflict on update'])
    const replacements = await bothWrite('duckdb::memory:', 'si', [REPLACE, REPLACE])
    expect(replacements).toEqual(['refused', 'Conflict on tuple deletion'])
  })
})

describe.skipIf(MARIADB === null)('MariaDB at REPEATABLE READ', () => {
  it('lets two transactions update what both have read', async () => {
    expect(await bothWrite(MARIADB!, 'si', [UPDATE, UPDATE])).toEqual(['lost update', 2])
  })

  it('refuses the second one with innodb_snapshot_isolation', async () => {
    const strict = `${MARIADB}?set=innodb_snapshot_isolation=ON`
    expect(await bothWrite(strict, 'si', [UPDATE, UPDATE])).toEqual(['refused', '1020'])
  })
})

describe.skipIf(MARIADB === null)('MariaDB at READ COMMITTED', () => {
  it('has one UPDATE see half of another transaction', async () => {
    const given = { environment: process.env, password: undefined }
    const at = parseMysqlAddress(MARIADB!, given)
    const [one, other] = [await connectClient(at), await connectClient(at)]
    await query(one, 'CREATE TABLE t (k INT PRIMARY KEY, v INT)')
    await query(one, 'INSERT INTO t VALUES (5, 0)')
    for (const client of [one, other]) {
      await query(client, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
      await query(client, 'START TRANSACTION')
    }
    await query(one, 'INSERT INTO t VALUES (3, 1)')
    await query(one, 'UPDATE t SET v = 1 WHERE k = 5')
    const updated = query(other, 'UPDATE t SET v = v + 10 WHERE k > 2')
    const waiting = "SELECT trx_state = 'LOCK WAIT' FROM information_schema.INNODB_TRX"
    const isWaiting = async () =>
      Number(await scalar(one, `${waiting} WHERE trx_mysql_thread_id = ${other.threadId}`)) === 1
    while (!(await isWaiting())) await new Promise((resolve) => setTimeout(resolve, 120))
    await query(one, 'COMMIT')
    await updated
    await query(other, 'COMMIT')
    // The version of 5 that `one` wrote was seen, and its row 3 was not.
    const { rows } = await query(one, 'SELECT k, v FROM t ORDER BY k')
    expect(rows).toEqual([
      [3, 1],
      [5, 11],
    ])
    await query(one, 'DROP TABLE t')
    for (const client of [one, other]) client.destroy()
  })
})

/** Few finished transactions are remembered one by one. */
const SMALL = {
  max_connections: '8',
  autovacuum_max_workers: '1',
  max_worker_processes: '1',
  max_parallel_workers: '0',
}

/**
 * Two transactions at SERIALIZABLE read both keys, and each writes one of them; between the commit
 * of the one and the write of the other, so many unrelated transactions commit.
 */
async function skewOver(unrelated: number): Promise<string> {
  const server = await EmbeddedServer.start({ settings: SMALL })
  try {
    const database = await PostgresDatabase.open(server.address)
    await database.addKeys(0, 2)
    const [slow, quick] = [await database.open(), await database.open()]
    for (const session of [slow, quick]) {
      await session.begin('ser')
      await session.read(0)
      await session.read(1)
    }
    await quick.write(0, 1)
    await quick.commit()
    await withClient(targetOf(server), async (client) => {
      await client.query('CREATE TABLE unrelated (v integer); INSERT INTO unrelated VALUES (0)')
      const text = 'UPDATE unrelated SET v = v + 1'
      for (let i = 0; i < unrelated; i++) {
        await client.query(`BEGIN ISOLATION LEVEL SERIALIZABLE; ${text}; COMMIT`)
      }
    })
    try {
      await slow.write(1, 2)
      await slow.commit()
      return 'write skew'
    } catch (error) {
      return `refused ${(error as TransactionFailure).code}`
    } finally {
      for (const session of [slow, quick]) session.cut()
      await database.close()
    }
  } finally {
    await server.stop()
  }
}

describe('PostgreSQL at SERIALIZABLE', () => {
  it('skews writes around a transaction that stays open while many others commit', async () => {
    expect(await skewOver(1500)).toBe('write skew')
  })

  it('refuses that if only a few do', async () => {
    expect(await skewOver(20)).toBe('refused 40001')
  })
})

describe('a primary and its replica, COMMIT waiting for the replica', () => {
  it('show two transactions in two orders, each only one of them: a long fork', async () => {
    const settings = { ...PRIMARY_SETTINGS, ...SYNCHRONOUS_SETTINGS }
    const primary = await EmbeddedServer.start({ settings })
    let replica: Replica | null = null
    try {
      replica = await Replica.start(primary)
      const own = { ...primary.address, options: '-c synchronous_commit=local' }
      const others = [replica.address, own]
      const database = await PostgresDatabase.open(primary.address, { others })
      await database.addKeys(0, 2)
      const [one, here] = [await database.open(), await database.open()]
      const [, there, other] = await Promise.all(database.nodes.map((node) => node.open()))
      const look = async (reader: Connection) => {
        await reader.begin('si')
        const seen = [await reader.read(0), await reader.read(1)].flat()
        await reader.commit()
        return seen
      }
      expect(await look(here)).toEqual([null, null])
      replica.silence()
      await one.begin('si')
      await one.write(0, 1)
      const committed = one.commit()
      // The replica shows it before the primary has heard of that.
      while ((await look(there!))[0] === null);
      expect(await look(there!)).toEqual([1, null])
      await other!.begin('si')
      await other!.write(1, 2)
      await other!.commit()
      expect(await look(here)).toEqual([null, 2])
      replica.letBack()
      await committed
      expect(await look(here)).toEqual([1, 2])
      for (const connection of [one, other!, here, there!]) await connection.close()
      await database.close()
    } finally {
      await replica?.stop()
      await primary.stop()
    }
  })
})

describe('Turso', () => {
  /** What two files hold, each of which was given a row of its own. */
  async function afterwards(names: readonly [string, string]): Promise<unknown[]> {
    return inDirectory(async (directory) => {
      const paths = names.map((name) => join(directory, name))
      const clients = await Promise.all(paths.map(openClient))
      for (const client of clients) await queryTurso(client, "PRAGMA journal_mode = 'mvcc'")
      for (const [i, client] of clients.entries()) {
        await queryTurso(client, 'CREATE TABLE t (v INTEGER)')
        await queryTurso(client, `INSERT INTO t VALUES (${i + 1})`)
      }
      for (const client of clients) await client.close()
      const held: unknown[] = []
      for (const path of paths) {
        const client = await openClient(path)
        held.push((await queryTurso(client, 'SELECT v FROM t')).rows[0]?.[0])
        await client.close()
      }
      return held
    })
  }

  it('loses the rows of a file to one whose name differs in its ending alone', async () => {
    expect(await afterwards(['found.one', 'found.two'])).toEqual([2, 2])
    expect(await afterwards(['one.found', 'two.found'])).toEqual([1, 2])
  })
})
