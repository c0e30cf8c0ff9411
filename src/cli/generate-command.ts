// `isobar generate`: a seeded history from a simulated store, of any level, with faults on demand.

import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { hintFor } from '../base/slips.ts'
import { Outputs } from '../files/output.ts'
import type { Format } from '../formats/formats.ts'
import { claimHistory, formatFor, refuseMisfits, writeHistory } from '../formats/save.ts'
import { parseNotation } from '../history/notation.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { readLevel, translateLevels } from '../levels/words.ts'
import { type Generated, generate } from '../pipeline/generate.ts'
import { keyOf, plain } from '../report/names.ts'
import { FAULTS, parseFaults } from '../sim/faults.ts'
import { LAYOUTS, type Layout } from '../sim/layout.ts'
import { parseSqlFaults, SQL_FAULTS } from '../sim/sql/faults.ts'
import { countHistory } from '../verdict/count-history.ts'
import { DEFAULT_SHAPE, defaultStore, type WorkloadRequest } from '../workload/parameters.ts'
import { isSqlShape, SQL_SHAPES } from '../workload/sql/parameters.ts'
import { EXIT } from './exit-codes.ts'
import { addOutputFormat, type OutputFormatFlags } from './format-options.ts'
import {
  parseChoice,
  parseNumber,
  parseSeed,
  type Switches,
  sizeWords,
  type Texts,
} from './options.ts'
import { Progress, showWriting } from './progress.ts'
import { print, tell } from './terminal.ts'
import {
  ALL_SHAPES,
  addWorkloadOptions,
  levelsChoice,
  readShape,
  type SqlRequest,
  shapeOf,
  type WorkloadFlags,
} from './workload-options.ts'

type Flags = WorkloadFlags &
  OutputFormatFlags &
  Texts<'shape' | 'store' | 'inject'> &
  Record<'aborts' | 'indeterminates' | 'conflicts' | 'concurrency' | 'layout', string> &
  Switches<'full' | 'force' | 'json'>

export function addGenerateCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('generate')
    .description('make a history with a simulated store; the same seed gives the same bytes')
    .argument('<out>', 'file to write, or - for standard output')
    .optionsGroup('Transactions:')
    .option('--shape <name>', `kind of transactions (${ALL_SHAPES.join(', ')}; ${DEFAULT_SHAPE})`)
  addWorkloadOptions(command)
    .optionsGroup('The store:')
    .option(
      '--store <level>',
      `level that the store keeps (${CHAIN.join(', ')}; ${defaultStore(DEFAULT_SHAPE)}, ${defaultStore('lwt')} for lwt); of SQL, also two such as ser+rc, the first for transactions that matter, or mixed`,
    )
    .option('--inject <faults>', 'faults and how often each strikes, e.g. lost-update:3,long-fork')
    .option('--aborts <share>', 'share of transactions rolled back at random', '0')
    .option('--indeterminates <share>', 'share of transactions whose outcome stays unknown', '0')
    .option('--conflicts <what>', 'a transaction that cannot commit: retry it, or abort', 'retry')
    .option('--concurrency <share>', 'share of the sessions that may be busy at once', '1')
    .optionsGroup('Output:')
    .option('--layout <layout>', `order in the file (${LAYOUTS.join(', ')})`, 'commit')
    .option('--full', 'SQL: let statements also name the versions that they passed over')
    .option('--force', 'replace a file that exists')
    .option('--json', 'print what was made as one JSON object')
  addOutputFormat(command)
    .addHelpText('after', HELP)
    .action(async (out: string, flags: Flags) => {
      await generateTo(out, flags)
      done(EXIT.satisfied)
    })
}

const faultLine = ({ name, forbiddenFrom, meaning }: (typeof FAULTS | typeof SQL_FAULTS)[number]) =>
  `  ${name.padEnd(24)} ${forbiddenFrom.padEnd(5)} ${meaning}`

const HELP = `
Without --to the ending of the file's name decides (.txt is Plume text), else it is native.
Shapes tpcc, tpcc-pc, twitter and sql are SQL transactions, each of which asks for its own level;
they need the native format.
Faults, and the weakest level that forbids each:
${FAULTS.map(faultLine).join('\n')}
Faults of SQL stores:
${SQL_FAULTS.map(faultLine).join('\n')}

Examples:
  isobar generate h.txt --shape general --transactions 1000000 --ops 8 --sessions 50 --keys 100000
  isobar generate h.jsonl --shape mini --store si --seed 7
  isobar generate h.jsonl --store sser --inject lost-update:3,write-skew
  isobar generate h.jsonl --shape tpcc --sessions 10 --transactions 100 --store ser+rc
  isobar generate h.jsonl --shape twitter --store si --inject phantom
  isobar generate - --transactions 6 --ops 2 --sessions 2 --keys 2 --to notation`

