import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isobar } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'isobar-test-'))
const scratch = mkdtempSync(join(tmpdir(), 'isobar-test-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(scratch, { recursive: true })
})

/** A history with so many blanks around it that it would not fit into 128 MB. */
function large(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  const blank = `${' '.repeat(1 << 20)}\n`
  for (let i = 0; i < 20; i++) appendFileSync(path, blank)
  return path
}

const sound = large('sound.txt', 'w(1,1,0,1)\nr(1,1,1,2)\n')
const stale = large('stale.txt', 'w(1,1,0,1)\nw(1,2,0,2)\nr(1,2,1,3)\nr(1,1,1,4)\n')
const MEMORY = ['--memory', '128m', '--scratch', scratch]

describe('isobar check --memory', () => {
  it('judges a file on disk that does not fit', () => {
    const { code, out } = isobar(['check', sound, '--level', 'rc,ra,cc', ...MEMORY])
    expect(out).toMatch(/judged on disk: 2 sessions, 2 transactions, 2 operations, 1 key/)
    expect(out).toMatch(/cc +satisfied/)
    expect(code).toBe(0)
    expect(readdirSync(scratch)).toEqual([])
  })

  it('tells a violation as ever, by the names of the file', () => {
    const { code, out } = isobar(['check', stale, '--level', 'cc', ...MEMORY, '--json'])
    expect(code).toBe(1)
    const verdict = JSON.parse(out)
    expect(verdict.history).toMatchObject({ transactions: 4, sessions: 2 })
    expect(verdict.results[0]).toMatchObject({ verdict: 'violated', position: 1 })
    expect(out).toContain('T4')
    const told = isobar(['check', stale, '--level', 'cc', ...MEMORY])
    expect(told.out).toContain('T4')
  })

  it('says beforehand what cannot be judged on disk, and gives up as ever', () => {
    const { code, err } = isobar(['check', sound, '--level', 'ser', ...MEMORY])
    expect(err).toContain('is not judged on disk: of the levels rc, ra and cc can be, ser cannot')
    expect([0, 3]).toContain(code)
    expect(isobar(['check', sound, '--level', 'cc', '--memory', '128m', '--no-scratch']).err).toBe(
      '',
    )
  })

  it('refuses a scratch directory that is none', () => {
    const { code, err } = isobar([
      'check',
      sound,
      '--level',
      'cc',
      '--memory',
      '128m',
      '--scratch',
      sound,
    ])
    expect(code).toBe(2)
    expect(err).toContain('is not a directory')
  })
})
