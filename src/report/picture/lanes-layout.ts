// Where the transactions stand in the session lanes. With times, x follows the instants of start
// and finish in their order: who overlaps whom is exact, distances are stretched so that every box
// holds its operations. Without, a transaction stands right of its session's earlier ones and of
// those it read from, as far as the input names them earlier. Main function: layoutLanes.

import type { Figure, FigureTxn } from './figure.ts'
import { textWidth } from './measure.ts'
import type { Arrow } from './visible.ts'

export const OP_SIZE = 13
export const ROW = 21
export const HEADER = 24
const PAD = 8
const GAP = 54 // between columns: room for arrows
const INSTANT_GAP = 28
const LANE_GAP = 12
const MAX_OPS = 8 // shown besides those that matter

/** A row of a box: an operation, or how many are left out. */
export interface LaneRow {
  op: number | null
  text: string
  isWrite: boolean
}

export interface LaneBox {
  txn: number
  rows: LaneRow[]
  x: number
  y: number
  width: number
  height: number
  openEnd: boolean
}

export interface Lane {
  session: string
  y: number
  height: number
}

export interface LanesLayout {
  lanes: Lane[]
  boxes: LaneBox[] // by transaction
  ticks: { x: number; time: number }[]
  left: number
  top: number
  width: number
  height: number
}

export function layoutLanes(figure: Figure, arrows: readonly Arrow[]): LanesLayout {
  const involved = figure.txns.map(() => new Set<number>())
  for (const { step } of arrows) for (const [txn, op] of step.ops) involved[txn]?.add(op)
  const boxes = figure.txns.map((txn, i) => sizeBox(txn, i, involved[i]!))
  const sessions: string[] = []
  for (const { lane, session } of figure.txns) sessions[lane] = session
  const left = 20 + Math.max(0, ...sessions.map((name) => textWidth(name, OP_SIZE)))
  const top = figure.timed ? 30 : 8
  const ticks = figure.timed ? placeByTime(figure, boxes, left) : []
  if (!figure.timed) placeByOrder(figure, boxes, left, arrows.length)
  let y = top
  const lanes = sessions.map((session, i) => {
    const mine = boxes.filter((box) => figure.txns[box.txn]!.lane === i)
    for (const box of mine) box.y = y + PAD
    const height = Math.max(...mine.map((box) => box.height)) + 2 * PAD
    const lane = { session, y, height }
    y += height + LANE_GAP
    return lane
  })
  const width = Math.max(left, ...boxes.map((box) => box.x + box.width)) + 64
  return { lanes, boxes, ticks, left, top, width, height: y - LANE_GAP + 8 }
}

function sizeBox(txn: FigureTxn, i: number, involved: ReadonlySet<number>): LaneBox {
  const rows = chooseRows(txn, involved)
  const header = textWidth(txn.label, OP_SIZE + 1) + (txn.note ? textWidth(txn.note, 11) + 12 : 0)
  const width = Math.max(header, ...rows.map((row) => textWidth(row.text, OP_SIZE))) + 2 * PAD + 8
  const height = HEADER + rows.length * ROW + PAD
  return { txn: i, rows, x: 0, y: 0, width, height, openEnd: false }
}

/** All operations of a short transaction; of a long one those that matter and the first few. */
function chooseRows(txn: FigureTxn, involved: ReadonlySet<number>): LaneRow[] {
  const rows: LaneRow[] = []
  let others = txn.ops.length <= MAX_OPS + 2 ? txn.ops.length : MAX_OPS - involved.size
  let skipped = 0
  const flush = () => {
    if (skipped > 0) rows.push({ op: null, text: `⋯ ${skipped} more`, isWrite: false })
    skipped = 0
  }
  txn.ops.forEach(({ text, isWrite }, op) => {
    if (!involved.has(op) && others-- <= 0) {
      skipped++
      return
    }
    flush()
    rows.push({ op, text, isWrite })
  })
  flush()
  return rows
}

/** Instants from left to right, each as far as the boxes that end there need. */
function placeByTime(figure: Figure, boxes: LaneBox[], left: number): LanesLayout['ticks'] {
  const instants = new Set<number>()
  for (const { start, finish } of figure.txns) {
    instants.add(start!)
    if (finish !== null) instants.add(finish)
  }
  const sorted = [...instants].sort((a, b) => a - b)
  const xOf = new Map<number, number>()
  let x = left
  for (const instant of sorted) {
    figure.txns.forEach((txn, i) => {
      if (txn.finish !== instant || txn.start === instant) return
      x = Math.max(x, xOf.get(txn.start!)! + boxes[i]!.width + 6)
    })
    xOf.set(instant, x)
    // A transaction that takes no time still needs room for its box.
    const wide = figure.txns.map((txn, i) =>
      txn.start === instant && txn.finish === instant ? boxes[i]!.width : 0,
    )
    x += Math.max(INSTANT_GAP, textWidth(String(instant), 11) + 8, ...wide)
  }
  const end = x
  figure.txns.forEach((txn, i) => {
    const box = boxes[i]!
    box.x = xOf.get(txn.start!)! + 3
    box.openEnd = txn.finish === null
    const right = txn.finish === null ? Math.max(end, box.x + box.width) : xOf.get(txn.finish)! - 3
    box.width = Math.max(box.width, right - box.x)
  })
  return sorted.map((time) => ({ x: xOf.get(time)!, time }))
}

function placeByOrder(figure: Figure, boxes: LaneBox[], left: number, arrows: number): void {
  const gap = GAP + 8 * Math.min(10, Math.max(0, arrows - 3)) // more arrows, more room
  const columns: number[] = []
  const sources = findSources(figure)
  figure.txns.forEach((txn, i) => {
    let column = 0
    for (let j = 0; j < i; j++) {
      const before = figure.txns[j]!.lane === txn.lane || sources[i]!.has(j)
      if (before) column = Math.max(column, columns[j]! + 1)
    }
    columns.push(column)
  })
  const widths: number[] = []
  boxes.forEach((box, i) => {
    widths[columns[i]!] = Math.max(widths[columns[i]!] ?? 0, box.width)
  })
  const starts: number[] = []
  let x = left + 44
  for (const width of widths) {
    starts.push(x)
    x += (width ?? 0) + gap
  }
  boxes.forEach((box, i) => {
    box.x = starts[columns[i]!]!
  })
}

/** Whom each transaction read from, as far as the argument says so. */
function findSources(figure: Figure): Set<number>[] {
  const sources = figure.txns.map(() => new Set<number>())
  const pending = [...figure.steps]
  const branches = [...figure.branches]
  for (const branch of branches) {
    pending.push(branch.assumption, ...branch.steps)
    branches.push(...branch.branches)
  }
  for (const step of pending) {
    if (step.kind === 'WR' && step.to >= 0) sources[step.to]!.add(step.from)
    pending.push(...step.premises)
  }
  return sources
}
