// Runs for tests: in a directory of their own that is gone afterwards, with small defaults.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RunOutcome, run } from '../../src/pipeline/run.ts'
import type { RunOptions } from '../../src/pipeline/run-options.ts'
import { NO_FAULTS, parseFaultPlan } from '../../src/record/faults.ts'
import type { RunProgress } from '../../src/record/runner.ts'
import type { Target } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'

export interface StageOptions extends Partial<Omit<RunOptions, 'target' | 'faults'>> {
  target: string | Target
  fault?: string
}

/** Makes a run and hands its outcome to `look` before the files are removed. */
export async function stage<T>(
  given: StageOptions,
  look: (outcome: RunOutcome) => T | Promise<T>,
): Promise<T> {
  return inDirectory(async (directory) => {
    const { target, fault, ...rest } = given
    const outcome = await run({
      workload: {},
      ownWorkload: null,
      dbLevel: 'ser',
      levels: null,
      durationMs: null,
      rate: null,
      retries: 0,
      patienceMs: 60_000,
      directory: join(directory, 'run'),
      check: {},
      signal: null,
      onPhase: () => {},
      onProgress: null,
      version: 'test',
      ...rest,
      target: typeof target === 'string' ? parseTarget(target) : target,
      faults: fault === undefined ? NO_FAULTS : parseFaultPlan([fault]),
    })
    return look(outcome)
  })
}

/**
 * Something that happens in the middle of a run, `times` times, each after so many more commits;
 * once there were commits after the last, the run ends and is judged.
 */
export function midway(commits: number, happens: () => Promise<unknown>, times = 1) {
  const enough = new AbortController()
  let due = commits
  let happened = 0
  let current: Promise<unknown> | null = null
  const onProgress = ({ committed }: RunProgress) => {
    if (current !== null || committed < due) return
    if (happened === times) return enough.abort()
    current = happens().then(() => {
      current = null
      happened++
      due = Math.max(due, committed) + commits
    })
    // A run that nothing can happen in has to end as well: `done` says why.
    current.catch(() => enough.abort())
  }
  const done = async () => {
    await current
    return happened
  }
  return { options: { onProgress, enough: enough.signal }, done }
}

export async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The verdicts of an outcome, by level. */
export function verdictsOf(outcome: RunOutcome): Record<string, string> {
  return Object.fromEntries(outcome.judged!.results.map(({ level, verdict }) => [level, verdict]))
}

/** Starts the command line as it was built. */
export function startCli(args: readonly string[], env: Record<string, string> = {}) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const child = spawn(process.execPath, [join(root, 'bin/isobar.js'), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }))
  })
  return { child, ended }
}

export async function eventually(truth: () => boolean, withinMs = 60_000): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs && !truth(); waitedMs += 25) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return truth()
}
