// `isobar check`: reads histories, judges them, prints verdicts. One bad input does not stop the
// rest.

import type { Command } from 'commander'
import { Deadline, nowMs } from '../base/deadline.ts'
import { BudgetExceeded, InputError, UsageError } from '../base/errors.ts'
import { stringifyLine } from '../base/json.ts'
import { parseDuration, parseSize } from '../base/quantities.ts'
import { hintFor } from '../base/slips.ts'
import { judge } from '../check/judge.ts'
import type { CheckOptions } from '../check/options.ts'
import { type Output, Outputs } from '../files/output.ts'
import { historyFilesIn, type ReadResult } from '../formats/open.ts'
import { renderNotation } from '../history/notation.ts'
import { LEVELS, type LevelRequest } from '../levels/levels.ts'
import { type Orders, parseOrders, withOrders } from '../levels/orders.ts'
import { describeVerdict, renderJsonError } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { tellText } from '../report/text.ts'
import { countHistory } from '../verdict/count-history.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { judgeBeyondMemory, showOnDisk } from './check-on-disk.ts'
import { quoteCommand, withoutSecrets } from './command-line.ts'
import { DirectorySummary } from './directory-summary.ts'
import { type EllePlan, isElleSyntax, judgeElle, parseElle } from './elle.ts'
import { EXIT, worse } from './exit-codes.ts'
import { addInputFormat, FORMAT_IDS, type InputFormatFlags } from './format-options.ts'
import {
  ABORTED_READS,
  parseAlgorithm,
  parseChoice,
  parseNumber,
  parseRequests,
  parseSwitch,
  parseTaps,
  sizeWords,
} from './options.ts'
import { filesOf, findHistories, type HistoryPath, isDirectory } from './paths.ts'
import { Progress } from './progress.ts'
import { readWithin } from './read-input.ts'
import { addReportOptions, ReportFiles, type ReportFlags } from './report-files.ts'
import { judgeTaps, TAP_RULES, type TapRule } from './taps.ts'
import { coloursFor, print, tell } from './terminal.ts'
import { withStrength } from './with-strength.ts'

interface Flags extends ReportFlags, InputFormatFlags {
  level?: string
  sessionOrder: string
  order?: string
  abortedReads: string
  json?: boolean
  elle?: string | boolean
  all?: boolean
  limit?: string
  tap?: string
  tapRule: string
  budget?: string
  memory?: string
  scratch?: string | false
  algorithm?: string
  certify: boolean
  certificate?: string
  notation?: boolean
  strength?: boolean
  allowEmpty?: boolean
}

/** Nobody reads more, and every one takes time and memory to be told. */
const ALL_LIMIT = 1000

