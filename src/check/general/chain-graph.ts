// A growing graph whose nodes lie on chains (sessions), with its transitive closure (closure.ts). A
// chain is a run of consecutive node numbers, each node before the next.
//
// Edges are collected and the closure brought up to date for a whole batch at once, in topological
// order: a row is touched only if it has a new edge or one of its predecessors changed. Where rows
// are wide, edges that others make up for are not followed again. The first refresh costs
// O((nodes + edges) · width of a row), later ones O(nodes + edges) plus what changes; that beats
// updating edge by edge as long as edges come by the thousand. Main class: ChainGraph.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { buildClosure, type Closure } from './closure.ts'

const END = -1 // of a list of edges

export class ChainGraph {
  readonly nodeCount: number
  readonly chainCount: number
  readonly chainOf: Int32Array // node -> chain
  private readonly closure: Closure | null
  readonly hasChanged: Uint8Array // node -> 1 if the last refresh changed its row
  readonly from = new IntColumn(64) // edge -> node
  readonly to = new IntColumn(64) // edge -> node
  order: Int32Array // nodes in a topological order of the edges at the last refresh
  readonly position: Int32Array // node -> place in that order
  private readonly firstIn: Int32Array // node -> its latest incoming edge
  private readonly firstOut: Int32Array // node -> its latest outgoing edge
  private readonly nextIn = new IntColumn(64) // edge -> an older edge into the same node
  private readonly nextOut = new IntColumn(64) // edge -> an older edge out of the same node
  private readonly firstBase: Int32Array // node -> its latest incoming edge to be followed
  private readonly nextBase = new IntColumn(64) // edge -> an older such edge into the same node
  private joined = 0 // work done since the deadline was told
  private settled = -1 // edges that the closure knows of, -1 before the first refresh

  /**
   * @param chainStart chain -> its first node; one more entry, the number of nodes, at the end
   * @param mostNumbers that the closure may hold; beyond that there is none
   * @param wide numbers of a row from which on it pays to ask whether joining it is needed
   */
  constructor(
    readonly chainStart: Int32Array,
    deadline: Deadline,
    mostNumbers: number,
    private readonly wide = 256,
  ) {
    this.chainCount = chainStart.length - 1
    this.nodeCount = chainStart[this.chainCount]!
    this.hasChanged = new Uint8Array(this.nodeCount)
    this.chainOf = new Int32Array(this.nodeCount)
    for (let c = 0; c < this.chainCount; c++) this.chainOf.fill(c, chainStart[c], chainStart[c + 1])
    this.closure = buildClosure(chainStart, this.chainOf, deadline, mostNumbers)
    this.order = new Int32Array(0)
    this.position = new Int32Array(this.nodeCount)
    this.firstIn = new Int32Array(this.nodeCount).fill(END)
    this.firstOut = new Int32Array(this.nodeCount).fill(END)
    this.firstBase = new Int32Array(this.nodeCount).fill(END)
  }

  get edgeCount(): number {
    return this.from.length
  }

  /** False if there are too many nodes and chains for a closure; then `reaches` knows nothing. */
  get hasClosure(): boolean {
    return this.closure !== null
  }

  /** True if a = b, or a path led from a to b at the last refresh, as far as there is a closure. */
  reaches(a: number, b: number): boolean {
    return this.closure === null ? a === b : this.closure.reaches(a, b)
  }

  /** The first node of the chain that does not reach the node. Only where there is a closure. */
  firstNotReaching(chain: number, node: number): number {
    return this.closure!.firstNotReaching(chain, node)
  }

  add(from: number, to: number): void {
    const edge = this.from.length
    this.from.push(from)
    this.to.push(to)
    this.nextIn.push(this.firstIn[to]!)
    this.nextOut.push(this.firstOut[from]!)
    this.firstIn[to] = this.firstOut[from] = edge
    this.nextBase.push(this.firstBase[to]!)
    this.firstBase[to] = edge
  }

  /** An edge between the nodes, -1 if there is none. */
  findEdge(from: number, to: number): number {
    let edge = this.firstIn[to]!
    while (edge !== END && this.from.data[edge] !== from) edge = this.nextIn.data[edge]!
    return edge
  }

  /** Visits the nodes that edges lead to from this one, but for its neighbour on the chain. */
  forEachSuccessor(node: number, visit: (next: number) => void): void {
    for (let edge = this.firstOut[node]!; edge !== END; edge = this.nextOut.data[edge]!) {
      visit(this.to.data[edge]!)
    }
  }

  /** All edges, those along the chains behind the others. */
  buildCsr(): Csr {
    const { nodeCount, edgeCount, chainOf } = this
    const from = new Int32Array(edgeCount + nodeCount)
    const to = new Int32Array(edgeCount + nodeCount)
    from.set(this.from.view())
    to.set(this.to.view())
    let count = edgeCount
    for (let node = 1; node < nodeCount; node++) {
      if (chainOf[node - 1] !== chainOf[node]) continue
      from[count] = node - 1
      to[count++] = node
    }
    return buildCsr(nodeCount, from, to, count)
  }

