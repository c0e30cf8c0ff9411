// The outputs besides the terminal: the report and the pictures of one history, and the files that
// are about all of them: for continuous integration, for spreadsheets, and a report with an index.
// Every file is written whole or not at all. Rendering is loaded when a file is asked for, since it
// takes a large library.

import { extname } from 'node:path'
import type { Command } from 'commander'
import { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import type { Output, Outputs } from '../files/output.ts'
import type { History } from '../history/history.ts'
import { plain } from '../report/names.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { openFile } from './open-file.ts'
import type { Switches, Texts } from './options.ts'
import type { ReportKind } from './render-report.ts'

export type ReportFlags = Texts<ReportKind | 'trace'> & Switches<'open' | 'force'>

/** Those about one history only, but for the report, which has an index then. */
const SINGLE = ['report', 'svg', 'dot'] as const
const COLLECTED = ['junit', 'summary', 'csv'] as const
export const isCollected = (kind: ReportKind) => (COLLECTED as readonly string[]).includes(kind)

/** The options of every command that judges; `report` says what --report does there. */
export function addReportOptions(command: Command, report: string): Command {
  return command
    .option('--report <file>', report)
    .option('--open', 'open the report in a browser')
    .option('--svg <file>', 'write the first counterexample as a picture')
    .option('--dot <file>', 'write the first counterexample for Graphviz')
    .option('--junit <file>', 'write a JUnit report, a test case a level')
    .option('--summary <file>', 'add Markdown for a job summary to a file')
    .option('--csv <file>', 'write a table, a row for each level of each history')
    .option('--trace <file>', 'write the history as a trace for Perfetto, as JSON')
    .option('--force', 'replace files that exist')
}

export class ReportFiles {
  private readonly verdicts: VerdictJson[] = []
  private readonly resume: (() => Deadline)[] = [] // what each history has left for its page
  private readonly unread: string[] = []
  private readonly outputs = new Map<ReportKind, Output>()
  private pages: Output | null = null // of several histories
  private readonly trace: Output | null
  private readonly opens: boolean

  /** @param page where the report goes if nobody says, a new file in a directory of its own */
  constructor(
    flags: ReportFlags,
    private readonly all: Outputs,
    page: string | null = null,
  ) {
    if (page !== null && flags.report === undefined) {
      this.outputs.set('report', all.claim(page, '--out', { keep: true, parents: true }))
    }
    for (const kind of [...SINGLE, ...COLLECTED]) {
      const [path, options] = [flags[kind], { append: kind === 'summary' }]
      if (path !== undefined) this.outputs.set(kind, all.claim(path, `--${kind}`, options))
    }
    this.trace = flags.trace === undefined ? null : all.claim(flags.trace, '--trace')
    this.opens = flags.open === true
    const report = this.outputs.get('report')
    if (this.opens && (report === undefined || report.isStandard)) {
      throw new UsageError('--open opens a report', 'name its file: --report out.html')
    }
  }

  get isEmpty(): boolean {
    return this.outputs.size === 0 && this.trace === null
  }

  /** Call it before a long computation: what cannot be done is said at once. */
  checkFlags(isOneHistory: boolean): void {
    if (isOneHistory) return
    const single = SINGLE.find((kind) => kind !== 'report' && this.outputs.has(kind))
    if (this.trace) throw new UsageError('--trace goes with exactly one history')
    if (single) throw new UsageError(`--${single} goes with exactly one history`)
    const report = this.outputs.get('report')
    if (report) this.pages = claimPages(this.all, report)
  }

  /** Writes what is about this history, and keeps it for what is about all. */
  async add(verdict: VerdictJson, history: History, deadline = Deadline.none()): Promise<void> {
    this.verdicts.push(verdict)
    if (!this.isEmpty) {
      const { renderReport, renderTrace } = await import('./render-report.ts')
      for (const kind of SINGLE) {
        if (kind === 'report' && this.pages) continue
        this.outputs.get(kind)?.writeText(await renderReport(kind, [verdict], { deadline }))
      }
      this.trace?.writePieces(renderTrace(history, verdict, deadline))
    }
    this.resume.push(deadline.putAside())
  }

  /** An input that could not be read: reports about all of them must not look like a pass. */
  addUnread(message: string): void {
    this.unread.push(message)
  }

  async finish(): Promise<void> {
    if (this.isEmpty) return
    const { renderReport, writeIndex } = await import('./render-report.ts')
    const { verdicts, unread } = this
    const report = this.outputs.get('report')
    if (this.pages) {
      const told = verdicts.map((verdict, i) => ({ verdict, resume: this.resume[i]! }))
      await writeIndex(report!, this.pages, told, unread)
    }
    for (const kind of COLLECTED) {
      this.outputs.get(kind)?.writeText(await renderReport(kind, verdicts, { unread }))
    }
    if (this.opens && this.verdicts.length > 0) await openFile(report!.path)
  }

  /** What was written where, a line each. */
  tellWritten(): string {
    const wasSingle = this.verdicts.length > 0
    const trace: [string, Output][] = this.trace && wasSingle ? [['trace', this.trace]] : []
    const written = [...this.outputs].filter(
      ([kind]) => wasSingle || isCollected(kind) || (kind === 'report' && this.pages),
    )
    return [...written, ...trace]
      .filter(([, output]) => !output.isStandard)
      .map(([kind, { path }]) => `${kind.padEnd(8)} ${plain(path)}\n`)
      .join('')
  }
}

/** The directory of the pages of several histories, beside their index. */
export function claimPages(outputs: Outputs, index: Output): Output {
  const { path, isStandard } = index
  const hint = 'of several histories it is a file and a directory'
  if (isStandard) throw new UsageError('the report needs a name', hint)
  const pages = `${path.slice(0, path.length - extname(path).length)}-pages`
  return outputs.claimDirectory(pages, 'the report', /\.html$/)
}
