// What the proxy records of clients: anomalies are found and cured ones are not, requests that come
// together are told one by one, and connections that are lost leave nothing that is not so.

import { once } from 'node:events'
import { connect } from 'node:net'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Recorded } from '../../../src/application/observe/instrument.ts'
import { Recorder } from '../../../src/application/observe/recorder.ts'
import { startProxy } from '../../../src/application/proxy/proxy.ts'
import { parsePostgresAddress } from '../../../src/record/postgres/address.ts'
import { reset, told, transact, verdictOf } from '../server.ts'
import { onProxiedServer, proxyTo, throughProxy } from './stage.ts'
import { B, E, P, Q, RawClient, S } from './transcript.ts'

const stage = onProxiedServer({ wal_level: 'replica', max_wal_senders: '2' })
const TABLES = [
  'CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL)',
  'INSERT INTO stock VALUES (1, 10), (2, 20)',
]

/** How the transactions ended. */
function endings(recorded: Recorded<null>): string[] {
  const lines = recorded.text().trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line)).filter(({ ops }) => ops !== undefined)
  return parsed.map(({ status }) => status ?? 'committed')
}

/** Both have read before either writes. */
async function twoAtOnce(
  pool: pg.Pool,
  begin: string,
  read: string,
  write: (n: number, who: number) => [string, unknown[]],
): Promise<string[]> {
  let waiting = 2
  let go = () => {}
  const bothHaveRead = new Promise<void>((resolve) => {
    go = resolve
  })
  const run = (who: number) =>
    transact(pool, begin, async (client) => {
      const { rows } = await client.query(read)
      if (--waiting === 0) go()
      await bothHaveRead
      await client.query(...write(rows[0].n, who))
    }).then(
      () => 'done',
      (error) => {
        go() // who fails keeps nobody waiting
        return error.code as string
      },
    )
  return Promise.all([run(1), run(2)])
}

