// Files and directories on their way: they are made beside their place under a name that nobody can
// guess, and never through a link that somebody planted. All that exist are listed here, so that
// whoever ends the program early can remove them (removeTemporaries); where a signal ends it, their
// guards do (guard.ts).

import { randomBytes } from 'node:crypto'
import { constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Guard, startGuard } from './guard.ts'

const pending = new Map<string, Guard>()

const { O_WRONLY, O_CREAT, O_EXCL } = constants
const EXCLUSIVE = O_WRONLY | O_CREAT | O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** An empty file in the directory, open for writing. */
export function makeTemporaryFile(directory: string): { path: string; file: number } {
  const path = guardedPath(directory)
  return { path, file: guarded(path, () => openSync(path, EXCLUSIVE, 0o666)) }
}

export function makeTemporaryDirectory(directory: string): string {
  const path = guardedPath(directory)
  guarded(path, () => mkdirSync(path)) // fails if there is anything of that name, a link too
  return path
}

/** A file inside a temporary directory. */
export function openInside(directory: string, name: string): number {
  return openSync(join(directory, name), EXCLUSIVE, 0o666)
}

function guardedPath(directory: string): string {
  const path = join(directory, `.isobar-${randomBytes(9).toString('base64url')}.tmp`)
  pending.set(path, startGuard(resolve(path)))
  return path
}

function guarded<T>(path: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    settle(path)
    throw error
  }
}

/** It has got its own name, or is gone. */
export function settle(path: string): void {
  pending.get(path)?.end()
  pending.delete(path)
}

export function discard(path: string): void {
  rmSync(path, { recursive: true, force: true })
  settle(path)
}

/** For the end of the program, whenever it comes. */
export function removeTemporaries(): void {
  for (const path of pending.keys()) {
    try {
      discard(path)
    } catch {
      // The directory may have gone, or changed hands; there is nobody left to tell.
    }
  }
}
