// The axiom of a level as a picture: t3 reads from t1, t2 writes the same key, the premise leads
// from t2 to t3, and what follows leads from t2 to t1. Of a level that no premise tells, what it
// forbids. Main function: renderAxiom.

import { AXIOMS, type Axiom, type AxiomArrow, tellAxiom } from '../../levels/axioms.ts'
import { SHAPES, type Shape } from '../../levels/forbidden-shapes.ts'
import type { LevelId } from '../../levels/levels.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { type Box, breakLines, drawArrow, drawBox, heightOf } from './boxes.ts'

const MARGIN = 4
const BOX_WIDTH = 98
const BETWEEN = 146 // boxes, for an arrow and its label
const BELOW = 112 // the upper boxes, for the same
/** Narrow enough for a telephone, so that letters never shrink. */
const WIDTH = 2 * (MARGIN + BOX_WIDTH) + BETWEEN
const ASIDE = 13 // of two arrows between the same boxes

const LEFT = MARGIN
const RIGHT = MARGIN + BOX_WIDTH + BETWEEN
const MIDDLE = (WIDTH - BOX_WIDTH) / 2

/** The heading, the picture and the sentence. */
export function renderAxiom(level: LevelId): string {
  const axiom = AXIOMS.find((each) => each.level === level)
  if (axiom) return figure('Its axiom', drawAxiom(axiom), tellAxiom(axiom))
  const shape = SHAPES.find((each) => each.level === level)!
  return figure('What it forbids', drawShape(shape), shape.says)
}

interface Drawn {
  readonly height: number
  readonly body: string
}

function figure(title: string, { height, body }: Drawn, said: string): string {
  const sentence = esc(said)
  return `<h2>${title}</h2><figure class="axiom"><svg class="isobar" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${sentence}">${body}</svg><figcaption>${sentence}</figcaption></figure>`
}

/** A transaction before it has its place: in the upper row, or in the lower one. */
interface Part {
  readonly name: string
  readonly operations: string
  readonly x: number
  readonly isBelow: boolean
}

/** Boxes of one height by their names, and how high the picture is. */
function placeBoxes(parts: readonly Part[]): { boxes: Map<string, Box>; height: number } {
  const lines = parts.map(({ operations }) => breakLines(operations, BOX_WIDTH))
  const height = heightOf(Math.max(...lines.map(({ length }) => length)))
  const below = MARGIN + height + BELOW
  const boxes = parts.map(({ name, x, isBelow }, i): [string, Box] => {
    const y = isBelow ? below : MARGIN
    return [name, { name, lines: lines[i]!, x, y, width: BOX_WIDTH, height }]
  })
  const last = parts.some(({ isBelow }) => isBelow) ? below : MARGIN
  return { boxes: new Map(boxes), height: last + height + MARGIN }
}

function drawAxiom({ way, besides = {} }: Axiom): Drawn {
  const [first, second] = way
  const part = (name: string, operations: string, x: number, isBelow: boolean): Part => ({
    name,
    operations,
    x,
    isBelow,
  })
  const { boxes, height } = placeBoxes([
    part('t1', 'w(x,1)', LEFT, true),
    part('t2', join('w(x,2)', besides.t2), LEFT, false),
    part('t3', join(besides.t3, 'r(x,1)'), RIGHT, true),
    ...(second ? [part('t4', besides.t4 ?? '', RIGHT, false)] : []),
  ])
  const lead = (from: string, to: string, arrow: AxiomArrow) =>
    drawArrow(boxes.get(from)!, boxes.get(to)!, arrow)
  const body = [
    lead('t1', 't3', { kind: 'wr', label: 'wr: reads x' }),
    `<g class="then">${lead('t2', 't1', { kind: 'co', label: 'then co' })}</g>`,
    ...(second ? [lead('t2', 't4', first), lead('t4', 't3', second)] : [lead('t2', 't3', first)]),
    ...[...boxes.values()].map(drawBox),
  ]
  return { height, body: body.join('') }
}

const join = (...words: (string | undefined)[]) => words.filter(Boolean).join(' ')

function drawShape({ boxes: told, arrows }: Shape): Drawn {
  const { boxes, height } = placeBoxes(
    told.map(({ name, operations, place }) => ({
      name,
      operations,
      x: place.endsWith('left') ? LEFT : place.endsWith('right') ? RIGHT : MIDDLE,
      isBelow: !place.startsWith('top'),
    })),
  )
  const drawn = arrows.map(({ from, to, ...arrow }) => {
    const isTwoWays = arrows.some((other) => other.from === to && other.to === from)
    return drawArrow(boxes.get(from)!, boxes.get(to)!, arrow, isTwoWays ? ASIDE : 0)
  })
  return { height, body: [...drawn, ...[...boxes.values()].map(drawBox)].join('') }
}