  /** Brings order and closure up to date; false, and no change of it, if there is a cycle. */
  refresh(deadline: Deadline): boolean {
    deadline.check()
    if (!this.isInOrder() && !this.findOrder(deadline)) return false
    const { closure } = this
    if (closure === null) this.hasChanged.fill(1)
    else if (this.settled < 0) this.fillClosure(closure, deadline)
    else this.updateClosure(closure, deadline)
    this.settled = this.edgeCount
    return true
  }

  /** True if the order of the last refresh suits the new edges as well. */
  private isInOrder(): boolean {
    if (this.settled < 0) return false
    const { position } = this
    for (let edge = this.settled; edge < this.edgeCount; edge++) {
      if (position[this.from.data[edge]!]! >= position[this.to.data[edge]!]!) return false
    }
    return true
  }

  /** Kahn's algorithm; false if there is a cycle. */
  private findOrder(deadline: Deadline): boolean {
    const { nodeCount, chainOf, firstOut } = this
    const { data: to } = this.to
    const { data: nextOut } = this.nextOut
    const waiting = new Int32Array(nodeCount) // node -> predecessors not placed yet
    for (let edge = 0; edge < this.edgeCount; edge++) waiting[to[edge]!]!++
    const order = new Int32Array(nodeCount)
    let placed = 0
    for (let node = 0; node < nodeCount; node++) {
      if (node > 0 && chainOf[node - 1] === chainOf[node]) waiting[node]!++
      if (waiting[node] === 0) order[placed++] = node
    }
    for (let head = 0; head < placed; head++) {
      const node = order[head]!
      deadline.step(4)
      for (let edge = firstOut[node]!; edge !== END; edge = nextOut[edge]!) {
        if (--waiting[to[edge]!]! === 0) order[placed++] = to[edge]!
      }
      const next = node + 1
      if (next < nodeCount && chainOf[next] === chainOf[node] && --waiting[next]! === 0) {
        order[placed++] = next
      }
    }
    if (placed < nodeCount) return false
    for (let i = 0; i < nodeCount; i++) this.position[order[i]!] = i
    this.order = order
    return true
  }

  private fillClosure(closure: Closure, deadline: Deadline): void {
    const { order, firstIn } = this
    const { data: from } = this.from
    const { data: nextIn } = this.nextIn
    closure.numberBy(this.position)
    for (let i = 0; i < order.length; i++) {
      const node = order[i]!
      closure.begin(node)
      for (let edge = firstIn[node]!; edge !== END; edge = nextIn[edge]!) {
        if (!closure.reaches(from[edge]!, node)) this.join(closure, from[edge]!, node)
      }
      deadline.step(1 + this.joined)
      this.joined = 0
    }
    this.hasChanged.fill(1)
  }

  private updateClosure(closure: Closure, deadline: Deadline): void {
    const { chainOf, chainStart, order, firstBase, hasChanged, settled } = this
    const { data: from } = this.from
    const { data: nextBase } = this.nextBase
    const isWide = closure.width >= this.wide
    for (let i = 0; i < order.length; i++) {
      const node = order[i]!
      let changed = false
      if (node !== chainStart[chainOf[node]!] && hasChanged[node - 1] === 1) {
        changed = this.join(closure, node - 1, node)
      }
      if (isWide && firstBase[node]! >= settled) this.leaveOutImplied(closure, node)
      for (let edge = firstBase[node]!; edge !== END; edge = nextBase[edge]!) {
        const source = from[edge]!
        const isNews = hasChanged[source] === 1
        if (!isNews && (edge < settled || closure.reaches(source, node))) continue
        if (this.join(closure, source, node)) changed = true
      }
      hasChanged[node] = changed ? 1 : 0
      deadline.step(1 + this.joined)
      this.joined = 0
    }
  }

  /** Leaves out, for good, edges into a node from what reaches it through another one as well. */
  private leaveOutImplied(closure: Closure, node: number): void {
    const { firstBase, position } = this
    const { data: from } = this.from
    const { data: nextBase } = this.nextBase
    const edges: number[] = []
    for (let edge = firstBase[node]!; edge !== END; edge = nextBase[edge]!) edges.push(edge)
    edges.sort((a, b) => position[from[b]!]! - position[from[a]!]!)
    const kept: number[] = []
    for (const edge of edges) {
      const source = from[edge]!
      if (!kept.some((other) => closure.reaches(source, from[other]!))) kept.push(edge)
    }
    // Newest first, as edges are told apart by when they came.
    kept.sort((a, b) => a - b)
    let next = END
    for (const edge of kept) {
      nextBase[edge] = next
      next = edge
    }
    firstBase[node] = next
  }

  private join(closure: Closure, source: number, node: number): boolean {
    this.joined += closure.width >> 3
    return closure.join(source, node)
  }
}
