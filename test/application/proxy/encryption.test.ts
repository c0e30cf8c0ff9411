// A proxy that speaks TLS to its server, with clients that do not: they log in by SCRAM, without
// the way that is bound to an encrypted channel.

import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withoutChannelBinding } from '../../../src/application/proxy/backend.ts'
import { frame, int32 } from '../../../src/application/proxy/frames.ts'
import { startProxy } from '../../../src/application/proxy/proxy.ts'
import { serverAccount } from '../../../src/record/embedded/account.ts'
import { EmbeddedServer } from '../../../src/record/embedded/server.ts'
import { parsePostgresAddress } from '../../../src/record/postgres/address.ts'

const hasTools = spawnSync('openssl', ['version']).status === 0
if (!hasTools) process.stderr.write('SKIPPED: a proxy that speaks TLS (no openssl)\n')
const hasPsql = spawnSync('psql', ['--version']).status === 0

let server: EmbeddedServer
let directory: string
beforeAll(async () => {
  if (!hasTools) return
  directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  chmodSync(directory, 0o755)
  const [certificate, key] = [join(directory, 'server.crt'), join(directory, 'server.key')]
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
  chmodSync(key, 0o600)
  const account = serverAccount()
  if (account) chownSync(key, account.uid, account.gid)
  const settings = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key }
  server = await EmbeddedServer.start({ settings })
})
afterAll(async () => {
  await server?.stop()
  if (hasTools) rmSync(directory, { recursive: true, force: true })
})

const isEncrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'

describe.skipIf(!hasTools)('a proxy to a server with TLS', () => {
  it('encrypts as sslmode says, and lets clients log in', async () => {
    for (const [mode, encrypted] of [
      ['require', true],
      ['prefer', true],
      ['disable', false],
    ] as const) {
      const { host, port, user, password, database } = server
      const to = parsePostgresAddress(`postgres://${host}:${port}/?sslmode=${mode}`, {})
      const proxy = await startProxy({ to, host: '127.0.0.1', port: 0 })
      const login = { host: '127.0.0.1', port: proxy.port, user, password, database }
      const client = new pg.Client(login)
      await client.connect()
      expect((await client.query(isEncrypted)).rows).toEqual([{ ssl: encrypted }])
      await client.end()
      if (hasPsql) expect(await psql(login)).toBe(encrypted ? 't\n' : 'f\n')
      proxy.recorded.stop()
    }
  })

  it('refuses a certificate that it does not know, if it is to look', async () => {
    const { host, port } = server
    const to = parsePostgresAddress(`postgres://${host}:${port}/?sslmode=verify-full`, {})
    await expect(startProxy({ to, host: '127.0.0.1', port: 0 })).rejects.toThrow('cannot reach')
  })
})

async function psql(login: Record<string, string | number>): Promise<string> {
  const env = {
    ...process.env,
    ...{ PGHOST: `${login.host}`, PGPORT: `${login.port}`, PGUSER: `${login.user}` },
    ...{ PGPASSWORD: `${login.password}`, PGDATABASE: `${login.database}` },
  }
  return new Promise((resolve, reject) => {
    execFile('psql', ['-X', '-A', '-t', '-c', isEncrypted], { env }, (error, out) =>
      error ? reject(error) : resolve(out),
    )
  })
}

describe('withoutChannelBinding', () => {
  const END = Buffer.from([0])
  const request = (...ways: string[]) => frame('R', int32(10), ...ways, END)

  it('leaves out what needs an encrypted channel to the client', () => {
    const offered = request('SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256')
    expect(withoutChannelBinding(offered)).toEqual(request('SCRAM-SHA-256'))
    expect(withoutChannelBinding(request('SCRAM-SHA-256-PLUS'))).toBeNull()
    const md5 = frame('R', int32(5), Buffer.from('salt'))
    expect(withoutChannelBinding(md5)).toBe(md5)
  })
})
