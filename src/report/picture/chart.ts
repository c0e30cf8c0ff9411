// Charts of numbers over a number: one small chart above the other, all over the same axis, a line
// for each series. Scales begin at zero and end at a round number. Main function: renderCharts.

import { largest } from '../../base/grow.ts'
import { escapeMarkup } from '../escape.ts'
import { frame } from './frame.ts'
import { at, textWidth } from './measure.ts'

export interface Chart {
  readonly title: string
  /** Series -> a value for each place of the axis. */
  readonly series: readonly (readonly number[])[]
}

export interface Charts {
  readonly title: string
  /** What the axis is of, and its places from left to right. */
  readonly axis: string
  readonly places: readonly number[]
  /** A name for each series; one series needs none. */
  readonly names: readonly string[]
  readonly charts: readonly Chart[]
}

const MARGIN = 16
const LEFT = 64 // room for the numbers of a scale
const WIDTH = 520 // of the plot
const HEIGHT = 110
const GAP = 46 // between two charts, with the title of the lower one
/** Kinds of lines, which differ in colour and dashes: those of arrows. */
const LINES = ['ww', 'rw', 'wr', 'rt', 'co', 'so'] as const

export function renderCharts({ title, axis, places, names, charts }: Charts): string {
  const legend = names.length > 1 ? names : []
  const top = 62 + 18 * legend.length
  const parts = [`<text class="name" x="${MARGIN}" y="28">${escapeMarkup(title)}</text>`]
  legend.forEach((name, i) => {
    const y = 48 + 18 * i
    parts.push(
      `<g class="${LINES[i % LINES.length]}"><path class="line" d="M${MARGIN} ${y - 4}h34"/></g>`,
      `<text class="small" x="${MARGIN + 42}" y="${y}">${escapeMarkup(name)}</text>`,
    )
  })
  charts.forEach((chart, i) => {
    const y = top + i * (HEIGHT + GAP)
    parts.push(`<g transform="translate(${LEFT} ${y})">${drawChart(chart, places)}</g>`)
  })
  const bottom = top + charts.length * (HEIGHT + GAP)
  const axisX = LEFT + WIDTH / 2 - textWidth(axis, 11) / 2
  parts.push(`<text class="small" x="${at(axisX)}" y="${bottom}">${escapeMarkup(axis)}</text>`)
  const width = Math.max(LEFT + WIDTH + 2 * MARGIN, textWidth(title, 14) + 2 * MARGIN)
  return frame(parts.join('\n'), width, bottom + MARGIN, title)
}

function drawChart({ title, series }: Chart, places: readonly number[]): string {
  const most = roundUp(largest(series.flat(), 0))
  const xOf = placer(places)
  const yOf = (value: number) => HEIGHT - (HEIGHT * value) / most
  const parts = [`<text class="small" x="0" y="-8">${escapeMarkup(title)}</text>`]
  for (const value of [0, most / 2, most]) {
    parts.push(
      `<path class="tick" d="M0 ${at(yOf(value))}h${WIDTH}"/>`,
      rightText(numberText(value), -6, yOf(value) + 4),
    )
  }
  for (const place of places) {
    parts.push(`<text class="time" x="${at(xOf(place))}" y="${HEIGHT + 14}">${place}</text>`)
  }
  series.forEach((values, i) => {
    const points = values.map((value, p) => `${at(xOf(places[p]!))} ${at(yOf(value))}`)
    const dots = points.map((point) => `M${point}m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`)
    parts.push(
      `<g class="${LINES[i % LINES.length]}"><path class="line" d="M${points.join('L')}"/>` +
        `<path class="head" d="${dots.join('')}"/></g>`,
    )
  })
  return parts.join('\n')
}

/** Where a place lies: to scale, or by its logarithm if the last is a multiple of the first. */
function placer(places: readonly number[]): (place: number) => number {
  const sorted = [...places].sort((a, b) => a - b)
  const first = sorted[0]!
  const last = sorted.at(-1)!
  if (first === last) return () => WIDTH / 2
  if (first > 0 && last / first >= 4) {
    return (place) => (WIDTH * Math.log(place / first)) / Math.log(last / first)
  }
  return (place) => (WIDTH * (place - first)) / (last - first)
}

/** The next number of 1, 2, 2.5 or 5 and zeros. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1
  const size = 10 ** Math.floor(Math.log10(value))
  return size * [1, 2, 2.5, 5, 10].find((step) => step * size >= value * (1 - 1e-9))!
}

function numberText(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

function rightText(text: string, x: number, y: number): string {
  return `<text class="small" x="${at(x - textWidth(text, 11))}" y="${at(y)}">${text}</text>`
}
