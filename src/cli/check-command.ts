// `isobar check`: reads histories, judges them, prints verdicts. One bad input does not stop the
// rest.

import type { Command } from 'commander'
import { Deadline, nowMs } from '../base/deadline.ts'
import { BudgetExceeded, InputError, UsageError } from '../base/errors.ts'
import { stringifyLine } from '../base/json.ts'
import { judge } from '../check/judge.ts'
import type { ReadResult } from '../formats/open.ts'
import { renderNotation } from '../history/render-notation.ts'
import { LEVELS, PROFILE } from '../levels/levels.ts'
import { describeVerdict, renderJsonError } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { tellText } from '../report/text.ts'
import { countHistory } from '../verdict/count-history.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import {
  type BeyondMemory,
  expectDecided,
  judgeAfterMemory,
  judgeBeyondMemory,
  type OnDiskRequest,
  showOnDisk,
  Undecided,
  undecidedBy,
} from './check-on-disk.ts'
import {
  ALL_LIMIT,
  type CheckFlags,
  type CheckPlan,
  makePlan,
  refuseChoices,
} from './check-plan.ts'
import { quoteCommand, withoutSecrets } from './command-line.ts'
import { isElleSyntax, judgeElle } from './elle.ts'
import { EXIT, worse } from './exit-codes.ts'
import { addDuplicateValues, addInputFormat } from './format-options.ts'
import { sizeWords } from './options.ts'
import { findHistories, type HistoryPath } from './paths.ts'
import { Progress } from './progress.ts'
import { readWithin } from './read-input.ts'
import { addReportOptions } from './report-files.ts'
import { judgeTaps } from './taps.ts'
import { coloursFor, print, tell } from './terminal.ts'
import { withStrength } from './with-strength.ts'

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
    .option('--session-order <on|off>', 'whether levels include session order (on)')
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
  addDuplicateValues(addInputFormat(command))
    .optionsGroup('How it is judged:')
    .option(
      '--budget <time>',
      'give up with verdict unknown after this long for each history, e.g. 60s: start and reading count',
    )
    .option(
      '--memory <size>',
      'hold no more than this, e.g. 8g: judge larger files on disk where that is possible (rc, ra, cc, si, ser), else give up with verdict unknown',
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
    .action(async (paths: string[], flags: CheckFlags) =>
      done(await checkPaths(...settle(paths, flags))),
    )
}

const EXAMPLES = `
Without --level the profile is judged, ${PROFILE.join(', ')} as far as they apply, and
the exit code is 0; SQL statements at rc to ser, and mixed where transactions name levels. The
other levels are judged where --level names them: --level ryw,mr,ser+lin
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
  isobar check app.jsonl --duplicate-values    an application that writes equal values
  cat h.txt.gz | isobar check -                from standard input`

/** What follows --elle may be the first path. */
function settle(paths: string[], flags: CheckFlags): [string[], CheckFlags] {
  const { elle } = flags
  const isPath = typeof elle === 'string' && !isElleSyntax(elle)
  const all = isPath ? [elle, ...paths] : paths
  if (all.length === 0) throw new UsageError('which history?', 'e.g. isobar check history.txt')
  return [all, isPath ? { ...flags, elle: true } : flags]
}

