// Runs the built command line as a user does: whole processes, wall clock, peak memory.

import { execFileSync, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

const BIN = join(resolve(import.meta.dirname, '..'), 'bin/isobar.js')

interface Sample {
  seconds: number
  /** Processor time, which a busy machine changes less than wall clock. */
  cpuSeconds: number
  peakMb: number
  /** What it printed. */
  output: string
}

export interface Measured {
  bestS: number
  medianS: number
  cpuS: number
  peakMb: number
}

/** With what the last run printed. */
export interface MeasuredRun extends Measured {
  output: string
}

export function generate(file: string, flags: readonly string[]): void {
  execFileSync(
    process.execPath,
    [BIN, 'generate', file, '--force', '--shape', 'general', ...flags],
    { stdio: 'ignore' },
  )
}

/** The process tells its own peak memory and processor time on the way out. */
const HOOK = `data:text/javascript,${encodeURIComponent(
  `process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('peak '+u.maxRSS+' cpu '+(u.userCPUTime+u.systemCPUTime))})`,
)}`

/**
 * @param cores which cores it may use, as taskset has it; null for all
 * @param bin the program, of this checkout or of another one
 */
export function sampleCheck(
  file: string,
  args: readonly string[],
  cores: string | null = null,
  mayBeUnknown = false,
  bin = BIN,
): Sample {
  const node = [process.execPath, '--import', HOOK, bin, 'check', file, '--json', ...args]
  const [program, ...rest] = cores === null ? node : ['taskset', '-c', cores, ...node]
  const started = performance.now()
  const child = spawnSync(program!, rest, { encoding: 'utf8', maxBuffer: 1 << 30 })
  const seconds = (performance.now() - started) / 1000
  const expected = mayBeUnknown ? [0, 1, 3] : [0, 1]
  if (!expected.includes(child.status ?? -1)) throw new Error(child.stderr)
  const told = /peak (\d+) cpu (\d+)/.exec(child.stderr)
  const [peak, cpu] = [Number(told?.[1] ?? 0), Number(told?.[2] ?? 0)]
  return { seconds, cpuSeconds: cpu / 1e6, peakMb: peak / 1024, output: child.stdout }
}

export function measureCheck(
  file: string,
  args: readonly string[],
  runs: number,
  cores: string | null = null,
  mayBeUnknown = false,
): MeasuredRun {
  const samples = Array.from({ length: runs }, () => sampleCheck(file, args, cores, mayBeUnknown))
  const sorted = (pick: (sample: Sample) => number) => samples.map(pick).sort((a, b) => a - b)
  const seconds = sorted((each) => each.seconds)
  return {
    bestS: seconds[0]!,
    medianS: seconds[runs >> 1]!,
    cpuS: sorted((each) => each.cpuSeconds)[runs >> 1]!,
    peakMb: Math.max(...samples.map((each) => each.peakMb)),
    output: samples[runs - 1]!.output,
  }
}

/**
 * Seconds that a peer takes, whose command is in the environment; null if there is none.
 * @param variable that holds it, e.g. 'peer -i {level} {file}'
 */
export function measurePeer(level: string, file: string, variable = 'ISOBAR_PEER'): number | null {
  const command = process.env[variable]
  if (!command) return null
  const [program, ...args] = command
    .split(' ')
    .map((word) => word.replace('{level}', level).replace('{file}', file))
  const started = performance.now()
  const child = spawnSync(program!, args, { stdio: 'ignore' })
  return child.error ? null : (performance.now() - started) / 1000
}

/** Seconds that md5sum takes for the file, a unit that travels between machines; null without it. */
export function measureUnit(file: string): number | null {
  let best: number | null = null
  for (let run = 0; run < 3; run++) {
    const started = performance.now()
    const child = spawnSync('md5sum', [file], { stdio: 'ignore' })
    if (child.error) return null
    best = Math.min(best ?? Number.POSITIVE_INFINITY, (performance.now() - started) / 1000)
  }
  return best
}
