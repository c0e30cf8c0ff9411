// `isobar differ`: where two levels differ, shown by the smallest history that one of them allows
// and the other forbids.

import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { parseDuration } from '../base/quantities.ts'
import { findFormat } from '../formats/formats.ts'
import { saveHistory } from '../formats/save.ts'
import type { History } from '../history/history.ts'
import { readLevel } from '../levels/words.ts'
import { type Difference, differ } from '../pipeline/differ/differ.ts'
import { type DifferShape, SHAPES } from '../pipeline/differ/shapes.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { renderText } from '../report/text.ts'
import { EXIT } from './exit-codes.ts'
import { parseChoice, parseNumber } from './options.ts'
import { Progress } from './progress.ts'
import { coloursFor, print } from './terminal.ts'

interface Flags {
  shape: string
  maxOps: string
  budget?: string
  history?: boolean
  json?: boolean
}

const NAMES = Object.keys(SHAPES) as DifferShape[]

export function addDifferCommand(program: Command, done: (code: number) => void): void {
  program
    .command('differ')
    .description('show the smallest history that one level allows and another one forbids')
    .argument('<a>', 'a level, e.g. si')
    .argument('<b>', 'another, e.g. ser')
    .option('--shape <name>', `${NAMES.join(', ')}`, 'general')
    .option('--max-ops <n>', 'the most operations or statements to try', '6')
    .option('--budget <time>', 'stop looking after this long, e.g. 60s')
    .option('--history', 'print only the history: that which A allows and B forbids, if there is')
    .option('--json', 'as one JSON object')
    .addHelpText('after', HELP)
    .action(async (a: string, b: string, flags: Flags) => done(await show([a, b], flags)))
}

const HELP = `
Every small history is judged at both levels, the smallest first, in both directions: by fewest
operations, then by fewest transactions. What is read was written by somebody or is initial.

Shapes:
${NAMES.map((name) => `  ${name.padEnd(10)}${SHAPES[name].about}`).join('\n')}

Ends with 0 if there is such a history, with 3 if none was found.

Examples:
  isobar differ si ser                             a write skew
  isobar differ cc pc --shape append               what causal consistency lets pass
  isobar differ strict-serializable serializable   real time and sessions
  isobar differ si ser --history | isobar check -  all levels of it`

async function show(words: readonly [string, string], flags: Flags): Promise<number> {
  const [a, b] = words.map(readLevel)
  const shape = parseChoice(flags.shape, '--shape', NAMES)
  const maxOps = parseNumber('max-ops', flags.maxOps, 1)
  if (!Number.isInteger(maxOps) || maxOps > MAX_OPS) {
    throw new UsageError(`--max-ops is a whole number up to ${MAX_OPS}, not ${flags.maxOps}`)
  }
  const budgetMs = flags.budget === undefined ? null : parseDuration(flags.budget)
  const progress = new Progress()
  progress.report('looking')
  let isFirst = true
  const tellNow = async (difference: Difference) => {
    const [allows, forbids] = difference.allowedBy === a ? words : words.toReversed()
    progress.done()
    await print(`${isFirst ? '' : '\n'}${tell(difference, allows, forbids)}`)
    isFirst = false
  }
  const onTold = flags.json || flags.history ? null : tellNow
  const found = await differ(a!, b!, { shape, maxOps, budgetMs, onTick: progress.tick, onTold })
  progress.done()
  const isFound = found.some(({ history }) => history !== null)
  if (flags.json) await print(`${stringify({ shape, differences: found.map(describe) })}\n`)
  else if (flags.history) printHistory(found)
  return isFound ? EXIT.satisfied : EXIT.unknown
}

/** Beyond, there are more histories than anybody has time for. */
const MAX_OPS = 9

function tell(difference: Difference, allows: string, forbids: string): string {
  const { history, results, isImplied, judged } = difference
  const claim = `${allows} allows, ${forbids} forbids`
  if (isImplied) return `${claim}: nothing, ${forbids} allows all that ${allows} allows\n`
  if (history === null) {
    return `${claim}: nothing ${searchedWords(difference)} (${counted(judged, 'history', 'histories')} judged)\n`
  }
  const title = `${claim} (the first of ${counted(judged, 'history', 'histories')} judged)`
  return renderText(history, results!, { title, colours: coloursFor(process.stdout) })
}

function searchedWords({ searched }: Difference): string {
  return searched === 0 ? 'in the time given' : `of up to ${counted(searched, 'operation')}`
}

function printHistory(found: readonly Difference[]): void {
  const history = found.find((each) => each.history !== null)?.history
  if (history) saveHistory('-', findFormat(formatOf(history))!, history)
}

/** The notation does not hold statements. */
function formatOf({ sql }: History): string {
  return sql === null ? 'notation' : 'native'
}

function describe({ history, results, ...rest }: Difference) {
  const { allowedBy, forbiddenBy, isImplied, searched, judged } = rest
  const asked = [allowedBy.level, forbiddenBy.level]
  const about = { path: 'differ', format: 'native', parseMs: 0, asked }
  const verdict = history && describeVerdict(history, results!, about)
  return { allowedBy, forbiddenBy, implied: isImplied, searched, judged, verdict }
}
