import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { submit } from '../../src/fleet/coordinate.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import { commandOf } from '../../src/fleet/job.ts'
import { renderNight } from '../../src/fleet/night-text.ts'
import { type NightOverview, unknownFindings } from '../../src/fleet/overview.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'
import { renderNightFiles, renderNightJunit } from '../../src/fleet/report-files.ts'
import { REPORT_FILES } from '../../src/fleet/report-names.ts'
import { failure } from '../../src/fleet/result.ts'
import { isAllowed } from '../../src/fleet/worker.ts'
import { makeHome, openIn, runNight } from './stage.ts'

const home = makeHome()
const data = join(home, 'data')
let fleet: Fleet

beforeAll(async () => {
  fleet = await openIn(data)
}, 120_000)
afterAll(() => fleet?.close())

function put(name: string, notation: string): string {
  const path = join(home, name)
  writeFileSync(path, notation)
  return path
}

/** Histories that differ in names, values and what goes on beside them. */
const lostUpdate = (i: number) =>
  `s${i}: w(k${i},1)\ns${i + 1}: r(k${i},1) w(k${i},2)\nt: r(k${i},1) w(k${i},3)\nu: w(o,${i + 1})\n`
const fractured = (i: number) => `a${i}: w(x${i},1) w(y${i},1)\nb: r(x${i},1) r(y${i},0)\n`
const aborted = (i: number) => `a: w(z${i},${i + 1}) [aborted]\nb${i}: r(z${i},${i + 1})\n`
const fine = (i: number) => `a: w(x,${i + 1})\nb: r(x,${i + 1}) w(y,${i + 1})\n`

