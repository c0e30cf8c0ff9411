// The directory of a fleet that needs nothing else: the embedded PostgreSQL keeps the queue, the
// results and the histories in it, from night to night. Who starts the server owns the directory
// until it ends; workers on the same machine find the server by a file in it. Main functions:
// startServer, findServer.

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseError, UsageError } from '../base/errors.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { livingOwner, noteOwners } from '../record/embedded/leftovers.ts'
import { EmbeddedServer } from '../record/embedded/server.ts'

const WATCH_EVERY_MS = 300
const FILE = 'server.json'
const DATA = 'postgres'
const MAKE_ROOM = 'make room on its disk, or name another directory with --data'
/** What is kept survives a power cut; the last half second of work may be done again. */
const SETTINGS = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'off' }

/** How to get into the server of a directory. */
interface ServerFile {
  readonly port: number
  readonly password: string
  /** False while the directory is being filled for the first time. */
  readonly isFilled: boolean
}

export interface RunningServer {
  /** postgres://… with its password. */
  readonly address: string
  stop(): Promise<void>
}

/** Starts the server of a directory, and makes both if they are not there. */
export async function startServer(directory: string): Promise<RunningServer> {
  const home = makeDirectory(directory)
  const owner = ownerOf(home)
  if (owner !== null && owner !== process.pid) {
    throw new UsageError(
      `${directory} is in use by process ${owner}`,
      'isobar fleet work joins it; or name another directory with --data',
    )
  }
  keeping(directory, () => noteOwners(home, [process.pid]))
  const before = readServerFile(home)
  const isFilled = before?.isFilled ?? false
  const data = join(home, DATA)
  const password = before?.password ?? randomBytes(24).toString('base64url')
  if (!isFilled) {
    // What an interrupted first start has left.
    if (before) rmSync(data, { recursive: true, force: true })
    keeping(directory, () => writeServerFile(home, { port: 0, password, isFilled }))
  }
  const kept = { data, password, port: before?.port ?? 0, isFilled }
  const server = await EmbeddedServer.start({ kept, settings: SETTINGS }).catch((error) => {
    throw closedTo(error, directory)
  })
  try {
    const file = { port: server.port, password, isFilled: true }
    keeping(directory, () => writeServerFile(home, file))
  } catch (error) {
    await server.stop()
    throw error
  }
  const stopWatching = watch(server)
  const stop = async () => {
    await stopWatching()
    await server.stop()
  }
  return { address: addressOf(server.port, password), stop }
}

/** Starts the server again when somebody else has ended it; returns what stops that. */
function watch(server: EmbeddedServer): () => Promise<void> {
  let starting: Promise<void> | null = null
  const timer = setInterval(() => {
    if (server.isRunning || starting !== null) return
    // Where it cannot be started, those who ask for it run out of patience, and say so.
    starting = server
      .restart()
      .catch(() => {})
      .finally(() => {
        starting = null
      })
  }, WATCH_EVERY_MS)
  return async () => {
    clearInterval(timer)
    await starting
  }
}

/** The address of the server of a directory, running or not. Throws DatabaseError. */
export function findServer(directory: string): string {
  const found = existsSync(directory) ? readServerFile(directory) : null
  if (found?.isFilled) return addressOf(found.port, found.password)
  throw new DatabaseError(
    `there is no fleet in ${directory}`,
    'isobar fleet run PLAN makes one; --data names another directory, --queue a server',
  )
}

/** Whether somebody runs the server of a directory at this moment. */
export function isServed(directory: string): boolean {
  return ownerOf(directory) !== null
}

/** Writes something into the directory. */
function keeping(directory: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new DatabaseError(
      `${directory} cannot be written: ${(error as Error).message}`,
      MAKE_ROOM,
    )
  }
}

/** What can be done about a server that does not start; under root it has another account. */
function closedTo(error: unknown, directory: string): unknown {
  const { message } = error as Error
  if (/no space left/i.test(message)) {
    return new DatabaseError(`${directory} cannot be used: ${message}`, MAKE_ROOM)
  }
  if (process.getuid?.() !== 0 || !/permission denied/i.test(message)) return error
  return new DatabaseError(
    `the account nobody, which the server has under root, cannot get to ${directory}`,
    'name a directory with --data that everybody can get to, or run isobar as another user',
  )
}

function addressOf(port: number, password: string): string {
  return `postgres://isobar:${password}@127.0.0.1:${port}/postgres?sslmode=disable`
}

function makeDirectory(directory: string): string {
  try {
    makeDirectories(directory, 0o700)
    // Under root the server has another account, which must get through to its data.
    if (process.getuid?.() === 0) chmodSync(directory, 0o711)
    return realpathSync(directory)
  } catch (error) {
    throw new UsageError(`cannot use ${directory}: ${(error as Error).message}`)
  }
}

function ownerOf(home: string): number | null {
  try {
    return livingOwner(home)
  } catch {
    return null // it never had one
  }
}

function readServerFile(home: string): ServerFile | null {
  const path = join(home, FILE)
  if (!existsSync(path)) return null
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ServerFile
  } catch (error) {
    throw new DatabaseError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** At once or not at all: it may be read at the same time. */
function writeServerFile(home: string, file: ServerFile): void {
  const path = join(home, FILE)
  writeFileSync(`${path}.new`, `${JSON.stringify(file)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
