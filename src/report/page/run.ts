// The run that made the history: what was stressed and how, throughput, latency and aborts over
// time. Charts are plain SVG with the numbers in a table below them. Main function: renderRun.

import type { RunJson, TimelineJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { cut } from '../names.ts'
import { at } from '../picture/measure.ts'

export function renderRun(verdict: VerdictJson): string {
  const { run } = verdict
  if (!run) return ''
  return [
    '<section class="run" aria-labelledby="run-name">',
    '<h2 id="run-name">The run</h2>',
    renderFacts(run),
    run.timeline ? renderCharts(run.timeline) : '',
    '</section>',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function renderFacts(run: RunJson): string {
  const { transactions, throughput, time } = run
  const { recorded, aborted, indeterminate } = transactions
  const share = (part: number) => `${(100 * part).toFixed(1)} %`
  const failures = Object.entries(transactions.failures).map(([code, n]) => `${n} ${cut(code)}`)
  const why = failures.length > 0 ? `: ${failures.slice(0, 8).join(', ')}` : ''
  const pace = `${Math.round(throughput.commitsPerSecond)} commits a second`
  const abortShare = share(recorded === 0 ? 0 : aborted / recorded)
  const verification = share(time.verificationShare)
  const facts: [string, string][] = [
    ['Database', `${run.database.name} at ${run.database.place}`],
    ['Level', `asked for ${run.level.asked}, granted ${run.level.granted}`],
    ['Workload', describe(run.workload)],
    ['Faults', describe(run.faults, 0)],
    ['Transactions', `${recorded} in ${(time.runMs / 1000).toFixed(1)} s, ${pace}`],
    ['Aborted', `${aborted} (${abortShare})${why}`],
    ['Outcome unknown', String(indeterminate)],
    ['Time spent', `${share(time.generationShare)} generation, ${verification} verification`],
  ]
  const rows = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<dt>${name}</dt><dd>${esc(value)}</dd>`)
  return `<dl class="facts">${rows.join('')}</dl>`
}

/** `shape mini, sessions 20, …`, without what is not set, or is what `off` says. */
function describe(settings: Readonly<Record<string, unknown>>, off: unknown = null): string {
  return Object.entries(settings)
    .filter(([, value]) => value !== null && value !== undefined && value !== off)
    .map(([name, value]) =>
      cut(`${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`),
    )
    .join(', ')
}

interface Series {
  name: string
  /** How it is drawn: as bars, or as a line, plain or dashed. */
  kind: 'bars' | 'line' | 'dashed'
  values: readonly (number | null)[]
}

/** Narrow enough for a telephone, so that letters never shrink. */
const WIDTH = 350
const HEIGHT = 120
const LEFT = 64

function renderCharts(timeline: TimelineJson): string {
  const seconds = timeline.partUs / 1e6
  const perSecond = timeline.committed.map((count) => count / seconds)
  const ended = timeline.committed.map((count, i) => count + timeline.aborted[i]!)
  const aborts = timeline.aborted.map((count, i) =>
    ended[i]! > 0 ? (100 * count) / ended[i]! : null,
  )
  const ms = (values: readonly (number | null)[]) =>
    values.map((value) => (value === null ? null : value / 1000))
  const median: Series = { name: 'median', kind: 'line', values: ms(timeline.medianUs) }
  const p99: Series = { name: '99th percentile', kind: 'dashed', values: ms(timeline.p99Us) }
  return [
    renderChart('Commits a second', '', [{ name: 'commits', kind: 'bars', values: perSecond }]),
    renderChart('Latency of commits', 'ms', [median, p99]),
    renderChart('Aborted', '%', [{ name: 'aborted', kind: 'bars', values: aborts }]),
    renderTable(timeline, perSecond, median.values, p99.values, aborts),
  ].join('\n')
}

function renderChart(title: string, unit: string, series: readonly Series[]): string {
  const values = series.flatMap((each) => each.values.filter((value) => value !== null))
  const top = niceTop(Math.max(0, ...values))
  const y = (value: number) => HEIGHT - 8 - (value / top) * (HEIGHT - 20)
  const inUnit = (value: number) => `${format(value)}${unit ? ` ${unit}` : ''}`
  const body = series.map((each) => drawSeries(each, y)).join('')
  const label = (value: number) =>
    `<text x="${LEFT - 6}" y="${at(y(value) + 4)}">${inUnit(value)}</text>`
  const line = (value: number) => `<path class="grid" d="M${LEFT} ${at(y(value))}H${WIDTH}"/>`
  const names = series.map(({ name, kind }) => `${kind === 'dashed' ? '┄' : '─'} ${name}`)
  const key = names.length > 1 ? ` <span>${names.join(', ')}</span>` : ''
  const most = `most ${inUnit(Math.max(0, ...values))}`
  return `<figure class="chart"><figcaption>${title}${key}</figcaption><svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title} over time, ${most}">${line(0)}${line(top)}${label(0)}${label(top)}${body}</svg></figure>`
}

function drawSeries({ kind, values }: Series, y: (value: number) => number): string {
  const step = (WIDTH - LEFT) / Math.max(1, values.length)
  if (kind === 'bars') {
    const bar = (value: number, i: number) =>
      `M${at(LEFT + i * step)} ${at(y(0))}V${at(y(value))}H${at(LEFT + (i + 1) * step - 1)}V${at(y(0))}Z`
    const bars = values.map((value, i) => (value ? bar(value, i) : ''))
    return `<path class="bars" d="${bars.join('')}"/>`
  }
  let path = ''
  let isDrawing = false
  values.forEach((value, i) => {
    const x = at(LEFT + (i + 0.5) * step)
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${x} ${at(y(value))}`
    isDrawing = value !== null
  })
  return `<path class="curve ${kind}" d="${path}"/>`
}

/** The next of 1, 2, 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= value) ?? value
}

function format(value: number): string {
  return String(Number(value.toPrecision(3)))
}

function renderTable(
  timeline: TimelineJson,
  ...columns: (readonly (number | null)[])[] // beside when a part begins, and what stayed unknown
): string {
  const cell = (value: number | null) =>
    `<td class="number">${value === null ? '' : format(value)}</td>`
  const rows = timeline.committed.map((_, i) => {
    const from = (i * timeline.partUs) / 1e6
    const cells = [from, ...columns.map((column) => column[i] ?? null), timeline.indeterminate[i]!]
    return `<tr>${cells.map(cell).join('')}</tr>`
  })
  const heads = ['from (s)', 'commits/s', 'median (ms)', '99th (ms)', 'aborted (%)', 'unknown']
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('')
  return `<details><summary>The numbers</summary><div class="wide" tabindex="0" role="region" aria-label="The numbers of the run"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`
}
