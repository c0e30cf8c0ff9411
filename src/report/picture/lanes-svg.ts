// The session lanes as SVG: a lane a session, a box a transaction, a row an operation, and the
// arrows of the argument between the operations that make them. Main function: renderLanes.

import { escapeMarkup } from '../escape.ts'
import { cubic, onCubic } from './curve.ts'
import type { Figure, Step } from './figure.ts'
import type { Point } from './graph-layout.ts'
import { type Drawing, type DrawOptions, drawArrow, openArrow, wrap } from './graph-svg.ts'
import {
  INDENT,
  type Lane,
  type LaneBox,
  type LaneRow,
  type LanesLayout,
  LINE,
  layoutLanes,
  OP_SIZE,
  ROW,
  type Tick,
} from './lanes-layout.ts'
import { at, textWidth } from './measure.ts'
import { labelWidth, placeLabels, type Rect } from './place-labels.ts'
import { findArrows, type View } from './visible.ts'

export function drawLanes(figure: Figure, view: View, options: DrawOptions): Drawing {
  const arrows = findArrows(figure, view)
  const layout = layoutLanes(figure, arrows)
  const ends = arrows.map((arrow) => findEnds(layout, arrow.step))
  const detours = findDetours(ends)
  const routes = ends.map((pair, i) => (pair ? route(...pair, detours[i]!) : null))
  const labels = placeLabels(
    arrows.map(({ step }, i) => ({ text: step.kind.toLowerCase(), spots: routes[i]?.spots ?? [] })),
    findTexts(figure, layout),
  )
  // Frames, then arrows, then what stands in the frames: an arrow never runs over a text.
  const body = [
    ...layout.lanes.map((lane) => drawLane(layout, lane)),
    ...layout.ticks.map((tick) => drawTick(layout, tick)),
    ...layout.boxes.map((box) => drawFrame(figure, box)),
    ...arrows.map((arrow, i) => {
      const [way, label, text] = [routes[i], labels[i], arrow.step.kind.toLowerCase()]
      if (!way || !label) return ''
      const tag = { ...label, text, width: labelWidth(text), height: 16, corner: 3 }
      return drawArrow(openArrow(figure, arrow, options), way, tag)
    }),
    ...layout.boxes.map((box) => drawContents(figure, box)),
  ].filter((part) => part !== '')
  return { body: body.join('\n'), width: layout.width, height: layout.height }
}

/** The lanes as an SVG element of the page. */
export function renderLanes(figure: Figure, view: View, options: DrawOptions): string {
  return wrap(drawLanes(figure, view, options), 'lanes', 'Sessions and their transactions')
}

function drawLane(layout: LanesLayout, lane: Lane): string {
  const middle = lane.y + lane.height / 2
  const band = `<rect class="lane" x="0" y="${at(lane.y)}" width="${at(layout.width)}" height="${at(lane.height)}" rx="6"/>`
  return `${band}<text class="session" x="10" y="${at(middle + 4)}">${escapeMarkup(lane.session)}</text>`
}

function drawTick(layout: LanesLayout, tick: Tick): string {
  const x = at(tick.x)
  const line = `<path class="tick" d="M${x} ${at(layout.top - 6)}V${at(layout.height - 8)}"/>`
  return `${line}<text class="time" x="${x}" y="${at(layout.top - 12)}">${escapeMarkup(tick.text)}</text>`
}

function drawFrame(figure: Figure, box: LaneBox): string {
  const { x, y, width, height } = box
  const classes = ['txn', figure.txns[box.txn]!.status, ...(box.openEnd ? ['open-end'] : [])]
  const frame = `<rect class="frame" x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="6"/>`
  return `<g class="${classes.join(' ')}" data-txn="${box.txn}">${frame}</g>`
}

function drawContents(figure: Figure, box: LaneBox): string {
  const { x, y } = box
  const txn = figure.txns[box.txn]!
  const name = `<text class="name" x="${at(x + 10)}" y="${at(y + 17)}">${escapeMarkup(txn.label)}</text>`
  const note = txn.note
    ? `<text class="small" x="${at(x + 20 + textWidth(txn.label, OP_SIZE + 1))}" y="${at(y + 17)}">${escapeMarkup(txn.note)}</text>`
    : ''
  const rows = box.rows.map((row) => {
    const top = y + row.top
    const text = row.lines
      .map((line, i) => {
        const place = `x="${at(x + 12 + (i === 0 ? 0 : INDENT))}" y="${at(top + 15 + LINE * i)}"`
        return `<text ${place}>${escapeMarkup(line)}</text>`
      })
      .join('')
    if (row.op === null) return `<g class="skipped">${text}</g>`
    const wide = chipWidth(box, row)
    const chip = `<rect x="${at(x + 7)}" y="${at(top)}" width="${at(wide)}" height="${row.height - 2}" rx="4"/>`
    const kind = row.isWrite ? 'write' : 'read'
    const title = row.title === undefined ? '' : `<title>${escapeMarkup(row.title)}</title>`
    return `<g class="op ${kind}" data-op="${box.txn}:${row.op}">${title}${chip}${text}</g>`
  })
  return `<g class="ops">${name}${note}${rows.join('')}</g>`
}

/** Statements take the whole width of their box, so that arrows do not run over those below. */
function chipWidth(box: LaneBox, row: LaneRow): number {
  return row.title === undefined ? textWidth(row.lines[0]!, OP_SIZE) + 10 : box.width - 14
}

