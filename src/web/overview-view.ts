// The overview as somebody works with it: drag to zoom, click a finding to go there, move and zoom
// by keys and buttons, hide what failed. Main function: showOverview.

import type { OverviewData } from '../report/page/overview.ts'
import { goTo } from './links.ts'
import { OverviewCanvas, type Span } from './overview-canvas.ts'

const STEP = 2 // of a zoom
const PAN = 0.2 // of what is seen
const MIN_DRAG = 5 // pixels

export function showOverview(data: OverviewData): void {
  const plot = document.getElementById('overview-plot')
  const canvas = plot?.querySelector('canvas')
  if (!plot || !canvas) return
  plot.hidden = false
  new OverviewView(plot, new OverviewCanvas(canvas, data)).listen()
}

class OverviewView {
  private dragFrom: number | null = null
  private readonly reading: HTMLElement

  constructor(
    private readonly plot: HTMLElement,
    private readonly drawing: OverviewCanvas,
  ) {
    this.reading = plot.querySelector<HTMLElement>('.reading')!
  }

  listen(): void {
    const { drawing, plot } = this
    const { canvas } = drawing
    canvas.addEventListener('pointerdown', (event) => {
      this.dragFrom = event.offsetX
      canvas.setPointerCapture(event.pointerId)
    })
    canvas.addEventListener('pointermove', (event) => this.move(event))
    canvas.addEventListener('pointerup', (event) => this.drop(event))
    canvas.addEventListener('pointercancel', () => this.endDrag())
    canvas.addEventListener('dblclick', () => this.show(drawing.whole()))
    canvas.addEventListener('keydown', (event) => this.press(event))
    for (const button of plot.querySelectorAll<HTMLElement>('[data-zoom]')) {
      button.addEventListener('click', () => this.zoom(button.dataset['zoom']!))
    }
    const failed = plot.querySelector<HTMLInputElement>('#overview-failed')
    failed?.addEventListener('change', () => {
      drawing.showsFailed = failed.checked
      drawing.draw()
    })
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawing.draw())
    new ResizeObserver(() => this.show(drawing.view)).observe(canvas)
    this.show(drawing.whole())
  }

  private move(event: PointerEvent): void {
    const { drawing } = this
    if (this.dragFrom !== null && Math.abs(event.offsetX - this.dragFrom) > MIN_DRAG) {
      drawing.brush = { from: drawing.atX(this.dragFrom), to: drawing.atX(event.offsetX) }
      drawing.draw()
    }
    const mark = drawing.markNear(event.offsetX, event.offsetY)
    drawing.canvas.style.cursor = mark?.id ? 'pointer' : 'crosshair'
    this.reading.textContent = mark ? mark.text : this.read(event.offsetX, event.offsetY)
  }

  private drop(event: PointerEvent): void {
    const { brush } = this.drawing
    const mark = this.drawing.markNear(event.offsetX, event.offsetY)
    this.endDrag()
    if (brush)
      this.show({ from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) })
    else if (mark?.id) goTo(mark.id)
  }

  private endDrag(): void {
    this.dragFrom = null
    this.drawing.brush = null
    this.drawing.draw()
  }

  private press(event: KeyboardEvent): void {
    const { from, to } = this.drawing.view
    const by = (to - from) * PAN
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.show({ from: from - by, to: to - by }),
      ArrowRight: () => this.show({ from: from + by, to: to + by }),
      '+': () => this.zoom('in'),
      '=': () => this.zoom('in'),
      '-': () => this.zoom('out'),
      '−': () => this.zoom('out'),
      Escape: () => this.zoom('all'),
    }
    const act = keys[event.key]
    if (!act || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    act()
  }

  private zoom(how: string): void {
    const { drawing } = this
    if (how === 'all') return this.show(drawing.whole())
    const { from, to } = drawing.view
    const half = ((to - from) / 2) * (how === 'in' ? 1 / STEP : STEP)
    const middle = (from + to) / 2
    this.show({ from: middle - half, to: middle + half })
  }

  /** Shows that part, moved into the history if it lies beyond. */
  private show({ from, to }: Span): void {
    const { drawing } = this
    const whole = drawing.whole()
    const length = Math.min(to - from, whole.to - whole.from)
    const smallest = drawing.data.overview.part / 64
    const start = Math.min(Math.max(from, whole.from), whole.to - length)
    drawing.view = { from: start, to: start + Math.max(length, smallest) }
    drawing.draw()
    const { view } = drawing
    this.reading.textContent = `Shown: ${drawing.textAt(view.from)} to ${drawing.textOfEnd(view.to)}`
  }

  /** What is at a point, in words. */
  private read(x: number, y: number): string {
    const { drawing } = this
    const { from, part, rows, axis } = drawing.data.overview
    const row = rows[drawing.rowAtY(y)]
    if (!row) return ''
    const at = Math.floor((drawing.atX(x) - from) / part)
    const start = from + at * part
    const counts = [
      [row.committed?.[at] ?? 0, 'committed'],
      [row.aborted?.[at] ?? 0, 'aborted'],
      [row.indeterminate?.[at] ?? 0, 'of unknown outcome'],
    ]
      .filter(([count], i) => i === 0 || count !== 0)
      .map(([count, what]) => `${count} ${what}`)
    const where = axis === 'time' ? '' : 'positions '
    return `${drawing.nameOf(drawing.rowAtY(y))}, ${where}${drawing.textAt(start)} to ${drawing.textOfEnd(start + part)}: ${counts.join(', ')}`
  }
}
