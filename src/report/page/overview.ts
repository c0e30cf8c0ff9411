// The overview of the page: the whole history, sessions from top to bottom, time from left to
// right, with findings and faults marked. The script draws it; what is marked stands below as a
// list, which needs no script. Main function: renderOverview.

import { counted } from '../../base/counted.ts'
import { largest } from '../../base/grow.ts'
import type { TimeUnit } from '../../history/history.ts'
import type { OverviewJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { plain } from '../names.ts'
import type { OverviewDetail } from '../overview-detail.ts'
import { durationText } from '../picture/time-axis.ts'

/** A finding of the page, and the transactions that it is about. */
export interface ShownFinding {
  id: string
  name: string
  title: string
  transactions: readonly string[]
}

/** A finding or an event, where the overview shows it. */
export interface OverviewMark {
  at: number
  text: string
  /** The finding to go to, null for an event. */
  id: string | null
  /** Where its transactions are: [row, from, to]. */
  places: [number, number, number][]
}

/** What the script draws. */
export interface OverviewData {
  overview: OverviewJson
  unit: TimeUnit | null
  marks: OverviewMark[]
  detail: OverviewDetail | null
}

export interface RenderedOverview {
  html: string
  data: OverviewData
}

export function renderOverview(
  verdict: VerdictJson,
  findings: readonly ShownFinding[],
  detail: OverviewDetail | null,
): RenderedOverview | null {
  const { overview, unit = null } = verdict
  if (!overview || verdict.history.transactions < 2) return null
  const marks = findMarks(overview, findings)
  const data = { overview, unit, marks, detail }
  return { html: renderSection(verdict, data), data }
}

function findMarks(overview: OverviewJson, findings: readonly ShownFinding[]): OverviewMark[] {
  const placeOf = new Map(overview.places.map((place) => [place.transaction, place]))
  const marks: OverviewMark[] = overview.events.map(({ at, source, text }) => ({
    at,
    text: plainWords(source === 'run' ? text : `${source}: ${text}`),
    id: null,
    places: [],
  }))
  for (const { id, name, title, transactions } of findings) {
    const found = transactions.flatMap((txn) => placeOf.get(txn) ?? [])
    if (found.length === 0) continue
    const places = found.map(({ row, at, until = at }): [number, number, number] => [
      row,
      at,
      until,
    ])
    marks.push({
      at: -largest(
        found.map(({ at }) => -at),
        Number.NEGATIVE_INFINITY,
      ),
      text: `${name}: ${title}`,
      id,
      places,
    })
  }
  return marks.sort((a, b) => a.at - b.at)
}

function plainWords(text: string): string {
  return /^[\w ,.:;()'-]+$/.test(text) ? text : plain(text)
}

function renderSection(verdict: VerdictJson, data: OverviewData): string {
  const { overview } = data
  const { aborted, indeterminate } = verdict.history
  const shared = overview.rows.some(({ sessions }) => sessions > 1)
  const rows = shared ? 'A row is several sessions' : 'A row is a session'
  const across = overview.axis === 'time' ? 'time' : 'position within the session'
  const failed =
    aborted + indeterminate > 0
      ? '<label><input type="checkbox" id="overview-failed" checked> failed and unknown</label>'
      : ''
  const sign = (kind: string, words: string) =>
    `<li><span class="swatch ${kind}" aria-hidden="true"></span>${words}</li>`
  const legend = [
    sign('committed', 'committed, the darker the more'),
    aborted > 0 ? sign('aborted', 'aborted') : '',
    indeterminate > 0 ? sign('indeterminate', 'outcome unknown') : '',
    data.marks.some(({ id }) => id !== null) ? sign('found', 'finding: click to go there') : '',
    data.marks.some(({ id }) => id === null) ? sign('event', 'fault or phase') : '',
  ]
  return [
    '<section class="overview" aria-labelledby="overview-name">',
    '<h2 id="overview-name">The whole history</h2>',
    `<p class="meaning">${rows}; left to right: ${across}.</p>`,
    '<div id="overview-plot" hidden>',
    `<canvas tabindex="0" role="img" aria-label="${counted(overview.rows.length, 'row')} of sessions, ${counted(verdict.history.transactions, 'transaction')}, ${counted(data.marks.length, 'mark')}; the list below names them"></canvas>`,
    '<p class="reading"></p>',
    `<p class="tools"><button type="button" data-zoom="in">Zoom in</button> <button type="button" data-zoom="out">Zoom out</button> <button type="button" data-zoom="all">Whole history</button> ${failed}<span class="tip">Drag to zoom; arrow keys move, + and − zoom.</span></p>`,
    '</div>',
    `<ul class="swatches" aria-label="Legend of the overview">${legend.join('')}</ul>`,
    renderMarks(data),
    '</section>',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function renderMarks({ overview, unit, marks }: OverviewData): string {
  if (marks.length === 0) return ''
  const items = marks.map(({ at, text, id }) => {
    const when =
      overview.axis === 'time' ? durationText(at - overview.from, unit) : `position ${at + 1}`
    const what = id === null ? esc(text) : `<a href="#${id}">${esc(text)}</a>`
    return `<li><span>${when}</span> ${what}</li>`
  })
  return `<details class="marks"><summary>Marked here, in order (${marks.length})</summary><ol>${items.join('')}</ol></details>`
}
