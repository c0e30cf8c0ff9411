// What PostgreSQL refuses, and what we refuse to do to it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunOptions } from '../../src/pipeline/run-options.ts'
import { TransactionFailure } from '../../src/record/database.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import { type PostgresTarget, postgresTarget } from '../../src/record/postgres/target.ts'
import { stage } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'

let server: EmbeddedServer
let target: PostgresTarget
beforeAll(async () => {
  server = await EmbeddedServer.start()
  target = targetOf(server)
})
afterAll(() => server.stop())

const workload = { transactions: 10, sessions: 2, keys: 5 }

/** The failure of a transaction; anything else fails the test. */
async function failureOf(work: Promise<unknown>): Promise<TransactionFailure> {
  const error = await work.then(
    () => null,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(TransactionFailure)
  return error
}

describe('PostgresDatabase', () => {
  it('aborts by the server’s word: serialization failures and deadlocks', async () => {
    const database = await PostgresDatabase.open(target.address)
    try {
      await database.addKeys(0, 3)
      const [a, b] = [await database.open(), await database.open()]
      await a.begin('si')
      await b.begin('si')
      expect([await a.read(0), await b.read(0)]).toEqual([[null], [null]])
      await a.write(0, 1)
      await a.commit()
      expect(await failureOf(b.write(0, 2))).toMatchObject({ fate: 'aborted', code: '40001' })
      // A failed transaction cannot be committed, and the answer does not say it was.
      expect(await failureOf(b.commit())).toMatchObject({ fate: 'aborted' })

      await a.begin('rc')
      await b.begin('rc')
      await a.write(1, 3)
      await b.write(2, 4)
      const both = await Promise.allSettled([a.write(2, 5), b.write(1, 6)])
      const lost = both.find((each) => each.status === 'rejected') as PromiseRejectedResult
      expect(lost.reason).toMatchObject({ fate: 'aborted', code: '40P01' })
      await Promise.all([a.close(), b.close()])
    } finally {
      await database.close()
    }
  })

  it('aborts at COMMIT by the server’s word: write skew and deferred constraints', async () => {
    const database = await PostgresDatabase.open(target.address)
    try {
      await database.addKeys(0, 3)
      const [a, b] = [await database.open(), await database.open()]
      for (const each of [a, b]) {
        await each.begin('ser')
        await each.read(0)
        await each.read(1)
      }
      await a.write(0, 1)
      await b.write(1, 2)
      await a.commit()
      expect(await failureOf(b.commit())).toMatchObject({ fate: 'aborted', code: '40001' })

      await withClient(target, (client) =>
        client.query(
          'ALTER TABLE isobar_registers ADD CONSTRAINT one UNIQUE (v) DEFERRABLE INITIALLY DEFERRED',
        ),
      )
      await a.begin('rc')
      await a.write(2, 1)
      expect(await failureOf(a.commit())).toMatchObject({ fate: 'aborted', code: '23505' })
      await Promise.all([a.close(), b.close()])
    } finally {
      await database.close()
    }
  })

  it('does not know what became of a COMMIT whose connection was lost', async () => {
    const database = await PostgresDatabase.open(target.address)
    try {
      await database.addKeys(0, 2)
      const connection = await database.open()
      await connection.begin('ser')
      await connection.write(0, 1)
      const commit = failureOf(connection.commit())
      connection.cut()
      expect(await commit).toMatchObject({ fate: 'indeterminate', code: null })
      expect(connection.isLost).toBe(true)

      // Lost before COMMIT is sent, it has not committed; nor has one that was never begun.
      const second = await database.open()
      await second.begin('ser')
      const write = failureOf(second.write(1, 2))
      second.cut()
      expect(await write).toMatchObject({ fate: 'aborted' })
      expect(await failureOf(second.commit())).toMatchObject({ fate: 'aborted' })
    } finally {
      await database.close()
    }
  })

  it('compares and sets', async () => {
    const database = await PostgresDatabase.open(target.address)
    try {
      await database.addKeys(0, 1)
      const connection = await database.open()
      expect(await connection.cas(0, null, 1, 'ser')).toBe(1)
      expect(await connection.cas(0, null, 2, 'ser')).toBe(0)
      expect(await connection.cas(0, 1, 3, 'ser')).toBe(1)
      expect(await connection.get(0, 'ser')).toEqual([3])
      await connection.close()
    } finally {
      await database.close()
    }
  })
})

describe('run', () => {
  it('says which password, database or permission is wrong, and shows no password', async () => {
    const address = { ...target.address, password: 'secret' }
    const wrong = stage({ target: postgresTarget(address), workload }, () => {})
    await expect(wrong).rejects.toMatchObject({ name: 'DatabaseError', hint: /PGPASSWORD/ })
    await expect(wrong).rejects.toThrow(/password authentication failed/)
    await expect(wrong).rejects.not.toThrow(/secret/)

    const missing = postgresTarget({ ...target.address, database: 'nowhere' })
    await expect(stage({ target: missing, workload }, () => {})).rejects.toThrow(
      /database "nowhere" does not exist/,
    )

    await withClient(target, (client) => client.query(`CREATE ROLE guest LOGIN PASSWORD 'g'`))
    const guest = targetOf(server, { name: 'guest', password: 'g' })
    const refused = stage({ target: guest, workload }, () => {})
    await expect(refused).rejects.toMatchObject({ name: 'DatabaseError', hint: /create a table/ })
  })

  it('leaves a table alone that is not ours', async () => {
    await withClient(target, async (client) => {
      await client.query('CREATE TABLE isobar_registers (precious int)')
      await client.query('INSERT INTO isobar_registers VALUES (42)')
      await expect(stage({ target, workload }, () => {})).rejects.toThrow(/nothing was changed/)
      const { rows } = await client.query('SELECT precious FROM isobar_registers')
      expect(rows).toEqual([{ precious: 42 }])
      await client.query('DROP TABLE isobar_registers')
    })
  })

  it('removes its table, and replaces one that a killed run left', async () => {
    const tables = () =>
      withClient(target, async (client) => {
        const found = await client.query(
          `SELECT 1 FROM pg_tables WHERE tablename = 'isobar_registers'`,
        )
        return found.rowCount
      })
    await stage({ target, workload }, ({ summary }) => {
      expect(summary.transactions.recorded).toBe(10)
    })
    expect(await tables()).toBe(0)

    // As a killed run would: its table stays, its connections are gone.
    await withClient(target, (client) =>
      client.query(`CREATE TABLE isobar_registers (old int);
        COMMENT ON TABLE isobar_registers IS 'made by isobar for one run; safe to drop (0123)'`),
    )
    await stage({ target, workload }, ({ summary }) => {
      expect(summary.transactions.recorded).toBe(10)
    })
    expect(await tables()).toBe(0)
  })

  it('stops if the table disappears under it', async () => {
    let drop: Promise<unknown> | null = null
    const onProgress: RunOptions['onProgress'] = ({ committed }) => {
      if (committed === 0 || drop) return
      drop = withClient(target, (client) => client.query('DROP TABLE isobar_registers'))
    }
    const workload = { sessions: 3, keys: 50 }
    const options = { target, workload, durationMs: 20_000, onProgress }
    await stage(options, ({ stoppedBy, judged }) => {
      expect(String(stoppedBy)).toMatch(/refuses the workload.*42P01/)
      expect(judged).not.toBeNull()
    })
  })
})
