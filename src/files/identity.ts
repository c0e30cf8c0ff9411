// Whether two paths are one file: by what the file system says where they exist (so links and
// another case do not hide it), by directory and name where they do not exist yet.

import { type BigIntStats, fstatSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

const MAX_LINKS = 40

/** Null if there is nothing; throws where it cannot be told. */
export function statOf(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

/** The same for one file, different for two. */
export function identityOf(path: string): string {
  const place = followLinks(path)
  const stat = statOf(place)
  if (stat) return nodeOf(stat)
  // On many machines names that differ in case, or in how accents are spelt, are one.
  const name = basename(place).normalize('NFC').toLowerCase()
  const parent = dirname(place)
  return `${parent === place ? '' : identityOf(parent)}/${name}`
}

/** Of standard input, output or error where it is a file; null for terminals and pipes. */
export function identityOfOpen(file: number): string | null {
  try {
    const stat = fstatSync(file, { bigint: true })
    return stat.isFile() ? nodeOf(stat) : null
  } catch {
    return null
  }
}

function nodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Where a file would be made under this path: links are followed, also those that lead nowhere. */
export function followLinks(path: string): string {
  let place = resolve(path)
  for (let links = 0; links < MAX_LINKS; links++) {
    let target: string
    try {
      target = readlinkSync(place)
    } catch {
      return place // no link, or nothing at all
    }
    place = isAbsolute(target) ? target : join(dirname(place), target)
  }
  return place
}
