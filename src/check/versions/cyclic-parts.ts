// Where the cycles of a dependency graph lie: the edges inside its strongly connected components.
// They are worked out once for a graph, and for what is left of it without some transactions only
// within them. Main classes: CyclicParts, KeptParts.

import type { Deadline } from '../../base/deadline.ts'
import { addTo } from '../../base/maps.ts'
import { type CondensedOrder, findCondensedOrder } from '../../graph/condensed-order.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { type Components, findComponents } from '../../graph/scc.ts'
import { NONE } from '../../history/history.ts'
import type { DependencyGraph } from './dependency-graph.ts'

export class CyclicParts {
  private lazyCsr: Csr | null = null
  private lazyComponents: Components | null = null
  private lazyAll: number[][] | null = null
  private lazyNumbering: Int32Array | null = null

  constructor(readonly graph: DependencyGraph) {}

  get csr(): Csr {
    const { nodeCount, from, to, edgeCount } = this.graph
    this.lazyCsr ??= buildCsr(nodeCount, from, to, edgeCount)
    return this.lazyCsr
  }

  private components(deadline: Deadline): Components {
    this.lazyComponents ??= findComponents(this.csr, deadline)
    return this.lazyComponents
  }

  /** Whether there is a cycle; an edge from a node to itself is none. */
  hasCycle(deadline: Deadline): boolean {
    return this.components(deadline).count < this.graph.nodeCount
  }

  /** An order of components, as close to some priority of nodes as edges allow. */
  orderBy(priority: Float64Array, deadline: Deadline): CondensedOrder {
    return findCondensedOrder(this.csr, this.components(deadline), priority, deadline)
  }

  /** The edges of each component of several nodes, of what is left without some transactions. */
  find(leftOut: ReadonlySet<number>, deadline: Deadline): number[][] {
    deadline.check()
    this.lazyAll ??= this.findAll(deadline)
    return this.lazyAll.flatMap((edges) => {
      const rest = this.without(edges, leftOut)
      return rest.length === edges.length ? [edges] : this.split(rest, deadline)
    })
  }

  private findAll(deadline: Deadline): number[][] {
    const { from, to, edgeCount } = this.graph
    const { componentOf } = this.components(deadline)
    this.lazyCsr = null // it is large, and what is asked from here on is about parts
    const inside = new Map<number, number[]>()
    for (let edge = 0; edge < edgeCount; edge++) {
      const component = componentOf[from[edge]!]!
      if (from[edge] === to[edge] || componentOf[to[edge]!] !== component) continue
      addTo(inside, component, edge)
    }
    return [...inside.values()]
  }

  /** The edges inside components of several nodes, component by component, in the order given. */
  split(edges: readonly number[], deadline: Deadline): number[][] {
    deadline.check()
    const { size, from, to } = this.number(edges)
    const { componentOf } = findComponents(buildCsr(size, from, to), deadline)
    const inside = new Map<number, number[]>()
    for (let i = 0; i < edges.length; i++) {
      const component = componentOf[from[i]!]!
      if (from[i] === to[i] || componentOf[to[i]!] !== component) continue
      addTo(inside, component, edges[i]!)
    }
    return [...inside.values()]
  }

  /** The edges between nodes numbered 0, 1, … */
  number(edges: readonly number[]) {
    const { graph } = this
    this.lazyNumbering ??= new Int32Array(graph.nodeCount).fill(NONE) // NONE before and after
    const numbering = this.lazyNumbering
    let size = 0
    const numberOf = (node: number) => {
      if (numbering[node] === NONE) numbering[node] = size++
      return numbering[node]!
    }
    const from = new Int32Array(edges.length)
    const to = new Int32Array(edges.length)
    for (let i = 0; i < edges.length; i++) {
      from[i] = numberOf(graph.from[edges[i]!]!)
      to[i] = numberOf(graph.to[edges[i]!]!)
    }
    for (const edge of edges) numbering[graph.from[edge]!] = numbering[graph.to[edge]!] = NONE
    return { size, from, to }
  }

  /** The edges that touch none of the transactions. */
  without(edges: number[], txns: ReadonlySet<number>): number[] {
    if (txns.size === 0) return edges
    const { graph } = this
    const touches = (node: number) => txns.has(txnOf(graph, node))
    return edges.filter((edge) => !touches(graph.from[edge]!) && !touches(graph.to[edge]!))
  }
}

/** The transaction of a node; NONE for an instant, which belongs to nobody. */
export function txnOf({ width, txnCount }: DependencyGraph, node: number): number {
  return node < width * txnCount ? Math.floor(node / width) : NONE
}

/** The graph asked for last is kept: levels ask for the same one again, and it is large. */
export class KeptParts<Options extends object> {
  private last: { options: Options; parts: CyclicParts } | null = null

  /** @param build null if the graph would be too large */
  constructor(private readonly build: (options: Options) => DependencyGraph | null) {}

  get(options: Options): CyclicParts | null {
    if (this.last !== null && isSame(options, this.last.options)) return this.last.parts
    this.last = null // two of them need not fit into memory
    const graph = this.build(options)
    if (graph === null) return null
    this.last = { options, parts: new CyclicParts(graph) }
    return this.last.parts
  }
}

function isSame<Options extends object>(options: Options, others: Options): boolean {
  return (Object.keys(options) as (keyof Options)[]).every((key) => options[key] === others[key])
}
