// The dependency graph as SVG. An arrow carries the ids of its steps and operations, by which the
// page links it to the story and the lanes; it can be focused and says its reason aloud. Kinds
// differ by colour, by dashes and by the word on the label. Main function: renderGraph.

import { escapeMarkup } from '../escape.ts'
import { arrowHead, curveThrough } from './curve.ts'
import { type Figure, nameOf } from './figure.ts'
import {
  type GraphEdge,
  type GraphNode,
  layoutGraph,
  type Point,
  type Size,
} from './graph-layout.ts'
import { at } from './measure.ts'
import { type Arrow, findArrows, type View } from './visible.ts'

export interface DrawOptions {
  /** Arrows can be focused and opened: for the page, not for a picture on its own. */
  interactive: boolean
}

export interface Drawing extends Size {
  body: string
}

export function drawGraph(figure: Figure, view: View, options: DrawOptions): Drawing {
  const arrows = findArrows(figure, view)
  const { nodes, edges, width, height } = layoutGraph(figure, arrows, options.interactive)
  const body = [
    ...edges.map((edge) => drawEdge(figure, edge, options)),
    ...nodes.map((node) => drawNode(figure, node)),
  ]
  return { body: body.join('\n'), width, height }
}

/** The graph as an SVG element of the page. */
export function renderGraph(figure: Figure, view: View, options: DrawOptions): string {
  return wrap(drawGraph(figure, view, options), 'graph', 'Dependency graph')
}

export function wrap({ body, width, height }: Drawing, kind: string, label: string): string {
  const size = `width="${at(width)}" height="${at(height)}" viewBox="0 0 ${at(width)} ${at(height)}"`
  return `<svg class="isobar ${kind}" ${size} role="group" aria-label="${label}">\n${body}\n</svg>`
}

function drawEdge(figure: Figure, edge: GraphEdge, options: DrawOptions): string {
  const { arrow, points, x, y, width, height } = edge
  const [before, tip] = points.slice(-2) as [Point, Point]
  const way = { path: curveThrough(points), before, tip }
  const label = { text: escapeMarkup(edge.label), x, y, width, height, corner: 4 }
  return drawArrow(openArrow(figure, arrow, options), way, label)
}

/** An arrow, in both views: its line, and a label in the middle of a tag. */
export function drawArrow(
  opening: string,
  { path, before, tip }: { path: string; before: Point; tip: Point },
  label: Point & Size & { text: string; corner: number },
): string {
  const { text, x, y, width, height, corner } = label
  const place = `x="${at(x - width / 2)}" y="${at(y - height / 2)}"`
  return [
    opening,
    `<path class="hit" d="${path}"/><path class="line" d="${path}"/>`,
    `<path class="head" d="${arrowHead(before, tip)}"/>`,
    `<rect class="tag" ${place} width="${at(width)}" height="${height}" rx="${corner}"/>`,
    `<text class="label" x="${at(x)}" y="${at(y + 4)}">${text}</text></g>`,
  ].join('')
}

/** The opening tag of an arrow, in both views. */
export function openArrow(figure: Figure, arrow: Arrow, options: DrawOptions): string {
  const { step, ids, isOpen, isReason } = arrow
  const traits = { assumed: step.assumed, open: isOpen, reason: isReason }
  const names = Object.entries(traits).flatMap(([name, has]) => (has ? [name] : []))
  const classes = ['arrow', step.kind.toLowerCase(), ...names].join(' ')
  const title = `${nameOf(figure, step.from)} → ${nameOf(figure, step.to)}, ${step.label}: ${step.because}`
  if (!options.interactive) return `<g class="${classes}"><title>${escapeMarkup(title)}</title>`
  const ops = step.ops.map((pair) => pair.join(':')).join(' ')
  const txns = [step.from, step.to].filter((node) => node >= 0).join(' ')
  const data = `data-step="${step.id}" data-steps="${ids.join(' ')}" data-ops="${ops}" data-txns="${txns}"`
  const opens = step.premises.length > 0
  const role = opens ? `role="button" aria-expanded="${isOpen}"` : 'role="img"'
  return `<g class="${classes}" ${data} tabindex="0" ${role} aria-label="${escapeMarkup(title)}">`
}

function drawNode(figure: Figure, node: GraphNode): string {
  const { x, y, width, height } = node
  const txn = figure.txns[node.node]
  const corner = txn ? 6 : height / 2
  const box = `x="${at(x - width / 2)}" y="${at(y - height / 2)}" width="${at(width)}" height="${at(height)}"`
  const status = txn?.status ?? 'initial'
  const title = `<text class="name" x="${at(x)}" y="${at(y + (node.subtitle ? -2 : 5))}">${escapeMarkup(node.title)}</text>`
  const subtitle = node.subtitle
    ? `<text class="small" x="${at(x)}" y="${at(y + 14)}">${escapeMarkup(node.subtitle)}</text>`
    : ''
  return `<g class="node ${status}" data-txn="${node.node}"><rect ${box} rx="${at(corner)}"/>${title}${subtitle}</g>`
}
