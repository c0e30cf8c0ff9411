// What stands in the files of report-files.ts: one kind of report as text, pages with an index, and
// traces. Apart from it because laying out pictures takes a large library, which a check that
// writes no files must not wait for. Main function: renderReport.

import { basename } from 'node:path'
import type { Deadline } from '../base/deadline.ts'
import type { Output } from '../files/output.ts'
import { renderCsv } from '../report/csv.ts'
import { renderDot } from '../report/dot.ts'
import { renderJunit } from '../report/junit.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { loadPageAssets } from '../report/page/assets.ts'
import { renderHtml } from '../report/page/html.ts'
import { renderIndex } from '../report/page/index-page.ts'
import type { Section } from '../report/page/sections.ts'
import type { PageOptions } from '../report/page/view.ts'
import { renderSvg } from '../report/picture/svg.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'

export { renderTrace } from '../report/trace.ts'

export type ReportKind = 'report' | 'svg' | 'dot' | 'junit' | 'summary' | 'csv'

/** A verdict on one of several histories. */
export interface Told {
  readonly verdict: VerdictJson
  /** Begins the time that its page may take; none if there is no limit. */
  readonly resume?: () => Deadline
}

/** Writes a page for each history, and the index. */
export async function writeIndex(
  index: Output,
  pages: Output,
  all: readonly Told[],
  unread: readonly string[] = [],
): Promise<void> {
  const assets = await loadPageAssets()
  const digits = String(all.length).length
  const entries = all.map(({ verdict, resume }, i) => {
    const name = basename(verdict.path)
      .replace(/[^\w.-]+/g, '_')
      .slice(0, 80)
    return { verdict, resume, file: `${String(i + 1).padStart(digits, '0')}-${name}.html` }
  })
  const encoder = new TextEncoder()
  pages.writeFiles((open) => {
    for (const { verdict, resume, file } of entries) {
      open(file)(encoder.encode(renderHtml(verdict, assets, { deadline: resume?.() })))
    }
  })
  const folder = encodeURIComponent(basename(pages.path))
  const links = entries.map(({ verdict, file }) => ({
    verdict,
    href: `${folder}/${encodeURIComponent(file)}`,
  }))
  index.writeText(renderIndex(links, unread, assets))
}

/**
 * One kind of report; the pictures are of the section given, else of the first.
 */
export async function renderReport(
  kind: ReportKind,
  verdicts: readonly VerdictJson[],
  {
    section,
    unread = [],
    ...page
  }: PageOptions & { section?: Section | undefined; unread?: readonly string[] } = {},
): Promise<string> {
  switch (kind) {
    case 'report':
      return renderHtml(verdicts[0]!, await loadPageAssets(), page)
    case 'svg':
      return renderSvg(verdicts[0]!, section)
    case 'dot':
      return renderDot(verdicts[0]!, section)
    case 'junit':
      return renderJunit(verdicts, unread)
    case 'summary':
      return renderMarkdown(verdicts, unread)
    case 'csv':
      return renderCsv(verdicts, unread)
  }
}
