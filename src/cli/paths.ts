// Turns the paths of a command into histories to read: a file is one, a directory is one if some
// format keeps histories in directories, else every file below it is. Links are followed, but never
// in circles.

import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { InputError } from '../base/errors.ts'
import { fileError, historyFilesIn } from '../formats/open.ts'

export interface HistoryPath {
  path: string
  /** Found while walking a directory: skipped, not an error, if it is no history. */
  inDirectory: boolean
  /** Why it cannot even be looked at. */
  error?: InputError
}

/** Every history that the paths stand for, in a stable order. */
export function* findHistories(paths: readonly string[]): Generator<HistoryPath> {
  for (const path of paths) {
    if (path === '-' || !isDirectory(path)) yield { path, inDirectory: false }
    else yield* walk(path)
  }
}

/** Every file that a command which is given this path will read. */
export function* filesOf(path: string): Generator<string> {
  for (const found of findHistories([path])) {
    if (found.error) continue
    if (found.path === '-' || !isDirectory(found.path)) yield found.path
    else yield* historyFilesIn(found.path) ?? []
  }
}

function* walk(root: string): Generator<HistoryPath> {
  const visited = new Set<string>()
  const pending = [root]
  while (pending.length > 0) {
    const path = pending.pop()!
    const inDirectory = path !== root
    if (!isDirectory(path)) {
      yield { path, inDirectory }
      continue
    }
    try {
      const real = realpathSync(path)
      if (visited.has(real)) continue
      visited.add(real)
      if (historyFilesIn(path) !== null) {
        yield { path, inDirectory }
        continue
      }
      const names = readdirSync(path)
      // T2 before T10, and taken from the end.
      names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }) || (a < b ? 1 : -1))
      for (const name of names) pending.push(join(path, name))
    } catch (error) {
      yield { path, inDirectory, error: fileError(error) }
    }
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
