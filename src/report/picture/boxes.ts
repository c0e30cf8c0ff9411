// Transactions as boxes and what leads from one to another as straight arrows, for the small
// pictures that explain a level. Main functions: drawBox, drawArrow.

import type { AxiomArrow } from '../../levels/axioms.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { at, textWidth } from './measure.ts'

export interface Box {
  readonly name: string
  /** As they stand below each other. */
  readonly lines: readonly string[]
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const HEAD = 9 // of an arrow
const OPERATION_SIZE = 13
const LABEL_SIZE = 12
const LINE = 18

/** So high that a name and so many lines fit in. */
export const heightOf = (lines: number): number => 28 + LINE * lines

/** Operations in lines that fit into a box: as many to a line as there is room for. */
export function breakLines(operations: string, width: number): string[] {
  const lines: string[] = []
  for (const operation of operations === '' ? [] : operations.split(' ')) {
    const longer = lines.length === 0 ? operation : `${lines.at(-1)} ${operation}`
    const fits = textWidth(longer, OPERATION_SIZE) + 8 <= width
    if (lines.length > 0 && fits) lines[lines.length - 1] = longer
    else lines.push(operation)
  }
  return lines
}

export function drawBox({ name, lines, x, y, width, height }: Box): string {
  const middle = at(x + width / 2)
  const top = y + (height - heightOf(lines.length)) / 2 + 19
  const texts = lines.map(
    (line, i) => `<text x="${middle}" y="${at(top + LINE * (i + 1))}">${esc(line)}</text>`,
  )
  return `<g class="node"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/><text class="name" x="${middle}" y="${at(top)}">${name}</text>${texts.join('')}</g>`
}

/**
 * From edge to edge, with its label in the middle.
 * @param aside how far to its left, as one who walks it sees it
 */
export function drawArrow(from: Box, to: Box, { kind, label }: AxiomArrow, aside = 0): string {
  const [ax, ay] = [from.x + from.width / 2, from.y + from.height / 2]
  const [bx, by] = [to.x + to.width / 2, to.y + to.height / 2]
  const [dx, dy] = [bx - ax, by - ay]
  // The share of the way that lies inside of a box.
  const insideOf = ({ width, height }: Box) =>
    Math.min(dx === 0 ? 1 : width / 2 / Math.abs(dx), dy === 0 ? 1 : height / 2 / Math.abs(dy))
  const length = Math.hypot(dx, dy)
  const [ux, uy] = [dx / length, dy / length]
  const [ox, oy] = [uy * aside, -ux * aside]
  const [x1, y1] = [ax + dx * insideOf(from) + ox, ay + dy * insideOf(from) + oy]
  const [x2, y2] = [bx - dx * insideOf(to) - ux * 2 + ox, by - dy * insideOf(to) - uy * 2 + oy]
  const [hx, hy] = [x2 - ux * HEAD, y2 - uy * HEAD]
  const [sx, sy] = [(-uy * HEAD) / 2, (ux * HEAD) / 2]
  const wide = textWidth(label, LABEL_SIZE) + 10
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2]
  return [
    `<g class="${kind}"><path class="line" d="M${at(x1)} ${at(y1)}L${at(hx)} ${at(hy)}"/>`,
    `<path class="head" d="M${at(x2)} ${at(y2)}L${at(hx + sx)} ${at(hy + sy)}L${at(hx - sx)} ${at(hy - sy)}Z"/>`,
    `<rect class="tag" x="${at(mx - wide / 2)}" y="${at(my - 10)}" width="${wide}" height="20"/>`,
    `<text class="label" x="${at(mx)}" y="${at(my + 4)}">${esc(label)}</text></g>`,
  ].join('')
}