async function generateTo(out: string, flags: Flags): Promise<void> {
  const format = formatFor(out, flags.to)
  const output = claimHistory(new Outputs(flags.force), out, format)
  const shape = shapeOf(flags.shape, flags)
  const workload = readShape(shape, flags)
  if (workload === null) {
    throw new UsageError(`unknown shape "${shape}"`, hintFor(shape, ALL_SHAPES))
  }
  const seed = parseSeed(flags.seed)
  const store = storeOf(flags)
  const progress = new Progress()
  const onProgress = (ended: number, all: number) =>
    progress.report(`running ${all} transactions`, ended / all)
  const { history, opOrder, strikes } = isSqlShape(workload.shape)
    ? await generateStatements(workload as SqlRequest, store, seed, flags, onProgress)
    : generateOperations(workload as WorkloadRequest, store, seed, flags, format, onProgress)
  refuseMisfits(format, history, 'the native format holds everything: --to native')
  const bytes = writeHistory(output, format, history, opOrder, showWriting(out, progress))
  progress.done()
  // Standard output belongs to the history then.
  if (out === '-') return
  const about = { path: out, format: format.id, bytes, seed, store }
  const counts = countHistory(history)
  const faults = strikes.map(({ fault, txns, keys }) => ({
    fault,
    transactions: txns.map((txn) => history.txnName(txn)),
    keys: keys.map((key) => keyOf(history, key)),
  }))
  if (flags.json) return print(`${stringify({ ...about, ...counts, faults })}\n`)
  const made = `(${format.id}, ${bytes} bytes): ${sizeWords(counts)}`
  await tell(`${plain(out)} ${made}; store ${store}, seed ${seed}\n`)
  for (const { fault, transactions, keys } of faults) {
    await tell(`  ${fault}: ${transactions.join(', ')} on key ${keys.join(', ')}\n`)
  }
}

type OnProgress = (ended: number, all: number) => void

function generateOperations(
  workload: WorkloadRequest,
  store: string,
  seed: number,
  flags: Flags,
  format: Format,
  onProgress: OnProgress,
): Generated {
  if (flags.full) {
    const hint = `their shapes are ${SQL_SHAPES.join(', ')}`
    throw new UsageError('--full is for SQL transactions', hint)
  }
  const faults = flags.inject === undefined ? [] : parseFaults(flags.inject)
  // Formats say what they cannot hold of a history, so the smallest one with times tells.
  const times = format.misfits(parseNotation('s1: w(0,1) [1,2]')).length === 0
  const timed = faults.find(({ fault }) => fault.forbiddenFrom === 'sser')
  if (timed && !times) {
    const what = `${timed.fault.name} shows in start and finish times, which ${format.name} lacks`
    throw new UsageError(what, 'the native format has them: --to native')
  }
  return generate({
    seed,
    workload,
    store: { level: store as LevelId, faults, ...scheduleOf(flags), onProgress },
    layout: flags.layout as Layout,
    times,
    lightweight: format.id === 'native' || format.id === 'notation',
  })
}

async function generateStatements(
  workload: SqlRequest,
  levels: string,
  seed: number,
  flags: Flags,
  onProgress: OnProgress,
): Promise<Generated> {
  const faults = flags.inject === undefined ? [] : parseSqlFaults(flags.inject)
  // Loaded only here: it brings the parser of WHERE clauses.
  const { generateSql } = await import('../pipeline/generate-sql.ts')
  return generateSql({
    seed,
    workload: { ...workload, levels },
    store: { faults, full: flags.full === true, ...scheduleOf(flags), onProgress },
    layout: flags.layout as Layout,
  })
}

function storeOf(flags: Flags): string {
  const read = (word: string) => readLevel(word).level
  const shape = shapeOf(flags.shape, flags)
  const asked = levelsChoice('--store', flags.store, flags, shape, read)
  if (asked === null) return defaultStore(shape)
  return translateLevels(asked, read)
}

function scheduleOf({ aborts, indeterminates, conflicts, concurrency }: Flags) {
  return {
    aborts: parseNumber('aborts', aborts, 0),
    indeterminates: parseNumber('indeterminates', indeterminates, 0),
    conflicts: parseChoice(conflicts, '--conflicts', ['retry', 'abort']),
    concurrency: parseNumber('concurrency', concurrency, 0),
  } as const
}
