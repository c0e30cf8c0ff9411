// From the path of a request to a file below a folder, and never beside it: every link on the way
// is followed first, and what it leads to must lie inside. Main functions: openServed, listServed.

import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  htm: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  xml: 'application/xml',
}
const OTHER = 'application/octet-stream'

export interface Served {
  readonly file: FileHandle
  readonly size: number
  readonly type: string
}

/** The names of a path, decoded; null if one could mean another place, or is hidden. */
export function partsOf(path: string): string[] | null {
  try {
    const parts = path.split('/').map(decodeURIComponent)
    const isBad = (part: string) => /[\\/\0]/.test(part) || part.startsWith('.')
    return parts.some(isBad) ? null : parts.filter((part) => part !== '')
  } catch {
    return null // a percent sign that stands for nothing
  }
}

/** Where the parts lead, links followed; null if nothing is there, or outside of the folder. */
async function findInside(folder: string, parts: readonly string[]): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const found = await realpath(join(root, ...parts))
    const isInside = found === root || found.startsWith(root.endsWith(sep) ? root : root + sep)
    return isInside ? found : null
  } catch {
    return null
  }
}

/** A regular file; null if there is none. Whoever gets it closes it. */
export async function openServed(folder: string, parts: readonly string[]): Promise<Served | null> {
  const path = await findInside(folder, parts)
  if (path === null) return null
  let file: FileHandle
  try {
    // Not through a link that was put there since, and without waiting for a pipe to be written.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
    file = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  } catch {
    return null
  }
  const stat = await file.stat()
  if (stat.isFile()) {
    const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
    return { file, size: stat.size, type: TYPES[ending] ?? OTHER }
  }
  await file.close()
  return null
}

/** The names in a folder, those of folders with a slash behind them; null if it is no folder. */
export async function listServed(
  folder: string,
  parts: readonly string[],
): Promise<string[] | null> {
  const path = await findInside(folder, parts)
  if (path === null) return null
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries
      .filter(({ name }) => !name.startsWith('.'))
      .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch {
    return null
  }
}
