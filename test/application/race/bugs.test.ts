// Bugs that applications are known for, as small programs of our own, with a public report of one
// like it where we know one: each is found by the first few schedules, without anybody having said
// what must hold.

import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { race } from '../../../src/application/race/race.ts'
import { sample } from '../../long.ts'
import { transact } from '../server.ts'

let server: PostgresServer
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool(server)
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

type Ask = (text: string, ...values: unknown[]) => Promise<Record<string, number>[]>

interface Bug {
  /** Where somebody has met it, on GitHub; null if it is only what textbooks warn of. */
  readonly seen: string | null
  readonly tables: string
  readonly rows: string
  /** What two do at the same time; `who` is 1 and 2. */
  readonly act: (ask: Ask, who: number) => Promise<unknown>
}

const BUGS: Record<string, Bug> = {
  'find or create makes two of one': {
    seen: 'microsoft/fhir-server#1382',
    tables: 'CREATE TABLE tags (id serial PRIMARY KEY, name text)',
    rows: '',
    act: async (ask) => {
      const found = await ask('SELECT id FROM tags WHERE name = $1', 'new')
      if (found.length === 0) await ask('INSERT INTO tags (name) VALUES ($1)', 'new')
    },
  },
  'the last item is sold twice': {
    seen: 'cubecart/v6#4224',
    tables: `CREATE TABLE items (id int PRIMARY KEY, stock int);
      CREATE TABLE orders (id serial PRIMARY KEY, item int, customer int)`,
    rows: 'INSERT INTO items VALUES (1, 1)',
    act: async (ask, who) => {
      const [item] = await ask('SELECT stock FROM items WHERE id = 1')
      if (item!['stock']! < 1) return
      await ask('UPDATE items SET stock = $1 WHERE id = 1', item!['stock']! - 1)
      await ask('INSERT INTO orders (item, customer) VALUES (1, $1)', who)
    },
  },
  'a counter beside the rows it counts is off by one': {
    seen: 'mozilla/send#1299',
    tables: `CREATE TABLE posts (id int PRIMARY KEY, likes int);
      CREATE TABLE likes (id serial PRIMARY KEY, post int, person int)`,
    rows: 'INSERT INTO posts VALUES (1, 0)',
    act: async (ask, who) => {
      await ask('INSERT INTO likes (post, person) VALUES (1, $1)', who)
      const likes = await ask('SELECT id FROM likes WHERE post = 1')
      await ask('UPDATE posts SET likes = $1 WHERE id = 1', likes.length)
    },
  },
  'an invitation is accepted twice': {
    seen: 'pretalx/pretalx#2392',
    tables: `CREATE TABLE invitations (id int PRIMARY KEY, status text);
      CREATE TABLE members (id serial PRIMARY KEY, person int)`,
    rows: "INSERT INTO invitations VALUES (1, 'open')",
    act: async (ask, who) => {
      const open = await ask("SELECT id FROM invitations WHERE id = 1 AND status = 'open'")
      if (open.length === 0) return
      await ask('INSERT INTO members (person) VALUES ($1)', who)
      await ask("UPDATE invitations SET status = 'used' WHERE id = 1")
    },
  },
  'two workers take one job': {
    seen: 'datajoint/datajoint-python#1399',
    tables: 'CREATE TABLE jobs (id int PRIMARY KEY, worker int)',
    rows: 'INSERT INTO jobs VALUES (1, NULL), (2, NULL)',
    act: async (ask, who) => {
      const [job] = await ask('SELECT id FROM jobs WHERE worker IS NULL ORDER BY id LIMIT 1')
      await ask('UPDATE jobs SET worker = $1 WHERE id = $2', who, job!['id'])
    },
  },
  'an invoice number is given twice': {
    seen: 'PrestaShop/PrestaShop#28757',
    tables: 'CREATE TABLE invoices (id serial PRIMARY KEY, number int)',
    rows: 'INSERT INTO invoices (number) VALUES (41)',
    act: async (ask) => {
      const all = await ask('SELECT number FROM invoices')
      const next = Math.max(...all.map((row) => row['number']!)) + 1
      await ask('INSERT INTO invoices (number) VALUES ($1)', next)
    },
  },
  'the last two administrators remove each other': {
    seen: 'NuGet/NuGetGallery#5383',
    tables: 'CREATE TABLE people (id int PRIMARY KEY, role text)',
    rows: "INSERT INTO people VALUES (1, 'admin'), (2, 'admin')",
    act: async (ask, who) => {
      const admins = await ask("SELECT id FROM people WHERE role = 'admin'")
      if (admins.length < 2) return
      await ask("UPDATE people SET role = 'guest' WHERE id = $1", 3 - who)
    },
  },
  'two accounts with a common limit are both drawn on': {
    seen: null,
    tables: 'CREATE TABLE purses (id int PRIMARY KEY, balance int)',
    rows: 'INSERT INTO purses VALUES (1, 50), (2, 50)',
    act: async (ask, who) => {
      const purses = await ask('SELECT balance FROM purses')
      if (purses.reduce((sum, row) => sum + row['balance']!, 0) < 100) return
      await ask('UPDATE purses SET balance = balance - 100 WHERE id = $1', who)
    },
  },
  'a setting is lost when two save different ones': {
    seen: 'diegosouzapw/OmniRoute#7784',
    tables: 'CREATE TABLE settings (id int PRIMARY KEY, a int, b int)',
    rows: 'INSERT INTO settings VALUES (1, 0, 0)',
    act: async (ask, who) => {
      const [old] = await ask('SELECT a, b FROM settings WHERE id = 1')
      const { a, b } = { ...old, ...(who === 1 ? { a: 1 } : { b: 1 }) } as Record<string, number>
      await ask('UPDATE settings SET a = $1, b = $2 WHERE id = 1', a, b)
    },
  },
  'a payment is refunded twice': {
    seen: 'fossasia/eventyay#1405',
    tables: 'CREATE TABLE refunds (id serial PRIMARY KEY, payment int, amount int)',
    rows: '',
    act: async (ask) => {
      const refunds = await ask('SELECT amount FROM refunds WHERE payment = 1')
      if (refunds.length === 0) await ask('INSERT INTO refunds (payment, amount) VALUES (1, 100)')
    },
  },
  'a task is added to a project that is closed meanwhile': {
    seen: null,
    tables: `CREATE TABLE projects (id int PRIMARY KEY, state text);
      CREATE TABLE tasks (id serial PRIMARY KEY, project int, state text)`,
    rows: "INSERT INTO projects VALUES (1, 'open')",
    act: async (ask, who) => {
      if (who === 1) {
        const project = await ask("SELECT id FROM projects WHERE id = 1 AND state = 'open'")
        if (project.length === 0) return
        await ask("INSERT INTO tasks (project, state) VALUES (1, 'open')")
      } else {
        const tasks = await ask("SELECT id FROM tasks WHERE project = 1 AND state = 'open'")
        if (tasks.length === 0) await ask("UPDATE projects SET state = 'closed' WHERE id = 1")
      }
    },
  },
  'a voucher is used past its limit': {
    seen: 'saleor/saleor#544',
    tables: `CREATE TABLE vouchers (id int PRIMARY KEY, used int, most int);
      CREATE TABLE orders (id serial PRIMARY KEY, voucher int, customer int)`,
    rows: 'INSERT INTO vouchers VALUES (1, 0, 1)',
    act: async (ask, who) => {
      const [voucher] = await ask('SELECT used, most FROM vouchers WHERE id = 1')
      if (voucher!['used']! >= voucher!['most']!) return
      await ask('INSERT INTO orders (voucher, customer) VALUES (1, $1)', who)
      await ask('UPDATE vouchers SET used = used + 1 WHERE id = 1')
    },
  },
  'an account is drawn on for more than it holds': {
    seen: 'opexdev/core#355',
    tables: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int)',
    rows: 'INSERT INTO accounts VALUES (1, 10), (2, 0), (3, 0)',
    act: async (ask, who) => {
      const [account] = await ask('SELECT balance FROM accounts WHERE id = 1')
      if (account!['balance']! < 10) return
      await ask('UPDATE accounts SET balance = balance - 10 WHERE id = 1')
      await ask('UPDATE accounts SET balance = balance + 10 WHERE id = $1', 1 + who)
    },
  },
  'one hour is booked by two': {
    seen: 'LibreBooking/librebooking#147',
    tables: 'CREATE TABLE slots (id serial PRIMARY KEY, begins int, ends int, person int)',
    rows: '',
    act: async (ask, who) => {
      const taken = await ask('SELECT id FROM slots WHERE begins < $1 AND ends > $2', 12, 10)
      if (taken.length > 0) return
      await ask('INSERT INTO slots (begins, ends, person) VALUES (10, 12, $1)', who)
    },
  },
}

