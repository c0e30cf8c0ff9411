// The axiom of a level as a picture: t3 reads from t1, t2 writes the same key, the premise leads
// from t2 to t3, and what follows leads from t2 to t1. Of a level that no premise tells, what it
// forbids. Main function: renderAxiom.

import { AXIOMS, type Axiom, tellAxiom } from '../../levels/axioms.ts'
import { SHAPES, type Shape } from '../../levels/forbidden-shapes.ts'
import type { LevelId } from '../../levels/levels.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { BOX_HEIGHT, type Box, drawArrow, drawBox } from './boxes.ts'
import { textWidth } from './measure.ts'

const HEIGHT = 212
const MARGIN = 4
const BOX_WIDTH = 132
const BETWEEN = 170 // boxes, for an arrow and its label
const FONT_SIZE = 12
const ASIDE = 13 // of two arrows between the same boxes

/** The heading, the picture and the sentence. */
export function renderAxiom(level: LevelId): string {
  const axiom = AXIOMS.find((each) => each.level === level)
  if (axiom) return figure('Its axiom', BOX_WIDTH, HEIGHT, drawAxiom(axiom), tellAxiom(axiom))
  const shape = SHAPES.find((each) => each.level === level)!
  const isLow = shape.boxes.every(({ place }) => place.startsWith('top'))
  const height = isLow ? BOX_HEIGHT + 2 * MARGIN : HEIGHT
  const width = widthOf(shape)
  return figure('What it forbids', width, height, drawShape(shape, width), shape.says)
}

/** Two boxes side by side. */
const sideBySide = (boxWidth: number) => 2 * (boxWidth + MARGIN) + BETWEEN

function figure(
  title: string,
  boxWidth: number,
  height: number,
  drawn: string,
  said: string,
): string {
  const sentence = esc(said)
  return `<h2>${title}</h2><figure class="axiom"><svg class="isobar" viewBox="0 0 ${sideBySide(boxWidth)} ${height}" width="${sideBySide(boxWidth)}" role="img" aria-label="${sentence}">${drawn}</svg><figcaption>${sentence}</figcaption></figure>`
}

function drawAxiom({ way, besides = {} }: Axiom): string {
  const [first, second] = way
  const [top, bottom] = [MARGIN, HEIGHT - BOX_HEIGHT - MARGIN]
  const [left, right] = [MARGIN, MARGIN + BOX_WIDTH + BETWEEN]
  const box = (name: string, operations: string, x: number, y: number): Box => ({
    name,
    operations,
    x,
    y,
    width: BOX_WIDTH,
  })
  const t1 = box('t1', 'w(x,1)', left, bottom)
  const t2 = box('t2', join('w(x,2)', besides.t2), left, top)
  const t3 = box('t3', join(besides.t3, 'r(x,1)'), right, bottom)
  const t4 = box('t4', besides.t4 ?? '', right, top)
  const premise = second
    ? [drawArrow(t2, t4, first), drawArrow(t4, t3, second), drawBox(t4)]
    : [drawArrow(t2, t3, first)]
  return [
    drawArrow(t1, t3, { kind: 'wr', label: 'wr: reads x' }),
    `<g class="then">${drawArrow(t2, t1, { kind: 'co', label: 'then co' })}</g>`,
    ...premise,
    ...[t1, t2, t3].map(drawBox),
  ].join('')
}

const join = (...words: (string | undefined)[]) => words.filter(Boolean).join(' ')

/** Of its boxes: as the longest text needs it. */
function widthOf({ boxes }: Shape): number {
  const texts = boxes.map(({ operations }) => textWidth(operations, FONT_SIZE))
  return Math.ceil(Math.max(...texts, 80)) + 20
}

function drawShape({ boxes, arrows }: Shape, width: number): string {
  const placed = new Map(
    boxes.map(({ name, operations, place }): [string, Box] => {
      const y = place.startsWith('top') ? MARGIN : HEIGHT - BOX_HEIGHT - MARGIN
      const x = place.endsWith('left')
        ? MARGIN
        : place.endsWith('right')
          ? MARGIN + width + BETWEEN
          : (sideBySide(width) - width) / 2
      return [name, { name, operations, x, y, width }]
    }),
  )
  const drawn = arrows.map(({ from, to, ...arrow }) => {
    const isTwoWays = arrows.some((other) => other.from === to && other.to === from)
    return drawArrow(placed.get(from)!, placed.get(to)!, arrow, isTwoWays ? ASIDE : 0)
  })
  return [...drawn, ...[...placed.values()].map(drawBox)].join('')
}
