// The target `embedded`: a PostgreSQL that is started for the run.

import { UsageError } from '../../base/errors.ts'
import type { PostgresAddress } from '../postgres/address.ts'
import { POSTGRES_LEVELS } from '../postgres/connection.ts'
import { DRIVER, openPostgres } from '../postgres/target.ts'
import type { OpenOptions, OpenTarget, Target, TargetKind } from '../target.ts'
import type { Makers } from '../trouble.ts'
import { findEmbeddedPackage, MAJORS } from './binaries.ts'
import { PRIMARY_SETTINGS, Replica, SYNCHRONOUS_SETTINGS } from './replica.ts'
import { EmbeddedServer } from './server.ts'

export const EMBEDDED: TargetKind = {
  form: 'embedded[:MAJOR]',
  about: `a real PostgreSQL from npm, started for the run, gone afterwards (${MAJORS[0]} … ${MAJORS.at(-1)})`,
  pattern: /^embedded(:|$)/,
  driver: DRIVER,
  trial: {
    product: 'embedded PostgreSQL',
    tryOut: async () => {
      const server = await EmbeddedServer.start()
      await server.stop()
      const others = MAJORS.filter((major) => major !== server.major && findEmbeddedPackage(major))
      const also = others.length === 0 ? '' : `; also here: ${others.join(', ')}`
      return `started and stopped ${findEmbeddedPackage()?.version}${also}`
    },
  },
  parse: (text) => embeddedTarget(majorOf(text), 0),
}

/** Replicas answer at no more than REPEATABLE READ. */
const REPLICA_LEVELS = new Map([...POSTGRES_LEVELS].filter(([level]) => level !== 'ser'))

/** PostgreSQL's own default: how much it remembers of finished transactions depends on it. */
const USUAL_CONNECTIONS = 100
const MANY_LOCKS = { max_pred_locks_per_transaction: '1024' }
/** How long its clock is ahead, and behind. */
const CLOCK_WRONG_MS = 1000
/** For setting up, audits, and what has not gone yet when sessions connect anew. */
const SPARE_CONNECTIONS = 50

/** `embedded:14`; undefined for the usual version. */
function majorOf(text: string): number | undefined {
  const [, word] = text.split(':')
  if (word === undefined) return undefined
  const major = MAJORS.find((each) => String(each) === word)
  if (major !== undefined) return major
  throw new UsageError(
    'there is no such version of the embedded PostgreSQL',
    `there are embedded:${MAJORS[0]} to embedded:${MAJORS.at(-1)}`,
  )
}

function embeddedTarget(major: number | undefined, replicas: number): Target {
  return {
    product: 'PostgreSQL',
    levels: replicas === 0 ? POSTGRES_LEVELS : REPLICA_LEVELS,
    usualLevel: replicas === 0 ? 'ser' : 'si',
    replicas,
    withReplicas: (count) => embeddedTarget(major, count),
    undisturbed: null,
    ownsServer: true,
    // The keeper of the server removes all of it once this process is gone.
    tidyMs: 0,
    open: (options) => openEmbedded(major, replicas, options),
  }
}

async function openEmbedded(
  major: number | undefined,
  replicaCount: number,
  options: OpenOptions,
): Promise<OpenTarget> {
  const following = replicaCount === 0 ? {} : { ...PRIMARY_SETTINGS, ...SYNCHRONOUS_SETTINGS }
  const logging = options.commitOrder ? { wal_level: 'logical' } : {}
  const settings = { ...following, ...logging, ...roomFor(options), ...options.serverSettings }
  const setsClock = options.faults.events.some(({ event }) => event.kind === 'clock')
  const server = await EmbeddedServer.start({ major, settings, setsClock })
  const replicas: Replica[] = []
  const close = async () => {
    for (const replica of replicas) await replica.stop()
    await server.stop()
  }
  try {
    for (let i = 0; i < replicaCount; i++) replicas.push(await Replica.start(server))
    const opened = await openPostgres(server.address, options, nodesOf(server, replicas))
    const makers: Makers = {
      restart: () => server.restart(),
      kill: () => server.kill(),
      stop: async ({ ms }, wait) => {
        server.freeze()
        await wait(ms)
        server.thaw()
      },
      clock: async ({ aheadMs }, wait) => {
        for (const ms of aheadMs) {
          server.setClock(ms)
          await wait(CLOCK_WRONG_MS)
        }
        server.setClock(0)
      },
      partition: async ({ ms }, wait) => {
        for (const replica of replicas) replica.cutOff()
        await wait(ms)
        for (const replica of replicas) replica.letBack()
      },
    }
    const closeAll = async () => {
      await opened.close()
      await close()
    }
    return { ...opened, makers, close: closeAll }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Half of those who write do not wait for replicas: what they commit is seen at once on the
 * primary, and on a replica after what others have committed before, and still wait for.
 */
function nodesOf(server: EmbeddedServer, replicas: readonly Replica[]): PostgresAddress[] {
  if (replicas.length === 0) return []
  const hasty = { ...server.address, options: '-c synchronous_commit=local' }
  return [...replicas.map((replica) => replica.address), hasty]
}

/** As many connections as PostgreSQL itself would have, or more where more are needed. */
function roomFor({ sessions, faults }: OpenOptions): Record<string, string> {
  const storms = faults.events.map(({ event }) => (event.kind === 'storm' ? event.connections : 0))
  const needed = sessions + Math.max(0, ...storms) + SPARE_CONNECTIONS
  const connections = { max_connections: String(Math.max(USUAL_CONNECTIONS, needed)) }
  // What is read beside a transaction that stays open is remembered until it ends.
  return faults.pause === null ? connections : { ...connections, ...MANY_LOCKS }
}
