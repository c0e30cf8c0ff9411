// `isobar run`: stresses a database, records what its clients saw, judges the record.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { parseDuration } from '../base/quantities.ts'
import { hintFor } from '../base/slips.ts'
import { Outputs } from '../files/output.ts'
import { LEVELS, type LevelId, type LevelRequest, levelName } from '../levels/levels.ts'
import {
  findRequest,
  readDatabaseLevel,
  readLevelBeside,
  translateLevels,
} from '../levels/words.ts'
import { tellLack } from '../pipeline/concurrency.ts'
import { Interrupted, type RunOutcome, run } from '../pipeline/run.ts'
import type { RunOptions } from '../pipeline/run-options.ts'
import { describeAsked, renderSummary } from '../pipeline/run-summary.ts'
import { isLightweight, isSql } from '../pipeline/run-work.ts'
import { FAULT_FORMS, type FaultPlan, parseFaultPlan } from '../record/faults.ts'
import { newRunDirectory } from '../record/run-directory.ts'
import { SIM_FAULTS } from '../record/sim/target.ts'
import type { Target } from '../record/target.ts'
import { parseTarget, TARGETS } from '../record/targets.ts'
import { parseTimetable } from '../record/trouble.ts'
import { loadTransactionFunction } from '../record/work.ts'
import { plain } from '../report/names.ts'
import { renderText } from '../report/text.ts'
import { isSqlShape } from '../workload/sql/parameters.ts'
import { quoteCommand } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import {
  ABORTED_READS,
  parseChoice,
  parseNumber,
  parseRequests,
  readNamed,
  readPassword,
  type Switches,
  splitList,
  type Texts,
} from './options.ts'
import { PRESETS, withPreset } from './presets.ts'
import { addReportOptions, ReportFiles, type ReportFlags } from './report-files.ts'
import { RunLine } from './run-line.ts'
import { RunWatch } from './run-watch.ts'
import { Interrupt } from './signals.ts'
import { runSweep } from './sweep.ts'
import { coloursFor, print, tell } from './terminal.ts'
import { VERSION } from './version.ts'
import {
  ALL_SHAPES,
  addWorkloadOptions,
  levelsChoice,
  readShape,
  readWorkload,
  shapeOf,
  type WorkloadFlags,
} from './workload-options.ts'

type Flags = ReportFlags &
  WorkloadFlags &
  Texts<'workload' | 'shape' | 'duration' | 'dbLevel' | 'level' | 'rate' | 'timetable'> &
  Texts<'preset' | 'threads' | 'passwordFile' | 'out' | 'until' | 'budget'> &
  Record<'abortedReads' | 'retries' | 'replicas' | 'patience', string> &
  Record<'fault' | 'serverSetting' | 'sweep', string[]> &
  Switches<'commitOrder' | 'watch' | 'json'>

export function addRunCommand(program: Command, done: (code: number) => void): void {
  const presets = Object.entries(PRESETS).map(([name, { about }]) => `${name}, ${about}`)
  const command = program
    .command('run')
    .description('stress a database, record what its clients saw, and judge it')
    .argument('[target]', TARGETS.map(({ form }) => form).join(', '), 'embedded')
    .optionsGroup('What is asked of the database:')
    .option(
      '--db-level <id>',
      'isolation level asked of the database, by our id or by its own name, e.g. "repeatable read" (ser; of sim: its own); of SQL, also two such as ser+rc, the first for transactions that matter, or mixed',
    )
    .addOption(repeated('--fault <fault>', FAULT_FORMS.join(', ')))
    .option('--timetable <file>', 'faults at their times, a line each, e.g. 12s kill-server')
    .option(
      '--replicas <n>',
      'start the embedded server with so many replicas, which half of the sessions read from',
      '0',
    )
    .addOption(repeated('--server-setting <name=value>', 'a setting of the embedded server'))
    .option(
      '--commit-order',
      'PostgreSQL: the history tells the order of commits, too, by the log of the server (wal_level=logical), and is judged with it',
    )
    .option('--patience <time>', 'how long the database may stay away', '15s')
    .option('--password-file <file>', 'where the password of the database is')
    .optionsGroup('Transactions:')
    .option('--preset <name>', `options that go well together: ${presets.join('; ')}`)
    .option('--shape <name>', `kind of transactions (${ALL_SHAPES.join(', ')})`)
    .option('-w, --workload <name>', 'the same, or a module of your own')
  addWorkloadOptions(command)
    .option('--duration <time>', 'run for this long instead of --transactions, e.g. 30s')
    .option('--rate <n>', 'at most so many transactions a second')
    .option('--retries <n>', 'try an aborted transaction again, as a new one', '0')
    .option('--threads <n>', 'threads that sessions run in (2 of PostgreSQL where that pays)')
    .addOption(
      repeated(
        '--sweep <option=values>',
        'one run for each value, e.g. sessions=2,4,8 (any option that is a number or a time, two at most): a table, --csv and --svg of throughput, aborts, times and memory',
      ),
    )
    .optionsGroup('What is judged:')
    .option(
      '-l, --level <ids>',
      `levels to judge (${LEVELS.map((l) => l.id).join(', ')}), or as in check`,
    )
    .option(
      '--aborted-reads <judge|ignore>',
      'SQL: whether what a transaction read that rolled itself back is judged at its level',
      'judge',
    )
    .option('--watch', 'judge while it happens, too, with an alarm when rc, ra or cc is violated')
    .option('--until <violated>', 'end the run at the first such alarm')
    .option('--budget <time>', 'give up judging after this long with verdict unknown, e.g. 60s')
    .optionsGroup('Output:')
    .option('--out <dir>', 'directory for history, verdict and summary (below isobar-runs/)')
    .option('--json', 'print summary and verdict as one JSON object')
  addReportOptions(command, 'where the HTML page goes (report.html in the directory)')
    .addHelpText('after', HELP)
    .action(async (target: string, flags: Flags) => {
      const isOne = flags.sweep.length === 0
      if (isOne) return done(await runTarget(target, withPreset(flags, flags.preset)))
      done(await runSweep(command, flags.sweep, { ...flags, target }, process.argv.slice(2)))
    })
}