export function addCheckCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('check')
    .description('judge histories: which isolation levels do they satisfy?')
    .argument('[path...]', 'files, directories, or - for standard input; .gz is read as it is')
    .optionsGroup('What is judged:')
    .option(
      '-l, --level <ids>',
      `levels to judge, e.g. rc,ra (${LEVELS.map((l) => l.id).join(', ')}), by Jepsen's names, or as a database has them: postgres:repeatable-read`,
    )
    .option('--session-order <on|off>', 'whether levels include session order', 'on')
    .option(
      '--order <orders>',
      'the orders that levels respect, whatever their names say: session, real-time, both with a comma, or none',
    )
    .option(
      '--aborted-reads <judge|ignore>',
      'SQL: whether what a transaction read that rolled itself back is judged at its level',
      'judge',
    )
    .option('--tap <letters>', 'judge chosen anomalous patterns, e.g. j,k')
    .option(
      '--tap-rule <isobar|plume>',
      'what patterns h to n mean: the weakest level that is violated, or the letters of Plume’s paper',
      'isobar',
    )
    .option('--allow-empty', 'let an empty history, or a directory without histories, pass')
  addInputFormat(command)
    .optionsGroup('How it is judged:')
    .option(
      '--budget <time>',
      'give up with verdict unknown after this long for each history, e.g. 60s: start and reading count',
    )
    .option(
      '--memory <size>',
      'hold no more than this, e.g. 8g: judge larger files on disk where that is possible (rc, ra, cc), else give up with verdict unknown',
    )
    .option('--scratch <dir>', 'where files larger than --memory are cut up, not the system’s own')
    .option('--no-scratch', 'judge nothing on disk')
    .option(
      '--algorithm <name>',
      'how strong levels, mixed and SQL are decided (auto, solve, search)',
    )
    .option('--no-certify', 'skip the independent verification of every verdict')
    .optionsGroup('What is printed:')
    .option(
      '--all',
      'list every anomaly, not one smallest example of each kind; of SQL also what was passed over',
    )
    .option('--strength', 'tell how often transactions met in the ways that anomalies take')
    .option('--limit <n>', `with --all, list at most so many of each kind (${ALL_LIMIT})`)
    .option('--json', 'one JSON object a history, one a line')
    .option('--elle [syntax]', 'print the outcome with the keys of Jepsen’s Elle, as edn or json')
    .option('--notation', 'print the transactions a verdict speaks of in notation, and only them')
    .optionsGroup('Files to write:')
    .option('--certificate <file>', 'write what --json prints, to be checked by isobar verify')
  addReportOptions(
    command,
    'write an HTML page: stories, lanes, graphs; of several histories an index and a page each',
  )
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], flags: Flags) =>
      done(await checkPaths(...settle(paths, flags))),
    )
}

const EXAMPLES = `
Without --level every level that applies is judged (the profile) and the exit code is 0.
With --level: 0 all satisfied, 1 some violated, 3 none violated but some unknown.
Nothing to check is no pass: an empty history or directory is exit 2, unless --allow-empty.

Examples:
  isobar check history.txt                     the profile: what does it satisfy?
  isobar check history.txt --level ra          judge one level, explain what violates it
  isobar check runs/ --level rc,ra,cc --json   many histories, one JSON object a line
  isobar check store/latest --elle             a Jepsen test, the answer as Elle gives it
  isobar check history.txt --report out.html --open   a page that shows what went wrong
  isobar check runs/ --report all.html --csv all.csv  an index and a table of many histories
  isobar check history.txt --strength          what is "satisfied" worth here?
  isobar check h.jsonl --tap j,k --all         every non-repeatable and fractured read
  cat h.txt.gz | isobar check -                from standard input`

/** What follows --elle may be the first path. */
function settle(paths: string[], flags: Flags): [string[], Flags] {
  const { elle } = flags
  const isPath = typeof elle === 'string' && !isElleSyntax(elle)
  const all = isPath ? [elle, ...paths] : paths
  if (all.length === 0) throw new UsageError('which history?', 'e.g. isobar check history.txt')
  return [all, isPath ? { ...flags, elle: true } : flags]
}

async function checkPaths(paths: string[], flags: Flags): Promise<number> {
  const plan = makePlan(paths, flags)
  const many = paths.some((path) => path !== '-' && !isOneHistory(path))
  const summary = many && plan.elle === null ? new DirectorySummary() : null
  let code: number = EXIT.satisfied
  let isFirst = true
  for (const found of findHistories(paths)) {
    code = worse(code, await checkPath(found, plan, summary, isFirst))
    isFirst = false
  }
  await plan.files.finish()
  if (summary) await (plan.json ? print(summary.renderJson()) : tell(summary.renderText()))
  if (!plan.json && !plan.notation && !plan.isSilent) {
    const written = plan.files.tellWritten()
    if (written !== '') await tell(`\n${written}`)
  }
  if (plan.judged === 0 && code === EXIT.satisfied && !plan.allowsEmpty) {
    throw new UsageError(
      'nothing was checked: there is no history, or none with a transaction in it',
      'pass --allow-empty if that is what you mean',
    )
  }
  return code
}

