// The first page of a night's report: what was found, how targets fared at levels and when they
// last did well, what could have shown, how nights compare, what failed. No script; the content
// policy admits its own styles only. Main function: renderNightPage.

import { counted } from '../base/counted.ts'
import { escapeMarkup as esc, escapeAttribute } from '../report/escape.ts'
import { type PageAssets, renderDocument } from '../report/page/document.ts'
import { INDEX_STYLE } from '../report/page/index-page.ts'
import { renderCharts } from '../report/picture/chart.ts'
import { PICTURE_STYLE } from '../report/picture/style.ts'
import { commandOf, type Job } from './job.ts'
import { isOver, type NightOverview, unknownFindings, untoldFailures } from './overview.ts'
import type { Cell, Finding, NightLine } from './read-results.ts'
import { pageOf } from './report-names.ts'

export function renderNightPage(overview: NightOverview, assets: PageAssets): string {
  const { night, counts, nights } = overview
  const { satisfied, violated, unknown, failed } = counts
  const title = headlineOf(overview)
  const [line] = nights
  const when = line
    ? ` began ${timeOf(line.begun)}${line.ended ? `, ended ${timeOf(line.ended)}` : ''}`
    : ''
  const told = `${counts.done} of ${counted(night.jobs, 'job')}: ${satisfied} satisfied, ${violated} violated, ${unknown} unknown, ${failed} failed`
  const body = [
    `<header><p class="question">${esc(`Night ${night.id} of ${night.name}`)}</p><h1>${esc(title)}</h1>`,
    `<p class="source">${esc(told)};${esc(when)}</p></header>`,
    '<main>',
    ...renderFindings(overview),
    ...renderCells(overview),
    ...renderSplits(overview),
    ...renderChanges(overview),
    ...renderFailures(overview),
    ...renderCoverage(overview),
    ...renderNights(nights),
    '</main>',
  ]
  return renderDocument(
    { title: `${title} · ${night.name}`, styles: [PICTURE_STYLE, assets.style, INDEX_STYLE], body },
    assets,
  )
}

function headlineOf(overview: NightOverview): string {
  const { findings, counts, night } = overview
  const fresh = unknownFindings(overview).length
  const missing = night.jobs - counts.done + counts.failed + counts.unknown
  const without = missing === 0 ? '' : `, ${counted(missing, 'job')} without a verdict`
  if (findings.length === 0) return `Nothing was found${isOver(overview) ? '' : ' yet'}${without}`
  const known = findings.length - fresh
  const parts = [
    ...(fresh > 0 ? [counted(fresh, 'finding')] : []),
    ...(known > 0 ? [counted(known, 'known finding')] : []),
  ]
  return `${parts.join(' and ')}${without}`
}

function table(label: string, head: readonly string[], rows: readonly string[]): string[] {
  return [
    `<div class="index-scroll" tabindex="0" role="region" aria-label="${escapeAttribute(label)}">`,
    '<table class="index">',
    `<thead><tr>${head.map((cell) => `<th scope="col">${esc(cell)}</th>`).join('')}</tr></thead>`,
    '<tbody>',
    ...rows,
    '</tbody>',
    '</table>',
    '</div>',
  ]
}

