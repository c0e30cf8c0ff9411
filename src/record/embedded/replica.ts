// A streaming replica of an embedded server: its data copied while the primary runs, between
// pg_backup_start and pg_backup_stop, so that no other binary is needed. It follows the primary,
// and answers reads at READ COMMITTED and REPEATABLE READ.

import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import { EmbeddedServer } from './server.ts'

/** What a primary must be started with to have replicas, or to send its changes elsewhere. */
export const PRIMARY_SETTINGS = {
  wal_level: 'logical',
  max_wal_senders: '8',
  max_replication_slots: '8',
}

/** Before it, replicas were told what they are in a file that later versions refuse. */
const FIRST_WITH_SIGNAL = 12

/** Files that belong to the running primary alone. */
const OWN_FILES = new Set(['postmaster.pid', 'postmaster.opts'])

/** Starts a replica of a server that was started with PRIMARY_SETTINGS. Throws DatabaseError. */
export async function startReplica(primary: EmbeddedServer): Promise<EmbeddedServer> {
  const { host, port, user, password, database, major } = primary
  if (major < FIRST_WITH_SIGNAL) {
    throw new DatabaseError(
      `replicas of PostgreSQL ${major} are not made here`,
      `there are those of ${FIRST_WITH_SIGNAL} and later`,
    )
  }
  const settings = {
    ...PRIMARY_SETTINGS,
    primary_conninfo: `host=${host} port=${port} user=${user} password=${password}`,
  }
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
    } catch (error) {
      throw new DatabaseError(`the replica cannot be made: ${(error as Error).message}`)
    } finally {
      await client.end().catch(() => {})
    }
  }
  return EmbeddedServer.start({ major, settings, copy: { password, fill } })
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
