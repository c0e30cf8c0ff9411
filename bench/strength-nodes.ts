// Servers of more than one node, as one database: a primary whose replica answers some sessions,
// and two nodes that send each other what was committed. Both break their word, which is what they
// are for here.

import { Client } from 'pg'
import type { Database } from '../src/record/database.ts'
import { PRIMARY_SETTINGS } from '../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../src/record/embedded/server.ts'
import { NO_FAULTS } from '../src/record/faults.ts'
import { PostgresDatabase } from '../src/record/postgres/database.ts'
import { openTarget } from '../src/record/target.ts'
import { parseTarget } from '../src/record/targets.ts'
import { SESSIONS } from './finding.ts'

export interface Nodes {
  /** A fresh database on them, for one run. */
  open(): Promise<Database>
  restart: (() => Promise<void>) | null
  stop(): Promise<void>
}

/** One server, as it is. */
export async function oneNode(): Promise<Nodes> {
  const server = await EmbeddedServer.start()
  return {
    open: () => PostgresDatabase.open(server.address),
    restart: null,
    stop: () => server.stop(),
  }
}

/** Says that it has committed before anything is on disk; a crash loses what was promised. */
export async function forgetfulNode(): Promise<Nodes> {
  const server = await EmbeddedServer.start({ settings: { wal_writer_delay: '2s' } })
  const role = `ALTER ROLE ${server.user}`
  return {
    open: async () => {
      // The tables are to stay; only sessions forget.
      await onServer(server, [`${role} RESET synchronous_commit`])
      const database = await PostgresDatabase.open(server.address)
      await onServer(server, [`${role} SET synchronous_commit = off`])
      return database
    },
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

/** As `isobar run --replicas 1` has it: half of the sessions read from the replica. */
export async function withReplica(): Promise<Nodes> {
  const target = parseTarget('embedded').withReplicas!(1)
  const asked = { levels: ['si'], sessions: SESSIONS, seed: 1, patienceMs: 30_000 } as const
  return {
    open: async () => {
      const { database, close } = await openTarget(target, { ...asked, faults: NO_FAULTS })
      return inPlaceOf(database, { nodes: database.nodes!, close })
    },
    restart: null,
    stop: async () => {},
  }
}

/** Half of the sessions work on each of two nodes, which replicate to each other. */
export async function twoNodes(): Promise<Nodes> {
  const servers = [
    await EmbeddedServer.start({ settings: PRIMARY_SETTINGS }),
    await EmbeddedServer.start({ settings: PRIMARY_SETTINGS }),
  ] as const
  return {
    open: async () => {
      const [first, second] = [
        await PostgresDatabase.open(servers[0].address),
        await PostgresDatabase.open(servers[1].address),
      ]
      await subscribe(servers[0], servers[1])
      await subscribe(servers[1], servers[0])
      let opened = 0
      return inPlaceOf(first, {
        nodes: [{ isReader: false, open: () => (++opened % 2 === 0 ? second : first).open() }],
        isAudited: false,
        addKeys: async (from, to) => {
          await first.addKeys(from, to)
          while ((await countRows(servers[1])) < to)
            await new Promise((done) => setTimeout(done, 20))
        },
        close: async () => {
          for (const server of servers) await unsubscribe(server)
          await first.close()
          await second.close()
        },
      })
    },
    restart: null,
    stop: async () => {
      for (const server of servers) await server.stop()
    },
  }
}

function inPlaceOf(database: Database, own: Partial<Database>): Database {
  return new Proxy(database, {
    get(target, name) {
      const value = own[name as keyof Database] ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function subscribe(server: EmbeddedServer, to: EmbeddedServer): Promise<void> {
  await onServer(to, ['CREATE PUBLICATION isobar FOR TABLE isobar_registers'])
  const { host, port, user, password, database } = to
  const place = `host=${host} port=${port} user=${user} password=${password} dbname=${database}`
  await onServer(server, [
    `CREATE SUBSCRIPTION isobar_${server.port} CONNECTION '${place}' PUBLICATION isobar
       WITH (copy_data = false, origin = none)`,
  ])
}

async function unsubscribe(server: EmbeddedServer): Promise<void> {
  await onServer(server, [
    `DROP SUBSCRIPTION IF EXISTS isobar_${server.port}`,
    'DROP PUBLICATION IF EXISTS isobar',
  ])
}

async function countRows(server: EmbeddedServer): Promise<number> {
  return Number((await onServer(server, ['SELECT count(*) AS n FROM isobar_registers'])).at(-1)?.n)
}

/** Runs statements one after another; the rows of the last one. */
async function onServer(server: EmbeddedServer, statements: string[]): Promise<{ n?: string }[]> {
  const client = new Client(server.address)
  await client.connect()
  try {
    let rows: { n?: string }[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}
