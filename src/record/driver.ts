// Packages that speak to databases. They are optional: who tests one database needs no other's. One
// that is missing is named together with the line that installs it. They are described here by what
// is used of them, so that nothing but the database itself needs them. Main function: loadDriver.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseError } from '../base/errors.ts'

export interface Driver {
  /** Name of the package. */
  readonly name: string
  /** The version that was tried. */
  readonly version: string
  /** What is imported of it, if not the package itself. */
  readonly module?: string
}

/** Throws DatabaseError if it is not installed, or does not load. */
export async function loadDriver<T>(driver: Driver): Promise<T> {
  const module = driver.module ?? driver.name
  const { name, version } = driver
  try {
    const loaded = await importFrom(module)
    return ((loaded as { default?: unknown }).default ?? loaded) as T
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    const install = `npm install ${name}@${version}`
    if (isMissing && message.includes(name)) {
      throw new DatabaseError(`the driver ${name} is not installed`, `${install} adds it`)
    }
    throw new DatabaseError(`the driver ${name} does not load: ${message}`, `try ${install}`)
  }
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
