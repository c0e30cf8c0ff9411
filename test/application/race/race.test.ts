// Races on a real server: what is found, what is followed (blocking, deadlocks, refusals, retries),
// and what is said of those that make no sense.

import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { type RaceResult, race } from '../../../src/application/race/race.ts'
import '../../../src/matchers/vitest.ts'
import { transact } from '../server.ts'

let server: PostgresServer
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool(server)
  await pool.query('CREATE TABLE stock (id int PRIMARY KEY, left_over int NOT NULL)')
  await reset()
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

async function reset(): Promise<void> {
  await pool.query('DELETE FROM stock')
  await pool.query('INSERT INTO stock VALUES (1, 10), (2, 10)')
}

const transaction = (work: (client: PoolClient) => Promise<void>, begin = 'BEGIN') =>
  transact(pool, begin, work)

/** Reads what is left, and writes one less. */
const take =
  (begin = 'BEGIN', lock = '') =>
  () =>
    transaction(async (client) => {
      const { rows } = await client.query(`SELECT left_over FROM stock WHERE id = $1${lock}`, [1])
      const left = rows[0].left_over - 1
      await client.query('UPDATE stock SET left_over = $1 WHERE id = $2', [left, 1])
    }, begin)

async function retrying(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== '40001') throw error
    }
  }
}

let lazyLostUpdate: Promise<RaceResult> | null = null
/** Two that take one each, cures and all. */
function lostUpdate(): Promise<RaceResult> {
  lazyLostUpdate ??= race(pool, { ann: take(), bob: take() }, { before: reset })
  return lazyLostUpdate
}

