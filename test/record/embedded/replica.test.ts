// A replica of the embedded server follows its primary.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { PRIMARY_SETTINGS, startReplica } from '../../../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../../../src/record/embedded/server.ts'

async function answer(server: EmbeddedServer, ...statements: string[]): Promise<unknown> {
  const { host, port, user, password, database } = server
  const client = new Client({ host, port, user, password, database })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows[0]?.['n']
  } finally {
    await client.end()
  }
}

describe('startReplica', () => {
  it('shows what the primary had, and what it commits later, and writes nothing itself', async () => {
    const primary = await EmbeddedServer.start({ settings: PRIMARY_SETTINGS })
    try {
      await answer(primary, 'CREATE TABLE t (n integer)', 'INSERT INTO t VALUES (1)')
      const replica = await startReplica(primary)
      try {
        expect(await answer(replica, 'SELECT max(n) AS n FROM t')).toBe(1)
        const lsn = await answer(
          primary,
          'INSERT INTO t VALUES (2)',
          'SELECT pg_current_wal_lsn()::text AS n',
        )
        const arrived = `SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS n`
        while ((await answer(replica, arrived)) !== true);
        expect(await answer(replica, 'SELECT max(n) AS n FROM t')).toBe(2)
        await expect(answer(replica, 'INSERT INTO t VALUES (3)')).rejects.toThrow('read-only')
      } finally {
        await replica.stop()
      }
    } finally {
      await primary.stop()
    }
  })

  it('has as much room as the primary, and tells nobody its password', async () => {
    const settings = { ...PRIMARY_SETTINGS, max_connections: '310' }
    const primary = await EmbeddedServer.start({ settings })
    try {
      const replica = await startReplica(primary)
      try {
        const text = "SELECT current_setting('max_connections') AS n"
        expect(await answer(replica, text)).toBe('310')
        const own = join(replica.data, 'postgresql.auto.conf')
        expect(readFileSync(own, 'utf8')).toContain(primary.password)
        expect(statSync(own).mode & 0o777).toBe(0o600)
        if (process.platform !== 'linux') return
        const line = readFileSync(`/proc/${replica.pid}/cmdline`, 'utf8')
        expect(line).toContain('max_connections=310')
        expect(line).not.toContain(primary.password)
      } finally {
        await replica.stop()
      }
    } finally {
      await primary.stop()
    }
  })

  it('says why where the primary keeps no log to follow', async () => {
    const primary = await EmbeddedServer.start()
    try {
      await expect(startReplica(primary)).rejects.toThrow('the replica cannot be made')
    } finally {
      await primary.stop()
    }
  })
})
