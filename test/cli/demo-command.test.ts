// `isobar demo` on the embedded server, and on simulated stores that come out otherwise.

import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { looksLike, outputOf, readReadme } from '../../scripts/readme.ts'
import { DatabaseError } from '../../src/base/errors.ts'
import { type DemoSettings, demo } from '../../src/cli/demo-command.ts'
import { findEmbeddedPackage } from '../../src/record/embedded/binaries.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { isobar, makeFolder } from './command.ts'
import { useTerminal } from './terminal.ts'

const folder = makeFolder()
const terminal = useTerminal()

/** On simulated stores of these levels, with faults or without. */
function onStores(ser: string, si: string, settings: DemoSettings = {}): Promise<number> {
  terminal.output = ''
  const stores: Record<string, string> = { ser, si }
  const start = async () => ({
    target: (level: string) => parseTarget(`sim:${stores[level]}`),
    close: async () => {},
  })
  return demo({ start, parent: terminal.path('runs'), ...settings })
}

describe('isobar demo', () => {
  it.skipIf(findEmbeddedPackage() === null)(
    'shows a write skew of a real server, and leaves only the directory that it names',
    () => {
      const cwd = mkdtempSync(join(folder, 'demo-'))
      const { code, out, err } = isobar(['demo'], undefined, { cwd })
      expect(code, err).toBe(0)
      expect(out).toMatch(/^SERIALIZABLE {4}200 transactions, .* serializability is satisfied$/m)
      expect(out).toMatch(/^REPEATABLE READ 200 transactions, .* serializability is violated$/m)
      expect(out).toMatch(/^WriteSkew \(G2-item\) violates Serializability/m)
      expect(out).toMatch(/s\d: r\(\d+,\w+\) r\(\d+,\w+\) w\(\d+,\d+\)/)
      expect(looksLike(out, outputOf(readReadme(), 'demo')!), out).toBe(true)
      const report = fileURLToPath(/^report {2}(file:.*)$/m.exec(out)![1]!)
      expect(readFileSync(report, 'utf8')).toContain('WriteSkew')
      const files = /^files {3}(.*)$/m.exec(out)![1]!
      expect(readdirSync(cwd)).toEqual(['isobar-runs'])
      expect(readdirSync(join(cwd, 'isobar-runs'))).toHaveLength(1)
      expect(readdirSync(join(cwd, files)).sort()).toEqual(['repeatable-read', 'serializable'])
      const history = join(cwd, files, 'repeatable-read', 'history.jsonl')
      expect(isobar(['check', history, '--level', 'si']).code).toBe(0)
      expect(isobar(['check', history, '--level', 'ser']).code).toBe(1)
    },
  )

  it('goes on until there is a write skew', async () => {
    expect(await onStores('ser', 'si', { transactions: 8, patienceMs: 60_000 })).toBe(0)
    expect(terminal.output).toContain('REPEATABLE READ 8 transactions')
    expect(terminal.output).toContain('isobar explain write-skew')
  })

  it('ends with 70 and says what differed', async () => {
    const stronger = await onStores('ser', 'ser', { transactions: 8, patienceMs: 0 })
    expect(stronger).toBe(70)
    expect(terminal.output).toContain(
      'differs: REPEATABLE READ should show a write skew, and showed none in',
    )
    expect(terminal.output).not.toContain('So it is')
    const weaker = await onStores('ser+lost-update:50%', 'si')
    expect(weaker).toBe(70)
    expect(terminal.output).toMatch(
      /differs: SERIALIZABLE should be serializable, and is violated: \w+/,
    )
  })

  it('ends with 4 where there is no server, and leaves nothing', async () => {
    const cwd = mkdtempSync(join(folder, 'demo-'))
    const env = { TMPDIR: join(cwd, 'none') }
    const { code, err } = isobar(['demo'], undefined, { cwd, env })
    expect(code).toBe(4)
    expect(err).toContain('the embedded server')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('leaves nothing of a server that goes away in the middle', async () => {
    const start = async () => ({
      target: (level: string) => {
        if (level === 'si') throw new DatabaseError('it went away')
        return parseTarget('sim:ser')
      },
      close: async () => {},
    })
    const parent = terminal.path('runs')
    await expect(demo({ start, parent })).rejects.toThrow('it went away')
    expect(existsSync(parent)).toBe(false)
  })
})
