// Where the labels of arrows stand in the lanes: the first place on its arrow where a label covers
// neither a text nor another label. Main function: placeLabels.

import type { Point } from './graph-layout.ts'
import { textWidth } from './measure.ts'

export interface Rect {
  x: number
  y: number
  width: number
  height: number
}

const LABEL_SIZE = 11
const HEIGHT = 16

export function labelWidth(text: string): number {
  return textWidth(text, LABEL_SIZE) + 6
}

/** A place for each label, null where it has none to choose from. */
export function placeLabels(
  labels: readonly { text: string; spots: readonly Point[] }[],
  texts: readonly Rect[],
): (Point | null)[] {
  const taken = [...texts]
  return labels.map(({ text, spots }) => {
    const width = labelWidth(text)
    const around = ({ x, y }: Point) => ({
      x: x - width / 2,
      y: y - HEIGHT / 2,
      width,
      height: HEIGHT,
    })
    const spot = spots.find((each) => !taken.some((rect) => meet(rect, around(each)))) ?? spots[0]
    if (spot) taken.push(around(spot))
    return spot ?? null
  })
}

function meet(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}
