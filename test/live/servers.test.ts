// Real servers: that let in only so many, answer late or not at all, stand behind a pooler or a
// proxy, want certificates, listen on a socket, and are used by somebody else at the same time.

import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverAccount } from '../../src/record/embedded/account.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { parsePostgresAddress } from '../../src/record/postgres/address.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import { type PostgresTarget, postgresTarget } from '../../src/record/postgres/target.ts'
import type { RunProgress } from '../../src/record/runner.ts'
import { midway, stage } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'

let server: EmbeddedServer
let target: PostgresTarget
let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  chmodSync(directory, 0o755)
  const certificate = makeCertificate()
  const settings = {
    unix_socket_directories: makeSocketDirectory(),
    ...(certificate
      ? { ssl: 'on', ssl_cert_file: certificate[0], ssl_key_file: certificate[1] }
      : {}),
  }
  server = await EmbeddedServer.start({ settings })
  target = targetOf(server)
})
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

function giveToServer(path: string): void {
  const account = serverAccount()
  if (account) chownSync(path, account.uid, account.gid)
}

function makeSocketDirectory(): string {
  const path = mkdtempSync(join(directory, 'socket-'))
  chmodSync(path, 0o755)
  giveToServer(path)
  return path
}

/** A certificate of its own for `localhost`, and its key; null, loudly, without openssl. */
function makeCertificate(): [string, string] | null {
  const [certificate, key] = [join(directory, 'server.crt'), join(directory, 'server.key')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  try {
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', certificate, ...subject], {
      stdio: 'pipe',
    })
  } catch {
    process.stderr.write('SKIPPED: encrypted connections (no openssl)\n')
    return null
  }
  chmodSync(key, 0o600)
  giveToServer(key)
  return [certificate, key]
}

const addressOf = (parameters: string, environment: Record<string, string> = {}) =>
  parsePostgresAddress(
    `postgres://${server.user}@localhost:${server.port}/postgres?${parameters}`,
    environment,
    'PGPASSFILE' in environment ? undefined : server.password,
  )
const small = { transactions: 40, sessions: 3, keys: 5 }
const runOn = (address: PostgresTarget['address'], rest: object = {}) =>
  stage({ target: postgresTarget(address), workload: small, ...rest }, (outcome) => outcome)

async function connectionsOf(role: string): Promise<number> {
  return withClient(target, async (client) => {
    const text = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = $1'
    return (await client.query(text, [role])).rows[0].n
  })
}

describe('a server that lets in only so many', () => {
  it('ends a run at once, with a reason, and no connection is left', async () => {
    await withClient(target, (client) =>
      client.query(`CREATE ROLE few LOGIN PASSWORD 'f' CONNECTION LIMIT 15;
        GRANT CREATE ON SCHEMA public TO few`),
    )
    const few = targetOf(server, { name: 'few', password: 'f' })
    const run = stage({ target: few, workload: { sessions: 20 } }, () => {})
    await expect(run).rejects.toMatchObject({ name: 'DatabaseError', hint: /--sessions/ })
    await expect(run).rejects.toThrow(/too many connections for role/)
    for (let tries = 0; tries < 200 && (await connectionsOf('few')) > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    expect(await connectionsOf('few')).toBe(0)
  })

  it('or so little time: says so', async () => {
    await withClient(target, (client) =>
      client.query(`CREATE ROLE hasty LOGIN PASSWORD 'h'; GRANT CREATE ON SCHEMA public TO hasty;
        ALTER ROLE hasty SET statement_timeout = '1ms'`),
    )
    const hasty = targetOf(server, { name: 'hasty', password: 'h' })
    // Fast as machines are, one of so many statements takes longer.
    const run = stage({ target: hasty, workload: { shape: 'tpcc', sessions: 40 } }, () => {})
    await expect(run).rejects.toMatchObject({ name: 'DatabaseError' })
  })

  it('or never answers: gives up when connect_timeout is over', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const text = `postgres://me@127.0.0.1:${port}/d?connect_timeout=1&sslmode=disable`
    // Without it, it would wait for as long as the test does.
    await expect(runOn(parsePostgresAddress(text, {}))).rejects.toThrow(/timeout/)
    silent.close()
  })

  it('or falls silent for good in the middle: ends, and keeps what was recorded', async () => {
    const enough = new AbortController()
    const onProgress = ({ committed }: RunProgress) => {
      if (committed === 0 || enough.signal.aborted) return
      server.freeze()
      enough.abort()
    }
    const limits = { durationMs: 60_000, patienceMs: 1000, enough: enough.signal, onProgress }
    try {
      // Nobody wakes the server before the run has ended.
      const outcome = await stage(
        { target, workload: { sessions: 2, keys: 5 }, ...limits },
        (all) => all,
      )
      expect(outcome.stoppedBy).toMatchObject({ name: 'DatabaseError' })
      expect(String(outcome.stoppedBy)).toContain('no answer within')
      expect(outcome.summary.transactions.committed).toBeGreaterThan(0)
    } finally {
      server.thaw()
    }
  })
})