interface Plan {
  levels: LevelRequest[] | null // null: the profile
  taps: string[] | null
  tapRule: TapRule
  elle: EllePlan | null
  format: string | null
  json: boolean
  notation: boolean
  strength: boolean
  allowsEmpty: boolean
  judged: number // histories with a transaction in them, so far
  certificate: Output | null
  files: ReportFiles
  /** Whether standard output belongs to one of the files. */
  isSilent: boolean
  /** The options that decide the verdict, to ask for it again. */
  again: string[]
  scratch: string | false | undefined
  check: CheckOptions
}

function makePlan(paths: readonly string[], flags: Flags): Plan {
  const outputs = new Outputs(flags.force)
  for (const path of paths) for (const file of filesOf(path)) outputs.read(file)
  const printed = flags.json ? '--json' : flags.notation ? '--notation' : null
  if (printed) outputs.claim('-', printed)
  if (flags.strength && (printed || flags.elle !== undefined)) {
    throw new UsageError(
      `--strength is for people, and ${printed ?? '--elle'} prints nothing else`,
      'isobar stats --json has it',
    )
  }
  const orders = ordersOf(flags)
  const requests =
    flags.level === undefined || flags.elle !== undefined ? null : parseRequests(flags.level)
  const plan: Plan = {
    isSilent: false,
    // Beside --elle names are Jepsen's, and read as such.
    levels: requests?.map((each) => (orders ? withOrders(each, orders) : each)) ?? null,
    elle: flags.elle === undefined ? null : parseElle(flags.elle, flags.level),
    taps: flags.tap === undefined ? null : parseTaps(flags.tap),
    tapRule: parseChoice(flags.tapRule, '--tap-rule', TAP_RULES),
    format: flags.format ?? null,
    json: flags.json === true,
    notation: flags.notation === true,
    strength: flags.strength === true,
    allowsEmpty: flags.allowEmpty === true,
    judged: 0,
    certificate:
      flags.certificate === undefined ? null : outputs.claim(flags.certificate, '--certificate'),
    files: new ReportFiles(flags, outputs),
    again: optionsOf(flags),
    scratch: flags.scratch,
    check: {
      all: flags.all === true,
      limit: limitOf(flags),
      certify: flags.certify,
      algorithm: parseAlgorithm(flags.algorithm ?? 'auto'),
      sessionOrder: parseSwitch(flags.sessionOrder, '--session-order'),
      ...orders,
      abortedReads: parseChoice(flags.abortedReads, '--aborted-reads', ABORTED_READS),
      budgetMs: flags.budget === undefined ? null : parseDuration(flags.budget),
      memoryBytes: flags.memory === undefined ? null : parseSize(flags.memory),
    },
  }
  if (plan.format !== null && !FORMAT_IDS.includes(plan.format)) {
    const message = `unknown format ${JSON.stringify(plan.format)}`
    throw new UsageError(message, hintFor(plan.format, FORMAT_IDS))
  }
  if (plan.elle && (plan.taps || plan.json || plan.certificate || !plan.files.isEmpty)) {
    throw new UsageError('--elle goes with --level only')
  }
  if (plan.tapRule !== 'isobar' && !plan.taps) throw new UsageError('--tap-rule goes with --tap')
  if (plan.taps && plan.levels) throw new UsageError('--tap and --level exclude each other')
  const isOne = paths.length === 1 && (paths[0] === '-' || isOneHistory(paths[0]!))
  if (plan.certificate && !isOne) {
    throw new UsageError('--certificate goes with exactly one history')
  }
  if (plan.taps && !plan.files.isEmpty) {
    throw new UsageError('--tap makes no report', 'ask for levels instead: --level cc')
  }
  plan.files.checkFlags(isOne)
  plan.isSilent = printed === null && outputs.ownsStandardOutput
  return plan
}

/** The orders that were asked for; null if levels have those of their names. */
function ordersOf({ order, sessionOrder, elle, tap }: Flags): Orders | null {
  if (order === undefined) return null
  const orders = parseOrders(order)
  if (elle !== undefined || tap !== undefined) {
    throw new UsageError(`--order does not go with ${elle === undefined ? '--tap' : '--elle'}`)
  }
  if (orders.sessionOrder && sessionOrder === 'off') {
    throw new UsageError('--order session and --session-order off contradict each other')
  }
  return orders
}

