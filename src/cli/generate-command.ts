// `isobar generate`: a seeded history from a simulated store, of any level, with faults on demand.

import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { Outputs } from '../files/output.ts'
import type { Format } from '../formats/formats.ts'
import { FORMATS } from '../formats/formats.ts'
import { claimHistory, formatFor, refuseMisfits, writeHistory } from '../formats/save.ts'
import { parseNotation } from '../history/notation.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { type Generated, type GenerateOptions, generate } from '../pipeline/generate.ts'
import type { GenerateSqlOptions } from '../pipeline/generate-sql.ts'
import { stringify } from '../report/json.ts'
import { keyOf, plain } from '../report/names.ts'
import { countHistory } from '../report/summary.ts'
import { FAULTS, parseFaults } from '../sim/faults.ts'
import { LAYOUTS, type Layout } from '../sim/layout.ts'
import { parseSqlFaults, SQL_FAULTS } from '../sim/sql/faults.ts'
import { DISTRIBUTIONS, type Distribution } from '../workload/distributions.ts'
import { SHAPES, type Shape } from '../workload/parameters.ts'
import { isSqlShape, SQL_SHAPES, type SqlShape } from '../workload/sql/parameters.ts'
import { EXIT } from './exit-codes.ts'
import { readLevelsFile } from './levels-file.ts'
import { refuseForSql } from './options.ts'
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
  levelsFile?: string
  aborts?: string
  indeterminates?: string
  conflicts: string
  concurrency?: string
  format?: string
  layout: string
  full?: boolean
  force?: boolean
  json?: boolean
}

export function addGenerateCommand(program: Command, done: (code: number) => void): void {
  program
    .command('generate')
    .description('make a history with a simulated store; the same seed gives the same bytes')
    .argument('<out>', 'file to write, or - for standard output')
    .option('--seed <n>', 'where all randomness comes from', '1')
    .option('--shape <shape>', `kind of transactions (${ALL_SHAPES.join(', ')})`, 'general')
    .option('--sessions <n>', 'concurrent sessions (25; SQL: 10)')
    .option('--transactions <n>', 'transactions in all (5000; SQL: 100)')
    .option(
      '--ops <n>',
      'operations of a transaction (20; append: 4; churn: up to 8; sql: up to 3)',
    )
    .option('--reads <share>', 'share of reads, 0 to 1 (0.5)')
    .option(
      '--keys <n>',
      'keys; of churn and append, at one time (10000; mini: 1000; churn: 40; append, lwt: 10); of SQL, customers of a district (tpcc: 10), users (twitter: 20, more for over 20000 transactions) or rows (sql: 6)',
    )
    .option('--distribution <name>', `how keys are chosen (${DISTRIBUTIONS.join(', ')})`)
    .option('--mix <r,w,rw>', 'shares of read-only, write-only, read-modify-write transactions')
    .option('--disjoint-writes', 'let only one session write each key')
    .option(
      '--store <level>',
      `level that the store keeps (${CHAIN.join(', ')}; default ser, sser for lwt); of SQL, also two such as ser+rc, the first for transactions that matter, or mixed`,
    )
    .option(
      '--levels-file <file>',
      'SQL: JSON that says which level each type of transactions asks for, e.g. {"payment":"ser","*":"rc"}',
    )
    .option('--inject <faults>', 'faults and how often each strikes, e.g. lost-update:3,long-fork')
    .option('--aborts <share>', 'share of transactions rolled back at random (0)')
    .option('--indeterminates <share>', 'share of transactions whose outcome stays unknown (0)')
    .option('--conflicts <what>', 'a transaction that cannot commit: retry it, or abort', 'retry')
    .option('--concurrency <share>', 'share of the sessions that may be busy at once (1)')
    .option('-f, --format <id>', `output format (${FORMATS.map((f) => f.id).join(', ')})`)
    .option('--layout <layout>', `order in the file (${LAYOUTS.join(', ')})`, 'commit')
    .option('--full', 'SQL: let statements also name the versions that they passed over')
    .option('--force', 'replace a file that exists')
    .option('--json', 'print what was made as one JSON object')
    .addHelpText('after', HELP)
    .action(async (out: string, flags: Flags) => {
      await generateTo(out, flags)
      done(EXIT.satisfied)
    })
}

const ALL_SHAPES = [...SHAPES, ...SQL_SHAPES]

const faultLines = (faults: readonly { name: string; forbiddenFrom: string; meaning: string }[]) =>
  faults
    .map(({ name, forbiddenFrom, meaning }) => {
      return `  ${name.padEnd(24)} ${forbiddenFrom.padEnd(5)} ${meaning}`
    })
    .join('\n')

