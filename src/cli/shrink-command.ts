// `isobar shrink`: the smallest part of a history that still violates a level, as a history of its
// own, to look at, to report, or to keep as a test.

import { setImmediate as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { Deadline } from '../base/deadline.ts'
import { BudgetExceeded, UsageError } from '../base/errors.ts'
import { sentence } from '../base/inert.ts'
import { stringifyLine } from '../base/json.ts'
import { parseDuration } from '../base/quantities.ts'
import { judge } from '../check/judge.ts'
import type { CheckOptions } from '../check/options.ts'
import { Outputs } from '../files/output.ts'
import { claimHistory, formatFor, refuseMisfits, writeHistory } from '../formats/save.ts'
import type { History } from '../history/history.ts'
import { expectWriters } from '../history/writers.ts'
import { type LevelId, type LevelRequest, levelName } from '../levels/levels.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { renderText } from '../report/text.ts'
import { verifyFile } from '../report/verify-file.ts'
import { countHistory } from '../verdict/count-history.ts'
import { type Shrunk, shrinkHistory } from '../verdict/shrink.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { EXIT } from './exit-codes.ts'
import {
  addInputFormat,
  addOutputFormat,
  type InputFormatFlags,
  type OutputFormatFlags,
} from './format-options.ts'
import { parseRequests, type Switches, type Texts } from './options.ts'
import { filesOf } from './paths.ts'
import { Progress, showWriting } from './progress.ts'
import { readWithin } from './read-input.ts'
import { Interrupt } from './signals.ts'
import { coloursFor, print, tell } from './terminal.ts'
import { atPath, chooseVerdict, readVerdicts } from './verdict-input.ts'

type Flags = InputFormatFlags &
  OutputFormatFlags &
  Texts<'level' | 'verdict' | 'line' | 'budget'> &
  Switches<'lossy' | 'force' | 'json'>

export function addShrinkCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('shrink')
    .description('cut a history down to the least that still violates a level')
    .argument('<path>', 'a history, or - for standard input')
    .argument('<out>', 'file or directory to write, or - for standard output')
    .option('-l, --level <id>', 'level that the history violates')
    .option('--verdict <file>', 'verdict that check --json or --certificate wrote: begin with it')
    .option('--line <n>', 'the verdict to begin with, if the file has several')
    .option(
      '--budget <time>',
      'stop after this long with the least that was found by then, e.g. 60s',
    )
    .option('--lossy', 'leave out what the output format cannot hold, instead of refusing')
    .option('--force', 'replace an output that exists')
    .option('--json', 'print the verdict on what is left as one JSON object')
  addInputFormat(command)
  addOutputFormat(command)
    .addHelpText('after', HELP)
    .action(async (path: string, out: string, flags: Flags) => done(await shrink(path, out, flags)))
}

const HELP = `
What is left is 1-minimal: leave out any one of its transactions or operations (a write with the
reads that saw it), and the level holds. Transactions keep their names, sessions and times.
At lin a version stays with all those before it, which it was made from.
Of SQL histories rows, statements and what they did to single rows are left out; clauses are
narrowed, as in (status = 'open') AND NOT (id = 7), where they would say more than they did.
Ends with 0 when a smaller history was written, 2 if there is nothing to shrink, 3 if the verdict
is unknown. Ctrl-C ends with 130 and the least that was found by then.

Examples:
  isobar shrink history.txt --level si lost-update.notation
  isobar shrink h.jsonl --level ser - --to notation
  isobar shrink h.jsonl small.jsonl --verdict verdict.json
  isobar shrink runs/7 --format cobra --level ser --to cobra small --lossy`

async function shrink(path: string, out: string, flags: Flags): Promise<number> {
  const asked = flags.level === undefined ? null : requestOf(flags.level)
  if (asked === null && flags.verdict === undefined) {
    throw new UsageError('shrink needs the level that is violated', '--level ID, or --verdict FILE')
  }
  const budgetMs = flags.budget === undefined ? null : parseDuration(flags.budget)
  const format = formatFor(out, flags.to)
  const outputs = new Outputs(flags.force)
  for (const file of filesOf(path)) outputs.read(file)
  if (flags.verdict !== undefined) outputs.read(flags.verdict)
  const output = claimHistory(outputs, out, format)
  const progress = new Progress()
  const input = await readWithin(path, { format: flags.format ?? null, budgetMs }, progress)
  expectWriters(input.history)
  const known = flags.verdict === undefined ? null : await readKnown(input.history, asked, flags)
  const { level, sessionOrder = true, realTime = false, bound } = known ?? asked!
  const interrupt = new Interrupt(null)
  const request = { level, sessionOrder, realTime, ...(bound === undefined ? {} : { bound }) }
  progress.report(`checking ${cut(plain(path))}`)
  const say = (what: string) => progress.report(`shrinking ${cut(plain(path))}: ${what} left`)
  const checking = { budgetMs, budgetFromMs: 0, onTick: progress.tick }
  const shrunk = await search(input.history, request, checking, known, interrupt, say).finally(() =>
    progress.done(),
  )
  interrupt.ignore()
  if (shrunk.result.verdict !== 'violated') return refuse(path, level, shrunk)
  const isEnded = interrupt.signal.aborted
  if (!shrunk.isLeast) {
    const why = isEnded ? 'interrupted' : 'the budget ran out'
    process.stderr.write(`isobar: ${why}: there may be more to leave out\n`)
  }
  if (flags.lossy !== true) refuseMisfits(format, shrunk.history, '--lossy leaves it out')
  writeHistory(output, format, shrunk.history, null, showWriting(out, progress))
  progress.done()
  const code = isEnded ? interrupt.exitCode : EXIT.satisfied
  // Standard output belongs to the history then.
  if (out === '-') return code
  const { history, result } = shrunk
  const context = { path: out, format: format.id, parseMs: 0 }
  if (flags.json) await print(stringifyLine(describeVerdict(history, [result], context)))
  else {
    const title = titleOf(out, input.history, history)
    await tell(renderText(history, [result], { colours: coloursFor(process.stdout), title }))
  }
  return code
}