describe('the lock on a database', () => {
  const LOST = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`
  const long = { sessions: 2, keys: 5 }

  /** A run in whose middle something happens. */
  function runWith(happens: () => Promise<unknown>) {
    const { options, done } = midway(1, happens)
    const limits = { durationMs: 60_000, ...options }
    return stage({ target, workload: long, ...limits }, async (outcome) => {
      await done()
      return outcome
    })
  }

  it('is taken again at once when its connection is lost', async () => {
    const refusals: string[] = []
    const outcome = await runWith(async () => {
      await withClient(target, (client) => client.query(LOST))
      await withClient(target, async (client) => {
        const held = async () =>
          (await client.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rowCount
        while ((await held()) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      })
      const second = stage({ target, workload: small }, () => {})
      refusals.push(String(await second.catch((error) => error.message)))
    })
    expect(refusals).toEqual(['another run uses this database'])
    expect(outcome.stoppedBy).toBeNull()
    expect(outcome.summary.verdicts).toMatchObject({ ser: 'satisfied' })
  })

  it('ends a run that has lost it to another, and leaves what is theirs', async () => {
    const outcome = await runWith(() =>
      withClient(target, async (client) => {
        // As the first of a second run would: it waits for the lock and then makes the table anew.
        const mine = client.query(`SELECT pg_advisory_lock(${0x150ba2})`)
        await withClient(target, async (other) => {
          const locks = `FROM pg_locks WHERE locktype = 'advisory' AND`
          const waits = async () => (await other.query(`SELECT 1 ${locks} NOT granted`)).rowCount
          while ((await waits()) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
          await other.query(`SELECT pg_terminate_backend(pid) ${locks} granted`)
        })
        await mine
        await client.query(
          `COMMENT ON TABLE isobar_registers IS 'made by isobar for one run; safe to drop (theirs)'`,
        )
        const isOver = async () =>
          (await client.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'isobar'`))
            .rowCount === 0
        while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 20))
      }),
    )
    expect(String(outcome.stoppedBy)).toMatch(/another run has taken this database/)
    const { rowCount } = await withClient(target, (client) =>
      client.query(`SELECT 1 FROM pg_tables WHERE tablename = 'isobar_registers'`),
    )
    expect(rowCount).toBe(1)
    await runOn(target.address)
  })
})

