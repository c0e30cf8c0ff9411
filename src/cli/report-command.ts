// `isobar report`: turns a verdict that `check --json` wrote into a report or a picture. Nothing is
// decided anew.

import { extname } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { Outputs } from '../files/output.ts'
import { plain } from '../report/names.ts'
import { findSections, type Section } from '../report/page/sections.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { EXIT } from './exit-codes.ts'
import { type ReportKind, renderReport } from './report-files.ts'
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
}

interface Flags {
  anomaly?: string
  line?: string
  force?: boolean
}

export function addReportCommand(program: Command, done: (code: number) => void): void {
  program
    .command('report')
    .description('show a verdict written by check --json: as a page, a picture, for CI')
    .argument('<verdict>', 'the file, or - for standard input')
    .argument('[out]', 'what to write: .html, .svg, .dot, .xml (JUnit) or .md; else VERDICT.html')
    .option('--anomaly <name>', 'the anomaly to draw, by name or number; else the first')
    .option('--line <n>', 'the verdict to show, if the file has several')
    .option('--force', 'replace a file that exists')
    .addHelpText(
      'after',
      `
The report is one HTML file that needs no network. Nothing is checked anew: exit code 0.

Examples:
  isobar check history.txt --json > verdict.json
  isobar report verdict.json                     writes verdict.html
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
  const output = outputs.claim(target, 'the output')
  const found = await readVerdicts(path)
  await atPath(path, async () => {
    const isCollection = kind === 'junit' || kind === 'summary'
    const verdicts =
      isCollection && flags.line === undefined
        ? found.map(({ verdict }) => verdict)
        : [chooseVerdict(found, flags.line)]
    const section = sectionOf(verdicts[0]!, flags.anomaly)
    output.writeText(await renderReport(kind, verdicts, { section }))
  })
  if (target !== '-') await tell(`${plain(target)}\n`)
  return EXIT.satisfied
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
  const known = sections.map(({ name }, i) => `${i + 1} ${name}`).join(', ')
  throw new UsageError(`there is no anomaly ${wanted}`, known ? `there are ${known}` : null)
}
