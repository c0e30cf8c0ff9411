// Transactions as boxes and what leads from one to another as straight arrows, for the small
// pictures that explain a level. Main functions: drawBox, drawArrow.

import type { AxiomArrow } from '../../levels/axioms.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { at, textWidth } from './measure.ts'

export interface Box {
  readonly name: string
  readonly operations: string
  readonly x: number
  readonly y: number
  readonly width: number
}

export const BOX_HEIGHT = 46
const HEAD = 9 // of an arrow
const FONT_SIZE = 12

export function drawBox({ name, operations, x, y, width }: Box): string {
  const middle = at(x + width / 2)
  const text =
    operations === ''
      ? `<text class="name" x="${middle}" y="${y + 28}">${name}</text>`
      : `<text class="name" x="${middle}" y="${y + 19}">${name}</text><text x="${middle}" y="${y + 37}">${esc(operations)}</text>`
  return `<g class="node"><rect x="${x}" y="${y}" width="${width}" height="${BOX_HEIGHT}" rx="6"/>${text}</g>`
}

/**
 * From edge to edge, with its label in the middle.
 * @param aside how far to its left, as one who walks it sees it
 */
export function drawArrow(from: Box, to: Box, { kind, label }: AxiomArrow, aside = 0): string {
  const [ax, ay] = [from.x + from.width / 2, from.y + BOX_HEIGHT / 2]
  const [bx, by] = [to.x + to.width / 2, to.y + BOX_HEIGHT / 2]
  const [dx, dy] = [bx - ax, by - ay]
  // The share of the way that lies inside of a box.
  const insideOf = ({ width }: Box) =>
    Math.min(dx === 0 ? 1 : width / 2 / Math.abs(dx), dy === 0 ? 1 : BOX_HEIGHT / 2 / Math.abs(dy))
  const length = Math.hypot(dx, dy)
  const [ux, uy] = [dx / length, dy / length]
  const [ox, oy] = [uy * aside, -ux * aside]
  const [x1, y1] = [ax + dx * insideOf(from) + ox, ay + dy * insideOf(from) + oy]
  const [x2, y2] = [bx - dx * insideOf(to) - ux * 2 + ox, by - dy * insideOf(to) - uy * 2 + oy]
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
