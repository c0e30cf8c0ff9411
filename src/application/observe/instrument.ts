// Recording an application: its own pool or client is watched, in place, and everything it asks for
// passes through unchanged. Main functions: record, instrument.

import { AsyncResource } from 'node:async_hooks'
import { UsageError } from '../../base/errors.ts'
import { parseHistory } from '../../formats/parse.ts'
import type { History } from '../../history/history.ts'
import { Connection } from './connection.ts'
import { type DriverClient, type DriverPool, isPool, queryClassOf } from './driver.ts'
import type { Hooks } from './hooks.ts'
import { LineFile, type LineFileOptions } from './line-file.ts'
import { Recorder } from './recorder.ts'
import type { Shared } from './session.ts'

/**
 * What was recorded.
 *
 * @example
 * const recorded: Recorded = record(pool)
 * await check(await recorded.history(), 'ser')
 */
export class Recorded<P = unknown> {
  private file: LineFile | null = null

  /** @internal */
  constructor(
    /** The pool or client that was given, which is watched in place. */
    readonly pool: P,
    private readonly shared: Shared,
    private readonly leave: () => void,
  ) {}

  /** Statements that were not recorded, or not in full: why, and how many. */
  get skipped(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.shared.recorder.skippedCounts)
  }

  /** Mistakes that were noticed, such as a level that was set on another connection. */
  get warnings(): readonly string[] {
    return this.shared.recorder.warnings
  }

  /** What was recorded so far, for `check`. Transactions that run still are indeterminate. */
  async history(): Promise<History> {
    return parseHistory(this.text(), { format: 'native' })
  }

  /** The same as text, in the native format. */
  text(): string {
    if (this.file === null) return this.shared.recorder.text()
    throw new UsageError(`what is recorded goes to ${this.file.path}`, 'read it there after stop()')
  }

  /** From now on what is recorded goes to a file, which is there when `stop` is called. */
  save(path: string, options: LineFileOptions = {}): void {
    if (this.file !== null) {
      throw new UsageError(`what is recorded goes to ${this.file.path} already`, 'save it once')
    }
    const file = new LineFile(path, options)
    this.shared.recorder.giveTo((line) => file.write(line))
    this.file = file
  }

  /** Leaves the pool or client as it was, and completes the file. */
  stop(): void {
    this.leave()
    if (this.file === null || this.file.isClosed) return
    this.file.write(this.shared.recorder.text())
    this.file.close()
    this.shared.recorder.versions.close()
  }

  /**
   * Begins anew with the next statement: whatever the database holds then is there at first. No
   * transaction may be open.
   */
  restart(): void {
    if (this.file !== null) {
      throw new UsageError(
        `what is recorded goes to ${this.file.path}`,
        'record each to its own file',
      )
    }
    this.shared.isReady = false
    this.shared.ready = null
  }
}

export interface Instrumented<P> {
  readonly recorded: Recorded<P>
  /** What was recorded, but that joins are told with all that they may have depended on. */
  supposed(): History
  /** Whose transactions are open. */
  openSessions(): string[]
  /** Leaves the pool or client as it was. */
  restore(): void
}

/** Watches a pool or client in place until `restore` is called. */
export function instrument<P extends DriverPool | DriverClient>(
  given: P,
  hooks: Hooks = {},
): Instrumented<P> {
  const recorder = new Recorder()
  const shared: Shared = {
    recorder,
    hooks,
    major: 0,
    ready: null,
    isReady: false,
  }
  const watch = new Watch(shared)
  if (isPool(given)) watch.pool(given)
  else watch.client(given)
  const restore = () => watch.restore()
  const supposed = () => parseHistory(recorder.text(true), { format: 'native' })
  const openSessions = () => watch.openSessions()
  return { recorded: new Recorded(given, shared, restore), supposed, openSessions, restore }
}

/**
 * Records what an application asks of a `pg` Pool or Client, which goes on as before.
 *
 * @example
 * const recorded = record(pool)
 * await transfer(pool, 'ann', 'bob', 10)
 * const { verdict } = await check(await recorded.history(), 'ser')
 */
export function record<P extends DriverPool | DriverClient>(given: P): Recorded<P> {
  return instrument(given).recorded
}

const watched = new WeakSet<object>()

class Watch {
  private readonly undo: (() => void)[] = []
  private readonly connections = new Map<DriverClient, Connection>()
  private readonly clients = new Map<DriverClient, () => void>() // how to leave each as it was
  private number = 0

  constructor(private readonly shared: Shared) {}

  pool(pool: DriverPool): void {
    expectUnwatched(pool)
    watched.add(pool)
    this.undo.push(() => watched.delete(pool))
    const { connect } = pool
    const own = Object.hasOwn(pool, 'connect')
    // Also what pool.query uses.
    pool.connect = (...given: unknown[]) => {
      const [callback] = given
      if (typeof callback !== 'function') {
        return (connect.call(pool) as Promise<DriverClient>).then((client) => this.client(client))
      }
      // A request that had to wait is answered by whoever gives a connection back: bound, so that
      // the actor is the one who asked.
      const take = (error: unknown, client: DriverClient | undefined, done: unknown) => {
        if (client) this.client(client)
        callback(error, client, done)
      }
      return connect.call(pool, AsyncResource.bind(take))
    }
    const noteRelease = (_: unknown, client: DriverClient) => {
      const connection = this.connections.get(client)
      if (connection?.isInTransaction)
        this.shared.recorder.warnings.push(
          `connection ${connection.number} went back to the pool inside a transaction: COMMIT or ROLLBACK on the same client`,
        )
    }
    pool.on('release', noteRelease as never)
    this.undo.push(() => {
      pool.removeListener('release', noteRelease as never)
      if (own) pool.connect = connect
      else delete (pool as Partial<DriverPool>).connect
    })
  }

  client(client: DriverClient): DriverClient {
    if (this.connections.has(client)) return client
    expectUnwatched(client)
    const Query = queryClassOf(client)
    if (Query === null) {
      throw new UsageError(
        'this client is not the JavaScript client of pg',
        'use pg without pg-native',
      )
    }
    const { query } = client
    const own = Object.hasOwn(client, 'query')
    const send = (...given: unknown[]) => query.apply(client, given)
    const connection = new Connection(this.number++, client, Query, send, this.shared)
    this.connections.set(client, connection)
    client.query = (...given: unknown[]) => connection.query(...given)
    watched.add(client)
    // A pool makes others, and this one must not be kept.
    const forget = () => {
      this.connections.delete(client)
      this.clients.delete(client)
    }
    client.once('end', forget)
    this.clients.set(client, () => {
      client.removeListener('end', forget)
      connection.stop()
      watched.delete(client)
      if (own) client.query = query
      else delete (client as Partial<DriverClient>).query
    })
    return client
  }

  openSessions(): string[] {
    return [...this.connections.values()].flatMap(({ openSession }) => openSession ?? [])
  }

  restore(): void {
    for (const leave of [...this.clients.values(), ...this.undo]) leave()
    this.clients.clear()
    this.connections.clear()
    this.undo.length = 0
  }
}

function expectUnwatched(given: object): void {
  if (!watched.has(given)) return
  throw new UsageError('this pool or client is recorded already', 'call stop() first')
}
