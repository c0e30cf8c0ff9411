// Names the directory of a run after the moment it begins.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

/**
 * A path below `parent` such as `2030-01-31T12-00-00-ser-3fa9c1`: of runs that begin in one second
 * each gets its own.
 */
export function newRunDirectory(parent: string, label: string): string {
  const moment = new Date().toISOString().slice(0, 19).replace(/:/g, '-')
  return join(parent, `${moment}-${label}-${randomBytes(3).toString('hex')}`)
}
