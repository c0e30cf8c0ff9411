// `isobar generate`: a seeded history from a simulated store, of any level, with faults on demand.

import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import type { Format } from '../formats/formats.ts'
import { FORMATS } from '../formats/formats.ts'
import { checkTarget, formatFor, refuseMisfits, saveHistory } from '../formats/save.ts'
import { parseNotation } from '../history/notation.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { type Generated, type GenerateOptions, generate } from '../pipeline/generate.ts'
import { stringify } from '../report/json.ts'
import { keyOf, plain } from '../report/names.ts'
import { countHistory } from '../report/summary.ts'
import { FAULTS, parseFaults } from '../sim/faults.ts'
import { LAYOUTS, type Layout } from '../sim/layout.ts'
import { DISTRIBUTIONS, type Distribution } from '../workload/distributions.ts'
import { SHAPES, type Shape } from '../workload/parameters.ts'
import { EXIT } from './exit-codes.ts'
import { print } from './terminal.ts'

interface Flags {
  seed: string
  sessions?: string
  transactions?: string
  ops?: string
  reads?: string
  keys?: string
  distribution?: string
  mix?: string
  disjointWrites?: boolean
  shape: string
  store?: string
  inject?: string
  aborts?: string
  indeterminates?: string
  conflicts: string
  concurrency?: string
  format?: string
  layout: string
  force?: boolean
  json?: boolean
}

export function addGenerateCommand(program: Command, done: (code: number) => void): void {
  program
    .command('generate')
    .description('make a history with a simulated store; the same seed gives the same bytes')
    .argument('<out>', 'file to write, or - for standard output')
    .option('--seed <n>', 'where all randomness comes from', '1')
    .option('--shape <shape>', `kind of transactions (${SHAPES.join(', ')})`, 'general')
    .option('--sessions <n>', 'concurrent sessions (25)')
    .option('--transactions <n>', 'transactions in all (5000)')
    .option('--ops <n>', 'operations of a transaction (20; append: 4)')
    .option('--reads <share>', 'share of reads, 0 to 1 (0.5)')
    .option('--keys <n>', 'keys; of append, at one time (10000; mini: 1000; append, lwt: 10)')
    .option('--distribution <name>', `how keys are chosen (${DISTRIBUTIONS.join(', ')})`)
    .option('--mix <r,w,rw>', 'shares of read-only, write-only, read-modify-write transactions')
    .option('--disjoint-writes', 'let only one session write each key')
    .option(
      '--store <level>',
      `level that the store keeps (${CHAIN.join(', ')}; default ser, sser for lwt)`,
    )
    .option('--inject <faults>', 'faults and how often each strikes, e.g. lost-update:3,long-fork')
    .option('--aborts <share>', 'share of transactions rolled back at random (0)')
    .option('--indeterminates <share>', 'share of transactions whose outcome stays unknown (0)')
    .option('--conflicts <what>', 'a transaction that cannot commit: retry it, or abort', 'retry')
    .option('--concurrency <share>', 'share of the sessions that may be busy at once (1)')
    .option('-f, --format <id>', `output format (${FORMATS.map((f) => f.id).join(', ')})`)
    .option('--layout <layout>', `order in the file (${LAYOUTS.join(', ')})`, 'commit')
    .option('--force', 'replace a file that exists')
    .option('--json', 'print what was made as one JSON object')
    .addHelpText('after', HELP)
    .action(async (out: string, flags: Flags) => {
      await generateTo(out, flags)
      done(EXIT.satisfied)
    })
}

const HELP = `
Without --format the ending of the file's name decides (.txt is Plume text), else it is native.
Faults, and the weakest level that forbids each:
${FAULTS.map((fault) => `  ${fault.name.padEnd(24)} ${fault.forbiddenFrom.padEnd(5)} ${fault.meaning}`).join('\n')}

Examples:
  isobar generate h.txt --transactions 1000000 --ops 8 --sessions 50 --keys 100000
  isobar generate h.jsonl --shape mini --store si --seed 7
  isobar generate h.jsonl --store sser --inject lost-update:3,write-skew
  isobar generate - --transactions 6 --ops 2 --sessions 2 --keys 2 --format notation`

