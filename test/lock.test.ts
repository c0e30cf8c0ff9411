// The lock file must do on every platform and with every registry.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Package {
  version?: string
  resolved?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
const { packages } = JSON.parse(text) as { packages: Record<string, Package> }

describe('the lock file', () => {
  it('names every optional package, of other platforms too', () => {
    const missing: string[] = []
    for (const { optionalDependencies } of Object.values(packages)) {
      for (const name of Object.keys(optionalDependencies ?? {})) {
        const isThere = Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))
        if (!isThere) missing.push(name)
      }
    }
    expect(missing).toEqual([])
  })

  it('contains no download addresses', () => {
    // A workspace is a folder of this repository.
    const others = Object.values(packages).filter(({ link }) => !link)
    for (const { resolved } of others) expect(resolved).toBeUndefined()
    expect(text).not.toMatch(/https?:\/\/[^"]*\.tgz/)
  })
})
