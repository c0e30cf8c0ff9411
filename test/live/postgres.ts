// The servers that live tests run on: always the embedded one; any other that the environment names
// in ISOBAR_TEST_POSTGRES, a postgres:// address of somebody who may create a database.

import { Client } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { parsePostgresAddress } from '../../src/record/postgres/address.ts'
import { type PostgresTarget, postgresTarget } from '../../src/record/postgres/target.ts'
import { liveAddress } from './targets.ts'

/** An embedded server as a target by address, so that several runs can share it. */
export function targetOf(server: EmbeddedServer, user?: { name: string; password: string }) {
  const who = { user: user?.name ?? server.user, password: user?.password ?? server.password }
  return postgresTarget({ ...server.address, ...who })
}

export async function withClient<T>(
  target: PostgresTarget,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(target.address)
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every server there is, by name: the embedded one, started for the tests of a file. */
export function liveServers(): [name: string, target: () => PostgresTarget][] {
  let embedded: EmbeddedServer
  beforeAll(async () => {
    embedded = await EmbeddedServer.start()
  })
  afterAll(() => embedded.stop())
  const other = otherServer()
  return [
    ['embedded PostgreSQL', () => targetOf(embedded)],
    ...(other ? [['PostgreSQL named by the environment', ownDatabase(other)] as never] : []),
  ]
}

/** Test files run at the same time, and each run has a database for itself. */
function ownDatabase(server: PostgresTarget): () => PostgresTarget {
  const database = `isobar_${process.pid}_${databaseCount++}`
  beforeAll(() => withClient(server, (client) => client.query(`CREATE DATABASE ${database}`)))
  afterAll(() =>
    withClient(server, (client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`)),
  )
  return () => postgresTarget({ ...server.address, database })
}

let databaseCount = 0

/** The server named by the environment, or null; says so loudly. */
function otherServer(): PostgresTarget | null {
  const text = liveAddress('ISOBAR_TEST_POSTGRES', 'another PostgreSQL')
  if (text === null) return null
  return postgresTarget(parsePostgresAddress(text, process.env))
}
