// Where the transactions stand in the session lanes. With times, x follows the instants of start
// and finish in their order: who overlaps whom is exact, distances are stretched so that every box
// holds its operations. Without, a transaction stands right of its session's earlier ones and of
// those it read from, as far as the input names them earlier. Main function: layoutLanes.

import { addAll } from '../../base/grow.ts'
import { obtain } from '../../base/maps.ts'
import type { Figure, FigureTxn } from './figure.ts'
import type { Point, Size } from './graph-layout.ts'
import { textWidth } from './measure.ts'
import { timeTexts } from './time-axis.ts'
import { type Arrow, findSteps } from './visible.ts'

export const OP_SIZE = 13
export const ROW = 21
const HEADER = 24
export const LINE = 16 // between the lines of a row
export const INDENT = 16 // of its further lines
const PAD = 8
const GAP = 54 // between columns: room for arrows
const INSTANT_GAP = 28
const SIDE = 44 // beside the names of sessions: room for arrows that go up
const TICK_SIZE = 11
const LANE_GAP = 12
const MAX_OPS = 8 // shown besides those that matter

/** A row of a box: an operation, or how many are left out. */
export interface LaneRow {
  op: number | null
  lines: string[]
  title?: string
  isWrite: boolean
  top: number // below the top of its box
  height: number
}

export interface LaneBox extends Point, Size {
  txn: number
  rows: LaneRow[]
  openEnd: boolean
}

export interface Lane {
  session: string
  y: number
  height: number
}

/** An instant: where it stands, and what is written there. */
export interface Tick {
  x: number
  text: string
}

export interface LanesLayout extends Size {
  lanes: Lane[]
  boxes: LaneBox[]
  ticks: Tick[]
  top: number
}

export function layoutLanes(figure: Figure, arrows: readonly Arrow[]): LanesLayout {
  const involved = findInvolved(figure, arrows)
  const boxes = [...involved.keys()]
    .sort((a, b) => a - b)
    .map((txn) => sizeBox(figure.txns[txn]!, txn, involved.get(txn)!))
  const used = [...new Set(boxes.map((box) => figure.txns[box.txn]!.lane))].sort((a, b) => a - b)
  const sessionOf = (lane: number) => figure.txns.find((txn) => txn.lane === lane)!.session
  const left = 20 + Math.max(0, ...used.map((lane) => textWidth(sessionOf(lane), OP_SIZE)))
  const top = figure.timed ? 30 : 8
  const ticks = figure.timed ? placeByTime(figure, boxes, left) : []
  if (!figure.timed) placeByOrder(figure, boxes, left, arrows.length)
  let y = top
  const lanes = used.map((i) => {
    const mine = boxes.filter((box) => figure.txns[box.txn]!.lane === i)
    for (const box of mine) box.y = y + PAD
    const height = Math.max(0, ...mine.map((box) => box.height)) + 2 * PAD
    const lane = { session: sessionOf(i), y, height }
    y += height + LANE_GAP
    return lane
  })
  const width = Math.max(left, ...boxes.map((box) => box.x + box.width)) + 64
  return { lanes, boxes, ticks, top, width, height: y - LANE_GAP + 8 }
}

/** The transactions that the arrows are about, with the operations that make them. */
function findInvolved(figure: Figure, arrows: readonly Arrow[]): Map<number, Set<number>> {
  const involved = new Map<number, Set<number>>()
  const add = (txn: number) => obtain(involved, txn, () => new Set<number>())
  for (const { step } of arrows) {
    for (const node of [step.from, step.to]) if (node >= 0) add(node)
    for (const [txn, op] of step.ops) add(txn).add(op)
  }
  if (involved.size === 0) for (const txn of figure.txns.keys()) add(txn)
  return involved
}

function sizeBox(txn: FigureTxn, i: number, involved: ReadonlySet<number>): LaneBox {
  const rows = chooseRows(txn, involved)
  const header = textWidth(txn.label, OP_SIZE + 1) + (txn.note ? textWidth(txn.note, 11) + 12 : 0)
  const widths = rows.flatMap(({ lines: [first, ...more] }) => [
    textWidth(first!, OP_SIZE),
    ...more.map((line) => textWidth(line, OP_SIZE) + INDENT),
  ])
  const width = Math.max(header, ...widths) + 2 * PAD + 8
  const last = rows.at(-1)
  const height = (last ? last.top + last.height : HEADER) + PAD
  return { txn: i, rows, x: 0, y: 0, width, height, openEnd: false }
}

