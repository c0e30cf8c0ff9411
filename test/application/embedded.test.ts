// The throw-away server of tests: it answers, and nothing of it is left.

import { Client, Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../src/application/embedded.ts'
import { installLine } from '../../src/record/embedded/binaries.ts'

describe('startPostgres', () => {
  it('gives a server that is gone at the end of its block', async () => {
    let left: PostgresServer
    {
      await using server = await startPostgres({ settings: { work_mem: '5MB' } })
      left = server
      const pool = new Pool(server)
      const { rows } = await pool.query('SHOW work_mem')
      expect(rows).toEqual([{ work_mem: '5MB' }])
      await pool.end()
      const client = new Client(server)
      await client.connect()
      const version = await client.query('SHOW server_version_num')
      expect(Math.floor(version.rows[0].server_version_num / 10_000)).toBe(server.major)
      await client.end()
    }
    await expect(new Client(left.url).connect()).rejects.toThrow(/ECONNREFUSED/)
    await left.stop()
  })

  it('names what it does not know', async () => {
    const asked = startPostgres({ mayor: 18 } as object)
    await expect(asked).rejects.toMatchObject({
      message: 'startPostgres: unknown option "mayor"',
      hint: expect.stringContaining('major'),
    })
    await expect(startPostgres({ major: 9 })).rejects.toThrow('there is no embedded PostgreSQL 9')
  })

  it('says which line installs a version that is not there', async () => {
    await expect(startPostgres({ major: 10 })).rejects.toMatchObject({
      message: expect.stringContaining('not installed'),
      hint: expect.stringContaining(installLine(10)),
    })
  })
})