function isOneHistory(path: string): boolean {
  if (!isDirectory(path)) return true
  try {
    return historyFilesIn(path) !== null
  } catch {
    return true // reading it will say what is wrong
  }
}

function limitOf({ all, limit }: Flags): number {
  if (limit === undefined) return ALL_LIMIT
  if (all !== true) throw new UsageError('--limit goes with --all only')
  return Math.floor(parseNumber('limit', limit, 1))
}

/** The options that decide the verdict. */
function optionsOf(flags: Flags): string[] {
  const options: string[] = []
  for (const name of ['level', 'format', 'limit', 'budget', 'memory', 'algorithm'] as const) {
    const value = flags[name]
    if (value !== undefined) options.push(`--${name}`, value)
  }
  if (flags.order !== undefined) options.push('--order', flags.order)
  if (flags.sessionOrder === 'off') options.push('--session-order', 'off')
  if (flags.abortedReads === 'ignore') options.push('--aborted-reads', 'ignore')
  if (flags.all) options.push('--all')
  if (!flags.certify) options.push('--no-certify')
  if (typeof flags.scratch === 'string') options.push('--scratch', flags.scratch)
  if (flags.scratch === false) options.push('--no-scratch')
  return options
}

async function checkPath(
  found: HistoryPath,
  plan: Plan,
  summary: DirectorySummary | null,
  isFirst: boolean,
): Promise<number> {
  const progress = new Progress()
  const started = nowMs()
  try {
    if (found.error) throw found.error
    // The first history also pays for starting the program, which began at zero.
    const budgetFromMs = isFirst ? 0 : started
    const code = await checkOnDisk(found.path, plan, summary, budgetFromMs, progress)
    if (code !== null) return code
    const input = await readWithin(
      found.path,
      { format: plan.format, ...plan.check, budgetFromMs },
      progress,
    )
    const parseMs = nowMs() - started
    const checkOptions = { ...plan.check, budgetFromMs, onTick: progress.tick }
    progress.report(`checking ${cut(plain(found.path))}`)
    const telling = tellingDeadline(plan, budgetFromMs)
    if (input.history.txnCount > 0) plan.judged++
    if (plan.taps) {
      const judged = judgeTaps(input.history, plan.taps, plan.tapRule, checkOptions)
      progress.done()
      const context = { path: found.path, format: input.format.id, json: plan.json }
      const text = judged.render(context, coloursFor(process.stdout), telling)
      await (plan.json ? print(text) : tell(text))
      return judged.code
    }
    if (plan.elle) {
      const judged = judgeElle(input.history, plan.elle, checkOptions, telling)
      progress.done()
      await print(judged.text)
      return exitCode(judged.asked)
    }
    const results = await judge(input.history, plan.levels, checkOptions)
    progress.done()
    summary?.add(results)
    const text = await showResults(found.path, input, results, plan, parseMs, telling)
    if (plan.json || plan.notation) await print(text)
    else if (!plan.isSilent) await tell(text)
    return plan.levels ? exitCode(results) : EXIT.satisfied
  } catch (error) {
    progress.done()
    return complainAbout(error, found, plan, summary)
  }
}

/** Judges a file on disk that does not fit into memory; null if it is to be read into memory. */
async function checkOnDisk(
  path: string,
  plan: Plan,
  summary: DirectorySummary | null,
  budgetFromMs: number,
  progress: Progress,
): Promise<number | null> {
  const { levels, format, scratch, json, notation } = plan
  const { check } = plan
  const request = { path, format, levels, scratch, needsAll: needsAll(plan), prove: json, check }
  const judged = await judgeBeyondMemory(request, budgetFromMs, progress)
  if (judged === null) return null
  if (judged.counts.transactions > 0) plan.judged++
  summary?.add(judged.results)
  const deadline = tellingDeadline(plan, budgetFromMs)
  const command = quoteCommand(['isobar', 'check', path, ...plan.again])
  const text = showOnDisk(judged, request, { json, notation, command, deadline })
  await (json || notation ? print(text) : tell(text))
  return exitCode(judged.results)
}