describe('what passes the proxy', () => {
  it.each([
    ['alone', []],
    ['with parameters', [1]],
  ])('tells what an INSERT met that failed because a row was there: %s', async (_, values) => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (pool) => {
      await pool.query('UPDATE stock SET n = 5 WHERE id = 1')
      const text = `INSERT INTO stock VALUES (${values.length > 0 ? '$1' : 1}, 7)`
      await expect(pool.query(text, values)).rejects.toMatchObject({ code: '23505' })
    })
    expect(told(recorded).at(-1)).toBe('refused stock: 1<1')
    expect(recorded.skipped).toEqual({})
  })

  it('is violated by a lost update, and not by an atomic one', async () => {
    await reset(stage.direct, ...TABLES)
    const lost = await throughProxy(stage, async (pool) => {
      const outcome = await twoAtOnce(pool, 'BEGIN', 'SELECT n FROM stock WHERE id = 1', (n) => [
        'UPDATE stock SET n = $1 WHERE id = $2',
        [n - 1, 1],
      ])
      expect(outcome).toEqual(['done', 'done'])
    })
    expect(lost.skipped).toEqual({})
    expect(await verdictOf(await lost.history(), 'ser')).toBe('violated')
    const atomic = await throughProxy(stage, async (pool) => {
      await twoAtOnce(pool, 'BEGIN', 'SELECT 1 AS n', () => [
        'UPDATE stock SET n = n - $1 WHERE id = 1',
        [1],
      ])
    })
    expect(atomic.skipped).toEqual({})
    expect(await verdictOf(await atomic.history(), 'ser')).toBe('satisfied')
  })

  it('is violated by write skew at REPEATABLE READ, and not at SERIALIZABLE', async () => {
    for (const [level, outcome, verdict] of [
      ['REPEATABLE READ', ['done', 'done'], 'violated'],
      ['SERIALIZABLE', ['40001', 'done'], 'satisfied'],
    ] as const) {
      await reset(stage.direct, ...TABLES)
      const recorded = await throughProxy(stage, async (pool) => {
        const seen = await twoAtOnce(
          pool,
          `BEGIN ISOLATION LEVEL ${level}`,
          'SELECT sum(n)::int AS n FROM stock',
          (n, who) => ['UPDATE stock SET n = n - $1 WHERE id = $2', [n, who]],
        )
        expect(seen.sort()).toEqual(outcome)
      })
      expect(recorded.skipped).toEqual({})
      expect(await verdictOf(await recorded.history(), 'ser')).toBe(verdict)
    }
  })

  it('is one transaction where several requests come before one Sync', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (_, proxy) => {
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      const read = 'SELECT n FROM stock WHERE id = $1'
      const add = 'UPDATE stock SET n = n + 1 WHERE id = $1'
      await client.ask({ send: [P(add), B(['1']), E(), P(read), B(['1']), E(), S] })
      // The second fails, and takes the first with it.
      await client.ask({ send: [P(add), B(['1']), E(), P('SELECT 1 / 0'), B(), E(), S] })
      await client.ask({ send: [P('BEGIN'), B(), E(), P(add), B(['2']), E(), S] })
      await client.ask({ send: [P('COMMIT'), B(), E(), P(read), B(['2']), E(), S] })
      await client.end()
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded)).toEqual([
      'update stock where id = $1 as 1: 1<0; select stock where id = $1: 1<1',
      'update stock where id = $1 as 2: 1<1',
      'update stock where id = $1 as 3: 2<0',
      'select stock where id = $1: 2<3',
    ])
    expect(endings(recorded)).toEqual(['committed', 'aborted', 'committed', 'committed'])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('tells the rows that were fetched, and counts portals that are read later', async () => {
    await reset(stage.direct, ...TABLES)
    const all = 'SELECT id FROM stock ORDER BY id'
    const recorded = await throughProxy(stage, async (_, proxy) => {
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      await client.ask({ send: [P(all), B(), E(1), S] })
      await client.ask({ send: [Q('BEGIN')] })
      const early = B([], { name: 'all', portal: 'early' })
      const add = P('UPDATE stock SET n = n + 1')
      await client.ask({ send: [P(all, 'all'), early, add, B(), E(), E(0, 'early'), S] })
      await client.ask({ send: [Q('COMMIT')] })
      await client.end()
    })
    expect(recorded.skipped).toEqual({ 'a portal that was read later': 1 })
    expect(told(recorded)).toEqual(['select stock where id = 1: 1<0', 'update stock as 1: 1<0 2<0'])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })

  it('is recorded of statements that stay prepared', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (_, proxy) => {
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      const ask = { send: [B([], { name: 's' }), E(), S] }
      await client.ask({ send: [P('SELECT n FROM stock', 's'), P('SELECT 1', 't'), S] })
      for (const text of ['SELECT 1 AS discard', 'DEALLOCATE t; SHOW work_mem', 'DISCARD TEMP']) {
        await client.ask({ send: [Q(text)] })
        expect((await client.ask(ask)).join()).toContain('SELECT 2')
      }
      for (const text of ['SHOW work_mem; DEALLOCATE PREPARE s', 'DISCARD ALL']) {
        await client.ask({ send: [P('SELECT n FROM stock', 's'), S] })
        await client.ask({ send: [Q(text)] })
        expect((await client.ask(ask)).join()).toContain('26000')
      }
      await client.end()
    })
    expect(recorded.skipped).toEqual({ 'a portal of an unknown statement': 2 })
    expect(told(recorded)).toEqual(Array(3).fill('select stock: 1<0 2<0'))
  })

  it('knows values of parameters in text and in binary', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (pool, proxy) => {
      await pool.query('SELECT n FROM stock WHERE id = ANY($1)', [[1, 2]])
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      const three = Buffer.from([0, 0, 0, 3])
      const read = P('SELECT n FROM stock WHERE id = $1')
      await client.ask({ send: [read, B([three], { formats: [1], answers: [1] }), E(), S] })
      await client.end()
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded)).toEqual([
      'select stock where id IN (1, 2): 1<0 2<0',
      'select stock where id = $1:',
    ])
  })
})

