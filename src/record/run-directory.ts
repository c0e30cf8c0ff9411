// Names the directory of a run after the moment it begins.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A path below `parent` that is not there yet, such as `2030-01-31T12-00-00-ser`. */
export function freeRunDirectory(parent: string, label: string): string {
  const moment = new Date().toISOString().slice(0, 19).replace(/:/g, '-')
  for (let n = 1; ; n++) {
    const path = join(parent, `${moment}-${label}${n === 1 ? '' : `-${n}`}`)
    if (!existsSync(path)) return path
  }
}
