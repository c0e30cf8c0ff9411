// `isobar shrink`: the smallest part of a history that still violates a level, as a history of its
// own, to look at, to report, or to keep as a test.

import type { Command } from 'commander'
import { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { sentence } from '../base/inert.ts'
import { stringify } from '../base/json.ts'
import { check } from '../check/check.ts'
import { Outputs } from '../files/output.ts'
import { FORMATS } from '../formats/formats.ts'
import { claimHistory, formatFor, refuseMisfits, writeHistory } from '../formats/save.ts'
import type { History } from '../history/history.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { renderText } from '../report/text.ts'
import { countHistory } from '../verdict/count-history.ts'
import { type Shrunk, shrinkHistory } from '../verdict/shrink.ts'
import { EXIT } from './exit-codes.ts'
import { parseDuration, parseLevels } from './options.ts'
import { filesOf } from './paths.ts'
import { readInput } from './read-input.ts'
import { coloursFor, Progress, print } from './terminal.ts'

interface Flags {
  level: string
  from?: string
  to?: string
  budget?: string
  lossy?: boolean
  force?: boolean
  json?: boolean
}

export function addShrinkCommand(program: Command, done: (code: number) => void): void {
  program
    .command('shrink')
    .description('cut a history down to the least that still violates a level')
    .argument('<path>', 'a history, or - for standard input')
    .argument('<out>', 'file or directory to write, or - for standard output')
    .requiredOption('-l, --level <id>', 'level that the history violates')
    .option('--from <id>', `input format (${FORMATS.map((f) => f.id).join(', ')}); else by content`)
    .option('--to <id>', 'output format; else by the ending of the name, else native')
    .option(
      '--budget <time>',
      'stop after this long with the least that was found by then, e.g. 60s',
    )
    .option('--lossy', 'leave out what the output format cannot hold, instead of refusing')
    .option('--force', 'replace an output that exists')
    .option('--json', 'print the verdict on what is left as one JSON object')
    .addHelpText('after', HELP)
    .action(async (path: string, out: string, flags: Flags) => done(await shrink(path, out, flags)))
}

const HELP = `
What is left is 1-minimal: leave out any one of its transactions or operations (a write with the
reads that saw it), and the level holds. Transactions keep their names, sessions and times.
At lin a version stays with all those before it, which it was made from.
Ends with 0 when a smaller history was written, 2 if there is nothing to shrink, 3 if the verdict
is unknown.

Examples:
  isobar shrink history.txt --level si lost-update.notation
  isobar shrink h.jsonl --level ser - --to notation
  isobar shrink runs/7 --from cobra --level ser --to cobra small --lossy`

async function shrink(path: string, out: string, flags: Flags): Promise<number> {
  const level = levelOf(flags.level)
  const budgetMs = flags.budget === undefined ? null : parseDuration(flags.budget)
  const format = formatFor(out, flags.to)
  const outputs = new Outputs(flags.force)
  for (const file of filesOf(path)) outputs.read(file)
  const output = claimHistory(outputs, out, format)
  const input = await readInput(path, flags.from)
  if (input.history.sql) {
    throw new UsageError(
      'a history with SQL statements cannot be cut into parts: rows that a statement did not return need all that was written to them',
      'isobar check --report shows the few transactions that a violation takes, to download too',
    )
  }
  const progress = new Progress()
  progress.report(`checking ${cut(plain(path))}`)
  const deadline = new Deadline(budgetMs, null, null, { fromMs: 0 })
  const decide = (history: History) =>
    check(history, level, { budgetMs, budgetFromMs: 0, onTick: progress.tick })
  const shrunk = shrinkHistory(input.history, decide, {
    whole: level === 'lin',
    onStep: ({ history }) => {
      progress.report(`shrinking: ${history.txnCount} transactions left`)
      deadline.check()
    },
  })
  progress.done()
  if (shrunk.result.verdict !== 'violated') return refuse(path, level, shrunk)
  if (!shrunk.isLeast) {
    process.stderr.write('isobar: the budget ran out: there may be more to leave out\n')
  }
  if (flags.lossy !== true) refuseMisfits(format, shrunk.history, '--lossy leaves it out')
  writeHistory(output, format, shrunk.history)
  // Standard output belongs to the history then.
  if (out === '-') return EXIT.satisfied
  const { history, result } = shrunk
  await print(
    flags.json
      ? `${stringify(describeVerdict(history, [result], { path: out, format: format.id, parseMs: 0 }))}\n`
      : renderText(history, [result], {
          colours: coloursFor(process.stdout),
          title: titleOf(out, input.history, history),
        }),
  )
  return EXIT.satisfied
}

function levelOf(text: string): LevelId {
  const [level, another] = parseLevels(text)
  if (another !== undefined) throw new UsageError('shrink goes with exactly one level')
  return level!
}

function refuse(path: string, level: LevelId, { result }: Shrunk): number {
  const name = `${level} (${levelName(level)})`
  if (result.verdict === 'satisfied') {
    throw new UsageError(`${plain(path)} satisfies ${name}: there is nothing to shrink`)
  }
  process.stderr.write(
    `isobar: whether ${plain(path)} violates ${name} is unknown: ${sentence(result.reason ?? '')}\n`,
  )
  return EXIT.unknown
}

function titleOf(out: string, whole: History, left: History): string {
  const [before, after] = [countHistory(whole), countHistory(left)]
  const parts = (['transactions', 'operations', 'sessions', 'keys'] as const).map(
    (what) => `${after[what]} of ${before[what]} ${what}`,
  )
  return `${plain(out)}: ${parts.join(', ')}`
}
