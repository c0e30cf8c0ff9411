import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Conformance } from '../../src/verdict/conformance.ts'
import { SCHEDULES } from '../../src/workload/schedules.ts'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()

describe('isobar conformance', () => {
  it('finds a store as it promises', async () => {
    expect(await terminal.run('conformance', 'sim:si')).toBe(0)
    expect(terminal.output).toContain('si (Snapshot Isolation)')
    expect(terminal.output).toContain('si: as promised')
    expect(terminal.output).toMatch(/G2-item +shows WriteSkew, breaks ser/)
    expect(terminal.output).not.toMatch(/P4 +shows/)
    expect(terminal.output).toMatch(/does not apply, because it has no rows .*: .*PMP/)
  })

  it('finds a store weaker than it promises, and says by what', async () => {
    expect(await terminal.run('conformance', 'sim:si+lost-update:100%', '--json')).toBe(1)
    const { levels } = JSON.parse(terminal.output) as Conformance
    expect(levels).toHaveLength(1)
    expect(levels[0]).toMatchObject({ promised: 'si', got: 'pc', isWeaker: true })
    const p4 = levels[0]!.outcomes.find(({ schedule }) => schedule.id === 'p4')!
    expect(p4).toMatchObject({ violated: 'si', anomalies: ['LostUpdate'] })
    expect(p4.ends).toEqual(['committed', 'committed'])
    expect(p4.steps.map(({ txn, text }) => `T${txn} ${text}`)).toEqual(
      SCHEDULES.find(({ id }) => id === 'p4')!.steps,
    )
    expect(p4.history).toContain('"workload":"p4"')
  })

  it('writes a matrix in which every cell leads to its schedule', async () => {
    const path = terminal.path('matrix.html')
    expect(await terminal.run('conformance', 'sim:rc', '--report', path)).toBe(0)
    const page = readFileSync(path, 'utf8')
    const links = [...page.matchAll(/href="#([\w-]+)"/g)].map(([, id]) => id!)
    for (const id of links) expect(page).toContain(`id="${id}"`)
    expect(links).toContain('g-single-1')
    expect(page).not.toContain('<script')
  })

  it('refuses levels that the target does not offer, and servers that are not there', async () => {
    expect(await terminal.run('conformance', 'sim:rc', '--level', 'ser')).toBe(2)
    expect(terminal.errors).toContain('does not offer')
    expect(await terminal.run('conformance', 'postgres://127.0.0.1:1/x')).toBe(4)
  })
})
