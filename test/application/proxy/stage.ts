// A server, a proxy before it, and pools of clients on both, for the tests of a file.

import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type RecordingProxy, startProxy } from '../../../src/application/proxy/proxy.ts'
import { EmbeddedServer } from '../../../src/record/embedded/server.ts'
import { parsePostgresAddress } from '../../../src/record/postgres/address.ts'

export interface ProxyStage {
  server: EmbeddedServer
  /** Straight to the server. */
  direct: pg.Pool
  /** What a client needs to get in; the port is the server's. */
  login: pg.ClientConfig
}

export function onProxiedServer(settings: Record<string, string> = {}): ProxyStage {
  const stage = {} as ProxyStage
  beforeAll(async () => {
    stage.server = await EmbeddedServer.start({ settings })
    const { user, password, database } = stage.server
    stage.login = { host: '127.0.0.1', port: stage.server.port, user, password, database }
    stage.direct = new pg.Pool({ ...stage.login, max: 8 })
  })
  afterAll(async () => {
    await stage.direct?.end()
    await stage.server?.stop()
  })
  return stage
}

export function proxyTo({ server }: { server: EmbeddedServer }): Promise<RecordingProxy> {
  const to = parsePostgresAddress(`postgres://${server.host}:${server.port}/`, {})
  return startProxy({ to, host: '127.0.0.1', port: 0 })
}

/** Runs work on a pool whose connections pass a proxy, and returns what it has recorded. */
export async function throughProxy(
  stage: ProxyStage,
  work: (pool: pg.Pool, proxy: RecordingProxy) => Promise<void>,
): Promise<RecordingProxy['recorded']> {
  const proxy = await proxyTo(stage)
  const pool = new pg.Pool({ ...stage.login, port: proxy.port, max: 4 })
  pool.on('error', () => {})
  try {
    await work(pool, proxy)
  } finally {
    await pool.end()
    proxy.recorded.stop()
  }
  return proxy.recorded
}
