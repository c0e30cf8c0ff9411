// `isobar run --watch`: an alarm while a run goes on, and runs that end with it.

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isobar, makeFolder } from './command.ts'

describe('isobar run --watch', () => {
  const folder = makeFolder()
  const run = (name: string, ...args: string[]) =>
    isobar(['run', ...args, '--out', join(folder, name), '--json', '--seed', '1'])

  test('raises the alarm and ends the run there if asked', () => {
    const args = ['sim:ser+fractured-read', '--level', 'ra', '--duration', '10m']
    const { code, err, out } = run('alarm', ...args, '--until', 'violated')
    expect(err).toMatch(/ALARM after \d+ transactions: .*ra violated/)
    const { run: summary, verdict } = JSON.parse(out)
    expect(summary.stoppedBy).toBeNull()
    expect(verdict.results[0]).toMatchObject({ level: 'ra', verdict: 'violated' })
    expect(code).toBe(1)
  })

  test('says nothing of a store that keeps its word', () => {
    const { code, err } = run('sound', 'sim:ser', '--transactions', '2000', '--watch')
    expect(err).not.toContain('ALARM')
    expect(code).toBe(0)
  })

  test('looks a last time at what was recorded, and says what it does not watch', () => {
    const lists = run('lists', 'sim:ser', '--shape', 'append', '--transactions', '50', '--watch')
    expect(lists.err).toContain('watching cc, ra, rc; ser judged at the end of the run')
    expect(lists.err).toContain('no longer watching: watch does not judge lists')
    const args = ['sim:ser+fractured-read', '--level', 'ra', '--transactions', '3000', '--watch']
    const { err } = run('short', ...args)
    expect(err).toMatch(/ALARM after \d+ transactions: .*ra violated/)
    expect(err).not.toContain('judged at the end of the run')
  })

  test('refuses what cannot be watched', () => {
    const refusal = (...args: string[]) => run('refused', 'sim:ser', ...args, '--watch')
    expect(refusal('--shape', 'tpcc').err).toContain('--watch does not judge this workload')
    expect(refusal('--level', 'ci').err).toContain('--watch cannot judge ci')
    expect(refusal('--until', 'monday').code).toBe(2)
    // Prefix consistency of Jepsen's has no session order, which all that is watched has.
    expect(refusal('--level', 'prefix').err).toContain('cannot judge pc without session order')
    expect(refusal('--level', 'prefix,ra').code).toBe(0)
  })
})
