// Servers of Debian that are killed (kill -9) and started again in the middle of a run, each with
// data of its own, and told to have written what it acknowledges. What clients were told is there
// afterwards; a Redis that keeps nothing shows that it would be noticed if it were not.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { type History, WRITE } from '../../src/history/history.ts'
import { buildPart } from '../../src/history/sub-history.ts'
import { eventually, inDirectory, midway, stage } from '../record/stage.ts'

const SECRET = randomBytes(16).toString('hex')
const CALM_MS = 60_000

interface Kind {
  readonly command: string
  /** Puts down what it needs before its first start. */
  readonly prepare?: (directory: string) => void
  readonly args: (directory: string, port: number, other: number) => string[]
  readonly address: (port: number) => string
  /** What only read may have seen what is lost: docs/found.md. */
  readonly showsBeforeItIsKept?: boolean
}

function redis(...settings: string[]): Kind {
  const loopback = ['--bind', '127.0.0.1', '--save', '', '--requirepass', SECRET]
  return {
    command: 'redis-server',
    args: (directory, port) => ['--port', `${port}`, '--dir', directory, ...loopback, ...settings],
    address: (port) => `redis://:${SECRET}@127.0.0.1:${port}/0`,
  }
}

const KINDS: Readonly<Record<string, Kind>> = {
  Redis: redis('--appendonly', 'yes', '--appendfsync', 'always'),
  etcd: {
    command: 'etcd',
    args: (directory, port, other) => {
      const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${other}`]
      return [
        ...['--name', 'isobar', '--data-dir', join(directory, 'data')],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `isobar=${peer}`],
      ]
    },
    address: (port) => `etcd://127.0.0.1:${port}/crashes`,
  },
  MariaDB: {
    command: 'mariadbd',
    prepare: (directory) => {
      const data = [`--datadir=${join(directory, 'data')}`, '--skip-test-db']
      execFileSync('mariadb-install-db', ['--no-defaults', ...data, ...asRoot()], {
        stdio: 'ignore',
      })
      const statements = [
        'CREATE DATABASE IF NOT EXISTS isobar',
        `CREATE USER IF NOT EXISTS isobar@'127.0.0.1' IDENTIFIED BY '${SECRET}'`,
        "GRANT ALL ON isobar.* TO isobar@'127.0.0.1'",
        "DELETE FROM mysql.global_priv WHERE User NOT IN ('isobar', 'mariadb.sys')",
        'FLUSH PRIVILEGES',
      ]
      const text = statements.map((statement) => `${statement};\n`).join('')
      writeFileSync(join(directory, 'init.sql'), text, { mode: 0o600 })
    },
    args: (directory, port) => [
      ...['--no-defaults', `--datadir=${join(directory, 'data')}`, ...asRoot()],
      ...[`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(directory, 'socket')}`],
      ...[`--init-file=${join(directory, 'init.sql')}`, '--innodb-flush-log-at-trx-commit=1'],
      '--innodb-lock-wait-timeout=2',
    ],
    address: (port) => `mysql://isobar:${SECRET}@127.0.0.1:${port}/isobar`,
    showsBeforeItIsKept: true,
  },
}

/** A server that is asked to run as root does so only if that is said. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}

function isHere({ command }: Kind): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    process.stderr.write(`SKIPPED: killing ${command}, which is not installed\n`)
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server; returns its address, and what kills it and starts it again. */
async function start(kind: Kind, directory: string) {
  kind.prepare?.(directory)
  const [port, other] = [await freePort(), await freePort()]
  const run = async () => {
    const child = spawn(kind.command, kind.args(directory, port, other), { stdio: 'ignore' })
    running.add(child)
    const endMs = performance.now() + CALM_MS
    while (!(await listens(port)) && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return child
  }
  let child = await run()
  const crash = async () => {
    child.kill('SIGKILL')
    expect(await eventually(() => child.signalCode !== null)).toBe(true)
    running.delete(child)
    child = await run()
  }
  return { address: kind.address(port), crash }
}

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  it.skipIf(!isHere(kind))('keeps what it acknowledged when it is killed twice', async () => {
    await inDirectory(async (directory) => {
      const server = await start(kind, directory)
      const kill = midway(100, server.crash, 2)
      const options = { target: server.address, workload: { sessions: 6 }, durationMs: CALM_MS }
      await stage({ ...options, ...kill.options }, async (outcome) => {
        expect(await kill.done()).toBe(2)
        expect(outcome.stoppedBy).toBeNull()
        expect(outcome.summary.transactions.failures).not.toEqual({})
        const { history } = outcome.judged!
        const kept = kind.showsBeforeItIsKept ? withoutReaders(history) : history
        expect(kept.txnCount).toBeGreaterThan(200)
        expect(await judge(kept, ['ser'])).toMatchObject([{ verdict: 'satisfied' }])
      })
    })
  })
})

/** The history of the transactions that wrote. */
function withoutReaders(history: History): History {
  const writers = new Set<number>()
  for (let op = 0; op < history.opCount; op++) {
    if (history.opKind[op] === WRITE) writers.add(history.opTxn[op]!)
  }
  const kept = history.opTxn.map((txn, op) => (writers.has(txn) ? op : -1)).filter((op) => op >= 0)
  return buildPart(history, kept)
}

describe('Redis that keeps nothing', () => {
  const kind = redis('--appendonly', 'no')
  it.skipIf(!isHere(kind))('is found to have lost what it acknowledged', async () => {
    await inDirectory(async (directory) => {
      const server = await start(kind, directory)
      const kill = midway(100, server.crash, 1)
      const options = { target: server.address, workload: { sessions: 6 }, durationMs: CALM_MS }
      await stage({ ...options, ...kill.options }, async (outcome) => {
        expect(await kill.done()).toBe(1)
        const named = outcome.judged!.results.flatMap(({ anomalies }) => anomalies)
        expect(named.map(({ name }) => name)).toContain('LostCommit')
      })
    })
  })
})
