// A streaming replica of an embedded server: its data copied while the primary runs, between
// pg_backup_start and pg_backup_stop, so that no other binary is needed. It follows the primary,
// and answers reads at READ COMMITTED and REPEATABLE READ.

import { appendFileSync, chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import { Random } from '../../base/random.ts'
import { FaultProxy } from '../fault-proxy.ts'
import { NO_FAULTS } from '../faults.ts'
import type { PostgresAddress } from '../postgres/address.ts'
import { EmbeddedServer } from './server.ts'

/** What a primary must be started with to have replicas, or to send its changes elsewhere. */
export const PRIMARY_SETTINGS = {
  wal_level: 'logical',
  max_wal_senders: '8',
  max_replication_slots: '8',
}

/**
 * COMMIT is answered when a replica shows what it did, whichever of them is the first: `*` waits for
 * one. With one replica, what is wrong is wrong though all was done to have it right.
 */
export const SYNCHRONOUS_SETTINGS = {
  synchronous_standby_names: '*',
  synchronous_commit: 'remote_apply',
}

/** Before it, replicas were told what they are in a file that later versions refuse. */
const FIRST_WITH_SIGNAL = 12

/** Files that belong to the running primary alone. */
const OWN_FILES = new Set(['postmaster.pid', 'postmaster.opts'])

/**
 * Starts a replica of a server that was started with PRIMARY_SETTINGS. Throws DatabaseError.
 * @param entrance where it hears of the primary, if not from the primary itself
 */
export async function startReplica(
  primary: EmbeddedServer,
  entrance: { readonly port: number } = primary,
): Promise<EmbeddedServer> {
  const { host, port, user, password, database, major } = primary
  if (major < FIRST_WITH_SIGNAL) {
    throw new DatabaseError(
      `replicas of PostgreSQL ${major} are not made here`,
      `there are those of ${FIRST_WITH_SIGNAL} and later`,
    )
  }
  const way = `host=${host} port=${entrance.port} user=${user} password=${password}`
  const [begin, end] =
    major >= 15
      ? ["pg_backup_start('isobar', true)", 'pg_backup_stop(false)']
      : ["pg_start_backup('isobar', true, false)", 'pg_stop_backup(false, false)']
  const fill = async (data: string) => {
    const client = new Client({ host, port, user, password, database })
    await client.connect()
    try {
      await client.query(`SELECT ${begin}`)
      copyData(primary.data, data)
      const { rows } = await client.query(`SELECT labelfile FROM ${end}`)
      writeFileSync(join(data, 'backup_label'), rows[0].labelfile, { mode: 0o600 })
      writeFileSync(join(data, 'standby.signal'), '', { mode: 0o600 })
      // Not among the settings, which everybody on this machine can see beside the process.
      const own = join(data, 'postgresql.auto.conf')
      appendFileSync(own, `primary_conninfo = '${way}'\n`, { mode: 0o600 })
      chmodSync(own, 0o600)
    } catch (error) {
      throw new DatabaseError(`the replica cannot be made: ${(error as Error).message}`)
    } finally {
      await client.end().catch(() => {})
    }
  }
  // PostgreSQL has replicas remember as much as their primary: connections, locks and the like.
  const { settings } = primary
  return EmbeddedServer.start({ major, settings, copy: { password, fill } })
}

/** A replica that hears of its primary through a proxy, by which it can be cut off. */
export class Replica {
  private constructor(
    private readonly server: EmbeddedServer,
    private readonly proxy: FaultProxy,
  ) {}

  /** Throws DatabaseError. */
  static async start(primary: EmbeddedServer): Promise<Replica> {
    const proxy = await FaultProxy.start(primary, NO_FAULTS, new Random(0))
    try {
      return new Replica(await startReplica(primary, proxy), proxy)
    } catch (error) {
      await proxy.close()
      throw error
    }
  }

  get address(): PostgresAddress {
    return this.server.address
  }

  /** It goes on to answer, and hears nothing of what the primary commits. */
  cutOff(): void {
    this.proxy.hold()
  }

  /** It hears of everything, and the primary hears nothing of it. */
  silence(): void {
    this.proxy.hold('client')
  }

  letBack(): void {
    this.proxy.release()
  }

  async stop(): Promise<void> {
    await this.server.stop()
    await this.proxy.close()
  }
}

/** Copies a directory that changes meanwhile: files may go, and those that grow are mended later. */
function copyData(from: string, to: string): void {
  for (let tries = 1; ; tries++) {
    try {
      cpSync(from, to, {
        recursive: true,
        force: true,
        filter: (path) => !OWN_FILES.has(basename(path)),
      })
      return
    } catch (error) {
      if (tries === 5 || (error as { code?: string }).code !== 'ENOENT') throw error
      rmSync(to, { recursive: true, force: true })
    }
  }
}
