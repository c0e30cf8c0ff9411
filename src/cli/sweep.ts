// `isobar run --sweep`: the same run at several values of one or two options. Each is a process of
// its own, so that its memory is its own, with a directory of its own; what came of all of them is
// shown as a table, and as a spreadsheet and a chart if asked. Main function: runSweep.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { Outputs } from '../files/output.ts'
import type { RunSummary } from '../pipeline/run-summary.ts'
import {
  MEASURES,
  type Measured,
  type Point,
  parseSweeps,
  pointsOf,
  type Sweep,
  tabulate,
} from '../pipeline/sweep.ts'
import { newRunDirectory } from '../record/run-directory.ts'
import { alignRows } from '../report/align.ts'
import { renderRows } from '../report/csv.ts'
import { plain } from '../report/names.ts'
import { EXIT, worse } from './exit-codes.ts'
import type { ReportFlags } from './report-files.ts'
import { Interrupt } from './signals.ts'
import { StatusLine } from './status-line.ts'
import { tell } from './terminal.ts'

export interface SweepFlags extends ReportFlags {
  target: string
  out?: string
  json?: boolean
}

/** Options that are about a single run, and have no meaning for several. */
const OF_ONE_RUN = ['report', 'open', 'dot', 'junit', 'summary', 'trace', 'json'] as const
/** Options of the sweep itself, which its runs do not get. */
const OF_THE_SWEEP = ['--sweep', '--csv', '--svg', '--out']

/**
 * @param command whose options are swept: those that are numbers, or times (in seconds)
 * @param argv the command line, from which those of the runs are made
 */
export async function runSweep(
  command: Command,
  texts: readonly string[],
  flags: SweepFlags,
  argv: readonly string[],
): Promise<number> {
  const numbers = command.options.filter((option) => /<(n|share|time)>/.test(option.flags))
  const sweeps = parseSweeps(
    texts,
    numbers.map((option) => option.name()),
  )
  for (const name of OF_ONE_RUN) {
    if (flags[name] === undefined) continue
    const hint = 'a sweep writes --csv and --svg; its runs are in directories below --out'
    throw new UsageError(`--${name} is about one run, and a sweep has several`, hint)
  }
  for (const { name } of sweeps) {
    if (!argv.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))) continue
    throw new UsageError(`--${name} is given and swept`, 'give one of them')
  }
  const outputs = new Outputs(flags.force)
  const csv = flags.csv === undefined ? null : outputs.claim(flags.csv, '--csv')
  const svg = flags.svg === undefined ? null : outputs.claim(flags.svg, '--svg')
  const directory = flags.out ?? newRunDirectory('isobar-runs', 'sweep')
  const line = new StatusLine()
  const interrupt = new Interrupt(null)
  interrupt.listen()
  const runs: Measured[] = []
  let code: number = EXIT.satisfied
  try {
    const points = pointsOf(sweeps)
    for (const [number, point] of points.entries()) {
      const name = nameOf(point)
      line.show(`${name}: run ${number + 1} of ${points.length}`)
      const out = join(directory, name)
      const ended = await runChild(childArguments(argv, point, out), interrupt.signal)
      if (interrupt.signal.aborted || !isVerdict(ended)) {
        code = interrupt.signal.aborted ? interrupt.exitCode : ended
        break
      }
      code = worse(code, ended)
      const summary = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')) as RunSummary
      runs.push({ point, summary })
    }
  } finally {
    line.done()
    interrupt.ignore()
  }
  // What was measured before a run failed is worth having.
  if (runs.length === 0) return code
  const table = tabulate(sweeps, runs)
  csv?.writeText(renderRows(table))
  svg?.writeText(await drawSweep(sweeps, runs))
  if (!outputs.ownsStandardOutput) {
    const lines = [...alignRows(table, 'right'), `runs      ${plain(directory)}`]
    await tell(`${lines.join('\n')}\n`)
  }
  return code
}

function isVerdict(code: number): boolean {
  return code === EXIT.satisfied || code === EXIT.violated || code === EXIT.unknown
}

/** `sessions=4,keys=100`. */
function nameOf(point: Point): string {
  return [...point].map(([name, value]) => `${name}=${value}`).join(',')
}

function childArguments(argv: readonly string[], point: Point, out: string): string[] {
  const args: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const [name] = argv[i]!.split('=', 1)
    if (!OF_THE_SWEEP.includes(name!)) args.push(argv[i]!)
    else if (argv[i] === name) i++ // its value is the next word
  }
  for (const [name, value] of point) args.push(`--${name}`, String(value))
  return [...args, '--out', out, '--quiet']
}

/** Runs this program again; returns how it ended. What it complains of is shown as it comes. */
function runChild(args: readonly string[], signal: AbortSignal): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop)
      resolve(code ?? EXIT.internal)
    })
  })
}

async function drawSweep(sweeps: readonly Sweep[], runs: readonly Measured[]): Promise<string> {
  const { renderCharts } = await import('../report/picture/chart.ts')
  const [axis, series] = [sweeps[0]!, sweeps[1]]
  const isMeasured = (sweep: Sweep) => (value: number) =>
    runs.some(({ point }) => isAt(point, sweep, value))
  const places = axis.values.filter(isMeasured(axis)).sort((a, b) => a - b)
  const lines = series ? series.values.filter(isMeasured(series)) : [null]
  const valuesOf = (line: number | null, of: (summary: RunSummary) => number) =>
    places.flatMap((place) => {
      const run = runs.find(
        ({ point }) => isAt(point, axis, place) && (line === null || isAt(point, series!, line)),
      )
      return run ? [of(run.summary)] : []
    })
  return renderCharts({
    title: `${runs[0]!.summary.database.name}, ${runs[0]!.summary.level.granted}`,
    axis: axis.name,
    places,
    names: lines.map((line) => (line === null ? '' : `${series!.name} ${line}`)),
    charts: MEASURES.map(({ title, of }) => ({
      title,
      series: lines.map((line) => valuesOf(line, of)),
    })),
  })
}

function isAt(point: Point, { name }: Sweep, value: number): boolean {
  return point.get(name) === value
}