describe('race', () => {
  it('finds a lost update at once, tells its schedule, and runs it again', async () => {
    const actors = { ann: take(), bob: take() }
    const result = await lostUpdate()
    expect(result.verdict).toBe('violated')
    expect(result.runs.length).toBeLessThanOrEqual(3)
    const story = String(result)
    expect(story).toContain('race of ann, bob: Serializability (ser) is violated')
    expect(story).toMatch(
      / 2\. {2}ann {2}SELECT left_over FROM stock WHERE id = \$1 \[1\] {2}-> .*10/,
    )
    expect(story).toMatch(/bob {2}UPDATE .* -> {2}waited for \d+, then/)
    expect(story).toContain('stock(1)')
    await expect(expect(result).toBeIsolated('ser')).rejects.toThrow('ann  COMMIT')
    const again = await race(pool, actors, { before: reset, schedule: result.schedule! })
    expect(again.schedule).toEqual(result.schedule)
    expect(again.coverage).toMatchObject({ runs: 1, isComplete: false })
  })

  it('leaves nobody listening to the connections of the pool', async () => {
    const client = await pool.connect()
    client.release()
    const listening = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
    const before = listening()
    await race(pool, { ann: take(), bob: take() }, { before: reset, cures: false })
    expect(listening()).toEqual(before)
  })

  it('tries cures, and tells what they cost', async () => {
    const { cures } = await lostUpdate()
    const lock = 'FOR UPDATE behind SELECT left_over FROM stock WHERE id = $1'
    expect(cures.find(({ name }) => name === lock)).toMatchObject({ isConfirmed: true })
    const serializable = cures.find(({ name }) => name.startsWith('SERIALIZABLE'))!
    expect(serializable).toMatchObject({ isConfirmed: true, coverage: { isComplete: true } })
    expect(serializable.retriesPerRun).toBeGreaterThan(0)
    const { rows } = await pool.query('SHOW default_transaction_isolation')
    expect(rows).toEqual([{ default_transaction_isolation: 'read committed' }])
  })

  it('tries an UPDATE that asks whether the row is still what was read', async () => {
    const { cures } = await lostUpdate()
    const cure = cures.find(({ name }) => name.startsWith('asking '))!
    expect(cure.name).toBe(
      'asking in WHERE for left_over as read, and trying again if not: UPDATE stock SET left_over = $1 WHERE id = $2',
    )
    expect(cure).toMatchObject({ isConfirmed: true, coverage: { isComplete: true } })
    expect(cure.retriesPerRun).toBeGreaterThan(0)
  })

  it('notices that what should be in a transaction is asked on another connection', async () => {
    const work = async () => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
        await pool.query('UPDATE stock SET left_over = left_over - 1 WHERE id = 1')
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    }
    const result = await race(pool, { ann: work, bob: take() }, { before: reset, cures: false })
    const warnings = String(result)
      .split('\n')
      .filter((line) => line.startsWith('warning: '))
    expect(warnings).toEqual([
      expect.stringMatching(
        /^warning: ann asked for SERIALIZABLE on another connection \(\d\) than that of UPDATE stock .* \(\d\): a transaction needs one client/,
      ),
    ])
    const plain = await race(pool, { ann: take(), bob: take() }, { before: reset, cures: false })
    expect(plain.runs.flatMap((run) => run.warnings)).toEqual([])
  })

  it.each([
    ['t (id int, n int)', 't: it has no primary key (give it one, if only in tests)'],
    ['t (id int PRIMARY KEY, n int) PARTITION BY RANGE (id)', 't: it is partitioned (take a plain'],
  ])('says what to do about a table that cannot be recorded: %s', async (table, told) => {
    await pool.query(`CREATE TABLE ${table}`)
    const look = () => transaction(async (client) => void (await client.query('SELECT n FROM t')))
    const result = await race(pool, { ann: look, bob: look })
    await pool.query('DROP TABLE t')
    expect(result.verdict).toBe('unknown')
    expect(String(result)).toContain(`not recorded: ${told}`)
  })

  it('leaves out what was read by whoever rolls back and tries again, if told to', async () => {
    const update = 'UPDATE stock SET left_over = $1 WHERE id = 1 AND left_over = $2'
    const attempt = () =>
      transaction(async (client) => {
        const { rows } = await client.query('SELECT left_over FROM stock WHERE id = 1')
        const old = rows[0].left_over
        const { rowCount } = await client.query(update, [old - 1, old])
        if (rowCount === 0) throw Object.assign(new Error('it has changed'), { code: '40001' })
      })
    const actors = { ann: () => retrying(attempt), bob: () => retrying(attempt) }
    const strict = await race(pool, actors, { before: reset, cures: false })
    expect(strict.verdict).toBe('violated')
    const result = await race(pool, actors, { before: reset, abortedReads: 'ignore' })
    expect(result).toMatchObject({ verdict: 'satisfied', coverage: { isComplete: true } })
    expect((await result.at('si')).verdict).toBe('satisfied')
  })

  it('tells that asking whether the row is still the same does not help against write skew', async () => {
    const leave = (id: number) => () =>
      transaction(async (client) => {
        const one = 'SELECT left_over FROM stock WHERE id = $1'
        const { rows } = await client.query(one, [id])
        const { rows: others } = await client.query(`${one} /* the other */`, [3 - id])
        if (rows[0].left_over + others[0].left_over < 15) return
        await client.query('UPDATE stock SET left_over = 0 WHERE id = $1', [id])
      })
    const { cures } = await race(pool, { ann: leave(1), bob: leave(2) }, { before: reset })
    const cure = cures.find(({ name }) => name.startsWith('asking '))
    expect(cure).toMatchObject({ isConfirmed: false })
  })

  it('asks that of no row that is read without its key, or under another name', async () => {
    for (const select of [
      'SELECT left_over FROM stock ORDER BY id LIMIT 1',
      'SELECT left_over AS rest FROM stock WHERE id = 1',
    ]) {
      const visit = () =>
        transaction(async (client) => {
          const { rows } = await client.query(select)
          const [left] = Object.values(rows[0]) as number[]
          await client.query('UPDATE stock SET left_over = $1 WHERE id = 1', [left! - 1])
        })
      const { cures, verdict } = await race(pool, { ann: visit, bob: visit }, { before: reset })
      expect(verdict).toBe('violated')
      expect(cures.filter(({ name }) => name.startsWith('asking '))).toEqual([])
    }
  })

  it.each([
    'SELECT left_over FROM stock WHERE id = 1 -- as it is;',
    'SELECT left_over FROM stock WHERE id = 1 /* now */ ; -- as it is',
  ])('tries a lock behind a comment, of a statement that has a name: %s', async (text) => {
    const visit = () =>
      transaction(async (client) => {
        const { rows } = await client.query({ name: `stock ${text.length}`, text })
        await client.query('UPDATE stock SET left_over = $1 WHERE id = 1', [rows[0].left_over - 1])
      })
    await visit() // the driver knows the name before the race begins
    const { cures } = await race(pool, { ann: visit, bob: visit }, { before: reset })
    const lock = cures.find(({ name }) => name.startsWith('FOR UPDATE'))
    expect(lock).toMatchObject({ isConfirmed: true, coverage: { isComplete: true } })
    await visit()
  })

  it.each([
    ['UNIQUE (room, hour) on bookings', 'room = $1 AND hour = 10', 'hour', ''],
    [
      'EXCLUDE on bookings: room, hour to until that overlap',
      'room = $1 AND hour < 12 AND until > 10',
      'hour, until',
      ', 12',
    ],
  ])('tries a constraint that two break: %s', async (name, where, columns, more) => {
    const tables = 'id serial PRIMARY KEY, room int, hour int, until int'
    await pool.query(`CREATE TABLE bookings (${tables})`)
    const before = () => pool.query('DELETE FROM bookings')
    const book = () =>
      transaction(async (client) => {
        const { rowCount } = await client.query(`SELECT id FROM bookings WHERE ${where}`, [4])
        if (rowCount! > 0) return
        await client.query(`INSERT INTO bookings (room, ${columns}) VALUES (4, 10${more})`)
      })
    try {
      const result = await race(pool, { ann: book, bob: book }, { before })
      const cure = result.cures.find((each) => each.name.startsWith(name))!
      expect(cure).toMatchObject({ isConfirmed: true, coverage: { isComplete: true } })
      expect(cure.refusalsPerRun).toBeGreaterThan(0)
      expect(String(result)).toMatch(
        /yes {2}(UNIQUE|EXCLUDE) .* answer: satisfied .*refusals a run/,
      )
      const left = "SELECT FROM pg_constraint WHERE conname = 'isobar_tries_this'"
      expect((await pool.query(left)).rowCount).toBe(0)
      await pool.query('INSERT INTO bookings (room, hour, until) VALUES (4, 10, 12), (4, 10, 12)')
      // Now there are two of them in any case, and no constraint can be had.
      const full = () => pool.query('DELETE FROM bookings WHERE room <> 4 OR guest IS NOT NULL')
      await pool.query('ALTER TABLE bookings ADD guest text')
      const other = () =>
        transaction(async (client) => {
          const { rowCount } = await client.query(`SELECT id FROM bookings WHERE ${where}`, [5])
          if (rowCount! > 0) return
          await client.query(
            `INSERT INTO bookings (room, ${columns}, guest) VALUES (5, 10${more}, 'kim')`,
          )
        })
      const without = await race(pool, { ann: other, bob: other }, { before: full })
      expect(without.cures.filter((each) => each.name.startsWith(name))).toEqual([])
    } finally {
      await pool.query('DROP TABLE bookings')
    }
  })

  it('says of what does not help that it does not', async () => {
    const add = (id: number) => () =>
      transaction(async (client) => {
        const { rowCount } = await client.query('SELECT id FROM stock WHERE left_over > 50')
        if (rowCount === 0) await client.query('INSERT INTO stock VALUES ($1, 60)', [id])
      })
    const result = await race(pool, { ann: add(3), bob: add(4) }, { before: reset })
    const helps = result.cures.map(({ isConfirmed }) => isConfirmed)
    expect(helps).toEqual([false, true])
    expect(String(result)).toMatch(/no {3}FOR UPDATE behind .*: not satisfied/)
    const html = (await result.html())!
    expect(html.includes('<h1>Serializability: violated</h1>')).toBe(true)
    const [page] = /<section class="schedule".*?<\/section>/s.exec(html)!
    expect(page).toMatch(
      /<th scope="row">bob<\/th><td><code>SELECT id FROM stock WHERE .* &gt; 50</,
    )
    expect(page).toMatch(/does not help<\/b>: <code>FOR UPDATE behind .*, not satisfied/)
    expect(page).toMatch(/helps<\/b>: <code>SERIALIZABLE.*, satisfied by all \d+ schedules/)
    const { cures } = await race(
      pool,
      { ann: add(3), bob: add(4) },
      { before: reset, cures: false },
    )
    expect(cures).toEqual([])
  })

  it('runs every schedule of what is locked, and leaves the pool as it was', async () => {
    const own = [pool.connect, pool.query]
    const actors = { ann: take('BEGIN', ' FOR UPDATE'), bob: take('BEGIN', ' FOR UPDATE') }
    const result = await race(pool, actors, { before: reset })
    expect(result.coverage.isComplete).toBe(true)
    expect(String(result)).toMatch(/^race of .* is satisfied\n(\d+) of \1 schedules that matter/)
    await expect(result).toBeIsolated('ser')
    const html = (await result.html())!
    expect(html.includes(`<p>${result.coverage.schedules} of `)).toBe(true)
    expect([pool.connect, pool.query]).toEqual(own)
    const { rows } = await pool.query('SELECT left_over FROM stock ORDER BY id')
    expect(rows).toEqual([{ left_over: 10 }, { left_over: 10 }])
  })

  it('follows refusals and retries', async () => {
    const retried = () => retrying(take('BEGIN ISOLATION LEVEL SERIALIZABLE'))
    const result = await race(pool, { ann: retried, bob: retried }, { before: reset })
    await expect(result).toBeIsolated('ser')
    expect(result.coverage.isComplete).toBe(true)
    const refused = result.runs.some(({ turns }) => turns.some(({ step }) => step.error))
    expect(refused).toBe(true)
    expect(result.runs.every(({ errors }) => errors.size === 0)).toBe(true)
  })

  it('follows deadlocks', async () => {
    const both = (first: number, second: number) => () =>
      transaction(async (client) => {
        for (const id of [first, second]) {
          await client.query('UPDATE stock SET left_over = left_over - 1 WHERE id = $1', [id])
        }
      })
    const result = await race(pool, { ann: both(1, 2), bob: both(2, 1) }, { before: reset })
    await expect(result).toBeIsolated('ser')
    const codes = result.runs.flatMap(({ errors }) => [...errors.values()])
    expect(codes).toContainEqual(expect.objectContaining({ code: '40P01' }))
  })

  it('judges the same runs at another level', async () => {
    const result = await race(pool, { ann: take(), bob: take() }, { before: reset, cures: false })
    await expect(result).toBeIsolated('rc')
    await expect(result).not.toBeIsolated('si')
  })

  it('leaves out who has no part in it', async () => {
    const look = () => pool.query('SELECT left_over FROM stock WHERE id = 2')
    const actors = { cid: look, ann: take(), bob: take() }
    const result = await race(pool, actors, { before: reset, cures: false })
    expect(result.verdict).toBe('violated')
    expect(new Set(result.schedule)).toEqual(new Set(['ann', 'bob']))
    const again = await race(pool, actors, { before: reset, schedule: result.schedule! })
    expect(again.verdict).toBe('violated')
  })

  it('does not call satisfied what it could not record', async () => {
    await pool.query('CREATE TABLE IF NOT EXISTS keyless (n int)')
    const count = () =>
      transaction(async (client) => {
        const { rows } = await client.query('SELECT n FROM keyless')
        await client.query('UPDATE keyless SET n = $1', [rows[0].n + 1])
      })
    const fill = () => pool.query('TRUNCATE keyless; INSERT INTO keyless VALUES (1)')
    const result = await race(pool, { ann: count, bob: count }, { before: fill })
    expect(result.verdict).toBe('unknown')
    expect(String(result)).toMatch(/is unknown\n.*\nnot recorded: .*key/)
    await expect(expect(result).toBeIsolated('ser')).rejects.toThrow(/not decided: .*key/)
  })

  it('notices that an actor leaves a transaction open', async () => {
    const kept: PoolClient[] = []
    const leave = async () => {
      const client = await pool.connect()
      kept.push(client)
      await client.query('BEGIN')
      await client.query('SELECT * FROM stock WHERE id = 2')
    }
    const options = { before: reset, cures: false, maxSchedules: 1 }
    const result = await race(pool, { ann: leave, bob: take() }, options)
    expect(String(result)).toContain('warning: ann left a transaction open: COMMIT or ROLLBACK')
    for (const client of kept) client.release(true)
    const without = await race(pool, { ann: take(), bob: take() }, options)
    expect(String(without)).not.toContain('left a transaction open')
  })

  it('says how much it was allowed to run', async () => {
    const actors = { ann: take('BEGIN', ' FOR UPDATE'), bob: take('BEGIN', ' FOR UPDATE') }
    const result = await race(pool, actors, { before: reset, maxSchedules: 2 })
    expect(result.coverage).toMatchObject({ runs: 2, isComplete: false })
    expect(String(result)).toContain('there may be more: maxSchedules is 2')
  })
})