/** The report of the second night, whose one new finding is told everywhere. */
async function expectReport(night: NightOverview, fingerprint: string): Promise<void> {
  const files = await renderNightFiles(fleet.store, night)
  const text = (name: string) => String(files.get(name))
  for (const name of files.keys()) expect(name).toMatch(REPORT_FILES)
  const index = text('index.html')
  expect(index).toContain("default-src 'none'")
  expect(index).not.toContain('undefined')
  expect(index).not.toMatch(/<script|style="/)
  expect(index).toContain('1 finding and 1 known finding')
  expect(index).toContain(`<a href="finding-${fingerprint}.html">`)
  expect(index).toMatch(/violated in 2 of 2; last held <time [^>]*>\d{4}-\d\d-\d\d/)
  expect(index).not.toContain('>without a verdict<')
  expect(index).toContain('Since night')
  expect(text(`finding-${fingerprint}.html`)).toContain('LostUpdate')
  expect(text(`finding-${fingerprint}.txt`)).toContain('w(k0,2)')
  const history = files.get(`finding-${fingerprint}.history.gz`) as Uint8Array
  expect(gunzipSync(history).toString()).toBe(lostUpdate(0))
  expect(text('junit.xml')).toContain('tests="1" failures="1" errors="0"')
  expect(text('junit.xml')).toContain(`message="LostUpdate (${fingerprint})"`)
  expect(text('summary.md')).toContain(`### LostUpdate at si (${fingerprint})`)
  // Nothing new: nothing fails.
  const known = [...night.night.settings.known, fingerprint]
  const settled = {
    ...night,
    night: { ...night.night, settings: { ...night.night.settings, known } },
  }
  expect(renderNightJunit(settled)).toContain('failures="0" errors="0"')
  // What is not done is no success, and neither is what failed for a reason that is not told.
  const open = { ...settled, night: { ...settled.night, jobs: 3, state: 'cancelled' as const } }
  expect(renderNightJunit(open)).toContain('failures="0" errors="1"')
  expect(renderNightJunit(open)).toContain('message="2 of 3 jobs done; the night is cancelled"')
  const many = { ...settled, counts: { ...settled.counts, failed: 7 } }
  expect(renderNightJunit(many)).toContain('message="without a verdict: 7 jobs for other reasons"')
  expect(renderNight(many)).toContain('7 jobs for other reasons')
}

describe('a night', () => {
  it('makes three findings of many failures of three kinds', async () => {
    const kinds = [lostUpdate, fractured, aborted]
    const files = Array.from({ length: 120 }, (_, i) =>
      put(`h${String(i).padStart(3, '0')}`, (i % 4 === 0 ? kinds[(i / 4) % 3]! : fine)(i)),
    )
    const plan = 'histories: .\nlevels: [si]\nname: kinds\n'
    const night = await runNight(fleet, plan, { files })
    expect(night.counts).toEqual({
      ...{ satisfied: 90, violated: 30, unknown: 0, failed: 0 },
      ...{ done: 120, findings: 3 },
    })
    const told = night.findings.map(({ anomalies, count }) => [anomalies, count]).sort()
    expect(told).toEqual([
      ['AbortedRead', 10],
      ['LostUpdate', 10],
      ['NonMonotonicRead', 10],
    ])
    expect(unknownFindings(night).length).toBe(3)
    const lost = night.findings.find(({ anomalies }) => anomalies === 'LostUpdate')!
    expect(commandOf(lost.spec)).toBe(`isobar check ${files[0]} --level si`)
    expect(lost.transactions).toBe(3)
    expect(renderNight(night)).toContain('LostUpdate at si: 10 times, first in night 1')

    // The next night knows two of them, and one is gone.
    const known = night.findings.filter((finding) => finding !== lost)
    const next = `${plan}known: [${known.map(({ fingerprint }) => fingerprint).join(', ')}]\n`
    const again = await runNight(fleet, next, { files: [files[0]!, files[4]!] })
    expect(unknownFindings(again).map(({ fingerprint }) => fingerprint)).toEqual([lost.fingerprint])
    expect(again.findings.find(({ level }) => level === 'si')!.firstNight).toBe(night.night.id)
    expect(again.changes!.since).toBe(night.night.id)
    expect(again.changes!.come).toEqual([])
    expect(again.changes!.gone.length).toBe(1)
    await expectReport(again, lost.fingerprint)
  }, 180_000)

  it('runs what a plan asks of targets, and tells the command and the seed', async () => {
    const plan = `
targets: [sim:ser, "sim:si+lost-update:50%"]
parameters: {sessions: 4, transactions: 40, keys: 3}
seeds: 1..3
name: runs
`
    const { findings, cells, coverage, counts } = await runNight(fleet, plan)
    expect(counts.done).toBe(6)
    expect(cells.map(({ target, level }) => [target, level])).toEqual([
      ['sim:ser', 'ser'],
      ['sim:si+lost-update:50%', 'si'],
    ])
    expect(cells[0]).toMatchObject({ satisfied: 3, violated: 0, verified: expect.any(Date) })
    expect(cells[1]!.violated).toBeGreaterThan(0)
    expect(findings.some(({ anomalies }) => anomalies === 'LostUpdate')).toBe(true)
    expect(commandOf(findings[0]!.spec)).toMatch(
      /^isobar run sim:si\+lost-update:50% --keys 3 --sessions 4 --transactions 40 --seed [123]$/,
    )
    expect(coverage.transactions).toBe(240)
    expect(coverage.occasions.LostUpdate ?? 0).toBeGreaterThan(0)
  }, 180_000)

  it('tells findings by examples of its own plan', async () => {
    const files = [put('long', `${lostUpdate(7)}v: r(k7,1) w(k7,4)\n`)]
    const plan = 'histories: .\nlevels: [si]\nname: '
    const short = await runNight(fleet, `${plan}one`, { files: [put('short', lostUpdate(7))] })
    const { findings, night } = await runNight(fleet, `${plan}other`, { files })
    expect(findings.map(({ fingerprint }) => fingerprint)).toEqual([short.findings[0]!.fingerprint])
    expect(findings[0]).toMatchObject({ night: night.id, firstNight: night.id, count: 1, total: 1 })
    expect(commandOf(findings[0]!.spec)).toContain(files[0])
  }, 180_000)

  it('judges levels and parts of a history by themselves, and tells what they say of it', async () => {
    const broken = put('broken', `${lostUpdate(1)}${fine(5)}c: w(p,1)\n`)
    const whole = put('whole', 'a: w(x,1)\nb: w(y,1)\n')
    const plan = 'histories: .\nlevels: [rc, si]\nname: spread\nsplit: [levels, parts]\n'
    const night = await runNight(fleet, plan, { files: [broken, whole] })
    expect(night.night.jobs).toBe((4 + 2) * 2)
    expect(night.counts).toMatchObject({ done: 12, violated: 1, satisfied: 11, findings: 1 })
    expect(night.splits).toEqual([
      { path: broken, level: 'rc', parts: 4, verdict: 'satisfied' },
      { path: broken, level: 'si', parts: 4, verdict: 'violated' },
      { path: whole, level: 'rc', parts: 2, verdict: 'satisfied' },
      { path: whole, level: 'si', parts: 2, verdict: 'satisfied' },
    ])
    expect(renderNight(night)).toMatch(/broken +si +4 +violated\n/)
    expect(String((await renderNightFiles(fleet.store, night)).get('summary.md'))).toMatch(
      /\| .*whole.* \| si \| 2 \| satisfied \|/,
    )
    expect(commandOf(night.findings[0]!.spec)).toBe(`isobar check ${broken} --level si`)
  }, 180_000)

  it('knows nothing of a history in parts whose jobs failed, and says so', async () => {
    const crash = put('crash', 'a: w(x,1)\nb: w(y,1)\n')
    const plan = 'histories: .\nlevels: [rc]\nname: failed parts\nsplit: [parts]\nattempts: 1\n'
    const night = await runNight(fleet, plan, { files: [crash] })
    expect(night.counts).toMatchObject({ done: 2, failed: 2 })
    expect(night.splits).toEqual([{ path: crash, level: 'rc', parts: 2, verdict: 'unknown' }])
  }, 180_000)

  it('ends poison as failed with its reason, and nobody else with it', async () => {
    const files = ['crash', 'endless', 'memory', 'one', 'two'].map((name) => put(name, fine(1)))
    const damaged = put('damaged', 's1: r(x')
    const plan = `
histories: .
levels: [si]
name: poison
attempts: 2
limits: {time: 3s, memory: 400m}
`
    const { counts, failures } = await runNight(fleet, plan, { files: [...files, damaged] })
    expect(counts).toMatchObject({ done: 6, satisfied: 2, failed: 4 })
    const told = failures.map(({ blame, reason }) => `${blame}: ${reason}`).sort()
    expect(told).toEqual([
      expect.stringMatching(/^history: /),
      'machine: did not end within 3 s',
      expect.stringMatching(/^machine: its process ended by SIG/),
      'machine: used more than 419 MB of memory',
    ])
  }, 180_000)

  it('runs no target that a worker may not, and tells what it lacks', async () => {
    const plan =
      'targets: [sim:ser, env:ISOBAR_NO_SUCH]\nparameters: {transactions: 5, sessions: 2}\nname: allowed\n'
    const night = await runNight(fleet, plan, { allowed: ['embedded', 'env:*'] })
    const { counts, failures } = night
    expect(counts.failed).toBe(2)
    // Targets that were not judged are not left out.
    const index = String((await renderNightFiles(fleet.store, night)).get('index.html'))
    for (const target of ['env:ISOBAR_NO_SUCH', 'sim:ser']) {
      expect(index).toContain(`<tr><th scope="row">${target}</th><td>1</td></tr>`)
    }
    const told = failures.map(({ blame, reason }) => `${blame}: ${reason}`).sort()
    expect(told[0]).toMatch(/^plan: ISOBAR_NO_SUCH is not set/)
    expect(told[1]).toMatch(/^plan: the worker .* may not run sim:ser: start it with --allow/)
  }, 180_000)

  it('has one result for each job, whoever else did it', async () => {
    const { store, queue } = fleet
    const plan = readPlan('histories: .\nlevels: [si]\nname: once\n', 'once')
    const files = [put('p', fine(1)), put('q', fine(2))]
    const { night } = await submit(store, queue, { plan, files, version: 'test' })
    const result = failure('machine', 'for a test', 1)
    expect(await store.addResults(night.id, 'a', [[0, result]])).toBe(1)
    // Submitted again before it is over, it is the same night.
    const again = await submit(store, queue, { plan, files, version: 'test' })
    expect([again.night.id, again.isContinued]).toEqual([night.id, true])
    expect(
      await store.addResults(night.id, 'b', [
        [0, { ...result, reason: 'again' }],
        [1, result],
      ]),
    ).toBe(1)
    expect((await store.count(night.id)).done).toBe(2)
    // Another file is another night.
    put('q', fine(3))
    const other = await submit(store, queue, { plan, files, version: 'test' })
    expect(other.isContinued).toBe(false)
    await store.setNight(other.night.id, 'cancelled')
    put('q', fine(2))
    // Now that it is over, the next one begins.
    const next = await submit(store, queue, { plan, files, version: 'test' })
    expect([next.night.id, next.isContinued]).toEqual([night.id + 2, false])
    await store.setNight(next.night.id, 'cancelled')
  }, 60_000)
})

describe('isAllowed', () => {
  it('matches all of a target', () => {
    expect(isAllowed('sim:si+lost-update', ['sim:*'])).toBe(true)
    expect(isAllowed('xsim:si', ['sim:*'])).toBe(false)
    expect(isAllowed('postgres://db/x', ['postgres://db/*'])).toBe(true)
    expect(isAllowed('postgres://dbx', ['postgres://d.x'])).toBe(false)
  })
})