/** All operations of a short transaction; of a long one those that matter and the first few. */
function chooseRows(txn: FigureTxn, involved: ReadonlySet<number>): LaneRow[] {
  const rows: LaneRow[] = []
  let others = txn.ops.length <= MAX_OPS + 2 ? txn.ops.length : MAX_OPS - involved.size
  let skipped = 0
  let top = HEADER
  const add = (op: number | null, lines: string[], isWrite: boolean, title?: string) => {
    const height = ROW + LINE * (lines.length - 1)
    rows.push({ op, lines, isWrite, top, height, ...(title === undefined ? {} : { title }) })
    top += height
  }
  const flush = () => {
    if (skipped > 0) add(null, [`⋯ ${skipped} more`], false)
    skipped = 0
  }
  txn.ops.forEach(({ text, result, isWrite, title }, op) => {
    if (!involved.has(op) && others-- <= 0) {
      skipped++
      return
    }
    flush()
    add(op, result === undefined ? [text] : [text, result], isWrite, title)
  })
  flush()
  return rows
}

/** Instants from left to right, each as far as the boxes that end there need. */
function placeByTime(figure: Figure, boxes: LaneBox[], left: number): Tick[] {
  const instants = new Set<number>()
  const timed = boxes.map((box) => {
    const { start, finish } = figure.txns[box.txn]!
    instants.add(start!)
    if (finish !== null) instants.add(finish)
    return { box, start: start!, finish }
  })
  const sorted = [...instants].sort((a, b) => a - b)
  const texts = timeTexts(sorted, figure.unit)
  const xOf = new Map<number, number>()
  let x = left + SIDE
  sorted.forEach((instant, i) => {
    for (const { box, start, finish } of timed) {
      if (finish === instant && start !== instant) x = Math.max(x, xOf.get(start)! + box.width + 6)
    }
    xOf.set(instant, x)
    // A transaction that takes no time still needs room for its box, and so do the texts.
    const wide = timed.map(({ box, start, finish }) =>
      start === instant && finish === instant ? box.width : 0,
    )
    const both = textWidth(texts[i]!, TICK_SIZE) + textWidth(texts[i + 1] ?? '', TICK_SIZE)
    x += Math.max(INSTANT_GAP, both / 2 + 12, ...wide)
  })
  const end = x
  for (const { box, start, finish } of timed) {
    box.x = xOf.get(start)! + 3
    box.openEnd = finish === null
    const right = finish === null ? Math.max(end, box.x + box.width) : xOf.get(finish)! - 3
    box.width = Math.max(box.width, right - box.x)
  }
  return sorted.map((time, i) => ({ x: xOf.get(time)!, text: texts[i]! }))
}

function placeByOrder(figure: Figure, boxes: LaneBox[], left: number, arrows: number): void {
  const gap = GAP + 8 * Math.min(10, Math.max(0, arrows - 3)) // more arrows, more room
  const columns: number[] = []
  const sources = findSources(figure)
  boxes.forEach(({ txn }, i) => {
    let column = 0
    for (let j = 0; j < i; j++) {
      const other = boxes[j]!.txn
      const before = figure.txns[other]!.lane === figure.txns[txn]!.lane || sources[txn]!.has(other)
      if (before) column = Math.max(column, columns[j]! + 1)
    }
    columns.push(column)
  })
  let x = left + SIDE
  for (let column = 0; column <= Math.max(...columns); column++) {
    const mine = boxes.filter((_, i) => columns[i] === column)
    for (const box of mine) box.x = x
    x += Math.max(...mine.map(({ width }) => width)) + gap
  }
}

/** Whom each transaction read from, as far as the argument says so. */
function findSources(figure: Figure): Set<number>[] {
  const sources = figure.txns.map(() => new Set<number>())
  const pending = findSteps(figure)
  for (const step of pending) {
    if (step.kind === 'WR' && step.to >= 0) sources[step.to]!.add(step.from)
    addAll(pending, step.premises)
  }
  return sources
}