describe('a race that makes no sense', () => {
  const nothing = async () => {}

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['no pool', () => race({}, { a: nothing, b: nothing }), /not a pool of pg/],
    ['one actor', () => race(pool, { a: nothing }), /at least two actors/],
    [
      'an actor that runs already',
      () => race(pool, { a: nothing(), b: nothing } as never),
      /actor "a" is not a function/,
    ],
    [
      'an unknown option',
      () => race(pool, { a: nothing, b: nothing }, { maxSchedule: 5 } as object),
      /unknown option "maxSchedule"/,
    ],
    [
      'an unknown level',
      () => race(pool, { a: nothing, b: nothing }, { level: 'sir' as 'ser' }),
      /unknown level/,
    ],
    [
      'a schedule of strangers',
      () => race(pool, { a: nothing, b: nothing }, { schedule: ['c'] }),
      /no actor "c"/,
    ],
    [
      'a pool without room',
      async () => {
        const small = new Pool({ ...server, max: 1 })
        await race(small, { a: nothing, b: nothing }).finally(() => small.end())
      },
      /room for 1 of 2 actors/,
    ],
    [
      'an actor that fails alone',
      () => race(pool, { a: () => pool.query('SELECT 1/0'), b: nothing }, { before: reset }),
      /a fails when it runs alone: division by zero/,
    ],
    [
      'another pool than the one that is used',
      async () => {
        const other = new Pool(server)
        const actors = { ann: take(), bob: take() }
        await race(other, actors, { before: reset }).finally(() => other.end())
      },
      /no actor asks anything of this pool/,
    ],
    ['no reset', () => race(pool, { ann: take(), bob: take() }), /the actors change stock/],
    [
      'a reset that does not',
      () => race(pool, { ann: take(), bob: take() }, { before: () => pool.query('SELECT 1') }),
      /`before` does not reset the database: stock/,
    ],
    [
      'a reset that fails',
      () => race(pool, { a: nothing, b: nothing }, { before: () => pool.query('SELECT 1/0') }),
      /`before` failed: division by zero/,
    ],
  ])('%s', async (_, start, message) => {
    await reset()
    await expect(start()).rejects.toThrow(message)
    await expect(pool.query('SELECT 1 AS one')).resolves.toMatchObject({ rows: [{ one: 1 }] })
  })

  it('a race in a race', async () => {
    const inner = () => race(pool, { a: nothing, b: nothing })
    await expect(race(pool, { a: inner, b: nothing }, { before: reset })).rejects.toThrow(
      /a fails when it runs alone: race: an actor cannot start a race/,
    )
    const first = race(pool, { a: take(), b: take() }, { before: reset, cures: false })
    await expect(inner()).rejects.toThrow('there is a race on this pool already')
    await first
  })

  it('an actor that never ends', async () => {
    const own = new Pool(server)
    own.on('error', () => {}) // it is not ended, because a connection never comes back
    const stuck = async () => {
      const client = await own.connect()
      await client.query('BEGIN')
      await client.query('UPDATE stock SET left_over = 0 WHERE id = 1')
      await new Promise(() => {})
    }
    const started = race(own, { stuck, other: nothing }, { before: reset, patienceMs: 2_000 })
    await expect(started).rejects.toMatchObject({
      message: expect.stringContaining('stuck did not end'),
      hint: expect.stringContaining('UPDATE stock'),
    })
    // Its transaction is gone: nothing waits for its lock.
    await reset()
  })

  it('somebody else in the way', async () => {
    const stranger = await pool.connect()
    try {
      await stranger.query('BEGIN')
      await stranger.query('SELECT FROM stock WHERE id = 1 FOR UPDATE')
      const actors = { ann: take(), bob: take() }
      const started = race(pool, actors, {
        before: () => pool.query('SELECT 1'),
        patienceMs: 2_000,
      })
      await expect(started).rejects.toThrow(/ann waits for process \d+ of the server, which is not/)
    } finally {
      await stranger.query('ROLLBACK')
      stranger.release()
    }
  })
})