async function generateTo(out: string, flags: Flags): Promise<void> {
  const format = formatFor(out, flags.format)
  checkTarget(out, flags.force === true)
  const options = readFlags(flags, format)
  checkTimes(options, format)
  const generated = generate(options)
  const { history, opOrder } = generated
  refuseMisfits(format, history, 'the native format holds everything: --format native')
  const bytes = saveHistory(out, format, history, { force: flags.force === true, opOrder })
  // Standard output belongs to the history then.
  if (out === '-') return
  const about = {
    path: out,
    format: format.id,
    bytes,
    seed: options.seed,
    store: options.store.level ?? 'ser',
  }
  await print(
    flags.json
      ? `${stringify({ ...about, ...countHistory(history), faults: namedStrikes(generated) })}\n`
      : renderSummary(about, generated),
  )
}

function readFlags(flags: Flags, format: Format): GenerateOptions {
  const workload: Record<string, unknown> = { shape: flags.shape as Shape }
  for (const name of ['sessions', 'transactions', 'ops', 'reads', 'keys'] as const) {
    if (flags[name] !== undefined) workload[name] = numberOf(name, flags[name])
  }
  if (flags.distribution) workload['distribution'] = flags.distribution as Distribution
  if (flags.mix)
    workload['mix'] = flags.mix.split(',').map((part) => numberOf('mix', part)) as never
  if (flags.disjointWrites) workload['disjointWrites'] = true
  if (flags.conflicts !== 'retry' && flags.conflicts !== 'abort') {
    throw new UsageError(`unknown --conflicts "${flags.conflicts}"`, 'there are retry, abort')
  }
  return {
    seed: seedOf(flags.seed),
    workload,
    store: {
      // Lightweight transactions are promised in real time.
      level: (flags.store ?? (flags.shape === 'lwt' ? 'sser' : 'ser')) as LevelId,
      faults: flags.inject === undefined ? [] : parseFaults(flags.inject),
      aborts: numberOf('aborts', flags.aborts ?? '0'),
      indeterminates: numberOf('indeterminates', flags.indeterminates ?? '0'),
      conflicts: flags.conflicts,
      concurrency: numberOf('concurrency', flags.concurrency ?? '1'),
    },
    layout: flags.layout as Layout,
    initial: null,
    times: holdsTimes(format),
    lightweight: format.id === 'native' || format.id === 'notation',
  }
}

/** Some faults show in start and finish times only. */
function checkTimes({ times, store }: GenerateOptions, format: Format): void {
  const timed = store.faults?.find(({ fault }) => fault.forbiddenFrom === 'sser')
  if (times || !timed) return
  const message = `${timed.fault.name} shows in start and finish times, which ${format.name} lacks`
  throw new UsageError(message, 'the native format has them: --format native')
}

function numberOf(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) {
    throw new UsageError(`--${name} takes a number, not ${JSON.stringify(text)}`)
  }
  return value
}

function seedOf(text: string): number {
  const seed = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seed)) return seed
  throw new UsageError(`--seed takes a whole number, not ${JSON.stringify(text)}`)
}

/** Formats say what they cannot hold of a history, so the smallest one with times tells. */
function holdsTimes(format: Format): boolean {
  return format.misfits(parseNotation('s1: w(0,1) [1,2]')).length === 0
}

function namedStrikes({ history, strikes }: Generated) {
  return strikes.map(({ fault, txns, keys }) => ({
    fault,
    transactions: txns.map((txn) => history.txnName(txn)),
    keys: keys.map((key) => keyOf(history, key)),
  }))
}

function renderSummary(
  about: { path: string; format: string; bytes: number; seed: number; store: string },
  generated: Generated,
): string {
  const { path, format, bytes, seed, store } = about
  const counts = countHistory(generated.history)
  const size = `${counts.sessions} sessions, ${counts.transactions} transactions, ${counts.operations} operations, ${counts.keys} keys`
  const lines = [
    `${plain(path)} (${format}, ${bytes} bytes): ${size}; store ${store}, seed ${seed}`,
  ]
  for (const { fault, transactions, keys } of namedStrikes(generated)) {
    lines.push(`  ${fault}: ${transactions.join(', ')} on key ${keys.join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}