function row(first: string, cells: readonly string[]): string {
  return `<tr><th scope="row">${first}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}

function renderFindings({ findings, night, changes }: NightOverview): string[] {
  if (findings.length === 0) return []
  const head = ['finding', 'anomaly', 'level', 'times', 'first seen', 'on', 'again with']
  const stateOf = ({ fingerprint }: Finding) => {
    if (night.settings.known.includes(fingerprint)) return ' (known)'
    return changes?.come.includes(fingerprint) ? ' (new)' : ''
  }
  const rows = findings.map((finding) => {
    const { fingerprint, anomalies, level, count, firstNight, firstSeen, targets } = finding
    const link = `<a href="${escapeAttribute(pageOf(fingerprint))}">${esc(fingerprint)}</a>`
    return row(`${link}${stateOf(finding)}`, [
      ...[esc(anomalies), esc(level), String(count)],
      `${markTime(firstSeen)}, night ${firstNight}`,
      esc(targets.join(', ')),
      markCommand(finding.spec),
    ])
  })
  return ['<h2>Findings</h2>', ...table('Findings', head, rows)]
}

/** Every target of the night, also one of which there is no verdict at all. */
function renderCells({ cells, unjudged }: NightOverview): string[] {
  const targets = [...new Set([...cells, ...unjudged].map(({ target }) => target))].sort()
  const levels = [...new Set(cells.map(({ level }) => level))]
  const without = (target: string) => unjudged.find((each) => each.target === target)?.count
  const rows = targets.map((target) =>
    row(esc(target), [
      ...levels.map((level) => {
        const cell = cells.find((each) => each.target === target && each.level === level)
        return cell ? cellWords(cell) : ''
      }),
      ...(unjudged.length > 0 ? [`${without(target) ?? ''}`] : []),
    ]),
  )
  const head = ['target', ...levels, ...(unjudged.length > 0 ? ['without a verdict'] : [])]
  return ['<h2>Targets and levels</h2>', ...table('Targets', head, rows)]
}

function renderSplits({ splits }: NightOverview): string[] {
  if (splits.length === 0) return []
  const rows = splits.map(({ path, level, parts, verdict }) =>
    row(esc(path), [esc(level), String(parts), verdict]),
  )
  const head = ['history', 'level', 'parts', 'verdict']
  return ['<h2>Histories in parts</h2>', ...table('Histories', head, rows)]
}

function cellWords({ satisfied, violated, unknown, verified }: Cell): string {
  const all = satisfied + violated + unknown
  const last = verified ? `last held ${markTime(verified)}` : 'never held'
  if (violated > 0) return `violated in ${violated} of ${all}; ${last}`
  if (unknown > 0) return `unknown in ${unknown} of ${all}; ${last}`
  return `holds in ${satisfied}; ${last}`
}

function renderChanges({ changes }: NightOverview): string[] {
  if (!changes) return []
  const list = (what: string, which: readonly string[]) =>
    which.length === 0 ? [] : [`<p>${what}: ${esc(which.join(', '))}</p>`]
  const told = [...list('New', changes.come), ...list('Gone', changes.gone)]
  return [
    `<h2>Since night ${changes.since}</h2>`,
    ...(told.length > 0 ? told : ['<p>The same findings.</p>']),
  ]
}

function renderFailures(overview: NightOverview): string[] {
  const { failures } = overview
  const untold = untoldFailures(overview)
  if (failures.length === 0) return []
  const rows = failures.map(({ blame, reason, count, spec }) =>
    row(esc(blame), [String(count), esc(reason), markCommand(spec)]),
  )
  const head = ['because of', 'jobs', 'reason', 'the first of them']
  const more = untold === null ? [] : [`<p>And ${untold}.</p>`]
  return ['<h2>Jobs without a verdict</h2>', ...table('Failures', head, rows), ...more]
}

function renderCoverage({ coverage }: NightOverview): string[] {
  const { transactions, overlapping, conflicting, occasions } = coverage
  const share = (part: number) =>
    transactions === 0 ? '' : ` (${((100 * part) / transactions).toFixed(0)} %)`
  const rows = Object.entries(occasions).map(([name, count]) =>
    row(esc(name), [String(count), count === 0 ? 'it could not have shown' : '']),
  )
  return [
    '<h2>What could have shown</h2>',
    `<p>Of ${transactions} transactions ${overlapping}${share(overlapping)} ran beside others, ${conflicting}${share(conflicting)} of them over the same keys.</p>`,
    ...(rows.length > 0 ? table('Coverage', ['anomaly', 'occasions', ''], rows) : []),
  ]
}

const TRENDS: readonly [title: string, of: (line: NightLine) => number | null][] = [
  ['throughput, commits a second (median)', (line) => line.commitsPerSecond],
  ['aborted, % of the transactions (median)', (line) => times(line.abortRate, 100)],
  ['reading and judging, ms (median)', (line) => line.checkMs],
  ['memory of a process at most, MB', (line) => times(line.peakBytes, 1e-6)],
]

function times(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor
}

function renderNights(nights: readonly NightLine[]): string[] {
  const head = ['night', 'began', 'jobs', 'satisfied', 'violated', 'unknown', 'failed', 'findings']
  const rows = nights.map((line) =>
    row(String(line.id), [
      markTime(line.begun),
      ...[line.jobs, line.satisfied, line.violated, line.unknown, line.failed, line.findings].map(
        String,
      ),
    ]),
  )
  return ['<h2>Nights</h2>', ...table('Nights', head, rows), ...renderTrends(nights)]
}

/** Of two nights or more; a measure that some of them lack is left out. */
function renderTrends(nights: readonly NightLine[]): string[] {
  const lines = [...nights].reverse()
  const charts = TRENDS.flatMap(([title, of]) => {
    const values = lines.map(of).filter((value) => value !== null)
    return values.length === lines.length ? [{ title, series: [values] }] : []
  })
  if (lines.length < 2 || charts.length === 0) return []
  const places = lines.map(({ id }) => id)
  const svg = renderCharts({ title: 'Nights', axis: 'night', places, names: [''], charts })
  // The page has the style sheet of pictures already.
  const plain = svg.replace(/<style>[\s\S]*?<\/style>\n/, '')
  return [`<div class="index-chart" tabindex="0" role="region" aria-label="Trends">${plain}</div>`]
}

/** It goes on in the next line rather than out of sight. */
function markCommand(job: Job): string {
  return `<code class="command">${esc(commandOf(job))}</code>`
}

function markTime(time: Date): string {
  return `<time datetime="${time.toISOString()}">${timeOf(time)}</time>`
}

/** `2030-01-31 12:00`, in universal time. */
function timeOf(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ')
}