/** An option that may be given several times. */
function repeated(flags: string, about: string): Option {
  const collect = (text: string, before: string[]) => [...before, text]
  return new Option(flags, about).argParser(collect).default([], 'none')
}

const HELP = `
Targets:
${TARGETS.map(({ form, about }) => `  ${form.padEnd(36)}${about}`).join('\n')}

Without --level, what was asked of the database is judged, and the profile is shown with it; SQL
transactions are judged each at the level that it asked for (level mixed).
Exit codes as of check: 0 satisfied, 1 violated, 3 unknown; 4 if the database cannot be used.
PostgreSQL's REPEATABLE READ is si, READ COMMITTED rc, SERIALIZABLE ser.
A password may stand in PGPASSWORD, in a file, or in ~/.pgpass: command lines are public.
A workload of one's own exports async function transaction(session, random, transaction), where
transaction has read(key), write(key), readList(key), append(key), and keys are below --keys.
Node loads JavaScript; for TypeScript set NODE_OPTIONS='--import tsx', or use a Node that strips types.
Faults of a simulated store: ${SIM_FAULTS.join(', ')}.

Examples:
  isobar run                                      a real PostgreSQL from npm, at serializable
  isobar run --db-level rc --level si             READ COMMITTED loses updates: see it happen
  isobar run postgres://me@db.example/test --duration 60s --sessions 50
  isobar run --fault kill-connection:5%           cut connections before, during and after COMMIT
  isobar run --shape tpcc --db-level ser+rc --sessions 10 --transactions 100 --seed 1
                                                  SQL transactions, some at ser and some at rc
  isobar run --shape twitter --db-level rc --level ser
  isobar run --aim write-skew --db-level si --level ser
                                                  transactions and timing made for one anomaly
  isobar run sim:si+lost-update --level si        a simulated store with a known fault
  isobar run sim:cc+causality-violation --duration 1h --until violated
                                                  judged while it happens, ends at the first alarm
  isobar run --sweep sessions=2,4,8,16 --csv sweep.csv --svg sweep.svg`

