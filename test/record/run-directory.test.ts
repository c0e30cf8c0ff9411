import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeRunDirectory } from '../../src/record/run-directory.ts'

describe('makeRunDirectory', () => {
  it('gives each of many runs that begin at once a directory of its own', () => {
    const parent = join(mkdtempSync(join(tmpdir(), 'isobar-test-')), 'runs')
    const made = Array.from({ length: 20 }, () => makeRunDirectory(parent, 'ser'))
    expect(new Set(made.map(({ path }) => path)).size).toBe(20)
    for (const { path } of made) expect(existsSync(path)).toBe(true)
    writeFileSync(join(made[0]!.path, 'run.json'), '')
    for (const each of made) each.removeIfEmpty()
    expect(made.map(({ path }) => existsSync(path))).toEqual([true, ...Array(19).fill(false)])
    rmSync(join(parent, '..'), { recursive: true })
  })
})
