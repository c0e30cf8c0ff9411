// The lock file must do on every platform and with every registry.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

interface Package {
  version?: string
  resolved?: string
  link?: boolean
  bin?: Record<string, string>
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

  it.each(['package-lock.json', 'examples/race/orms/package-lock.json'])(
    'contains no download addresses: %s',
    (file) => {
      const lock = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
      const all = Object.values(
        (JSON.parse(lock) as { packages: Record<string, Package> }).packages,
      )
      expect(all.length).toBeGreaterThan(100)
      // A workspace is a folder of this repository.
      for (const { resolved } of all.filter(({ link }) => !link)) expect(resolved).toBeUndefined()
      expect(lock).not.toMatch(/https?:\/\/[^"]*\.tgz/)
    },
  )

  it('lets npm link the command, so that npx does not build the package again', () => {
    const workspace = packages['scripts/embedded']
    expect(workspace?.bin).toEqual({ isobar: 'isobar.js' })
    const command = fileURLToPath(new URL('../scripts/embedded/isobar.js', import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [command, '-V'], { encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
  })
})
