// Where the nodes and arrows of the dependency graph go: in layers, by Sugiyama's method as dagre
// implements it. The graph is a cycle, so some arrows point back; dagre turns them for the layout
// and keeps them apart from those that point forward. Main function: layoutGraph.

import dagre from '@dagrejs/dagre'
import { type Figure, INITIAL_NODE, NOBODY } from './figure.ts'
import { textWidth } from './measure.ts'
import type { Arrow } from './visible.ts'

export interface Point {
  x: number
  y: number
}

export interface GraphNode {
  node: number
  title: string
  subtitle: string
  x: number // centre
  y: number
  width: number
  height: number
}

export interface GraphEdge {
  arrow: Arrow
  label: string
  points: Point[]
  x: number // centre of the label
  y: number
  width: number
  height: number
}

export interface GraphLayout {
  nodes: GraphNode[]
  edges: GraphEdge[]
  width: number
  height: number
}

export const TITLE_SIZE = 14
export const LABEL_SIZE = 12
const SUBTITLE_SIZE = 11
const MARGIN = 12
/** Few nodes stand side by side, where labels have room; many stand below each other. */
const MAX_SIDE_BY_SIDE = 4

export function layoutGraph(figure: Figure, arrows: readonly Arrow[], signs: boolean): GraphLayout {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  const nodes = findNodes(figure, arrows)
  const sideways = nodes.length <= MAX_SIDE_BY_SIDE
  graph.setGraph({
    rankdir: sideways ? 'LR' : 'TB',
    nodesep: 36,
    edgesep: 22,
    ranksep: 34,
    marginx: MARGIN,
    marginy: MARGIN,
  })
  for (const node of nodes) {
    graph.setNode(String(node.node), { width: node.width, height: node.height })
  }
  const edges = arrows.map((arrow) => sizeEdge(arrow, signs))
  edges.forEach(({ arrow: { step }, width, height }, i) => {
    // Labels sit on their arrows, which show at both sides of them.
    const size = { width: width + (sideways ? 36 : 0), height, labelpos: 'c' as const }
    graph.setEdge(String(step.from), String(step.to), size, String(i))
  })
  dagre.layout(graph)
  for (const node of nodes) {
    const { x, y } = graph.node(String(node.node)) as Point
    Object.assign(node, { x, y })
  }
  edges.forEach((edge, i) => {
    const { from, to } = edge.arrow.step
    const placed = graph.edge({ v: String(from), w: String(to), name: String(i) })
    const { x = 0, y = 0, points = [] } = placed as Partial<GraphEdge>
    Object.assign(edge, { x, y, points })
  })
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { nodes, edges, width, height }
}

function findNodes(figure: Figure, arrows: readonly Arrow[]): GraphNode[] {
  const found = new Set<number>()
  for (const { step } of arrows) {
    found.add(step.from)
    found.add(step.to)
  }
  return [...found].sort((a, b) => a - b).map((node) => sizeNode(figure, node))
}

function sizeNode(figure: Figure, node: number): GraphNode {
  const txn = figure.txns[node]
  const title = txn ? txn.name : nameNode(node)
  const subtitle = txn ? `session ${txn.session}` : ''
  const width = Math.max(textWidth(title, TITLE_SIZE), textWidth(subtitle, SUBTITLE_SIZE)) + 24
  return { node, title, subtitle, x: 0, y: 0, width, height: subtitle ? 44 : 32 }
}

export function nameNode(node: number): string {
  return node === NOBODY ? 'nobody' : node === INITIAL_NODE ? 'initial state' : '?'
}

function sizeEdge(arrow: Arrow, signs: boolean): GraphEdge {
  const { step, isOpen } = arrow
  const sign = step.premises.length === 0 || !signs ? '' : isOpen ? ' −' : ' +'
  const label = `${step.assumed ? 'if ' : ''}${step.label}${sign}`
  const width = textWidth(label, LABEL_SIZE) + 10
  return { arrow, label, points: [], x: 0, y: 0, width, height: 20 }
}