/** The verdict of the file that says the level is violated, verified. */
async function readKnown(
  history: History,
  asked: LevelRequest | null,
  { verdict: path = '', line }: Flags,
): Promise<LevelResult> {
  const file = chooseVerdict(await readVerdicts(path), line)
  const verified = await atPath(path, () => verifyFile(history, file))
  const found = verified.find(
    ({ result }) => result.verdict === 'violated' && isAsked(result, asked),
  )
  if (!found) {
    const what = asked?.level ?? 'any level'
    throw new UsageError(`${plain(path)} does not say that ${what} is violated`)
  }
  const [problem] = found.problems
  if (problem !== undefined) {
    throw new UsageError(`${plain(path)} is not true: ${sentence(problem)}`)
  }
  return found.result
}

/** Whether a result is of the level that was asked for, if any was. */
function isAsked(result: LevelResult, asked: LevelRequest | null): boolean {
  if (asked === null) return true
  const hasOrder = result.sessionOrder !== false
  const isTimed = result.realTime ?? false
  if (result.level !== asked.level || result.bound !== asked.bound) return false
  if ((asked.realTime ?? isTimed) !== isTimed) return false
  return (asked.sessionOrder ?? hasOrder) === hasOrder
}

/** What is left when nothing more can go, the budget has run out, or a signal came. */
function search(
  whole: History,
  request: Required<Omit<LevelRequest, 'bound'>> & Pick<LevelRequest, 'bound'>,
  checking: CheckOptions,
  known: LevelResult | null,
  interrupt: Interrupt,
  say: (what: string) => void,
): Promise<Shrunk> {
  const { sessionOrder, realTime } = request
  const deadline = new Deadline(checking.budgetMs, null, null, { fromMs: 0 })
  const ignoring = known?.abortedReads ? { abortedReads: known.abortedReads } : {}
  const options: CheckOptions = { ...checking, sessionOrder, realTime, ...ignoring }
  // Until something was found there is nothing to keep: a signal ends the work at once.
  let isFound = false
  const listen = () => {
    if (!isFound) interrupt.listen()
    isFound = true
  }
  if (known) listen()
  const decide = async (history: History) => (await judge(history, [request], options))[0]!
  return shrinkHistory(whole, decide, {
    whole: request.level === 'lin',
    ...(known ? { known } : {}),
    onStep: async ({ history }) => {
      listen()
      say(counted(history.txnCount, 'transaction'))
      deadline.check()
      await pause() // signals are told of between turns
      if (interrupt.signal.aborted) throw new BudgetExceeded('interrupted')
    },
  })
}

function requestOf(text: string): LevelRequest {
  const [request, another] = parseRequests(text)
  if (another !== undefined) throw new UsageError('shrink goes with exactly one level')
  return request!
}

function refuse(path: string, level: LevelId, { result }: Shrunk): number {
  const name = `${level} (${levelName(level)})`
  if (result.verdict === 'satisfied') {
    throw new UsageError(`${plain(path)} satisfies ${name}: there is nothing to shrink`)
  }
  const why = sentence(result.reason ?? '')
  process.stderr.write(`isobar: whether ${plain(path)} violates ${name} is unknown: ${why}\n`)
  return EXIT.unknown
}

function titleOf(out: string, whole: History, left: History): string {
  // Where counters and ranges have become reads and writes, they were as many before.
  const before = countHistory(left.spans === null ? { ...whole, spans: null } : whole)
  const after = countHistory(left)
  const parts = (['transactions', 'operations', 'sessions', 'keys'] as const).map(
    (what) => `${after[what]} of ${before[what]} ${what}`,
  )
  return `${plain(out)}: ${parts.join(', ')}`
}