const HELP = `
Without --format the ending of the file's name decides (.txt is Plume text), else it is native.
Shapes tpcc, tpcc-pc, twitter and sql are SQL transactions, each of which asks for its own level;
they need the native format.
Faults, and the weakest level that forbids each:
${faultLines(FAULTS)}
Faults of SQL stores:
${faultLines(SQL_FAULTS)}

Examples:
  isobar generate h.txt --transactions 1000000 --ops 8 --sessions 50 --keys 100000
  isobar generate h.jsonl --shape mini --store si --seed 7
  isobar generate h.jsonl --store sser --inject lost-update:3,write-skew
  isobar generate h.jsonl --shape tpcc --sessions 10 --transactions 100 --store ser+rc
  isobar generate h.jsonl --shape twitter --store si --inject phantom
  isobar generate - --transactions 6 --ops 2 --sessions 2 --keys 2 --format notation`

async function generateTo(out: string, flags: Flags): Promise<void> {
  const format = formatFor(out, flags.format)
  const output = claimHistory(new Outputs(flags.force), out, format)
  const generated = isSqlShape(flags.shape)
    ? await generateStatements(flags)
    : generateOperations(flags, format)
  const { history, opOrder } = generated
  refuseMisfits(format, history, 'the native format holds everything: --format native')
  const bytes = writeHistory(output, format, history, opOrder)
  // Standard output belongs to the history then.
  if (out === '-') return
  const about = {
    path: out,
    format: format.id,
    bytes,
    seed: seedOf(flags.seed),
    store: storeOf(flags),
  }
  await print(
    flags.json
      ? `${stringify({ ...about, ...countHistory(history), faults: namedStrikes(generated) })}\n`
      : renderSummary(about, generated),
  )
}

function generateOperations(flags: Flags, format: Format): Generated {
  if (!(SHAPES as readonly string[]).includes(flags.shape)) {
    throw new UsageError(`unknown shape "${flags.shape}"`, `there are ${ALL_SHAPES.join(', ')}`)
  }
  const options = readFlags(flags, format)
  checkTimes(options, format)
  return generate(options)
}

async function generateStatements(flags: Flags): Promise<Generated> {
  const options = readSqlFlags(flags)
  // Loaded only here: it brings the parser of WHERE clauses.
  return (await import('../pipeline/generate-sql.ts')).generateSql(options)
}

function readFlags(flags: Flags, format: Format): GenerateOptions {
  const workload: Record<string, unknown> = { shape: flags.shape as Shape, ...sizesOf(flags) }
  if (flags.mix)
    workload['mix'] = flags.mix.split(',').map((part) => numberOf('mix', part)) as never
  if (flags.disjointWrites) workload['disjointWrites'] = true
  if (flags.full) throw new UsageError('--full is for SQL transactions', SQL_SHAPES_HINT)
  return {
    seed: seedOf(flags.seed),
    workload,
    store: {
      level: storeOf(flags) as LevelId,
      faults: flags.inject === undefined ? [] : parseFaults(flags.inject),
      ...scheduleOf(flags),
    },
    layout: flags.layout as Layout,
    initial: null,
    times: holdsTimes(format),
    lightweight: format.id === 'native' || format.id === 'notation',
  }
}

function readSqlFlags(flags: Flags): GenerateSqlOptions {
  const { shape } = flags
  refuseForSql(shape, flags)
  return {
    seed: seedOf(flags.seed),
    workload: { shape: shape as SqlShape, levels: storeOf(flags), ...sizesOf(flags) },
    store: {
      faults: flags.inject === undefined ? [] : parseSqlFaults(flags.inject),
      full: flags.full === true,
      ...scheduleOf(flags),
    },
    layout: flags.layout as Layout,
    times: true,
  }
}

const SQL_SHAPES_HINT = `their shapes are ${SQL_SHAPES.join(', ')}`

/** Lightweight transactions are promised in real time. */
function storeOf({ store, shape, levelsFile }: Flags): string {
  if (levelsFile !== undefined) {
    if (store !== undefined) throw new UsageError('--store and --levels-file exclude each other')
    return readLevelsFile(levelsFile, shape)
  }
  return store ?? (shape === 'lwt' ? 'sser' : 'ser')
}

function sizesOf(flags: Flags): Record<string, unknown> {
  const sizes: Record<string, unknown> = {}
  for (const name of ['sessions', 'transactions', 'ops', 'reads', 'keys'] as const) {
    if (flags[name] !== undefined) sizes[name] = numberOf(name, flags[name])
  }
  if (flags.distribution) sizes['distribution'] = flags.distribution as Distribution
  return sizes
}

function scheduleOf({ aborts, indeterminates, conflicts, concurrency }: Flags) {
  if (conflicts !== 'retry' && conflicts !== 'abort') {
    throw new UsageError(`unknown --conflicts "${conflicts}"`, 'there are retry, abort')
  }
  return {
    aborts: numberOf('aborts', aborts ?? '0'),
    indeterminates: numberOf('indeterminates', indeterminates ?? '0'),
    conflicts,
    concurrency: numberOf('concurrency', concurrency ?? '1'),
  } as const
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