/** Where texts stand, which labels keep away from. */
function findTexts(figure: Figure, layout: LanesLayout): Rect[] {
  const names = layout.lanes.map(({ session, y, height }) => ({
    x: 8,
    y: y + height / 2 - 10,
    width: textWidth(session, OP_SIZE) + 4,
    height: 20,
  }))
  const ticks = layout.ticks.map(({ x, text }) => {
    const width = textWidth(text, 11)
    return { x: x - width / 2, y: layout.top - 24, width, height: 16 }
  })
  const boxes = layout.boxes.flatMap((box) => {
    const { label, note } = figure.txns[box.txn]!
    const header = textWidth(label, OP_SIZE + 1) + (note ? textWidth(note, 11) + 12 : 0)
    const rows = box.rows.map((row) => ({
      x: box.x + 7,
      y: box.y + row.top,
      width: Math.max(chipWidth(box, row), textWidth(row.lines[0]!, OP_SIZE) + 10),
      height: row.height - 2,
    }))
    return [{ x: box.x + 8, y: box.y + 3, width: header + 4, height: 18 }, ...rows]
  })
  return [...names, ...ticks, ...boxes]
}

const TURNS = [0.5, 0.65, 0.35, 0.8, 0.2]

interface Route {
  path: string
  tip: Point
  before: Point
  /** Where its label may stand, the best place first. */
  spots: Point[]
}

/** The sides of an operation and of its box, and the height at which arrows meet it. */
interface Anchor {
  left: number
  right: number
  y: number
  boxLeft: number
  boxRight: number
}

/** Arrows that would run side by side are spread: how far aside each goes. */
function findDetours(ends: readonly ([Anchor, Anchor] | null)[]): number[] {
  const used = new Map<string, number>()
  return ends.map((pair) => {
    if (!pair) return 0
    const [a, b] = pair
    const name = [Math.round(a.left), Math.round(b.left), a.y < b.y].join()
    const count = used.get(name) ?? 0
    used.set(name, count + 1)
    return count
  })
}

/** The two operations an arrow joins in the lanes, or the two boxes; null if one is not there. */
function findEnds(layout: LanesLayout, step: Step): [Anchor, Anchor] | null {
  if (step.from < 0 || step.to < 0) return null
  const from = step.ops.find(([txn]) => txn === step.from)
  const to = step.ops.filter(([txn]) => txn === step.to)
  // In a read-modify-write the read of the older version comes last; the arrow goes to the write.
  const target = step.from === step.to ? to.at(-1) : to[0]
  if (step.kind === 'SO' || step.kind === 'RT' || !from || !target) {
    return [boxAnchor(layout, step.from), boxAnchor(layout, step.to)]
  }
  return [opAnchor(layout, from), opAnchor(layout, target)]
}

const boxOf = ({ boxes }: LanesLayout, txn: number) => boxes.find((box) => box.txn === txn)!

function boxAnchor(layout: LanesLayout, txn: number): Anchor {
  const { x, y, width } = boxOf(layout, txn)
  return { left: x, right: x + width, y: y + 12, boxLeft: x, boxRight: x + width }
}

function opAnchor(layout: LanesLayout, [txn, op]: [number, number]): Anchor {
  const box = boxOf(layout, txn)
  const row = box.rows.find((each) => each.op === op)
  const whole = boxAnchor(layout, txn)
  if (!row) return whole
  const left = box.x + 7
  return { ...whole, left, right: left + chipWidth(box, row), y: box.y + row.top + ROW / 2 - 1 }
}

/**
 * Straight from the operation to the side of its box, a curve from there, and straight again: so it
 * runs over no other operation of the two. Between boxes above each other arrows go down on the
 * right and up on the left, so that a cycle looks like one.
 */
function route(a: Anchor, b: Anchor, detour: number): Route {
  const forward = b.boxLeft >= a.boxRight
  const backward = a.boxLeft >= b.boxRight
  const above = !forward && !backward
  const upward = above && b.y < a.y
  const leavesLeft = backward || upward
  const entersLeft = forward || upward
  const start = { x: leavesLeft ? a.boxLeft : a.boxRight, y: a.y }
  const end = { x: entersLeft ? b.boxLeft : b.boxRight, y: b.y }
  const apart = Math.abs(end.y - start.y)
  const distance = Math.abs(end.x - start.x)
  // Where an arrow to another column turns, as a share of its way.
  const turn = TURNS[detour % TURNS.length]!
  const bow = Math.min(56, Math.max(30, apart / 4)) + 18 * detour
  // Both controls of an arrow beside its boxes lie beyond the one that reaches further.
  const beyond = upward ? Math.min(start.x, end.x) - bow : Math.max(start.x, end.x) + bow
  const reachOut = Math.max(20, distance * turn)
  const reachIn = Math.max(20, distance * (1 - turn))
  const out = { x: above ? beyond : start.x + (leavesLeft ? -reachOut : reachOut), y: start.y }
  const into = { x: above ? beyond : end.x + (entersLeft ? -reachIn : reachIn), y: end.y }
  const tip = { x: entersLeft ? b.left : b.right, y: b.y }
  const path = `M${at(leavesLeft ? a.left : a.right)} ${at(a.y)}H${at(start.x)}${cubic(out, into, end)}H${at(tip.x)}`
  const spots = SPOTS.map((t) => onCubic(start, out, into, end, t))
  return { path, tip, before: { x: tip.x + (entersLeft ? -9 : 9), y: tip.y }, spots }
}

/** Labels nearer to where arrows begin: those of a pair there and back do not meet. */
const SPOTS = [1 / 3, 0.42, 0.5, 0.25, 0.58, 0.67, 0.17, 0.75, 0.83]