async function runTarget(text: string, flags: Flags): Promise<number> {
  const named = parseTarget(text, process.env, readPassword(flags.passwordFile))
  const target = withReplicas(named, parseNumber('replicas', flags.replicas, 0))
  const levels = requestsOf(flags, target)
  const line = new RunLine()
  const interrupt = new Interrupt(0)
  const workload = await workloadOf(flags)
  const dbLevel = dbLevelOf(flags, target, workload.workload.shape ?? 'own')
  const directory =
    flags.out ?? newRunDirectory('isobar-runs', flags.levelsFile ? 'by-type' : dbLevel)
  if (directory.trim() === '') throw new UsageError('--out names no directory: it is empty')
  const report = flags.report ?? join(directory, 'report.html')
  const outputs = outputsOf(flags, workload)
  const files = new ReportFiles(flags, outputs, report)
  const watch = watchOf(flags, directory, { ...workload, dbLevel, levels }, line)
  const options: RunOptions = {
    target,
    ...workload,
    dbLevel,
    levels,
    durationMs: flags.duration === undefined ? null : parseDuration(flags.duration),
    rate: flags.rate === undefined ? null : parseNumber('rate', flags.rate, 0.001),
    ...{ retries: parseNumber('retries', flags.retries, 0), threads: threadsOf(flags) },
    faults: readFaults(flags),
    ...{ serverSettings: parseSettings(flags.serverSetting), commitOrder: flags.commitOrder },
    patienceMs: parseDuration(flags.patience),
    directory,
    outputs,
    check: {
      onTick: line.tick,
      abortedReads: parseChoice(flags.abortedReads, '--aborted-reads', ABORTED_READS),
      budgetMs: flags.budget === undefined ? null : parseDuration(flags.budget),
    },
    signal: interrupt.signal,
    enough: watch?.signal,
    onPhase: (phase) => {
      line.phase(phase)
      if (phase === 'running') watch?.start()
      else watch?.stop()
      interrupt.setPatience(phase === 'starting' ? target.tidyMs : null)
      // Judging does not listen to signals, and leaves nothing behind: let them end the program.
      if (phase === 'reading') interrupt.ignore()
    },
    onProgress: (progress) => line.progress(progress, options),
    version: VERSION,
    commands: {
      run: quoteCommand(['isobar', ...process.argv.slice(2)]),
      check: (path) => checkCommand(path, flags, target, isSql(options)),
    },
  }
  interrupt.listen() // all files are read: one may be a pipe that nobody writes to
  try {
    const outcome = await run(options)
    line.done()
    if (outcome.judged) await files.add(outcome.judged.verdict, outcome.judged.history)
    await files.finish()
    const decisive = levels?.map(({ level }) => level) ?? decisiveLevels(options)
    if (flags.json) await print(renderOutcomeJson(outcome))
    else if (!outputs.ownsStandardOutput) await tell(renderOutcome(outcome, decisive, report))
    return outcome.judged ? exitCode(outcome, decisive) : interrupt.exitCode
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    process.stderr.write('isobar: interrupted before anything was recorded\n')
    return interrupt.exitCode
  } finally {
    watch?.stop()
    line.done()
    interrupt.ignore()
  }
}

/** The command that judges what was recorded. */
function checkCommand(path: string, flags: Flags, target: Target, isSqlRun: boolean): string {
  const asked = wordsForCheck(flags, target) ?? (isSqlRun ? 'mixed' : null)
  const level = asked === null ? [] : ['--level', asked]
  const ignoring = flags.abortedReads === 'ignore' ? ['--aborted-reads', 'ignore'] : []
  return quoteCommand(['isobar', 'check', path, ...level, ...ignoring])
}

/** What judges the run while it happens, null if nothing is to. Throws UsageError. */
function watchOf(
  { watch, until }: Flags,
  directory: string,
  options: Pick<RunOptions, 'workload' | 'ownWorkload' | 'dbLevel'> & {
    levels: readonly LevelRequest[] | null
  },
  line: RunLine,
): RunWatch | null {
  if (until !== undefined) parseChoice(until, '--until', ['violated'])
  if (watch !== true && until === undefined) return null
  if (isSql(options) || isLightweight(options)) {
    const hint = 'it is for reads and writes of registers: churn, mini, general'
    throw new UsageError('--watch does not judge this workload', hint)
  }
  const levels = options.levels ?? [{ level: options.dbLevel as LevelId }]
  return new RunWatch(join(directory, 'history.jsonl'), levels, until !== undefined, (text) => {
    line.done()
    process.stderr.write(`isobar: ${text}\n`)
  })
}

/** Throws UsageError where replicas cannot be started. */
function withReplicas(target: Target, count: number): Target {
  if (count === 0) return target
  if (target.withReplicas) return target.withReplicas(count)
  throw new UsageError(
    '--replicas is for the embedded server',
    'name all nodes of a cluster of your own in one address: postgres://user@one,two/database',
  )
}

/** Those that are named, and those of the timetable. Throws UsageError. */
function readFaults({ fault, timetable }: Flags): FaultPlan {
  const plan = parseFaultPlan(fault)
  if (timetable === undefined) return plan
  const text = readNamed(timetable, 'timetable')
  return { ...plan, events: [...plan.events, ...parseTimetable(text, plain(timetable))] }
}

function threadsOf({ threads }: Flags): number | undefined {
  return threads === undefined ? undefined : parseNumber('threads', threads, 1)
}

function parseSettings(texts: readonly string[]): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const text of texts) {
    const [, name, value] = /^([a-z_][a-z0-9_.]*)=(.*)$/is.exec(text) ?? []
    if (name === undefined || value === undefined) {
      const hint = 'write it as --server-setting max_connections=22'
      throw new UsageError(`cannot understand the setting "${text}"`, hint)
    }
    settings[name] = value
  }
  return settings
}

