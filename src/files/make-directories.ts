// A directory with all that are missing above it, made one by one: where nothing can be made, as
// below /proc, Node's own `recursive` tries for ever. Main function: makeDirectories.

import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Throws what the operating system says. @param mode of those that are made */
export function makeDirectories(path: string, mode = 0o777): void {
  const place = resolve(path)
  try {
    mkdirSync(place, mode)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' && dirname(place) !== place) {
      makeDirectories(dirname(place), mode)
      mkdirSync(place, mode)
    } else if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
