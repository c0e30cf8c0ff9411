// What can be tested, as the user names it: a target. It is parsed before anything is opened, and
// says what may be asked of it. One folder per kind of target has a `target.ts` with its row of the
// table (targets.ts). Main function: openTarget.

import { UsageError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import type { LevelId } from '../levels/levels.ts'
import { type Database, ownLevel } from './database.ts'
import type { Driver } from './driver.ts'
import { FaultProxy, type ProxyTarget } from './fault-proxy.ts'
import type { FaultPlan } from './faults.ts'
import type { Makers } from './trouble.ts'

/** A kind of target: what help, documentation, `run` and `doctor` know of it. */
export interface TargetKind {
  /** How it is written, e.g. `mysql://user@host/database`. */
  readonly form: string
  /** What it is, in a few words. */
  readonly about: string
  /** The texts that mean it. */
  readonly pattern: RegExp
  /** The package that it needs; null if it needs none. */
  readonly driver: Driver | null
  /** How to find out whether it can be used here. */
  readonly trial: Trial | null
  /** Nothing is opened yet. Throws UsageError. */
  parse(text: string, given: Given): Target
}

/** What stands beside the text of a target. */
export interface Given {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** From a file that the user named. */
  readonly password: string | undefined
}

/** A server that may listen on this machine, or an engine in this process. */
export type Trial =
  | {
      readonly product: string
      readonly port: number
      /** What makes the server say who it is; null if it speaks first. */
      readonly hello: string | Buffer | null
      /** Whether such a server has said this. */
      isAnswer(bytes: Buffer): boolean
    }
  | {
      readonly product: string
      /** Starts it and ends it again; what was started. Throws DatabaseError. */
      tryOut(): Promise<string>
    }

export interface Target {
  /** E.g. `PostgreSQL`, before it has said its version. */
  readonly product: string
  /** What it offers: our id -> its own name. */
  readonly levels: ReadonlyMap<LevelId, string>
  /** The level that is asked for if nobody names one. */
  readonly usualLevel: LevelId
  /** Why its connections cannot be disturbed; null if they can. */
  readonly undisturbed: string | null
  /** Whether its server is ours to crash. */
  readonly ownsServer: boolean
  /** How many replicas are started with it. */
  readonly replicas?: number
  /** Whether nodes of a cluster that is not ours can be cut off from each other. */
  readonly cutsNodesOff?: boolean
  /** How long setting up may go on after a signal, so that nothing is left behind. */
  readonly tidyMs: number
  /** The same with so many replicas, where they can be started. */
  withReplicas?(count: number): Target
  open(options: OpenOptions): Promise<OpenTarget>
}

export interface OpenTarget {
  readonly database: Database
  /** Between the sessions and each node, in the order of the nodes; none where none is needed. */
  readonly proxies: readonly FaultProxy[]
  /** What brings events about that are the target's own business. */
  readonly makers: Makers
  /** Undoes everything. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** The levels that will be asked of the database, as far as they are known. */
  readonly levels: readonly LevelId[]
  readonly sessions: number
  readonly seed: number
  readonly faults: FaultPlan
  /** How long the database may stay away. */
  readonly patienceMs: number
  /** Settings of a server that is started for the run. */
  readonly serverSettings?: Readonly<Record<string, string>> | undefined
  /** Whether the server's log is to tell the order of commits. */
  readonly commitOrder?: boolean | undefined
}

/** Throws UsageError if the target cannot do what is asked, DatabaseError if it is not there. */
export async function openTarget(target: Target, options: OpenOptions): Promise<OpenTarget> {
  expectPossible(target, options)
  return target.open(options)
}

/** Throws UsageError if the target cannot do what is asked; nothing is opened. */
export function expectPossible(
  target: Target,
  options: Pick<OpenOptions, 'faults' | 'levels' | 'serverSettings'>,
): void {
  const { faults } = options
  expectEvents(target, faults)
  if (!target.ownsServer && Object.keys(options.serverSettings ?? {}).length > 0) {
    const hint =
      'set it on the server itself, or, of PostgreSQL, in the address: ?options=-c name=value'
    throw new UsageError('--server-setting is for the embedded server', hint)
  }
  if (target.undisturbed !== null && needsProxy(faults)) {
    throw new UsageError(`${target.product} has no connections to disturb`, target.undisturbed)
  }
  // Before a server is started for nothing.
  for (const level of options.levels) ownLevel({ ...target, name: target.product }, level)
}

/** Throws UsageError if one of them cannot happen to the target. */
function expectEvents(target: Target, { events }: FaultPlan): void {
  for (const { kind } of events.map(({ event }) => event)) {
    if (kind === 'partition') {
      if ((target.replicas ?? 0) > 0 || target.cutsNodesOff) continue
      const others = 'mysql://user@one,two,three/database is a Galera cluster, whose last one is'
      throw new UsageError(
        `${target.product} has no replicas or nodes here to cut off`,
        target.ownsServer
          ? '--replicas 2 starts some'
          : `isobar run --replicas 2 has some; ${others}`,
      )
    }
    if (kind === 'storm' && target.undisturbed !== null) {
      throw new UsageError(`${target.product} has no connections to disturb`, target.undisturbed)
    }
    if (kind === 'storm' || target.ownsServer) continue
    const hint = kind === 'clock' ? 'it has the clock of its machine' : 'it is not ours to crash'
    throw new UsageError(`${EVENT_NAMES[kind]} is for the embedded server`, hint)
  }
}

const EVENT_NAMES = {
  restart: 'restart-server',
  kill: 'kill-server',
  stop: 'stop-server',
  clock: 'clock',
}

function needsProxy(faults: FaultPlan): boolean {
  return faults.killShare > 0 || faults.latencyMs !== null
}

/**
 * Opens a database on a server, or a cluster of them, with a proxy between each and the sessions if
 * faults ask for one.
 * @param open takes the places that sessions are to connect to, where they are not the servers'
 */
export async function openServers(
  servers: readonly ProxyTarget[],
  options: OpenOptions,
  open: (entrances: readonly Partial<ProxyTarget>[]) => Promise<Database>,
): Promise<OpenTarget> {
  const { faults, seed } = options
  const proxies: FaultProxy[] = []
  const closeProxies = () => Promise.all(proxies.map((proxy) => proxy.close()))
  try {
    if (needsProxy(faults)) {
      const random = new Random(seed).fork(2)
      for (const server of servers) {
        proxies.push(await FaultProxy.start(server, faults, random.fork(proxies.length)))
      }
    }
    const database = await open(proxies.map(({ port }) => ({ host: '127.0.0.1', port })))
    const close = async () => {
      await database.close()
      await closeProxies()
    }
    return { database, proxies, makers: {}, close }
  } catch (error) {
    await closeProxies()
    throw error
  }
}
