import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { planSchema } from '../../scripts/fleet-plan-schema.ts'
import { InputError } from '../../src/base/errors.ts'
import { runJobsOf } from '../../src/fleet/plan.ts'
import { PLAN_SCHEMA } from '../../src/fleet/plan-schema.ts'
import { expectPossiblePlan } from '../../src/fleet/possible.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'

const read = (text: string) => {
  const plan = readPlan(text, 'plan')
  expectPossiblePlan(plan)
  return plan
}

/** `line:column: message (hint)` of what is wrong with a plan. */
function complaint(text: string): string {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const { line, column } = error.place!
    return `${line}:${column}: ${error.message} (${error.hint})`
  }
  return 'nothing'
}

const jobsOf = (text: string) => [...runJobsOf(read(text))]

describe('readPlan', () => {
  it('takes fingerprints as they are pasted, also those that look like numbers', () => {
    const known = ['469d7b38d217', '123456789012', '012345678901', '1234e5678901']
    expect(read(`targets: sim:ser\nknown: [${known.join(', ')}]\n`).known).toEqual(known)
    expect(complaint('targets: sim:ser\nknown: [469d7b]\n')).toBe(
      '2:9: "known" cannot be "469d7b" (the fingerprint of a finding, e.g. 469d7b38d217)',
    )
  })

  it('multiplies targets, parameters, levels, faults, seeds and repeats', () => {
    const jobs = jobsOf(`
targets: [sim:si, sim:ser]
workloads:
  - mini
  - {shape: churn, keys: [5, 10..20 step 5]}
parameters: {sessions: 2..3}
seeds: [1..3, 7]
levels: si
repeats: 2
`)
    // 2 targets × (mini, and churn with 4 numbers of keys) × 2 sessions × 4 seeds × 2 repeats
    expect(jobs.length).toBe(2 * 5 * 2 * 4 * 2)
    expect(new Set(jobs.map((job) => JSON.stringify(job))).size).toBe(jobs.length)
    expect(jobs[0]).toEqual({
      ...{ kind: 'run', target: 'sim:si', shape: 'mini', parameters: { sessions: 2 } },
      ...{ dbLevel: null, levels: ['si'], faults: [], durationMs: null, seed: 1, repeat: 1 },
    })
  })

  it('takes JSON, and lets a target have its own workloads, levels and faults', () => {
    const jobs = jobsOf(
      '{"targets": ["sim:ser", {"target": "embedded", "db-levels": ["rc", "si"], "faults": ["none", ["kill-connection:5%", "latency:1-2ms"]], "workloads": "append"}]}',
    )
    const told = jobs.map(({ target, shape, dbLevel, faults }) => [target, shape, dbLevel, faults])
    expect(told).toEqual([
      ['sim:ser', null, null, []],
      ['embedded', 'append', 'rc', []],
      ['embedded', 'append', 'rc', ['kill-connection:5%', 'latency:1-2ms']],
      ['embedded', 'append', 'si', []],
      ['embedded', 'append', 'si', ['kill-connection:5%', 'latency:1-2ms']],
    ])
  })

  it('says where a slip is, and what may have been meant', () => {
    expect(complaint('targets: [sim:si]\nseed: 1\n')).toMatch(
      /^2:1: the plan has no "seed" \(did you mean seeds\?/,
    )
    expect(complaint('targets: [sim:si]\nworkloads: [chrun]\n')).toMatch(
      /^2:13: unknown shape "chrun" \(did you mean churn\?/,
    )
    expect(complaint('targets: [sim:si+lost-updat]\n')).toMatch(/^1:11: .*lost-updat/)
    expect(complaint('targets: [sim:si]\nkeep: finding\n')).toMatch(
      /^2:7: "keep" cannot be "finding" \(did you mean findings\?/,
    )
    expect(complaint('targets: [sim:si]\nseeds: 5..1\n')).toBe(
      '2:8: the range 5..1 holds nothing (null)',
    )
    expect(complaint('targets: [sim:si]\nseeds: 9007199254740992..9007199254740994\n')).toMatch(
      /^2:8: the range 9007199254740992\.\.9007199254740994 has a number that is too large/,
    )
    expect(complaint('targets: [sim:si]\nseeds: x\n')).toMatch(/^2:8: "seeds" cannot be "x"/)
    expect(complaint('targets: [sim:si\n')).toMatch(/^2:1: /)
    expect(complaint('targets:\n')).toBe('1:1: "targets" has no value (null)')
    expect(complaint('seeds: 1\n')).toMatch(/^1:1: the plan has neither "targets" nor "histories"/)
    expect(complaint('- a\n')).toMatch(/^1:1: a plan is/)
    expect(complaint('targets: [sim:si]\nrepeats: 0\n')).toBe(
      '2:10: "repeats" is at least 1, not 0 (null)',
    )
    expect(complaint('targets: [sim:si]\nbudget: soon\n')).toMatch(/^2:9: "soon" is not a duration/)
  })

  it('says what is impossible before anything runs', () => {
    expect(complaint('targets: [sim:rc]\ndb-levels: [rc, ser]\n')).toMatch(/^2:17: .*ser/)
    expect(complaint('targets: [sim:si]\nlevels: [lin]\n')).toMatch(
      /^2:10: level lin is not for shape churn/,
    )
    expect(complaint('targets: [sim:si]\nfaults: [kill-connection:5%]\n')).toMatch(
      /^2:10: a simulated store has no connections to disturb/,
    )
    expect(complaint('targets: [sim:si]\nworkloads: [{shape: tpcc-kv, ops: 3}]\n')).toMatch(
      /^2:13: ops is not for tpcc-kv/,
    )
    expect(complaint('histories: x\n')).toMatch(/^1:1: histories need "levels"/)
  })

  it('keeps secrets out', () => {
    expect(complaint('targets: ["postgres://me:secret@db/x"]\n')).toMatch(
      /^1:11: .*must not hold a password \(write env:NAME/,
    )
    expect(complaint('targets: ["postgres://me@db/x?password=secret"]\n')).toMatch(/password/)
    expect(jobsOf('targets: ["env:STAGING"]\n')[0]!.target).toBe('env:STAGING')
    expect(complaint('targets: ["env:"]\n')).toMatch(/^1:11: env: names no variable/)
  })
})

describe('the schema of plans', () => {
  it('is published as it is', () => {
    const path = new URL('../../docs/fleet-plan.schema.json', import.meta.url)
    expect(readFileSync(path, 'utf8')).toBe(planSchema())
  })

  it('agrees with the reader', () => {
    const validate = new Ajv2020({ strict: false }).compile(PLAN_SCHEMA)
    const plans: [object, boolean][] = [
      [{ targets: ['sim:si'], seeds: '1..5' }, true],
      [{ targets: 'sim:si', parameters: { keys: [1, '2..3'] }, limits: { time: '5s' } }, true],
      [{ targets: ['sim:si'], seeds: '1...5' }, false],
      [{ targets: ['sim:si'], sedes: 1 }, false],
      [{ targets: [{ workloads: 'churn' }] }, false],
      [{ targets: [] }, false],
      [{ targets: ['sim:si'], known: ['nothing'] }, false],
      [{ targets: ['sim:si'], repeats: 1.5 }, false],
    ]
    for (const [plan, isFine] of plans) {
      const text = JSON.stringify(plan)
      expect([text, validate(plan), complaint(text) === 'nothing']).toEqual([text, isFine, isFine])
    }
  })
})
