// Turns the paths of a command into histories to read: a file is one, a directory is one if some
// format keeps histories in directories, else every file below it is. Links are followed, but never
// in circles.

import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isHistoryDirectory } from '../formats/open.ts'

export interface HistoryPath {
  path: string
  /** Found while walking a directory: skipped, not an error, if it is no history. */
  inDirectory: boolean
}

/** Every history that the paths stand for, in a stable order. */
export function* findHistories(paths: readonly string[]): Generator<HistoryPath> {
  for (const path of paths) {
    if (path === '-' || !isDirectory(path) || isHistoryDirectory(path)) {
      yield { path, inDirectory: false }
    } else {
      yield* walk(path)
    }
  }
}

function* walk(root: string): Generator<HistoryPath> {
  const visited = new Set<string>([realpathSync(root)])
  const pending = [root]
  while (pending.length > 0) {
    const path = pending.pop()!
    if (!isDirectory(path)) {
      yield { path, inDirectory: true }
      continue
    }
    if (path !== root) {
      const real = realpathSync(path)
      if (visited.has(real)) continue
      visited.add(real)
      if (isHistoryDirectory(path)) {
        yield { path, inDirectory: true }
        continue
      }
    }
    const names = readdirSync(path).sort(naturally).reverse()
    for (const name of names) pending.push(join(path, name))
  }
}

/** T2 before T10. */
function naturally(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true }) || (a < b ? -1 : 1)
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