const transaction = (act: Bug['act'], who: number) =>
  transact(pool, 'BEGIN', (client) =>
    act(async (text, ...values) => (await client.query(text, values)).rows, who),
  )

describe('race', () => {
  it('is tried on bugs that others have reported', () => {
    const reports = Object.values(BUGS).flatMap(({ seen }) => seen ?? [])
    expect(new Set(reports).size).toBeGreaterThanOrEqual(10)
    for (const report of reports) expect(report).toMatch(/^[\w.-]+\/[\w.-]+#\d+$/)
  })

  it.each(sample(Object.keys(BUGS), 3))('finds that %s', async (name) => {
    const { tables, rows, act } = BUGS[name]!
    const names = [...tables.matchAll(/CREATE TABLE (\w+)/g)].map((match) => match[1])
    await pool.query(tables)
    const before = async () => {
      await pool.query(`TRUNCATE ${names.join(', ')}`)
      if (rows !== '') await pool.query(rows)
    }
    const actors = { ann: () => transaction(act, 1), bob: () => transaction(act, 2) }
    const result = await race(pool, actors, { before, maxSchedules: 20, cures: false })
    expect(result.verdict).toBe('violated')
    expect(result.violation!.unrecorded).toEqual([])
    await pool.query(`DROP TABLE ${names.join(', ')}`)
  })
})
