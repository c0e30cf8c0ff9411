// The outputs besides the terminal: the report and the pictures of one history, and the files that
// continuous integration shows, of all of them. Every file is written whole or not at all.

import type { Command } from 'commander'
import type { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import type { Output, Outputs } from '../files/output.ts'
import { renderDot } from '../report/dot.ts'
import { renderJunit } from '../report/junit.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { loadPageAssets } from '../report/page/assets.ts'
import { renderHtml } from '../report/page/html.ts'
import type { Section } from '../report/page/sections.ts'
import { renderSvg } from '../report/picture/svg.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'

export interface ReportFlags {
  report?: string
  svg?: string
  dot?: string
  junit?: string
  summary?: string
  force?: boolean
}

/** Those about one history only. */
const SINGLE = ['report', 'svg', 'dot'] as const
const COLLECTED = ['junit', 'summary'] as const
export type ReportKind = (typeof SINGLE)[number] | (typeof COLLECTED)[number]

/** The options of every command that judges; `report` says what --report does there. */
export function addReportOptions(command: Command, report: string): Command {
  return command
    .option('--report <file>', report)
    .option('--svg <file>', 'write the first counterexample as a picture')
    .option('--dot <file>', 'write the first counterexample for Graphviz')
    .option('--junit <file>', 'write a JUnit report, a test case a level')
    .option('--summary <file>', 'add Markdown for a job summary to a file')
    .option('--force', 'replace files that exist')
}

export class ReportFiles {
  private readonly verdicts: VerdictJson[] = []
  private readonly unread: string[] = []
  private readonly outputs = new Map<ReportKind, Output>()

  /** @param page where the report goes if nobody says, a new file in a directory of its own */
  constructor(flags: ReportFlags, outputs: Outputs, page: string | null = null) {
    if (page !== null && flags.report === undefined) {
      this.outputs.set('report', outputs.claim(page, '--out', { keep: true, parents: true }))
    }
    for (const kind of [...SINGLE, ...COLLECTED]) {
      const path = flags[kind]
      if (path === undefined) continue
      const options = { append: kind === 'summary' }
      this.outputs.set(kind, outputs.claim(path, `--${kind}`, options))
    }
  }

  get isEmpty(): boolean {
    return this.outputs.size === 0
  }

  /** Call it before a long computation: what cannot be done is said at once. */
  checkFlags(isOneHistory: boolean): void {
    const single = SINGLE.find((kind) => this.outputs.has(kind))
    if (single && !isOneHistory) throw new UsageError(`--${single} goes with exactly one history`)
  }

  /** Writes what is about this history, and keeps it for what is about all. */
  async add(verdict: VerdictJson, deadline?: Deadline): Promise<void> {
    this.verdicts.push(verdict)
    for (const kind of SINGLE) {
      this.outputs.get(kind)?.writeText(await renderReport(kind, [verdict], { deadline }))
    }
  }

  /** An input that could not be read: reports about all of them must not look like a pass. */
  addUnread(message: string): void {
    this.unread.push(message)
  }

  finish(): void {
    this.outputs.get('junit')?.writeText(renderJunit(this.verdicts, this.unread))
    this.outputs.get('summary')?.writeText(renderMarkdown(this.verdicts, this.unread))
  }
}

/**
 * One kind of report; the pictures are of the section given, else of the first.
 * @param deadline when it runs out, a page ends with the findings that it has
 */
export async function renderReport(
  kind: ReportKind,
  verdicts: readonly VerdictJson[],
  { section, deadline }: { section?: Section | undefined; deadline?: Deadline | undefined } = {},
): Promise<string> {
  switch (kind) {
    case 'report':
      return renderHtml(verdicts[0]!, await loadPageAssets(), deadline)
    case 'svg':
      return renderSvg(verdicts[0]!, section)
    case 'dot':
      return renderDot(verdicts[0]!, section)
    case 'junit':
      return renderJunit(verdicts)
    case 'summary':
      return renderMarkdown(verdicts)
  }
}
