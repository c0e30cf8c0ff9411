import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TARGETS } from '../../src/record/targets.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))

describe('TARGETS', () => {
  it.each(TARGETS.map((kind) => [kind.form, kind]))('%s is in the documentation', (_, kind) => {
    const rows = read('docs/running.md').split('\n')
    expect(rows.some((row) => row.startsWith(`| \`${kind.form}\``))).toBe(true)
  })

  it('need drivers of the versions that are tested here, all but pg optional', () => {
    for (const { driver } of TARGETS) {
      if (driver === null) continue
      const { name, version } = driver
      const { dependencies, devDependencies, peerDependencies } = manifest
      expect(dependencies[name] ?? devDependencies[name]).toBe(version)
      if (name === 'pg') continue
      expect(peerDependencies[name]).toBeDefined()
      expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true })
    }
  })
})