describe('what is not known', () => {
  it.each(['COMMIT; SET nosuch = 1', 'COMMIT; SELECT 1 / 0'])(
    'is how a transaction ended before an error in the same text: %s',
    async (text) => {
      await reset(stage.direct, ...TABLES)
      const recorded = await throughProxy(stage, async (pool, proxy) => {
        const client = await RawClient.login({ ...stage.login, port: proxy.port })
        for (const each of ['BEGIN', 'DELETE FROM stock WHERE id = 1', text]) {
          await client.ask({ send: [Q(each)] })
        }
        await client.end()
        await pool.query('SELECT * FROM stock')
      })
      expect(endings(recorded)).toEqual(['indeterminate', 'committed'])
      expect(await verdictOf(await recorded.history(), 'rc')).not.toBe('violated')
    },
  )

  it('is what a connection for replication does that was there before the others', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (pool, proxy) => {
      const login = { ...stage.login, port: proxy.port, replication: 'database' }
      const other = new pg.Client(login)
      await other.connect()
      await other.query('BEGIN')
      await other.query('DELETE FROM stock WHERE id = 1')
      await pool.query('SELECT * FROM stock')
      await other.query('COMMIT')
      await other.end()
      await pool.query('SELECT * FROM stock')
    })
    expect(recorded.skipped).toEqual({ 'a connection for replication': 1 })
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
  })

  it('is what was not recorded of a transaction that ends later', () => {
    const recorder = new Recorder()
    const txn = recorder.begin('connection 0', null)
    recorder.skipped.count('client_encoding LATIN1')
    recorder.restart('1:1:')
    expect(recorder.skipped.total).toBe(1)
    recorder.end(txn, 'committed')
    recorder.restart('1:1:')
    expect(recorder.skipped.total).toBe(0)
  })

  it('is what happens in other databases than the first', async () => {
    await reset(stage.direct, ...TABLES)
    await stage.direct.query('DROP DATABASE IF EXISTS other')
    await stage.direct.query('CREATE DATABASE other')
    const recorded = await throughProxy(stage, async (pool, proxy) => {
      const login = { ...stage.login, port: proxy.port }
      // Whoever is not let in is nobody's first.
      await expect(new pg.Client({ ...login, database: 'nosuch' }).connect()).rejects.toThrow()
      const client = await pool.connect()
      const other = new pg.Client({ ...login, database: 'other' })
      await other.connect()
      for (const text of TABLES) await other.query(text)
      await client.query('SELECT * FROM stock')
      await other.query('DELETE FROM stock WHERE id = 1')
      expect((await other.query('SELECT * FROM stock')).rowCount).toBe(1)
      expect((await client.query('SELECT * FROM stock')).rowCount).toBe(2)
      client.release()
      await other.end()
    })
    expect(recorded.skipped).toEqual({ 'a connection to another database': 1 })
    expect(told(recorded)).toEqual(['select stock: 1<0 2<0', 'select stock: 1<0 2<0'])
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
  })
})

describe('keys of char(n)', () => {
  it('are the same with and without their blanks', async () => {
    await reset(
      stage.direct,
      'CREATE TABLE codes (code char(4) PRIMARY KEY, n int NOT NULL)',
      "INSERT INTO codes VALUES ('a', 1)",
    )
    const recorded = await throughProxy(stage, async (pool, proxy) => {
      await pool.query('UPDATE codes SET n = 2')
      await pool.query('SELECT count(*) FROM codes')
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      await client.ask({ send: [P('SELECT n FROM codes'), B([], { answers: [1] }), E(), S] })
      await client.end()
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded)).toEqual([
      'update codes as 1: a<0',
      'select codes: a<1',
      'select codes: a<1',
    ])
  })
})

