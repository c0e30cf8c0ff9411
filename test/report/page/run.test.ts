import { describe, expect, it } from 'vitest'
import { stringify } from '../../../src/base/json.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { renderRun } from '../../../src/report/page/run.ts'
import { buildTimeline } from '../../../src/report/timeline.ts'
import { parseVerdicts } from '../../../src/verdict/parse-file.ts'
import type { RunJson } from '../../../src/verdict/verdict-file.ts'
import { judge } from '../gallery.ts'

/** Ten commits and two aborts in 120 µs, each 10 µs long but for the last, and one left open. */
function recorded(): string {
  const lines = Array.from({ length: 12 }, (_, i) => {
    const status = i === 3 || i === 7 ? 'aborted ' : ''
    const finish = i === 11 ? 120 : 10 * i + 10
    return `s${i}: w(x,${i + 1}) [${status}start=${i === 11 ? 20 : 10 * i} finish=${finish}]`
  })
  return [...lines, 's20: w(x,99) [indeterminate start=60]'].join('\n')
}

const RUN: RunJson = {
  database: { name: 'PostgreSQL <18>', place: 'postgres://me@db/test' },
  level: { asked: 'ser', granted: 'SERIALIZABLE' },
  workload: { shape: 'mini', keys: 100, mix: null },
  faults: { killShare: 0 },
  transactions: {
    recorded: 13,
    committed: 10,
    aborted: 2,
    indeterminate: 1,
    failures: { '40001': 2 },
  },
  throughput: { perSecond: 13, commitsPerSecond: 10 },
  time: { runMs: 1000, generationShare: 0.75, verificationShare: 0.25 },
  command: 'isobar run',
  timeline: buildTimeline(parseNotation(recorded())),
}

describe('buildTimeline', () => {
  it('counts every transaction once, where it ended', () => {
    const { partUs, committed, aborted, indeterminate, medianUs, p99Us } = RUN.timeline!
    expect(partUs).toBe(2)
    expect(committed).toHaveLength(60)
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
    expect([sum(committed), sum(aborted), sum(indeterminate)]).toEqual([10, 2, 1])
    expect(committed[5]).toBe(1)
    expect(medianUs[5]).toBe(10)
    expect(medianUs[6]).toBeNull()
    expect(p99Us[59]).toBe(100)
    expect(indeterminate[30]).toBe(1)
  })

  it('takes the lower one of two in the middle, and the longest but for one in a hundred', () => {
    const lines = Array.from({ length: 101 }, (_, i) => `s${i}: w(x,${i + 1}) [0,${i + 1000}]`)
    const { medianUs, p99Us, committed } = buildTimeline(parseNotation(lines.join('\n')))!
    const at = committed.length - 1
    expect(committed[at]).toBeGreaterThan(1)
    expect(medianUs[at]).toBeLessThan(p99Us[at]!)
  })

  it('is not there without times', () => {
    expect(buildTimeline(parseNotation('s1: w(x,1)'))).toBeNull()
    expect(buildTimeline(parseNotation('s1: w(x,1) [5,5]'))).toBeNull()
  })
})

describe('renderRun', () => {
  it('tells what ran, and draws it over time', () => {
    const html = renderRun({ ...judge('s1: w(x,1)'), run: RUN })
    expect(html).toContain('PostgreSQL &lt;18&gt; at postgres://me@db/test')
    expect(html).toContain('75.0 % generation, 25.0 % verification')
    expect(html).toContain('2 (15.4 %): 2 40001')
    expect(html).not.toContain('killShare')
    expect(html.match(/role="img"/g)).toHaveLength(3)
    expect(html).not.toMatch(/NaN|undefined|Infinity/)
    expect(renderRun(judge('s1: w(x,1)'))).toBe('')
  })

  it('comes back from JSON, and is checked there', () => {
    const verdict = { ...judge('s1: w(x,1)'), run: RUN }
    expect(parseVerdicts(stringify(verdict))[0]!.verdict).toEqual(verdict)
    const spoilt = { ...verdict, run: { ...RUN, timeline: { partUs: 1 } } }
    expect(() => parseVerdicts(stringify(spoilt))).toThrow('run.timeline.committed is missing')
  })
})
