// Draws the overview: for each session how many transactions begin in each part of the time, or the
// transactions themselves where they are known and few enough; findings and events above them. Main
// class: OverviewCanvas.

import type { OverviewData, OverviewMark } from '../report/page/overview.ts'
import { durationText } from '../report/picture/time-axis.ts'

const TOP = 26 // for marks
const BOTTOM = 24 // for the axis
const MAX_LABEL = 14 // characters of a session's name
const MAX_SPANS = 5000 // transactions that are drawn one by one

/** What part of the axis is seen. */
export interface Span {
  from: number
  to: number
}

interface Palette {
  text: string
  line: string
  committed: string
  aborted: string
  indeterminate: string
  found: string
  event: string
  brush: string
}

export class OverviewCanvas {
  view: Span
  showsFailed = true
  brush: Span | null = null
  private left = 0 // where the plot begins
  private width = 0
  private rowHeight = 12
  private readonly densest: number

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly data: OverviewData,
  ) {
    this.view = this.whole()
    let most = 1
    for (const { committed = [], aborted = [], indeterminate = [] } of data.overview.rows) {
      for (const counts of [committed, aborted, indeterminate]) {
        for (const count of counts) if (count > most) most = count
      }
    }
    this.densest = most
  }

  whole(): Span {
    const { from, part, parts } = this.data.overview
    return { from, to: from + part * parts }
  }

  /** The place on the axis below an x of the canvas. */
  atX(x: number): number {
    const { from, to } = this.view
    const share = Math.min(1, Math.max(0, (x - this.left) / this.width))
    return from + share * (to - from)
  }

  xAt(at: number): number {
    const { from, to } = this.view
    return this.left + ((at - from) / (to - from)) * this.width
  }

  rowAtY(y: number): number {
    return Math.floor((y - TOP) / this.rowHeight)
  }

  /** The mark nearest to a point above the rows, null if none is near. */
  markNear(x: number, y: number): OverviewMark | null {
    if (y > TOP) return null
    let best: OverviewMark | null = null
    let distance = 9
    for (const mark of this.data.marks) {
      const away = Math.abs(this.xAt(mark.at) - x)
      if (away < distance) [best, distance] = [mark, away]
    }
    return best
  }

  draw(): void {
    const { canvas } = this
    const { rows } = this.data.overview
    const wide = canvas.clientWidth
    if (wide === 0) return
    this.rowHeight = Math.max(7, Math.min(20, Math.floor(300 / rows.length)))
    const high = TOP + rows.length * this.rowHeight + BOTTOM
    canvas.height = Math.round(high * devicePixelRatio)
    canvas.width = Math.round(wide * devicePixelRatio)
    const context = canvas.getContext('2d')!
    context.scale(devicePixelRatio, devicePixelRatio)
    context.clearRect(0, 0, wide, high)
    context.font = '12px system-ui, sans-serif'
    const palette = readPalette(canvas)
    this.left =
      10 + Math.max(0, ...rows.map((_, row) => context.measureText(this.nameOf(row)).width))
    this.width = wide - this.left - 12
    this.drawNames(context, palette)
    context.save()
    context.beginPath()
    context.rect(this.left, 0, this.width + 1, high)
    context.clip()
    this.drawTxns(context, palette)
    context.restore()
    this.drawAxis(context, palette, high)
    this.drawMarks(context, palette, high)
    if (this.brush) this.drawBrush(context, palette, high)
  }

  nameOf(row: number): string {
    const { name, sessions } = this.data.overview.rows[row]!
    const short = name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name
    return sessions > 1 ? `${short} +${sessions - 1}` : short
  }

  private drawNames(context: CanvasRenderingContext2D, { text, line }: Palette): void {
    const every = Math.ceil(13 / this.rowHeight)
    this.data.overview.rows.forEach((_, row) => {
      const y = TOP + row * this.rowHeight
      context.fillStyle = line
      context.globalAlpha = 0.35
      if (row % 2 === 0) context.fillRect(this.left, y, this.width, this.rowHeight)
      context.globalAlpha = 1
      context.fillStyle = text
      context.textAlign = 'right'
      context.textBaseline = 'middle'
      if (row % every === 0)
        context.fillText(this.nameOf(row), this.left - 6, y + this.rowHeight / 2)
    })
  }

  private drawTxns(context: CanvasRenderingContext2D, palette: Palette): void {
    const inside = this.findSpans()
    if (inside) return this.drawSpans(context, palette, inside)
    const { from, part, rows } = this.data.overview
    const scale = Math.log(1 + this.densest)
    rows.forEach((row, i) => {
      const y = TOP + i * this.rowHeight + 1
      const high = this.rowHeight - 2
      const { committed = [], aborted = [], indeterminate = [] } = row
      const last = Math.max(committed.length, aborted.length, indeterminate.length)
      for (let at = 0; at < last; at++) {
        const counts = [
          committed[at] ?? 0,
          this.showsFailed ? (aborted[at] ?? 0) : 0,
          this.showsFailed ? (indeterminate[at] ?? 0) : 0,
        ] as const
        const sum = counts[0] + counts[1] + counts[2]
        if (sum === 0) continue
        const x = this.xAt(from + at * part)
        const wide = Math.max(1, this.xAt(from + (at + 1) * part) - x - 0.3)
        if (x > this.left + this.width || x + wide < this.left) continue
        context.globalAlpha = 0.3 + (0.7 * Math.log(1 + sum)) / scale
        let top = y
        ;[palette.committed, palette.aborted, palette.indeterminate].forEach((colour, status) => {
          const share = (counts[status]! / sum) * high
          context.fillStyle = colour
          if (share > 0) context.fillRect(x, top, wide, share)
          top += share
        })
      }
    })
    context.globalAlpha = 1
  }

  /** The transactions in view, null if they are not known or too many. */
  private findSpans(): number[] | null {
    const { detail } = this.data
    const { from, to } = this.view
    if (!detail || to - from > (this.whole().to - this.whole().from) / 2) return null
    const inside: number[] = []
    for (let i = 0; i < detail.row.length; i++) {
      if (detail.to[i]! < from || detail.from[i]! > to) continue
      if (inside.push(i) > MAX_SPANS) return null
    }
    return inside.length > 0 ? inside : null
  }

  private drawSpans(
    context: CanvasRenderingContext2D,
    palette: Palette,
    inside: readonly number[],
  ): void {
    const { row, from, to, status } = this.data.detail!
    const colours = [palette.committed, palette.aborted, palette.indeterminate]
    context.globalAlpha = 0.8
    for (const i of inside) {
      if (status[i] !== 0 && !this.showsFailed) continue
      const x = this.xAt(from[i]!)
      context.fillStyle = colours[status[i]!]!
      const y = TOP + row[i]! * this.rowHeight + 2
      context.fillRect(x, y, Math.max(1.5, this.xAt(to[i]!) - x - 0.5), this.rowHeight - 4)
    }
    context.globalAlpha = 1
  }

  private drawAxis(context: CanvasRenderingContext2D, palette: Palette, high: number): void {
    const { from, to } = this.view
    const origin = this.data.overview.from
    const least = ((to - from) * 110) / this.width
    // Between two positions there is none to be named, nor behind the last one.
    const byPosition = this.data.overview.axis === 'position'
    const step = byPosition ? Math.max(1, niceStep(least)) : niceStep(least)
    const end = byPosition ? Math.min(to, this.whole().to - 1) : to
    context.fillStyle = palette.text
    context.textBaseline = 'alphabetic'
    context.textAlign = 'center'
    for (let i = Math.ceil((from - origin) / step); origin + i * step <= end; i++) {
      const x = this.xAt(origin + i * step)
      context.fillRect(x, high - BOTTOM, 1, 4)
      const text = this.textAt(origin + i * step)
      const half = context.measureText(text).width / 2
      const inside = Math.min(Math.max(x, this.left + half), this.left + this.width - half)
      context.fillText(text, inside, high - 7)
    }
  }

  /** Where a stretch of the axis ends, in words: with the last position that is in it. */
  textOfEnd(at: number): string {
    return this.data.overview.axis === 'position' ? String(Math.ceil(at)) : this.textAt(at)
  }

  /** A place on the axis in words. */
  textAt(at: number): string {
    const { overview, unit } = this.data
    if (overview.axis === 'position') return String(Math.round(at) + 1)
    return durationText(Number((at - overview.from).toPrecision(6)), unit)
  }

  private drawMarks(context: CanvasRenderingContext2D, palette: Palette, high: number): void {
    for (const { at, id, places } of this.data.marks) {
      const x = this.xAt(at)
      if (x < this.left - 1 || x > this.left + this.width + 1) continue
      context.fillStyle = id === null ? palette.event : palette.found
      context.strokeStyle = context.fillStyle
      context.beginPath()
      if (id === null) {
        context.setLineDash([4, 3])
        context.moveTo(x, 6)
        context.lineTo(x, high - BOTTOM)
        context.stroke()
        context.setLineDash([])
        context.fillRect(x, 6, 10, 8)
        continue
      }
      context.moveTo(x - 6, 8)
      context.lineTo(x + 6, 8)
      context.lineTo(x, 20)
      context.fill()
      for (const [row, from, to] of places) {
        const left = this.xAt(from) - 1.5
        const wide = Math.max(5, this.xAt(to) - left)
        context.lineWidth = 1.5
        context.strokeRect(left, TOP + row * this.rowHeight + 0.5, wide, this.rowHeight - 1)
      }
    }
  }

  private drawBrush(context: CanvasRenderingContext2D, { brush }: Palette, high: number): void {
    const [a, b] = [this.xAt(this.brush!.from), this.xAt(this.brush!.to)]
    context.fillStyle = brush
    context.globalAlpha = 0.2
    context.fillRect(Math.min(a, b), TOP, Math.abs(b - a), high - TOP - BOTTOM)
    context.globalAlpha = 1
  }
}

/** The next of 1, 2, 5 times a power of ten. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power
}

/** The colours of the style sheet, which knows light and dark. */
function readPalette(canvas: HTMLCanvasElement): Palette {
  const style = getComputedStyle(canvas)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    text: of('--faint'),
    line: of('--panel'),
    committed: of('--link'),
    aborted: of('--bad'),
    indeterminate: of('--unsure'),
    found: of('--bad'),
    event: of('--event'),
    brush: of('--link'),
  }
}
