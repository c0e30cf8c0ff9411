// A fleet for tests: the embedded server in a folder of its own, and workers whose processes run
// what the sources are.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll } from 'vitest'
import { awaitEnd, submit } from '../../src/fleet/coordinate.ts'
import { type Fleet, type FleetPlace, openFleet } from '../../src/fleet/fleet.ts'
import { type NightOverview, readOverview } from '../../src/fleet/overview.ts'
import { expectPossiblePlan } from '../../src/fleet/possible.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'
import { FleetWorker } from '../../src/fleet/worker.ts'

/** Inside the package, so that what it imports of packages is found; git knows nothing of it. */
const BUNDLED = resolve(import.meta.dirname, `../../.vitest/job-program-${process.pid}.mjs`)
let isBundled = false

/**
 * The program of the job processes, bundled for the test file: a night starts several of them, each
 * of which would take 0.8 s of a processor to compile the sources, instead of 0.2.
 */
export function jobProgram(): string[] {
  if (!isBundled) {
    buildSync({
      entryPoints: [resolve(import.meta.dirname, 'job-program.ts')],
      outfile: BUNDLED,
      ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' },
      external: ['#page-assets'], // which a build makes, and no job needs
    })
    isBundled = true
  }
  return [BUNDLED]
}

/** A folder that an account other than root's can get to, too. */
export function makeHome(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isobar-fleet-test-'))
  chmodSync(folder, 0o711)
  afterAll(() => {
    for (const path of [folder, BUNDLED]) rmSync(path, { recursive: true, force: true })
  })
  return folder
}

function placeIn(data: string, given: Partial<FleetPlace> = {}): FleetPlace {
  return { queue: null, results: null, data, patienceMs: 60_000, environment: {}, ...given }
}

/** Does all jobs of a plan. */
export async function runNight(
  fleet: Fleet,
  text: string,
  { files = [], allowed = null }: { files?: string[]; allowed?: string[] | null } = {},
): Promise<NightOverview> {
  const plan = readPlan(text, 'test')
  expectPossiblePlan(plan)
  const { store, queue } = fleet
  const { night } = await submit(store, queue, { plan, files, version: 'test' })
  const options = { atOnce: 2, leaseMs: 5000, allowed, leavesRefused: false, command: jobProgram() }
  const worker = new FleetWorker(store, queue, options)
  try {
    await awaitEnd(store, queue, night.id, new AbortController().signal, () => {})
  } finally {
    await worker.close()
  }
  return readOverview(store, (await store.findNight(night.id))!)
}

export const openIn = (data: string, given: Partial<FleetPlace> = {}) =>
  openFleet(placeIn(data, given), 'make')
