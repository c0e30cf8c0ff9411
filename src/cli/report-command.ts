// `isobar report`: turns a verdict that `check --json` wrote into a report or a picture. Nothing is
// decided anew.

import { extname } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { findMeant } from '../base/slips.ts'
import { Outputs } from '../files/output.ts'
import { plain } from '../report/names.ts'
import { buildDetail } from '../report/overview-detail.ts'
import { findSections, type Section } from '../report/page/sections.ts'
import { renderTrace } from '../report/trace.ts'
import { checkCounts } from '../verdict/resolve-file.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { EXIT } from './exit-codes.ts'
import { openFile } from './open-file.ts'
import type { Switches, Texts } from './options.ts'
import { filesOf } from './paths.ts'
import { readInput } from './read-input.ts'
import { type ReportKind, renderReport, writeIndex } from './render-report.ts'
import { claimPages, isCollected } from './report-files.ts'
import { tell } from './terminal.ts'
import { atPath, chooseVerdict, readVerdicts } from './verdict-input.ts'

const KINDS: Record<string, ReportKind> = {
  '.html': 'report',
  '.htm': 'report',
  '.svg': 'svg',
  '.dot': 'dot',
  '.gv': 'dot',
  '.xml': 'junit',
  '.md': 'summary',
  '.csv': 'csv',
}

type Flags = Texts<'trace' | 'history' | 'anomaly' | 'line'> & Switches<'force' | 'open'>

export function addReportCommand(program: Command, done: (code: number) => void): void {
  program
    .command('report')
    .description('show a verdict written by check --json: as a page, a picture, for CI')
    .argument('<verdict>', 'the file, or - for standard input')
    .argument(
      '[out]',
      'what to write: .html, .svg, .dot, .xml (JUnit), .md or .csv; else VERDICT.html',
    )
    .option('--anomaly <name>', 'the anomaly to draw, by name or number; else the first')
    .option('--line <n>', 'the verdict to show, if the file has several')
    .option('--open', 'open the page in a browser')
    .option('--history <file>', 'the history, for the single transactions of the overview')
    .option('--trace <file>', 'also write the history as a trace for Perfetto; needs --history')
    .option('--force', 'replace a file that exists')
    .addHelpText(
      'after',
      `
The report is one HTML file that needs no network; of several verdicts it is an index, with a page
each in a directory beside it. Nothing is checked anew: exit code 0.

Examples:
  isobar check history.txt --json > verdict.json
  isobar report verdict.json --open              writes verdict.html, and shows it
  isobar report verdicts.jsonl all.html          an index and a page for each history
  isobar report verdict.json --history history.txt   with single transactions in its overview
  isobar report verdict.json skew.svg --anomaly WriteSkew`,
    )
    .action(async (verdict: string, out: string | undefined, flags: Flags) => {
      done(await report(verdict, out, flags))
    })
}

async function report(path: string, out: string | undefined, flags: Flags): Promise<number> {
  const target = out ?? (path === '-' ? 'report.html' : `${path.replace(/\.jsonl?$/i, '')}.html`)
  const kind = kindFor(target)
  const outputs = new Outputs(flags.force)
  outputs.read(path)
  if (flags.history !== undefined) {
    if (kind !== 'report') throw new UsageError('--history is for pages', 'write a .html file')
    for (const file of filesOf(flags.history)) outputs.read(file)
  }
  if (flags.trace !== undefined && flags.history === undefined) {
    throw new UsageError('--trace needs the history', 'name it: --history FILE')
  }
  const output = outputs.claim(target, 'the output')
  const trace = flags.trace === undefined ? null : outputs.claim(flags.trace, '--trace')
  if (flags.open && (kind !== 'report' || output.isStandard)) {
    throw new UsageError('--open opens a page', 'name a file that ends in .html')
  }
  const found = await readVerdicts(path)
  await atPath(path, async () => {
    const all = found.map(({ verdict }) => verdict)
    const isIndex = kind === 'report' && all.length > 1 && flags.anomaly === undefined
    const isAll = (isIndex || isCollected(kind)) && flags.line === undefined
    if (isIndex && isAll) return writeIndex(output, claimPages(outputs, output), found)
    const verdicts = isAll ? all : [chooseVerdict(found, flags.line)]
    const section = sectionOf(verdicts[0]!, flags.anomaly)
    const history = await historyOf(verdicts[0]!, flags.history)
    const { overview } = verdicts[0]!
    const detail = history && overview ? buildDetail(history, overview) : null
    if (history) trace?.writePieces(renderTrace(history, verdicts[0]!))
    output.writeText(await renderReport(kind, verdicts, { section, detail }))
  })
  if (target !== '-') await tell(`${plain(target)}\n`)
  if (flags.open) await openFile(target)
  return EXIT.satisfied
}

async function historyOf(verdict: VerdictJson, path: string | undefined) {
  if (path === undefined) return null
  const { history } = await readInput(path)
  checkCounts(history, verdict)
  return history
}

function kindFor(target: string): ReportKind {
  if (target === '-') return 'report'
  const kind = KINDS[extname(target).toLowerCase()]
  if (kind) return kind
  const known = Object.keys(KINDS).join(', ')
  throw new UsageError(`what should ${plain(target)} be?`, `file names end in ${known}`)
}

function sectionOf(verdict: VerdictJson, wanted: string | undefined): Section | undefined {
  if (wanted === undefined) return undefined
  const sections = findSections(verdict)
  const section = sections.find(
    ({ name }, i) => String(i + 1) === wanted || name.toLowerCase() === wanted.toLowerCase(),
  )
  if (section) return section
  const names = sections.map(({ name }) => name)
  const known = names.map((name, i) => `${i + 1} ${name}`).join(', ')
  const meant = findMeant(wanted, names)
  const hint = `${meant === null ? '' : `did you mean ${meant}? `}there are ${known}`
  throw new UsageError(`there is no anomaly ${wanted}`, known ? hint : null)
}
