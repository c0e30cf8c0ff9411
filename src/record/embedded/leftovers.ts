// Servers that were left behind: the program and the keeper of its server were both killed, so that
// nobody stopped the server and removed its directory. A note in the directory says whose it is;
// where neither of the two lives any more, the next run removes it. Main functions: noteOwners,
// removeLeftovers.

import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../../base/errors.ts'
import { processesOf, signalAll } from './processes.ts'

export const PREFIX = 'isobar-server-'
const OWNERS = 'owners'
const STOP_PATIENCE_MS = 5000

/** A process by its number and, where that can be told, when it began: numbers are used again. */
interface Owner {
  readonly pid: number
  readonly began: string | null
}

/** Says which processes look after the directory. */
export function noteOwners(home: string, pids: readonly number[]): void {
  const owners = pids.map((pid): Owner => ({ pid, began: beginningOf(pid) }))
  writeFileSync(join(home, OWNERS), JSON.stringify(owners), { mode: 0o600 })
}

/** Stops and removes what was left behind; the directories that it removed. */
export async function removeLeftovers(parent = tmpdir()): Promise<string[]> {
  const removed: string[] = []
  for (const home of findLeftovers(parent)) {
    try {
      await stopServer(join(home, 'data'))
      // What the server left running may write a last word while this goes on.
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
      removed.push(home)
    } catch {
      // Somebody else is at it, or it is not ours to remove.
    }
  }
  return removed
}

function findLeftovers(parent: string): string[] {
  let names: string[] = []
  try {
    names = readdirSync(parent).filter((name) => name.startsWith(PREFIX))
  } catch {
    // There is no such directory.
  }
  return names.map((name) => join(parent, name)).filter(isLeft)
}

/** Whether it is ours, and says whose it was, and they are all gone. */
function isLeft(home: string): boolean {
  try {
    return statSync(home).uid === process.getuid?.() && livingOwner(home) === null
  } catch {
    return false
  }
}

/** The process that looks after the directory; null if it has ended. Throws if nobody ever did. */
export function livingOwner(home: string): number | null {
  const owners: unknown = JSON.parse(readFileSync(join(home, OWNERS), 'utf8'))
  assert(Array.isArray(owners) && owners.length > 0, 'owners of a directory')
  return (owners as Owner[]).find(isAlive)?.pid ?? null
}

function isAlive({ pid, began }: Owner): boolean {
  if (!Number.isInteger(pid) || !lives(pid)) return false
  return began === null || beginningOf(pid) === began
}

/** Whether it does anything any more: not if it only waits to be buried. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return fieldsOf(pid)?.[0] !== 'Z'
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

/** When a process began, in the words of Linux; null elsewhere. */
function beginningOf(pid: number): string | null {
  return fieldsOf(pid)?.[19] ?? null
}

/** What Linux says of a process, from its state on; null elsewhere. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may hold anything, in its last bracket.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** Ends the server that works in the directory, if there is one, and waits until it is gone. */
export async function stopServer(data: string): Promise<void> {
  const pid = serverOf(data)
  if (pid === 0) return
  signalAll(processesOf(pid) ?? [], 'SIGCONT') // what is stopped does not obey
  process.kill(pid, 'SIGQUIT')
  for (let waitedMs = 0; serverOf(data) === pid && waitedMs < STOP_PATIENCE_MS; waitedMs += 20) {
    await pause(20)
  }
  if (serverOf(data) === pid) process.kill(pid, 'SIGKILL')
}

/** The process of the server; 0 if there is none, or that number is somebody else's by now. */
function serverOf(data: string): number {
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    if (!(pid > 1) || !lives(pid)) return 0
    return process.platform !== 'linux' || readlinkSync(`/proc/${pid}/cwd`) === data ? pid : 0
  } catch {
    return 0
  }
}
