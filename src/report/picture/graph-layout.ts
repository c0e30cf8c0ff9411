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

export interface Size {
  width: number
  height: number
}

/** Its place is its centre. */
export interface GraphNode extends Point, Size {
  node: number
  title: string
  subtitle: string
}

/** Its place is the centre of its label. */
export interface GraphEdge extends Point, Size {
  arrow: Arrow
  label: string
  points: Point[]
}

export interface GraphLayout extends Size {
  nodes: GraphNode[]
  edges: GraphEdge[]
}

const TITLE_SIZE = 14
const LABEL_SIZE = 12
const SUBTITLE_SIZE = 11
const MARGIN = 12
const LOOP_REACH = 26
/** Nodes stand side by side, where labels have room, if they fit so; else below each other. */
const MAX_WIDTH = 680

export function layoutGraph(figure: Figure, arrows: readonly Arrow[], signs: boolean): GraphLayout {
  const sideways = placeGraph(figure, arrows, signs, true)
  return sideways.width <= MAX_WIDTH ? sideways : placeGraph(figure, arrows, signs, false)
}

function placeGraph(
  figure: Figure,
  arrows: readonly Arrow[],
  signs: boolean,
  sideways: boolean,
): GraphLayout {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  const nodes = findNodes(figure, arrows)
  graph.setGraph({
    rankdir: sideways ? 'LR' : 'TB',
    nodesep: 36,
    edgesep: 22,
    ranksep: 34,
    marginx: MARGIN,
    marginy: MARGIN,
  })
  const edges = arrows.map((arrow) => sizeEdge(arrow, signs))
  for (const node of nodes) {
    const width = node.width + 2 * loopRoom(node, edges)
    graph.setNode(String(node.node), { width, height: node.height })
  }
  edges.forEach(({ arrow: { step }, width, height }, i) => {
    if (step.from === step.to) return
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
    if (from === to) {
      placeLoop(edge, nodes.find(({ node }) => node === from)!)
      return
    }
    const placed = graph.edge({ v: String(from), w: String(to), name: String(i) })
    const { x = 0, y = 0, points = [] } = placed as Partial<GraphEdge>
    Object.assign(edge, { x, y, points })
  })
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { nodes, edges, width, height }
}

/** Room at either side of a node for arrows from it to itself, which dagre does not place well. */
function loopRoom(node: GraphNode, edges: readonly GraphEdge[]): number {
  const loops = edges.filter(
    ({ arrow: { step } }) => step.from === step.to && step.to === node.node,
  )
  return Math.max(0, ...loops.map(({ width }) => width + LOOP_REACH))
}

/** A loop at the right of its node. */
function placeLoop(edge: GraphEdge, { x, y, width, height }: GraphNode): void {
  const right = x + width / 2
  edge.points = [
    { x: right, y: y - height / 4 },
    { x: right + LOOP_REACH, y },
    { x: right, y: y + height / 4 },
  ]
  edge.x = right + LOOP_REACH + edge.width / 2
  edge.y = y
}

function findNodes(figure: Figure, arrows: readonly Arrow[]): GraphNode[] {
  const ends = new Set(arrows.flatMap(({ step }) => [step.from, step.to]))
  // Without arrows, those that took part stand by themselves.
  const found = ends.size > 0 ? ends : figure.txns.keys()
  return [...found].sort((a, b) => a - b).map((node) => sizeNode(figure, node))
}

function sizeNode(figure: Figure, node: number): GraphNode {
  const txn = figure.txns[node]
  const title = txn ? txn.label : nameNode(node)
  const subtitle = txn ? `session ${txn.session}${txn.note ? `, ${txn.note}` : ''}` : ''
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
