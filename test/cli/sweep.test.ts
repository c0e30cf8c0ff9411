// Sweeps as a user runs them, on a simulated store.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runInProcess as isobar, makeFolder } from './command.ts' // a run starts others

const folder = makeFolder()

describe('isobar run --sweep', () => {
  it('runs once for each value, and writes a table and a chart', () => {
    const csv = join(folder, 'sweep.csv')
    const svg = join(folder, 'sweep.svg')
    const out = join(folder, 'runs')
    const { code, out: text } = isobar([
      ...['run', 'sim:ser', '--level', 'ser', '--transactions', '300', '--out', out],
      ...['--sweep', 'sessions=2,8', '--csv', csv, `--svg=${svg}`],
    ])
    expect(code).toBe(0)
    expect(text).toMatch(/^sessions +transactions .*\n +2 +300 .* ser satisfied\n +8 +300 /)
    const rows = readFileSync(csv, 'utf8').trim().split('\r\n')
    expect(rows.map((row) => row.split(',')[0])).toEqual(['sessions', '2', '8'])
    expect(readFileSync(svg, 'utf8')).toContain('throughput, commits a second')
    expect(readdirSync(out).sort()).toEqual(['sessions=2', 'sessions=8'])
    for (const run of readdirSync(out)) {
      const { workload } = JSON.parse(readFileSync(join(out, run, 'run.json'), 'utf8'))
      expect(`sessions=${workload.sessions}`).toBe(run)
    }
  })

  it('takes every option that is a number or a time', () => {
    const out = join(folder, 'times')
    const { code, err } = isobar(['run', 'sim:ser', '--sweep', 'duration=0.2,0.3', '--out', out])
    expect([code, err]).toEqual([0, ''])
    for (const name of ['replicas', 'threads', 'retries', 'budget']) {
      const given = isobar(['run', 'sim:ser', '--sweep', `${name}=1`, `--${name}`, '2'])
      expect(given.err).toContain(`--${name} is given and swept`)
    }
  })

  it('is violated where one of the runs is', () => {
    const { code, out } = isobar([
      ...['run', 'sim:si+lost-update', '--level', 'si', '--transactions', '400'],
      ...['--sweep', 'sessions=1,8', '--out', join(folder, 'violated')],
    ])
    expect(code).toBe(1)
    expect(out).toContain('si violated')
  })

  it('says what is wrong before anything runs', () => {
    const wrong = [
      [['--sessions', '3'], /--sessions is given and swept/],
      [['--json'], /--json is about one run/],
      [['--sweep', 'durations=1'], /durations cannot be swept/],
    ] as const
    for (const [args, message] of wrong) {
      const place = join(folder, 'nothing')
      const outcome = isobar(['run', 'sim', '--sweep', 'sessions=2', '--out', place, ...args])
      expect(outcome.code).toBe(2)
      expect(outcome.err).toMatch(message)
      expect(existsSync(place)).toBe(false)
    }
  })

  it('ends with what a run cannot do', () => {
    const { code, err } = isobar([
      ...['run', 'sim:ser', '--sweep', 'sessions=2,3', '--shape', 'rubis', '--ops', '4000'],
      ...['--out', join(folder, 'failed')],
    ])
    expect(code).toBe(2)
    expect(err).toContain('ops is not for rubis')
  })
})
