// Files and directories on their way: they are made beside their place under a name that nobody can
// guess, and never through a link that somebody planted. All that exist are listed here, so that
// whoever ends the program early can remove them (removeTemporaries). While there are any, a guard
// does so before a signal ends the program; signals wait for at most the file being written.

import { randomBytes } from 'node:crypto'
import { constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const pending = new Set<string>()

const { O_WRONLY, O_CREAT, O_EXCL } = constants
const EXCLUSIVE = O_WRONLY | O_CREAT | O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** An empty file in the directory, open for writing. */
export function makeTemporaryFile(directory: string): { path: string; file: number } {
  const path = join(directory, temporaryName())
  const file = openSync(path, EXCLUSIVE, 0o666)
  add(path)
  return { path, file }
}

export function makeTemporaryDirectory(directory: string): string {
  const path = join(directory, temporaryName())
  mkdirSync(path) // fails if there is anything of that name, a link too
  add(path)
  return path
}

/** A file inside a temporary directory. */
export function openInside(directory: string, name: string): number {
  return openSync(join(directory, name), EXCLUSIVE, 0o666)
}

function temporaryName(): string {
  return `.isobar-${randomBytes(9).toString('base64url')}.tmp`
}

function add(path: string): void {
  for (const signal of SIGNALS) {
    if (!process.listeners(signal).includes(guard)) process.on(signal, guard)
  }
  pending.add(path)
}

/** It has got its own name, or is gone. */
export function settle(path: string): void {
  // A signal that came meanwhile is still to be handled, in the next whole turn of the event loop.
  if (pending.delete(path) && pending.size === 0) setImmediate(() => setImmediate(dismissGuard))
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function guard(signal: NodeJS.Signals): void {
  removeTemporaries()
  for (const name of SIGNALS) process.off(name, guard)
  // Others who listen end the program their own way.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function dismissGuard(): void {
  if (pending.size > 0) return
  for (const signal of SIGNALS) process.off(signal, guard)
}

export function discard(path: string): void {
  rmSync(path, { recursive: true, force: true })
  settle(path)
}

/** For the end of the program, whenever it comes. */
export function removeTemporaries(): void {
  for (const path of pending) {
    try {
      discard(path)
    } catch {
      // The directory may have gone, or changed hands; there is nobody left to tell.
    }
  }
}
