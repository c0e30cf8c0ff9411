// Makes the directory of a run, named after the moment it begins.

import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

export interface RunDirectory {
  readonly path: string
  /** Removes what is left of it if nothing was put into it. */
  removeIfEmpty(): void
}

/**
 * A new directory below `parent`, such as `2030-01-31T12-00-00-ser`; of runs that begin in one
 * second each gets its own. Throws what the file system throws.
 */
export function makeRunDirectory(parent: string, label: string): RunDirectory {
  const moment = new Date().toISOString().slice(0, 19).replace(/:/g, '-')
  for (let n = 1; ; n++) {
    const path = join(parent, `${moment}-${label}${n === 1 ? '' : `-${n}`}`)
    mkdirSync(parent, { recursive: true })
    try {
      mkdirSync(path)
      return { path, removeIfEmpty: () => [path, parent].forEach(removeEmpty) }
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Something is in it, or it is gone.
  }
}
