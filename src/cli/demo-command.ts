// `isobar demo`: what this is for, in a minute: a real PostgreSQL keeps its word at SERIALIZABLE, and
// shows a write skew at REPEATABLE READ. Nothing stays but the directory with the reports.

import { existsSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { Outputs } from '../files/output.ts'
import { type Demo, type DemoOptions, type DemoStep, demonstrate, serOf } from '../pipeline/demo.ts'
import { Interrupted } from '../pipeline/run.ts'
import { EmbeddedServer } from '../record/embedded/server.ts'
import { postgresTarget } from '../record/postgres/target.ts'
import { newRunDirectory } from '../record/run-directory.ts'
import { plain } from '../report/names.ts'
import { tellAnomalies } from '../report/text.ts'
import { quoteCommand } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import { ReportFiles } from './report-files.ts'
import { RunLine } from './run-line.ts'
import { Interrupt } from './signals.ts'
import { coloursFor, print } from './terminal.ts'
import { VERSION } from './version.ts'

const PARENT = 'isobar-runs'
/** The write skew is there at the first attempt, but for machines that do one thing at a time. */
const PATIENCE_MS = 45_000

export function addDemoCommand(program: Command, done: (code: number) => void): void {
  program
    .command('demo')
    .description('see in a minute what this is for, on a PostgreSQL of its own')
    .addHelpText(
      'after',
      `
Starts a PostgreSQL server (from npm, gone afterwards) and runs the same transactions twice: at
SERIALIZABLE, which holds, and at REPEATABLE READ, where two of them miss each other: a write skew.
Only a directory below ${PARENT}/ stays, with both histories, verdicts and reports.

Exit codes: 0 it came out so, 70 it did not (and what differed), 4 there is no server.

Examples:
  isobar demo
  isobar explain write-skew          what that is, and what to do about it`,
    )
    .action(async () => done(await demo()))
}

const COMMANDS = {
  run: 'isobar demo',
  check: (path: string) => quoteCommand(['isobar', 'check', path, '--level', 'ser']),
}

/** A server to show it on; `close` undoes it. */
export interface DemoServer {
  readonly target: DemoOptions['target']
  close(): Promise<void>
}

export interface DemoSettings
  extends Partial<Pick<DemoOptions, 'patienceMs' | 'sessions' | 'transactions'>> {
  start?: () => Promise<DemoServer>
  /** Directory for that of the reports. */
  parent?: string
}

/** Runs it and tells it; the exit code. */
export async function demo({
  start = startEmbedded,
  parent = PARENT,
  ...sizes
}: DemoSettings = {}): Promise<number> {
  const directory = newRunDirectory(parent, 'demo')
  const discard = discarder(directory)
  const line = new RunLine()
  const interrupt = new Interrupt(0)
  process.on('exit', discard)
  interrupt.listen()
  let server: DemoServer | null = null
  try {
    line.phase('starting')
    server = await start()
    const shown = await demonstrate({
      patienceMs: PATIENCE_MS,
      ...sizes,
      target: server.target,
      directory,
      signal: interrupt.signal,
      onPhase: (phase, name) => {
        line.phase(phase, name)
        // Judging does not listen: then a signal ends the program at once.
        interrupt.setPatience(phase === 'running' ? null : 0)
      },
      version: VERSION,
      commands: COMMANDS,
    })
    line.done()
    if (shown === null) return endBy(interrupt, discard)
    for (const step of [shown.safe, shown.unsafe]) await writeReport(step)
    process.off('exit', discard)
    await print(renderDemo(shown, directory))
    return shown.differences.length === 0 ? EXIT.satisfied : EXIT.internal
  } catch (error) {
    discard()
    if (!(error instanceof Interrupted)) throw error
    return interrupt.exitCode
  } finally {
    line.done()
    await server?.close()
    interrupt.ignore()
    process.off('exit', discard)
  }
}

function endBy(interrupt: Interrupt, discard: () => void): number {
  discard()
  return interrupt.exitCode
}

/** Removes what was made of the directory, and the one above it if that is new and empty. */
function discarder(directory: string): () => void {
  const parent = dirname(directory)
  const isNew = !existsSync(parent)
  return () => {
    rmSync(directory, { recursive: true, force: true })
    if (!isNew) return
    try {
      rmdirSync(parent)
    } catch {
      // Somebody else uses it meanwhile, or it was not made.
    }
  }
}

async function startEmbedded(): Promise<DemoServer> {
  const server = await EmbeddedServer.start()
  const target = postgresTarget(server.address)
  return { target: () => target, close: () => server.stop() }
}

async function writeReport({ directory, outcome }: DemoStep): Promise<void> {
  const files = new ReportFiles({}, new Outputs(), join(directory, 'report.html'))
  await files.add(outcome.judged!.verdict, outcome.judged!.history)
}

function renderDemo({ safe, unsafe, skew, differences }: Demo, directory: string): string {
  const colours = coloursFor(process.stdout)
  const { history } = unsafe.outcome.judged!
  const lines = [
    `${safe.outcome.summary.database.name}: doctors are on call in pairs, and each may leave if the other`,
    'one stays. A transaction reads both rows, and writes one of them.',
    '',
    tellStep(safe),
    tellStep(unsafe),
  ]
  if (skew !== null) {
    const result = { ...serOf(unsafe)!, anomalies: [skew] }
    lines.push(...tellAnomalies(history, result, new Map(), { colours }))
  }
  if (differences.length === 0) {
    lines.push(
      'So it is: SERIALIZABLE keeps its word, and REPEATABLE READ does not promise that much.',
      `What to do about it: ${colours.strong('isobar explain write-skew')}`,
    )
  }
  for (const difference of differences) lines.push(`${colours.bad('differs:')} ${difference}`)
  lines.push(
    '',
    `report  ${pathToFileURL(join(unsafe.directory, 'report.html')).href}`,
    `files   ${plain(directory)}`,
  )
  return `${lines.join('\n')}\n`
}

function tellStep(step: DemoStep): string {
  const colours = coloursFor(process.stdout)
  const { recorded, aborted } = step.outcome.summary.transactions
  const { verdict } = serOf(step)!
  const paint = verdict === 'satisfied' ? colours.good : colours.bad
  const counts = `${counted(recorded, 'transaction')}, ${aborted} of them refused`
  return `${step.name.padEnd(15)} ${counts}: serializability is ${paint(verdict)}`
}