describe('addresses as libpq has them', () => {
  it('take passwords from the password file, behind the proxy that brings faults about too', async () => {
    const path = join(directory, 'pgpass')
    writeFileSync(path, `localhost:${server.port}:*:${server.user}:${server.password}\n`, {
      mode: 0o600,
    })
    const address = addressOf('', { PGPASSFILE: path })
    const { summary } = await runOn(address, { fault: 'kill-connection:20%,latency:1ms' })
    expect(summary.verdicts).toMatchObject({ ser: 'satisfied' })
    expect(summary.connectionsCut).toBeGreaterThan(0)
  })

  it('say what to do where there is no password', async () => {
    const address = { ...addressOf(''), password: '' }
    await expect(runOn(address)).rejects.toMatchObject({ hint: /PGPASSWORD.*--password-file/ })
  })

  it('verify the host that was named, behind the proxy too', async () => {
    if (!existsSync(join(directory, 'server.crt'))) return
    const mode = `sslmode=verify-full&sslrootcert=${join(directory, 'server.crt')}`
    const { summary } = await runOn(addressOf(mode), { fault: 'latency:1ms' })
    expect(summary.verdicts).toMatchObject({ ser: 'satisfied' })
    const byNumber = { ...addressOf(mode), host: '127.0.0.1' }
    const wrong = parsePostgresAddress(
      `postgres://${server.user}@127.0.0.1:${server.port}/postgres?${mode}`,
      {},
      server.password,
    )
    await expect(runOn({ ...byNumber, encryptions: wrong.encryptions })).rejects.toMatchObject({
      hint: /sslrootcert/,
    })
    await expect(runOn(addressOf('sslmode=verify-ca&sslrootcert=system'))).rejects.toThrow(
      /certificate/,
    )
  })

  it.each(['prefer', 'allow', 'disable', 'require'])('connect with sslmode=%s', async (mode) => {
    if (mode === 'require' && !existsSync(join(directory, 'server.crt'))) return
    const { summary } = await runOn(addressOf(`sslmode=${mode}`))
    expect(summary.verdicts).toMatchObject({ ser: 'satisfied' })
  })

  it('reach a socket by its directory, and hand options on', async () => {
    const { rows } = await withClient(target, (client) =>
      client.query('SHOW unix_socket_directories'),
    )
    const socket = encodeURIComponent(rows[0].unix_socket_directories)
    const text = `postgres://${server.user}@${socket}:${server.port}/postgres`
    const { summary } = await runOn(parsePostgresAddress(text, {}, server.password), {
      fault: 'latency:1ms',
    })
    expect(summary.verdicts).toMatchObject({ ser: 'satisfied' })
    await expect(
      runOn(parsePostgresAddress(`${text}?options=-c search_path=nowhere`, {}, server.password)),
    ).rejects.toThrow(/no schema has been selected/)
  })
})

const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(existsSync)
if (!PGBOUNCER) process.stderr.write('SKIPPED: runs behind a pooler (no pgbouncer)\n')

/** Puts pgbouncer between us and the server while `work` runs. */
async function behindPooler(
  settings: string,
  work: (address: PostgresTarget['address']) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(directory, 'pooler-'))
  chmodSync(home, 0o755)
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  const { host, user, password } = server
  writeFileSync(join(home, 'users'), `"${user}" "${password}"\n`)
  writeFileSync(
    join(home, 'pooler.ini'),
    `[databases]\npostgres = host=${host} port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1
listen_port = ${port}\nauth_type = plain\nauth_file = ${join(home, 'users')}\nunix_socket_dir =
ignore_startup_parameters = options,extra_float_digits\n${settings}\n`,
  )
  const account = serverAccount() ?? {}
  const pooler = spawn(PGBOUNCER!, [join(home, 'pooler.ini')], { ...account, stdio: 'ignore' })
  const ended = new Promise((resolve) => pooler.once('exit', resolve))
  try {
    const address = { ...server.address, port }
    const isUp = async () =>
      withClient(postgresTarget(address), async () => true).catch(() => false)
    for (let tries = 0; tries < 400 && !(await isUp()); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await work(address)
  } finally {
    pooler.kill('SIGKILL')
    await ended
  }
}

describe.runIf(PGBOUNCER)('a pooler', () => {
  it('that hands connections round is refused', async () => {
    await behindPooler('pool_mode = transaction', async (address) => {
      await expect(runOn(address)).rejects.toMatchObject({
        message: expect.stringContaining('a pooler between us and the server'),
        hint: expect.stringContaining('pool_mode=session'),
      })
    })
    // Nothing of ours stays on its connections.
    await (await PostgresDatabase.open(target.address)).close()
  })

  it('that keeps sessions together is no hindrance', async () => {
    await behindPooler('pool_mode = session', async (address) => {
      const { summary } = await runOn(address)
      expect(summary.verdicts).toMatchObject({ ser: 'satisfied' })
    })
  })

  it('that lets in too few ends the run when patience is over', async () => {
    await behindPooler('pool_mode = session\ndefault_pool_size = 4', async (address) => {
      const workload = { ...small, sessions: 10 }
      const run = runOn(address, { workload, patienceMs: 1500 })
      await expect(run).rejects.toMatchObject({ hint: expect.stringContaining('--sessions') })
      await expect(run).rejects.toThrow(/only \d+ of 10 sessions could connect within 1.5 s/)
    })
  })
})
