// From what the user names (`embedded`, `postgres://…`, `sim:LEVEL+fault`) to an open database,
// with the proxy in front of it if faults are asked for. Closing it undoes everything.

import { UsageError } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import { hintFor } from '../base/slips.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { FAULTS, type Fault, findFault } from '../sim/faults.ts'
import { type Database, ownLevel } from './database.ts'
import { EmbeddedServer } from './embedded/server.ts'
import { FaultProxy } from './fault-proxy.ts'
import type { FaultPlan } from './faults.ts'
import { type PostgresAddress, parsePostgresAddress } from './postgres/address.ts'
import { POSTGRES_LEVELS } from './postgres/connection.ts'
import { PostgresDatabase } from './postgres/database.ts'
import { SimDatabase } from './sim/database.ts'

export type Target =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'postgres'; readonly address: PostgresAddress }
  | {
      readonly kind: 'sim'
      readonly level: LevelId
      readonly faults: readonly Fault[]
      readonly faultShare: number
    }

const KNOWN = 'there are embedded, postgres://user@host/database and sim:ser (sim:si+lost-update)'
const FAULT_SHARE = 0.05

/** Parses a target; nothing is opened yet. Throws UsageError. */
export function parseTarget(
  text: string,
  environment: Record<string, string | undefined> = {},
  password?: string,
): Target {
  if (text === 'embedded') return { kind: 'embedded' }
  if (/^postgres(ql)?:/.test(text)) {
    return { kind: 'postgres', address: parsePostgresAddress(text, environment, password) }
  }
  if (text.startsWith('sim:')) return parseSim(text.slice(4))
  // Shown only if it cannot hold a password.
  const shown = /^[\w.+-]{1,40}$/.test(text) ? ` "${text}"` : ''
  throw new UsageError(`unknown target${shown}`, KNOWN)
}

/** A fault that a store can show which only answers. */
function liveFault(name: string): Fault {
  const fault = findFault(name)
  if (!fault.needsPlan) return fault
  const hint = `isobar generate --inject ${name} plans ahead`
  throw new UsageError(`a store that runs cannot show ${name}: ${fault.meaning}`, hint)
}

/** `si+lost-update+write-skew:10%` */
function parseSim(text: string): Target {
  const [level = '', ...rest] = text.split('+')
  if (!CHAIN.includes(level as LevelId)) {
    throw new UsageError(`no simulated store at level "${level}"`, hintFor(level, CHAIN))
  }
  let faultShare = FAULT_SHARE
  const faults = rest.map((part) => {
    const [name = '', share] = part.split(':')
    if (share !== undefined) {
      const percent = /^(\d+(?:\.\d+)?)%$/.exec(share)
      faultShare = Number(percent?.[1]) / 100
      if (!(faultShare > 0 && faultShare <= 1)) {
        throw new UsageError(`bad share "${share}" of a fault`, `write it as ${name}:5%`)
      }
    }
    return liveFault(name)
  })
  return { kind: 'sim', level: level as LevelId, faults, faultShare }
}

export const SIM_FAULTS: readonly string[] = FAULTS.filter((fault) => !fault.needsPlan).map(
  (fault) => fault.name,
)

export interface OpenTarget {
  readonly database: Database
  readonly proxy: FaultProxy | null
  readonly restartServer: (() => Promise<void>) | null
  /** The server's process, if we started it; 0 otherwise. */
  readonly serverPid: number
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
}

/** Throws UsageError if the target cannot do what is asked, DatabaseError if it is not there. */
export async function openTarget(target: Target, options: OpenOptions): Promise<OpenTarget> {
  const { faults } = options
  const needsProxy = faults.killShare > 0 || faults.latencyMs !== null
  if (target.kind !== 'embedded' && faults.restartEveryMs !== null) {
    throw new UsageError('restart-server is for the embedded server', 'it is not ours to crash')
  }
  if (target.kind === 'sim') {
    if (needsProxy) {
      const hint = `its own faults go into the target: sim:${target.level}+${SIM_FAULTS[0]}`
      throw new UsageError('a simulated store has no connections to disturb', hint)
    }
    const { sessions: sessionCount, seed } = options
    const database = new SimDatabase({ ...target, sessionCount, seed })
    for (const level of options.levels) ownLevel(database, level)
    return { database, proxy: null, restartServer: null, serverPid: 0, close: async () => {} }
  }
  // Before a server is started for nothing.
  const offer = { name: 'PostgreSQL', levels: POSTGRES_LEVELS }
  for (const level of options.levels) ownLevel(offer, level)
  const server = target.kind === 'embedded' ? await EmbeddedServer.start() : null
  let proxy: FaultProxy | null = null
  try {
    const address = target.kind === 'embedded' ? server!.address : target.address
    if (needsProxy)
      proxy = await FaultProxy.start(address, faults, new Random(options.seed).fork(2))
    const entrance = proxy ? { host: '127.0.0.1', port: proxy.port } : {}
    const database = await PostgresDatabase.open(address, entrance, options.patienceMs)
    return {
      database,
      proxy,
      restartServer: server ? () => server.restart() : null,
      serverPid: server?.pid ?? 0,
      close: async () => {
        await database.close()
        await proxy?.close()
        await server?.stop()
      },
    }
  } catch (error) {
    await proxy?.close()
    await server?.stop()
    throw error
  }
}
