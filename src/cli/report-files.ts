// The outputs besides the terminal: the report and the pictures of one history, and the files that
// continuous integration shows, of all of them. Every file is written whole or not at all.

import type { Command } from 'commander'
import type { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { saveFile } from '../formats/save.ts'
import { renderDot } from '../report/dot.ts'
import { renderJunit } from '../report/junit.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { renderHtml } from '../report/page/html.ts'
import type { Section } from '../report/page/sections.ts'
import { renderSvg } from '../report/picture/svg.ts'
import type { VerdictJson } from '../report/verdict-json.ts'
import { loadPageAssets } from './page-assets.ts'

export interface ReportFlags {
  report?: string
  svg?: string
  dot?: string
  junit?: string
  summary?: string
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
    .option('--summary <file>', 'write Markdown for a job summary')
}

export class ReportFiles {
  private readonly verdicts: VerdictJson[] = []
  private readonly unread: string[] = []

  constructor(private readonly flags: ReportFlags) {}

  get isEmpty(): boolean {
    return [...SINGLE, ...COLLECTED].every((kind) => this.flags[kind] === undefined)
  }

  /** Call it before a long computation: what cannot be done is said at once. */
  checkFlags(isOneHistory: boolean): void {
    const single = SINGLE.find((kind) => this.flags[kind] !== undefined)
    if (single && !isOneHistory) throw new UsageError(`--${single} goes with exactly one history`)
  }

  /** Writes what is about this history, and keeps it for what is about all. */
  add(verdict: VerdictJson, deadline?: Deadline): void {
    this.verdicts.push(verdict)
    for (const kind of SINGLE) {
      const path = this.flags[kind]
      if (path !== undefined) writeText(path, renderReport(kind, [verdict], { deadline }))
    }
  }

  /** An input that could not be read: reports about all of them must not look like a pass. */
  addUnread(message: string): void {
    this.unread.push(message)
  }

  finish(): void {
    const { junit, summary } = this.flags
    if (junit !== undefined) writeText(junit, renderJunit(this.verdicts, this.unread))
    if (summary !== undefined) writeText(summary, renderMarkdown(this.verdicts, this.unread))
  }
}

/**
 * One kind of report; the pictures are of the section given, else of the first.
 * @param deadline when it runs out, a page ends with the findings that it has
 */
export function renderReport(
  kind: ReportKind,
  verdicts: readonly VerdictJson[],
  { section, deadline }: { section?: Section | undefined; deadline?: Deadline | undefined } = {},
): string {
  switch (kind) {
    case 'report':
      return renderHtml(verdicts[0]!, loadPageAssets(), deadline)
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

/** `-` is standard output. */
export function writeText(path: string, text: string): void {
  const bytes = new TextEncoder().encode(text)
  saveFile(path, true, (sink) => sink(bytes))
}