/** An option that needs the whole history in memory, or null. */
function needsAll(plan: Plan): string | null {
  if (plan.taps) return '--tap'
  if (plan.elle) return '--elle'
  if (plan.strength) return '--strength'
  if (plan.certificate) return '--certificate'
  return plan.files.isEmpty ? null : 'a report'
}

/** What the budget leaves for telling what was found. */
function tellingDeadline({ check }: Plan, fromMs: number): Deadline {
  return new Deadline(check.budgetMs, check.memoryBytes, null, { fromMs })
}

/**
 * How much of the time that is left may go into describing: writing all of it takes about as long,
 * again for each file, and for each level that shares its anomalies with another one.
 */
function describingShare(plan: Plan, results: readonly LevelResult[]): number {
  const lists = results.map(({ anomalies }) => anomalies).filter((list) => list.length > 0)
  const levelsPerList = Math.max(1, lists.length) / Math.max(1, new Set(lists).size)
  const written = (plan.json ? 1 : 0) + (plan.certificate ? 1 : 0)
  const rendered = plan.files.isEmpty ? 0 : 0.5
  return 1 / (1 + levelsPerList * (written + rendered))
}

/** Writes the files that were asked for; returns what goes to the terminal. */
async function showResults(
  path: string,
  input: ReadResult,
  results: LevelResult[],
  plan: Plan,
  parseMs: number,
  deadline: Deadline,
): Promise<string | Iterable<string>> {
  const { history, format } = input
  if (plan.json || plan.certificate || !plan.files.isEmpty) {
    const command = quoteCommand(['isobar', 'check', path, ...plan.again])
    const context = {
      path,
      format: format.id,
      parseMs,
      asked: plan.levels?.map(({ level }) => level) ?? null,
      command,
      all: plan.check.all === true,
      deadline: deadline.part(describingShare(plan, results)),
    }
    const verdict = describeVerdict(history, results, context)
    plan.certificate?.writePieces(stringifyLine(verdict))
    await plan.files.add(verdict, history, deadline)
    if (plan.json) return stringifyLine(verdict)
  }
  if (plan.notation) {
    const txns = results.flatMap((result) =>
      result.anomalies.flatMap((anomaly) => [...anomaly.txns, ...anomaly.earlier]),
    )
    return txns.length > 0 ? renderNotation(history, txns, { ids: true }) : ''
  }
  const counts = countHistory(history)
  const title = `${plain(path)} (${format.name}: ${sizeWords(counts)})`
  const colours = coloursFor(process.stdout)
  const text = tellText(history, results, {
    colours,
    title,
    all: plan.check.all === true,
    deadline,
  })
  return plan.strength ? withStrength(text, history) : text
}

function exitCode(results: readonly LevelResult[]): number {
  if (results.some((result) => result.verdict === 'violated')) return EXIT.violated
  return results.some((result) => result.verdict === 'unknown') ? EXIT.unknown : EXIT.satisfied
}

async function complainAbout(
  error: unknown,
  found: HistoryPath,
  plan: Plan,
  summary: DirectorySummary | null,
): Promise<number> {
  let exit: number = EXIT.usage
  if (error instanceof BudgetExceeded) {
    exit = EXIT.unknown
    error = new InputError('out-of-budget', error.message, null, 'raise --memory or --budget')
  }
  if (!(error instanceof InputError)) throw error
  if (found.inDirectory && error.code === 'unknown-format') {
    summary?.skip(found.path)
    return EXIT.satisfied
  }
  error.path ??= found.path
  summary?.fail()
  plan.files.addUnread(error.describe())
  if (plan.json) {
    const { code, message, place, hint } = error
    const line = place?.line ?? null
    const column = place?.column ?? null
    await print(`${renderJsonError(found.path, { code, message, line, column, hint })}\n`)
  }
  const told = withoutSecrets(error.describe(), process.argv)
  process.stderr.write(`isobar: ${told}\n${error.hint ? `hint: ${error.hint}\n` : ''}`)
  return exit
}
