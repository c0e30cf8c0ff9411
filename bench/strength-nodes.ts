// Servers of more than one node, as one database: a primary whose replica answers some sessions,
// and two nodes that send each other what was committed. Both break their word, which is what they
// are for here.

import { Client } from 'pg'
import type { LevelId } from '../src/levels/levels.ts'
import { type Connection, type Database, TransactionFailure } from '../src/record/database.ts'
import { PRIMARY_SETTINGS, startReplica } from '../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../src/record/embedded/server.ts'
import { PostgresDatabase } from '../src/record/postgres/database.ts'

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

/** Every third session reads from a replica. */
export async function withReplica(): Promise<Nodes> {
  const primary = await EmbeddedServer.start({ settings: PRIMARY_SETTINGS })
  const replica = await startReplica(primary)
  return {
    open: async () => {
      const others = [replica.address]
      const database = await PostgresDatabase.open(primary.address, { others })
      const reader = database.nodes[1]!
      let opened = 0
      const open = async () =>
        ++opened % 3 === 0 ? readOnly(await reader.open()) : database.open()
      return inPlaceOf(database, { nodes: [{ open, isReader: false }], isAudited: false })
    },
    restart: null,
    stop: async () => {
      await replica.stop()
      await primary.stop()
    },
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

/** A replica reads, at no more than REPEATABLE READ. */
function readOnly(connection: Connection): Connection {
  const refuse = async () => {
    throw new TransactionFailure('aborted', 'a replica does not write')
  }
  return new Proxy(connection, {
    get(target, name) {
      if (name === 'begin') return (level: LevelId) => target.begin(level === 'ser' ? 'si' : level)
      if (name === 'write' || name === 'append') return refuse
      const value = Reflect.get(target, name)
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
