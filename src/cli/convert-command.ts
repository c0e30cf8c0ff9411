// `isobar convert`: the same history in another format. What that format cannot hold is an error
// that names it, unless it may be lost.

import type { Command } from 'commander'
import { sentence } from '../base/inert.ts'
import { stringify } from '../base/json.ts'
import { Outputs } from '../files/output.ts'
import { FORMATS } from '../formats/formats.ts'
import { claimHistory, formatFor, refuseMisfits, writeHistory } from '../formats/save.ts'
import { plain } from '../report/names.ts'
import { countHistory } from '../verdict/count-history.ts'
import { EXIT } from './exit-codes.ts'
import {
  addDuplicateValues,
  addInputFormat,
  addOutputFormat,
  type DuplicateFlags,
  type InputFormatFlags,
  type OutputFormatFlags,
} from './format-options.ts'
import { type Switches, sizeWords } from './options.ts'
import { filesOf } from './paths.ts'
import { Progress, showWriting } from './progress.ts'
import { readInput } from './read-input.ts'
import { print, tell } from './terminal.ts'

type Flags = InputFormatFlags &
  DuplicateFlags &
  OutputFormatFlags &
  Switches<'lossy' | 'force' | 'json'>

export function addConvertCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('convert')
    .description('write a history in another format; nothing is lost unless you say so')
    .argument('<from>', 'a history, or - for standard input')
    .argument('<to>', 'file or directory to write, or - for standard output')
    .option('--lossy', 'leave out what the output format cannot hold, instead of refusing')
    .option('--force', 'replace an output that exists')
    .option('--json', 'print what was written as one JSON object')
  addDuplicateValues(addInputFormat(command))
  addOutputFormat(command)
    .addHelpText('after', HELP)
    .action(async (from: string, to: string, flags: Flags) => {
      await convert(from, to, flags)
      done(EXIT.satisfied)
    })
}

const HELP = `
Endings: ${FORMATS.flatMap(({ id, extensions }) => extensions.map((e) => `.${e} ${id}`)).join(', ')};
.gz behind one of them compresses. cobra and viper are directories: name them with --to.

Examples:
  isobar convert history.txt history.jsonl           Plume text to the native format
  isobar convert run/ h.plume --format cobra --lossy names and times are left out
  isobar convert h.jsonl logs --to viper             a directory with one file a session
  isobar convert h.bincode - --to notation           to read it`

async function convert(from: string, to: string, flags: Flags): Promise<void> {
  const format = formatFor(to, flags.to)
  const outputs = new Outputs(flags.force)
  for (const path of filesOf(from)) outputs.read(path)
  const output = claimHistory(outputs, to, format)
  const progress = new Progress()
  const read = await readInput(from, flags.format, progress, flags.duplicateValues)
  const { history } = read
  if (flags.lossy !== true) refuseMisfits(format, history, '--lossy leaves it out')
  const lost = format.misfits(history)
  const bytes = writeHistory(output, format, history, null, showWriting(to, progress))
  progress.done()
  for (const warning of history.warnings) warn(warning)
  for (const what of lost) warn(`${format.name} does not hold ${what}`)
  // Standard output belongs to the history then.
  if (to === '-') return
  const [fromFormat, counts] = [read.format.id, countHistory(history)]
  const about = { from, fromFormat, path: to, format: format.id, bytes, lost }
  if (flags.json) return print(`${stringify({ ...about, ...counts })}\n`)
  const size = sizeWords(counts, ['sessions', 'transactions', 'operations'])
  await tell(`${plain(to)} (${format.id}, from ${fromFormat}, ${bytes} bytes): ${size}\n`)
}

function warn(text: string): void {
  process.stderr.write(`isobar: warning: ${sentence(text)}\n`)
}
