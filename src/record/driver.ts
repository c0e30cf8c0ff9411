// Packages that speak to databases. They are optional: who tests one database needs no other's. One
// that is missing is named together with the line that installs it. They are described here by what
// is used of them, so that nothing but the database itself needs them. Main function: loadDriver.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseError } from '../base/errors.ts'
import { isOlder } from './least-version.ts'

export interface Driver {
  /** Name of the package. */
  readonly name: string
  /** The version that was tried. */
  readonly version: string
  /** The oldest that has what is used of it; absent where npm sees to it. */
  readonly least?: string
  /** What is imported of it, if not the package itself. */
  readonly module?: string
}

/** Throws DatabaseError if it is not installed, or does not load. */
export async function loadDriver<T>(driver: Driver): Promise<T> {
  const module = driver.module ?? driver.name
  const { name, version, least } = driver
  try {
    const loaded = await importFrom(module)
    const installed = least === undefined ? null : installedVersion(name)
    if (installed !== null && isOlder(installed, least!)) {
      throw new DatabaseError(
        `the driver ${name} is too old: ${installed}, and ${least} or later is needed`,
        `npm install ${name}@${version} replaces it`,
      )
    }
    return ((loaded as { default?: unknown }).default ?? loaded) as T
  } catch (error) {
    if (error instanceof DatabaseError) throw error
    const { code, message } = error as { code?: string; message: string }
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    const install = `npm install ${name}@${version}`
    if (isMissing && message.includes(name)) {
      throw new DatabaseError(`the driver ${name} is not installed`, `${install} adds it`)
    }
    throw new DatabaseError(`the driver ${name} does not load: ${message}`, `try ${install}`)
  }
}

/** By the package's own word, which not every package exports; null if it has none. */
function installedVersion(name: string): string | null {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    for (const directory of createRequire(from).resolve.paths(name) ?? []) {
      const path = join(directory, name, 'package.json')
      if (existsSync(path)) return String(JSON.parse(readFileSync(path, 'utf8')).version)
    }
  }
  return null
}

/** Beside this package, as npm puts optional peers, or else in the project one works in. */
async function importFrom(module: string): Promise<unknown> {
  try {
    return await import(module)
  } catch (error) {
    try {
      const require = createRequire(join(process.cwd(), 'package.json'))
      return await import(pathToFileURL(require.resolve(module)).href)
    } catch {
      throw error
    }
  }
}
