// What a report shows, without the frame around it: the report file puts it into one page, the site
// into a page that is there already. It is a function of the verdict. The text and the pictures are
// there without scripts; the script opens steps, walks cases and links the views. Main function:
// renderView.

import { counted } from '../../base/counted.ts'
import { Deadline } from '../../base/deadline.ts'
import { levelName } from '../../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { plain } from '../names.ts'
import type { OverviewDetail } from '../overview-detail.ts'
import type { Figure } from '../picture/figure.ts'
import type { Replay } from '../replay.ts'
import { scopeOf } from '../scope.ts'
import { nameAll } from '../summary.ts'
import { renderAbout } from './about.ts'
import { renderFinding, titleOf } from './anomaly.ts'
import type { Further } from './further.ts'
import { renderGroup } from './group.ts'
import { type Group, groupSections } from './groups.ts'
import { renderLadder } from './ladder.ts'
import { type OverviewData, renderOverview, type ShownFinding } from './overview.ts'
import { renderRun } from './run.ts'
import { renderSchedule, type ToldSchedule } from './schedule.ts'
import { findSections, type Section } from './sections.ts'

/** What the script gets. */
export interface PageData {
  /** By the ids of the findings. */
  figures: Record<string, readonly Figure[]>
  overview: OverviewData | null
  replays: Record<string, Replay>
}

export interface PageOptions {
  /** When it runs out, the page ends with the findings that it has. */
  deadline?: Deadline | undefined
  /** Single transactions for the overview. */
  detail?: OverviewDetail | null | undefined
  /** The race that the history is of. */
  schedule?: ToldSchedule | undefined
  /** What is offered beside words and pictures; nothing if absent. */
  further?: Further | undefined
}

/** The parts of a report as markup, from top to bottom; empty where there is nothing to show. */
export interface ReportView {
  readonly title: string
  readonly top: string
  /** The order of statements, if it was a race. */
  readonly schedule: string
  readonly overview: string
  readonly findings: string
  /** The run that made the history, and how everything was judged. */
  readonly about: string
  readonly data: PageData
}

const MAX_SECTIONS = 40

export function renderView(
  verdict: VerdictJson,
  { deadline = Deadline.none(), detail = null, schedule, further }: PageOptions = {},
): ReportView {
  const groups = groupSections(verdict, findSections(verdict), MAX_SECTIONS)
  const shown: Section[] = []
  const idOf = (section: Section) => `a${shown.indexOf(section) + 1}`
  const rendered: ReturnType<typeof renderFinding>[] = []
  const kinds: string[] = []
  for (const group of groups) {
    if (shown.length > 0 && deadline.hasRunOut()) break
    const findings = group.shown.flatMap((section, i) => {
      if (i > 0 && deadline.hasRunOut()) return []
      shown.push(section)
      const sameAs = section.sameAs && shown.includes(section.sameAs) ? section.sameAs : null
      const first = sameAs ? idOf(sameAs) : null
      const isOpen = shown.length === 1
      const part = renderFinding(verdict, section, idOf(section), first, isOpen, further ?? null)
      rendered.push(part)
      return [part.html]
    })
    group.shown.length = findings.length
    kinds.push(renderGroup(group, `k${kinds.length + 1}`, findings))
  }
  const figures = Object.fromEntries(rendered.map((part, i) => [`a${i + 1}`, part.figures]))
  const overview = renderOverview(verdict, shown.map(describeFinding), detail)
  const replays = Object.fromEntries(
    rendered.flatMap(({ replay }, i) => (replay ? [[`a${i + 1}`, replay]] : [])),
  )
  const data: PageData = { figures, overview: overview?.data ?? null, replays }
  return {
    title: `${headline(verdict)} · ${plain(verdict.path)}`,
    top: renderTop(verdict),
    schedule: schedule ? renderSchedule(schedule) : '',
    overview: overview?.html ?? '',
    findings: joined([groups.length > 1 ? renderContents(groups) : '', ...kinds]),
    about: joined([renderRun(verdict), renderAbout(verdict)]),
    data,
  }
}

function joined(lines: readonly string[]): string {
  return lines.filter((line) => line !== '').join('\n')
}

function describeFinding({ name, evidence }: Section, i: number): ShownFinding {
  const [first] = evidence
  const { transactions } = first!.anomaly
  return { id: `a${i + 1}`, name, title: titleOf(first!), transactions }
}

/** The answer in a few words. */
export function headline(verdict: VerdictJson): string {
  const { results, strongest, weakestViolated } = verdict
  if (verdict.asked !== null && results.length > 0) {
    const of = (outcome: string) => results.filter((result) => result.verdict === outcome)
    const nameOf = (result: ResultJson) => `${levelName(result.level)}${scopeOf(result)}`
    const names = (list: typeof results) => list.map(nameOf).join(', ')
    if (of('violated').length > 0) return `${names(of('violated'))}: violated`
    if (of('unknown').length > 0) return `${names(of('unknown'))}: unknown`
    return `${names(results)}: satisfied`
  }
  const limit = nameAll(weakestViolated)
  if (strongest.length > 0)
    return `Satisfies ${nameAll(strongest)}${limit && `, violates ${limit}`}`
  return limit === '' ? 'Nothing could be decided' : `Violates ${limit}`
}

function renderTop(verdict: VerdictJson): string {
  const { history, asked, run } = verdict
  const question =
    asked === null
      ? 'Which isolation levels does this history satisfy?'
      : `Does this history satisfy ${asked.map(levelName).join(', ')}?`
  const { aborted, indeterminate } = history
  const counts = [
    counted(history.sessions, 'session'),
    counted(history.transactions, 'transaction'),
    counted(history.operations, 'operation'),
    counted(history.keys, 'key'),
    ...(aborted > 0 ? [`${aborted} aborted`] : []),
    ...(indeterminate > 0 ? [`${indeterminate} of unknown outcome`] : []),
  ]
  return joined([
    '<header>',
    `<p class="question">${esc(question)}</p>`,
    `<h1>${esc(headline(verdict))}</h1>`,
    `<p class="source"><code>${esc(plain(verdict.path))}</code> <span>(${esc(verdict.format)}: ${counts.join(', ')})</span></p>`,
    run
      ? `<p class="source">${esc(`Recorded from ${run.database.name} at ${run.database.place}, asked for ${run.level.asked}`)}</p>`
      : '',
    renderLadder(verdict),
    ...verdict.warnings.map((text) => `<p class="warning"><b>Warning:</b> ${esc(text)}</p>`),
    '</header>',
  ])
}

/** Every kind that was found, with how often. */
function renderContents(groups: readonly Group[]): string {
  const items = groups.map(({ name, count, levels }, i) => {
    const often = count === '' ? '' : `, ${count}`
    return `<li><a href="#k${i + 1}">${esc(name)}</a> <span>violates ${levels.join(', ')}${esc(often)}</span></li>`
  })
  return `<nav aria-label="Findings"><h2>Findings</h2><ol>${items.join('')}</ol></nav>`
}