async function checkPaths(paths: string[], flags: CheckFlags): Promise<number> {
  const plan = makePlan(paths, flags)
  let code: number = EXIT.satisfied
  let isFirst = true
  for (const found of findHistories(paths)) {
    code = worse(code, await checkPath(found, plan, isFirst))
    isFirst = false
  }
  await plan.files.finish()
  const { summary } = plan
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

async function checkPath(found: HistoryPath, plan: CheckPlan, isFirst: boolean): Promise<number> {
  const progress = new Progress()
  // The first history also pays for starting the program, which began at zero.
  const fromMs = isFirst ? 0 : nowMs()
  const { levels, format, scratch, json, check } = plan
  const { path } = found
  const request = { path, format, levels, scratch, needsAll: needsAll(plan), prove: json, check }
  try {
    if (found.error) throw found.error
    const early = await judgeBeyondMemory(request, fromMs, progress)
    if (early) return await tellOnDisk(early, request, plan, fromMs)
    try {
      return await checkInMemory(request, plan, fromMs, progress)
    } catch (error) {
      if (!(error instanceof Undecided)) throw error
      const late = await judgeAfterMemory(request, error, fromMs, progress)
      if (late) return await tellOnDisk(late, request, plan, fromMs)
      if (error.cause) throw error.cause
    }
    const asBefore = { ...request, scratch: false as const }
    return await checkInMemory(asBefore, plan, fromMs, progress)
  } catch (error) {
    progress.done()
    return complainAbout(error, found, plan)
  }
}

async function checkInMemory(
  request: OnDiskRequest,
  plan: CheckPlan,
  budgetFromMs: number,
  progress: Progress,
): Promise<number> {
  const started = nowMs()
  const { path, format } = request
  const asked = { format, duplicateValues: plan.duplicates, ...plan.check, budgetFromMs }
  const input = await readWithin(path, asked, progress).catch((error) => {
    throw undecidedBy(error, request, budgetFromMs)
  })
  const parseMs = nowMs() - started
  const checkOptions = { ...plan.check, budgetFromMs, onTick: progress.tick }
  progress.report(`checking ${cut(plain(path))}`)
  const telling = tellingDeadline(plan, budgetFromMs)
  if (input.history.txnCount > 0) plan.judged++
  if (input.history.writers) refuseChoices(plan)
  if (plan.taps) {
    const judged = judgeTaps(input.history, plan.taps, plan.tapRule, checkOptions)
    progress.done()
    const context = { path, format: input.format.id, json: plan.json }
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
  expectDecided(input, results, request, budgetFromMs)
  progress.done()
  plan.summary?.add(results)
  const text = await showResults(path, input, results, plan, parseMs, telling)
  if (plan.json || plan.notation) await print(text)
  else if (!plan.isSilent) await tell(text)
  return plan.levels ? exitCode(results) : EXIT.satisfied
}

async function tellOnDisk(
  judged: BeyondMemory,
  request: OnDiskRequest,
  plan: CheckPlan,
  budgetFromMs: number,
): Promise<number> {
  const { json, notation } = plan
  if (judged.counts.transactions > 0) plan.judged++
  plan.summary?.add(judged.results)
  const deadline = tellingDeadline(plan, budgetFromMs)
  const command = quoteCommand(['isobar', 'check', request.path, ...plan.again])
  const text = showOnDisk(judged, request, { json, notation, command, deadline })
  await (json || notation ? print(text) : tell(text))
  return exitCode(judged.results)
}

/** An option that needs the whole history in memory, or null. */
function needsAll(plan: CheckPlan): string | null {
  if (plan.taps) return '--tap'
  if (plan.elle) return '--elle'
  if (plan.strength) return '--strength'
  if (plan.duplicates) return '--duplicate-values'
  if (plan.certificate) return '--certificate'
  return plan.files.isEmpty ? null : 'a report'
}

/** What the budget leaves for telling what was found. */
function tellingDeadline({ check }: CheckPlan, fromMs: number): Deadline {
  return new Deadline(check.budgetMs, check.memoryBytes, null, { fromMs })
}

/**
 * How much of the time that is left may go into describing: writing all of it takes about as long,
 * again for each file, and for each level that shares its anomalies with another one.
 */
function describingShare(plan: CheckPlan, results: readonly LevelResult[]): number {
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
  plan: CheckPlan,
  parseMs: number,
  deadline: Deadline,
): Promise<string | Iterable<string>> {
  const { history, format } = input
  const all = plan.check.all === true
  if (plan.json || plan.certificate || !plan.files.isEmpty) {
    const command = quoteCommand(['isobar', 'check', path, ...plan.again])
    const asked = plan.levels?.map(({ level }) => level) ?? null
    const part = deadline.part(describingShare(plan, results))
    const context = { path, format: format.id, parseMs, asked, command, all, deadline: part }
    const verdict = describeVerdict(history, results, context)
    plan.certificate?.writePieces(stringifyLine(verdict))
    await plan.files.add(verdict, history, deadline)
    if (plan.json) return stringifyLine(verdict)
  }
  if (plan.notation) {
    const anomalies = results.flatMap((result) => result.anomalies)
    const txns = anomalies.flatMap((anomaly) => [...anomaly.txns, ...anomaly.earlier])
    return txns.length > 0 ? renderNotation(history, txns, { ids: true }) : ''
  }
  const title = `${plain(path)} (${format.name}: ${sizeWords(countHistory(history))})`
  const colours = coloursFor(process.stdout)
  const text = tellText(history, results, { colours, title, all, deadline })
  return plan.strength ? withStrength(text, history) : text
}

function exitCode(results: readonly LevelResult[]): number {
  return results.map(({ verdict }) => EXIT[verdict]).reduce(worse, EXIT.satisfied)
}

async function complainAbout(error: unknown, found: HistoryPath, plan: CheckPlan): Promise<number> {
  let exit: number = EXIT.usage
  if (error instanceof BudgetExceeded) {
    exit = EXIT.unknown
    error = new InputError('out-of-budget', error.message, null, 'raise --memory or --budget')
  }
  if (!(error instanceof InputError)) throw error
  if (found.inDirectory && error.code === 'unknown-format') {
    plan.summary?.skip(found.path)
    return EXIT.satisfied
  }
  error.path ??= found.path
  plan.summary?.fail()
  plan.files.addUnread(error.describe())
  if (plan.json) {
    const { code, message, place, hint } = error
    const { line, column } = place ?? { line: null, column: null }
    await print(`${renderJsonError(found.path, { code, message, line, column, hint })}\n`)
  }
  const told = withoutSecrets(error.describe(), process.argv)
  process.stderr.write(`isobar: ${told}\n${error.hint ? `hint: ${error.hint}\n` : ''}`)
  return exit
}
