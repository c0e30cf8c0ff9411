// A real PostgreSQL server, started from the binaries that npm delivered, for one run: in a fresh
// private directory, under an account of its own where we are root, reachable only from this
// machine and only with a random password. Everything is gone afterwards (keeper.ts), but for data
// that somebody keeps elsewhere.
//
// Durability against a crash of the machine is not what is tested here, so files are not forced to
// disk; commits do reach the operating system before they are confirmed, so that killing the server
// loses nothing. Deadlocks are looked for after 10 ms: hot keys would stall for a second otherwise.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { assert, DatabaseError } from '../../base/errors.ts'
import type { PostgresAddress } from '../postgres/address.ts'
import { type Account, giveAllTo, giveTo, serverAccount } from './account.ts'
import { type Binaries, OTHER_TARGETS, placeBinaries } from './binaries.ts'
import { ServerClock } from './clock.ts'
import { startKeeper } from './keeper.ts'
import { noteOwners, PREFIX, removeLeftovers, stopServer } from './leftovers.ts'
import { freePort } from './ports.ts'
import { endGroup, exitOf, processesOf, signalAll } from './processes.ts'

const USER = 'isobar'
const START_PATIENCE_MS = 30_000
const STOP_PATIENCE_MS = 5_000
const CONNECT_PATIENCE_MS = 10_000
const PORT_TRIES = 5

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'on',
  deadlock_timeout: '10ms',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '300',
  max_pred_locks_per_transaction: '256',
  shared_buffers: '64MB',
  jit: 'off',
  // Conflicts are expected by the thousand and need no log; what ends the server does.
  log_min_messages: 'fatal',
}

export interface ServerOptions {
  /** Major version of PostgreSQL; the usual one if it is not said. */
  readonly major?: number | undefined
  /** Settings of PostgreSQL in place of ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether its clock will be set. */
  readonly setsClock?: boolean
  /** Data that another server has made, in place of an empty database. */
  readonly copy?: { readonly password: string; readonly fill: (data: string) => Promise<void> }
  /** Data that stay when the server ends, in place of a fresh directory. */
  readonly kept?: KeptData
}

export interface KeptData {
  /** The directory, without links on the way to it. */
  readonly data: string
  readonly password: string
  /** Where the server was before, and should be again; 0 if it was nowhere yet. */
  readonly port: number
  /** False if the directory has to be filled. */
  readonly isFilled: boolean
}

export class EmbeddedServer {
  readonly host = '127.0.0.1'
  readonly user = USER
  readonly database = 'postgres'
  readonly password: string
  port = 0

  private process: ChildProcess | null = null
  private readonly home: string
  /** Settings of PostgreSQL, but for the port. */
  readonly settings: Readonly<Record<string, string>>
  /** Directory of its data. */
  readonly data: string
  private readonly account: Account | null
  private binaries: Binaries | null = null
  private clock: ServerClock | null = null // if it is to be set
  private frozen: number[] = [] // processes that were stopped
  private readonly keeper: ChildProcess

  private constructor(private readonly given: ServerOptions) {
    this.settings = { ...SETTINGS, ...given.settings }
    const { copy, kept } = given
    this.password = (copy ?? kept)?.password ?? randomBytes(24).toString('base64url')
    this.account = serverAccount()
    this.home = makeHome()
    this.data = kept?.data ?? join(this.home, 'data')
    const pgCtl = join(this.home, 'native', 'bin', 'pg_ctl')
    this.keeper = startKeeper(this.home, pgCtl, this.data)
  }

  /** Sets up and starts a server; about two seconds. Throws DatabaseError. */
  static async start(given: ServerOptions = {}): Promise<EmbeddedServer> {
    await removeLeftovers()
    const server = new EmbeddedServer(given)
    try {
      noteOwners(server.home, [process.pid, server.keeper.pid ?? process.pid])
      await server.settle()
      if (given.setsClock) server.clock = ServerClock.make(server.home)
      if (given.copy) {
        await given.copy.fill(server.data)
        giveAllTo(server.account, server.data)
      } else if (given.kept?.isFilled) await server.takeOver()
      else await server.initialize()
      await server.launchOnFreePort()
    } catch (error) {
      await server.stop()
      throw 'syscall' in (error as object) ? withoutRoom((error as Error).message) : error
    }
    return server
  }

