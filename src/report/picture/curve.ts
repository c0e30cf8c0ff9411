// Curves and arrowheads, as SVG path data.

import type { Point } from './graph-layout.ts'
import { at } from './measure.ts'

/** A smooth curve through all the points (Catmull and Rom, as cubic Béziers). */
export function curveThrough(points: readonly Point[]): string {
  const [first] = points
  if (!first) return ''
  let path = `M${at(first.x)} ${at(first.y)}`
  for (let i = 0; i + 1 < points.length; i++) {
    const a = points[i]!
    const b = points[i + 1]!
    const before = points[i - 1] ?? a
    const after = points[i + 2] ?? b
    path += cubic(
      { x: a.x + (b.x - before.x) / 6, y: a.y + (b.y - before.y) / 6 },
      { x: b.x - (after.x - a.x) / 6, y: b.y - (after.y - a.y) / 6 },
      b,
    )
  }
  return path
}

export function cubic(c1: Point, c2: Point, end: Point): string {
  return `C${at(c1.x)} ${at(c1.y)} ${at(c2.x)} ${at(c2.y)} ${at(end.x)} ${at(end.y)}`
}

/** The point of a cubic Bézier curve at t from 0 to 1. */
export function onCubic(from: Point, c1: Point, c2: Point, to: Point, t: number): Point {
  const u = 1 - t
  const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t] as const
  return {
    x: a * from.x + b * c1.x + c * c2.x + d * to.x,
    y: a * from.y + b * c1.y + c * c2.y + d * to.y,
  }
}

const HEAD_LENGTH = 9
const HEAD_WIDTH = 4

/** A triangle whose tip is at `tip` and which comes from the direction of `from`. */
export function arrowHead(from: Point, tip: Point): string {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1
  const dx = (tip.x - from.x) / length
  const dy = (tip.y - from.y) / length
  const back = { x: tip.x - dx * HEAD_LENGTH, y: tip.y - dy * HEAD_LENGTH }
  const left = `${at(back.x - dy * HEAD_WIDTH)} ${at(back.y + dx * HEAD_WIDTH)}`
  const right = `${at(back.x + dy * HEAD_WIDTH)} ${at(back.y - dx * HEAD_WIDTH)}`
  return `M${at(tip.x)} ${at(tip.y)}L${left}L${right}Z`
}