function outputsOf(flags: Flags, { ownWorkload }: Pick<RunOptions, 'ownWorkload'>): Outputs {
  const outputs = new Outputs(flags.force)
  for (const path of [flags.passwordFile, flags.timetable, ownWorkload?.path]) {
    if (path !== undefined) outputs.read(path)
  }
  if (flags.json) outputs.claim('-', '--json')
  return outputs
}

/** The levels to judge; a name with several meanings is the target's. */
function requestsOf({ level }: Flags, { levels }: Target): LevelRequest[] | null {
  return level === undefined ? null : parseRequests(level, (word) => readLevelBeside(word, levels))
}

/** The levels asked for, in words that `check` takes, which knows no target to read names by. */
function wordsForCheck({ level }: Flags, { levels }: Target): string | null {
  const words = level === undefined ? null : splitList(level)
  const known = words?.map((word) =>
    findRequest(word) ? word : readLevelBeside(word, levels).level,
  )
  return known?.join(',') ?? null
}

/** The levels by which a run stands or falls if none is named. */
function decisiveLevels(options: RunOptions): LevelId[] {
  if (isSql(options)) return ['mixed']
  const asked = options.dbLevel as LevelId
  return isLightweight(options) ? [asked, 'lin'] : [asked]
}

function dbLevelOf(flags: Flags, target: Target, shape: string): string {
  const read = (word: string) => readDatabaseLevel(word, target.product, target.levels)
  const text = levelsChoice('--db-level', flags.dbLevel, flags, shape, read)
  if (text === null) return target.usualLevel
  return isSqlShape(shape) ? translateLevels(text, read) : read(text)
}

async function workloadOf(flags: Flags): Promise<Pick<RunOptions, 'workload' | 'ownWorkload'>> {
  const name = workloadName(flags)
  const workload = readShape(name, flags)
  if (workload !== null) return { workload, ownWorkload: null }
  const path = resolve(name)
  if (!existsSync(path)) {
    const hint = `${hintFor(name, ALL_SHAPES)}, or the path of a module of your own`
    throw new UsageError(`unknown workload "${name}"`, hint)
  }
  const run = await loadTransactionFunction(path)
  return { workload: readWorkload(flags), ownWorkload: { path, run } }
}

function workloadName(flags: Flags): string {
  const { workload, shape } = flags
  if (workload !== undefined && shape !== undefined && workload !== shape) {
    throw new UsageError('--workload and --shape are the same option', 'give one of them')
  }
  return shapeOf(workload ?? shape, flags)
}

function renderOutcome(outcome: RunOutcome, decisive: readonly LevelId[], report: string): string {
  const { summary, judged, paths, stoppedBy } = outcome
  const colours = coloursFor(process.stdout)
  const parts = [renderSummary(summary)]
  if (stoppedBy instanceof Error) {
    parts.push(`${colours.bad('the run ended early:')} ${stoppedBy.message}\n`)
  }
  if (judged) {
    const title = `what clients saw of a database asked for ${describeAsked(summary.level.asked)}:`
    parts.push('\n', renderText(judged.history, judged.results, { colours, title }), '\n')
  } else {
    parts.push(`interrupted; judge what was recorded with: isobar check ${plain(paths.history)}\n`)
  }
  const files = { ...paths, report: judged ? report : null }
  for (const [name, path] of Object.entries(files)) {
    if (path !== null) parts.push(`${colours.faint(name.padEnd(8))} ${plain(path)}\n`)
  }
  for (const { level, verdict } of judged?.results ?? []) {
    if (!decisive.includes(level)) continue
    const paint = verdict === 'satisfied' ? colours.good : colours.bad
    const lack = verdict === 'satisfied' ? tellLack(summary.concurrency) : null
    const but = lack === null ? '' : `, but ${lack}: this says little`
    parts.push(`${levelName(level)} (${level}): ${paint(verdict)}${but}\n`)
  }
  return parts.join('')
}

function renderOutcomeJson(outcome: RunOutcome): string {
  const { summary, judged, paths } = outcome
  const verdict = judged ? stringify(judged.verdict) : 'null'
  return `{"run":${JSON.stringify(summary)},"paths":${JSON.stringify(paths)},"verdict":${verdict}}\n`
}

function exitCode(outcome: RunOutcome, levels: readonly LevelId[]): number {
  const { judged, stoppedBy } = outcome
  if (!judged) return EXIT.unknown
  const verdicts = judged.results.filter((result) => levels.includes(result.level))
  if (verdicts.some((result) => result.verdict === 'violated')) return EXIT.violated
  if (stoppedBy instanceof Error) return EXIT.database
  const isKnown = verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === 'satisfied')
  return isKnown ? EXIT.satisfied : EXIT.unknown
}