  get isRunning(): boolean {
    return this.process !== null
  }

  /** How to get in. */
  get address(): PostgresAddress {
    const { host, port, user, password, database } = this
    const connectTimeoutMs = CONNECT_PATIENCE_MS
    return { host, port, user, password, database, encryptions: [false], connectTimeoutMs }
  }

  /** Major version of PostgreSQL. */
  get major(): number {
    return this.binaries!.major
  }

  /** The server's process id, 0 if it does not run. */
  get pid(): number {
    return this.process?.pid ?? 0
  }

  /** Crashes the server, as a power cut of the database process would, and starts it again. */
  async restart(): Promise<void> {
    await this.crash()
    await this.launchAgain()
  }

  /** Kills all its processes, in the middle of whatever they do, and starts it again. */
  async kill(): Promise<void> {
    const pids = processesOf(this.pid)
    const ended = this.end('SIGKILL')
    signalAll(pids ?? [], 'SIGKILL')
    await ended
    await this.launchAgain()
  }

  /** Stops all its processes where they are, until `thaw`. Throws DatabaseError. */
  freeze(): void {
    const { pid } = this
    if (pid === 0) throw new DatabaseError('the embedded server has ended, and cannot be stopped')
    // First the one that starts others.
    signalAll([pid], 'SIGSTOP')
    const pids = processesOf(pid)
    signalAll(pids ?? [pid], pids === null ? 'SIGCONT' : 'SIGSTOP')
    if (pids === null) throw new DatabaseError('this system does not say which processes to stop')
    this.frozen = pids
  }

  thaw(): void {
    signalAll(this.frozen, 'SIGCONT')
    this.frozen = []
  }

  /** So much ahead of the machine's, or behind it; of a server that was started for that. */
  setClock(aheadMs: number): void {
    assert(this.clock !== null, 'a server whose clock is set')
    this.clock.set(aheadMs)
  }

  private async launchAgain(): Promise<void> {
    const end = performance.now() + START_PATIENCE_MS
    for (;;) {
      try {
        return await this.launch()
      } catch (error) {
        // What is left of the server that was may hold its port or memory for a moment longer.
        if (!isStillHeld(error) || performance.now() > end) throw error
        await pause(100)
      }
    }
  }

  /** Ends the server at once, open transactions and all. */
  async crash(): Promise<void> {
    await this.end('SIGQUIT')
  }

  /** Stops the server and removes all it had. */
  async stop(): Promise<void> {
    // Data that are kept are written out.
    await this.end(this.given.kept ? 'SIGINT' : 'SIGQUIT')
    try {
      rmSync(this.home, { recursive: true, force: true })
    } catch {
      // A file came up meanwhile, or is still in use on Windows: the keeper tries for longer.
    }
    this.keeper.stdin?.end()
  }

  private get logPath(): string {
    return join(this.home, 'log')
  }

  private async settle(): Promise<void> {
    try {
      // Under another account, the server must get through to its files.
      if (this.account) chmodSync(this.home, 0o711)
      this.binaries = await placeBinaries(join(this.home, 'native'), this.given.major)
      mkdirSync(this.data, { mode: 0o700, recursive: this.given.kept !== undefined })
      giveTo(this.account, this.data)
      writeFileSync(this.logPath, '', { mode: 0o600 })
    } catch (error) {
      throw error instanceof DatabaseError ? error : this.unusable((error as Error).message)
    }
  }

  /** Before data are used again: they must be of this version, and nobody else's by now. */
  private async takeOver(): Promise<void> {
    const made = Number(readFileSync(join(this.data, 'PG_VERSION'), 'utf8'))
    if (made !== this.major) {
      throw new DatabaseError(
        `${this.data} was made by PostgreSQL ${made}, and this is ${this.major}`,
        'name another directory, or install the embedded server of that version',
      )
    }
    await stopServer(this.data)
  }