describe('a connection that is lost', () => {
  it('has rolled back what its client left open', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (pool, proxy) => {
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      await client.ask({ send: [Q('BEGIN')] })
      await client.ask({ send: [Q('UPDATE stock SET n = 0 WHERE id = 1')] })
      client.socket.destroy()
      // Waits for the row until the server has noticed.
      await pool.query('UPDATE stock SET n = n + 1 WHERE id = 1')
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded)).toContain('update stock where id = 1 as 1: 1<0')
    expect(endings(recorded).sort()).toEqual(['aborted', 'committed'])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('is ended by the end of the proxy, as by that of a server', async () => {
    await reset(stage.direct, ...TABLES)
    const proxy = await proxyTo(stage)
    const client = new pg.Client({ ...stage.login, port: proxy.port })
    const failed = once(client, 'error')
    client.on('error', () => {}) // it says so twice
    await client.connect()
    await client.query('BEGIN')
    await client.query('DELETE FROM stock WHERE id = 2')
    proxy.recorded.stop()
    expect((await failed)[0]).toMatchObject({ code: '57P01', severity: 'FATAL' })
    expect(told(proxy.recorded)).toEqual(['delete stock where id = 2 as 1: 2<0'])
    expect(endings(proxy.recorded)).toEqual(['aborted'])
    expect((await stage.direct.query('SELECT FROM stock')).rowCount).toBe(2)
  })

  it('tells the client what the server says when it is ended there', async () => {
    await reset(stage.direct, ...TABLES)
    const recorded = await throughProxy(stage, async (pool) => {
      const client = await pool.connect()
      const ended = once(client, 'error')
      client.on('error', () => {}) // it says so twice
      await client.query('BEGIN')
      await client.query('UPDATE stock SET n = 1')
      const { rows } = await client.query('SELECT pg_backend_pid() AS id')
      await stage.direct.query('SELECT pg_terminate_backend($1)', [rows[0].id])
      expect((await ended)[0]).toMatchObject({ code: '57P01' })
      client.release(true)
    })
    expect(told(recorded)).toEqual(['update stock as 1: 1<0 2<0'])
    expect(endings(recorded)).toEqual(['aborted'])
  })
})

describe('logging in', () => {
  it('is between client and server', async () => {
    const proxy = await proxyTo(stage)
    const login = { ...stage.login, port: proxy.port }
    const codeOf = (config: pg.ClientConfig) =>
      new pg.Client(config).connect().then(
        () => 'in',
        (error) => error.code as string,
      )
    expect(await codeOf({ ...login, password: 'wrong' })).toBe('28P01')
    expect(await codeOf({ ...login, database: 'nosuch' })).toBe('3D000')
    await expect(new pg.Client({ ...login, ssl: true }).connect()).rejects.toThrow(
      'The server does not support SSL connections',
    )
    proxy.recorded.stop()
  })

  it('is refused with the reason while the server cannot be reached', async () => {
    const free = await proxyTo(stage) // a port that will be nobody's
    free.recorded.stop()
    const address = (port: number) => parsePostgresAddress(`postgres://127.0.0.1:${port}/`, {})
    const listen = { host: '127.0.0.1', port: 0 }
    await expect(startProxy({ to: address(free.port), ...listen })).rejects.toThrow(
      'cannot reach the server at 127.0.0.1',
    )
    const taken = await proxyTo(stage)
    await expect(
      startProxy({ to: address(stage.login.port!), host: '127.0.0.1', port: taken.port }),
    ).rejects.toThrow(`port ${taken.port} is taken`)
    taken.recorded.stop()
  })

  it('ends at bytes that are no protocol', async () => {
    const lines: string[] = []
    const to = parsePostgresAddress(`postgres://127.0.0.1:${stage.login.port}/`, {})
    const log = (line: string) => lines.push(line)
    const proxy = await startProxy({ to, host: '127.0.0.1', port: 0, log })
    for (const bytes of ['\x16\x03\x01', 'GET / HTTP/1.1\r\n\r\n', '\0\0\0\x03']) {
      const socket = connect(proxy.port, '127.0.0.1')
      socket.resume()
      socket.write(Buffer.from(bytes, 'latin1'))
      await once(socket, 'close')
    }
    expect(lines).toEqual([expect.stringContaining('sslmode=disable')])
    expect(proxy.openCount).toBe(0)
    proxy.recorded.stop()
  })
})

describe('a request to cancel', () => {
  it('ends the statement that the client waits for', async () => {
    await throughProxy(stage, async (pool, proxy) => {
      const client = (await pool.connect()) as pg.PoolClient & {
        processID: number
        secretKey: number
      }
      const slept = client.query('SELECT pg_sleep(600)').then(
        () => 'slept',
        (error) => error.code as string,
      )
      const sleeps = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
      while ((await stage.direct.query(sleeps)).rowCount === 0);
      const request = Buffer.alloc(16)
      const numbers = [16, 80877102, client.processID, client.secretKey]
      for (const [i, value] of numbers.entries()) request.writeInt32BE(value | 0, 4 * i)
      const socket = connect(proxy.port, '127.0.0.1')
      socket.write(request)
      await once(socket, 'close')
      expect(await slept).toBe('57014')
      client.release()
    })
  })
})
