// The axiom of a level as a picture: t3 reads from t1, t2 writes the same key, the premise leads
// from t2 to t3, and what follows leads from t2 to t1. Main function: renderAxiom.

import { AXIOMS, type Axiom, type AxiomArrow, tellAxiom } from '../../levels/axioms.ts'
import type { LevelId } from '../../levels/levels.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { at, textWidth } from './measure.ts'

const WIDTH = 560
const HEIGHT = 212
const BOX = { width: 132, height: 46 }
const HEAD = 9 // of an arrow
const FONT_SIZE = 12

interface Box {
  readonly name: string
  readonly operations: string
  readonly x: number
  readonly y: number
}

/** The heading, the picture and the sentence; nothing where the level is told otherwise. */
export function renderAxiom(level: LevelId): string {
  const axiom = AXIOMS.find((each) => each.level === level)
  if (!axiom) return ''
  const sentence = esc(tellAxiom(axiom))
  return `<h2>Its axiom</h2><figure class="axiom"><svg class="isobar" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${sentence}">${draw(axiom)}</svg><figcaption>${sentence}</figcaption></figure>`
}

function draw({ way, besides = {} }: Axiom): string {
  const [first, second] = way
  const [top, bottom] = [12, HEIGHT - BOX.height - 12]
  const [left, right] = [12, WIDTH - BOX.width - 12]
  const t1 = { name: 't1', operations: 'w(x,1)', x: left, y: bottom }
  const t2 = { name: 't2', operations: join('w(x,2)', besides.t2), x: left, y: top }
  const t3 = { name: 't3', operations: join(besides.t3, 'r(x,1)'), x: right, y: bottom }
  const t4 = { name: 't4', operations: besides.t4 ?? '', x: right, y: top }
  const premise = second
    ? [arrow(t2, t4, first), arrow(t4, t3, second), box(t4)]
    : [arrow(t2, t3, first)]
  return [
    arrow(t1, t3, { kind: 'wr', label: 'wr: reads x' }),
    `<g class="then">${arrow(t2, t1, { kind: 'co', label: 'then co' })}</g>`,
    ...premise,
    ...[t1, t2, t3].map(box),
  ].join('')
}

const join = (...words: (string | undefined)[]) => words.filter(Boolean).join(' ')

function box({ name, operations, x, y }: Box): string {
  const middle = at(x + BOX.width / 2)
  const text =
    operations === ''
      ? `<text class="name" x="${middle}" y="${y + 28}">${name}</text>`
      : `<text class="name" x="${middle}" y="${y + 19}">${name}</text><text x="${middle}" y="${y + 37}">${operations}</text>`
  return `<g class="node"><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6"/>${text}</g>`
}

/** Straight, from edge to edge, with its label in the middle. */
function arrow(from: Box, to: Box, { kind, label }: AxiomArrow): string {
  const [ax, ay] = [from.x + BOX.width / 2, from.y + BOX.height / 2]
  const [bx, by] = [to.x + BOX.width / 2, to.y + BOX.height / 2]
  const [dx, dy] = [bx - ax, by - ay]
  // The share of the way that lies inside of a box.
  const inside = Math.min(
    dx === 0 ? 1 : BOX.width / 2 / Math.abs(dx),
    dy === 0 ? 1 : BOX.height / 2 / Math.abs(dy),
  )
  const length = Math.hypot(dx, dy)
  const [ux, uy] = [dx / length, dy / length]
  const [x1, y1] = [ax + dx * inside, ay + dy * inside]
  const [x2, y2] = [bx - dx * inside - ux * 2, by - dy * inside - uy * 2]
  const [hx, hy] = [x2 - ux * HEAD, y2 - uy * HEAD]
  const [sx, sy] = [(-uy * HEAD) / 2, (ux * HEAD) / 2]
  const wide = textWidth(label, FONT_SIZE) + 10
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2]
  return [
    `<g class="${kind}"><path class="line" d="M${at(x1)} ${at(y1)}L${at(hx)} ${at(hy)}"/>`,
    `<path class="head" d="M${at(x2)} ${at(y2)}L${at(hx + sx)} ${at(hy + sy)}L${at(hx - sx)} ${at(hy - sy)}Z"/>`,
    `<rect class="tag" x="${at(mx - wide / 2)}" y="${at(my - 10)}" width="${wide}" height="20"/>`,
    `<text class="label" x="${at(mx)}" y="${at(my + 4)}">${esc(label)}</text></g>`,
  ].join('')
}