  private async initialize(): Promise<void> {
    const passwordFile = join(this.home, 'password')
    writeFileSync(passwordFile, `${this.password}\n`, { mode: 0o600 })
    giveTo(this.account, passwordFile)
    const child = this.spawn(this.binaries!.initdb, [
      ...['-D', this.data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--encoding=UTF8', '--locale=C', '--no-sync'],
      // A random password of 192 bits gains nothing from being slow to try, and runs with faults
      // reconnect thousands of times.
      ...(this.major >= 16 ? ['--set', 'scram_iterations=1'] : []),
    ])
    // It knows no keeper: where this process ends, so must it, with the servers it starts.
    const end = () => endGroup(child)
    process.once('exit', end)
    const code = await exitOf(child)
    process.off('exit', end)
    rmSync(passwordFile, { force: true })
    if (code === 0) return
    const cannotRun = code === 126 || code === 127
    const why = cannotRun ? `programs may not run below ${tmpdir()}` : `initdb ended with ${code}`
    throw this.unusable(this.lastWords() || why)
  }

  private async launchOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const before = tries === 1 ? (this.given.kept?.port ?? 0) : 0
      this.port = before > 0 ? before : await freePort()
      try {
        return await this.launch()
      } catch (error) {
        // Somebody else may have taken the port in between.
        if (tries === PORT_TRIES || !isStillHeld(error)) throw error
      }
    }
  }

  private async launch(): Promise<void> {
    const args = Object.entries({ ...this.settings, port: String(this.port) })
      .filter(([name]) => name !== 'jit' || this.major >= 11)
      .flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const { postgres } = this.binaries!
    const child = this.spawn(postgres, ['-D', this.data, ...args], this.clock?.environment)
    this.process = child
    const over = () => {
      if (this.process === child) this.process = null
    }
    child.once('exit', over).once('error', over)
    const end = performance.now() + START_PATIENCE_MS
    while (!this.isReady(child)) {
      if (this.process !== child) throw this.unusable(this.lastWords() || 'it ended at once')
      if (performance.now() > end) throw this.unusable(`not ready after ${START_PATIENCE_MS} ms`)
      await pause(10)
    }
  }

  /** The server writes its state into the last line of its lock file. */
  private isReady(child: ChildProcess): boolean {
    try {
      const lines = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')
      return Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready'
    } catch {
      return false
    }
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.thaw() // what is stopped does not obey
    const child = this.process
    if (child === null) return
    const ended = exitOf(child)
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS)
    await ended
    clearTimeout(timer)
    this.process = null
  }

  private spawn(command: string, args: string[], more: Record<string, string> = {}): ChildProcess {
    const log = openSync(this.logPath, 'a')
    try {
      const child = spawn(command, args, {
        ...(this.account ?? {}),
        cwd: this.home,
        // Settings of other servers (PGDATA, PGPORT, LD_PRELOAD …) are not for this one.
        env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'], ...more },
        stdio: ['ignore', log, log],
        detached: true, // a Ctrl-C at the terminal is for the runner, which stops it in order
      })
      child.on('error', () => {})
      child.unref()
      return child
    } finally {
      closeSync(log)
    }
  }

  private lastWords(): string {
    try {
      const lines = readFileSync(this.logPath, 'utf8').trim().split('\n')
      return lines.filter((line) => /fatal|error|not found|could not/i.test(line)).at(-1) ?? ''
    } catch {
      return ''
    }
  }

  private unusable(why: string): DatabaseError {
    return new DatabaseError(`the embedded server does not start: ${why}`, OTHER_TARGETS)
  }
}

function makeHome(): string {
  try {
    return mkdtempSync(join(tmpdir(), PREFIX))
  } catch (error) {
    throw withoutRoom((error as Error).message)
  }
}

function withoutRoom(why: string): DatabaseError {
  return new DatabaseError(
    `the embedded server has no room: ${why}`,
    `set TMPDIR to a directory with room, or ${OTHER_TARGETS}`,
  )
}

/** Somebody has the port, or the shared memory; the log tells of the port only how it ended. */
function isStillHeld(error: unknown): boolean {
  return /in use|could not create any TCP\/IP sockets/i.test((error as Error).message)
}
