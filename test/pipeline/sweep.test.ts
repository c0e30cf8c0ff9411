import { describe, expect, it } from 'vitest'
import type { RunSummary } from '../../src/pipeline/run-summary.ts'
import { parseSweeps, pointsOf, tabulate } from '../../src/pipeline/sweep.ts'

const NAMES = ['sessions', 'reads', 'keys', 'ops']

describe('parseSweeps', () => {
  it('reads options and their values', () => {
    expect(parseSweeps(['sessions=2,4', '--reads=0.1,0.9'], NAMES)).toEqual([
      { name: 'sessions', values: [2, 4] },
      { name: 'reads', values: [0.1, 0.9] },
    ])
  })

  it.each([
    [['sessions'], /cannot understand/],
    [['sesions=2'], /did you mean sessions|cannot be swept/],
    [['duration=2s'], /cannot be swept/],
    [['sessions='], /is no number/],
    [['sessions=2,,4'], /is no number/],
    [['sessions=2,-4'], /is no number/],
    [['sessions=2,2'], /a value twice/],
    [['sessions=2', 'sessions=3'], /swept twice/],
    [['sessions=2', 'keys=3', 'ops=4'], /at most two/],
  ])('refuses %j', (texts, message) => {
    expect(() => parseSweeps(texts, NAMES)).toThrow(message)
  })
})

describe('pointsOf', () => {
  it('has every combination, the last option fastest', () => {
    const points = pointsOf(parseSweeps(['sessions=2,4', 'keys=10,20'], NAMES))
    expect(points.map((point) => [...point.values()])).toEqual([
      [2, 10],
      [2, 20],
      [4, 10],
      [4, 20],
    ])
  })
})

describe('tabulate', () => {
  it('has a row for each run, with what was swept first', () => {
    const sweeps = parseSweeps(['sessions=2,4'], NAMES)
    const summary = {
      transactions: { recorded: 1000 },
      throughput: { commitsPerSecond: 812.4 },
      abortRate: 0.0325,
      time: { planMs: 10, runMs: 1190, parseMs: 4, checkMs: 16 },
      memory: { peakBytes: 90_400_000 },
      verdicts: { si: 'satisfied', ser: 'violated' },
    } as unknown as RunSummary
    const runs = pointsOf(sweeps).map((point) => ({ point, summary }))
    expect(tabulate(sweeps, runs)).toEqual([
      [
        ...['sessions', 'transactions', 'commits_per_second', 'aborted_percent'],
        ...['generation_seconds', 'verification_seconds', 'memory_mb', 'verdicts'],
      ],
      ['2', '1000', '812', '3.3', '1.20', '0.02', '90', 'si satisfied; ser violated'],
      ['4', '1000', '812', '3.3', '1.20', '0.02', '90', 'si satisfied; ser violated'],
    ])
    const bySize = parseSweeps(['transactions=1000'], ['transactions'])
    const [heading] = tabulate(bySize, [{ point: pointsOf(bySize)[0]!, summary }])
    expect(heading!.filter((name) => name === 'transactions')).toHaveLength(1)
  })
})
