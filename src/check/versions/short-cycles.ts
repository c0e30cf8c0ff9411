// Shortest cycles of a dependency graph that have no transaction in common: one of each strongly
// connected component, then, with its transactions left out, one of each component of the rest, so
// that one cycle does not hide another. Length counts what a reader sees: a run of session order,
// or of instants, is one step, and from a snapshot to its commit is none. So a search by levels,
// with steps of length 0 inside a level; states tell whether a node was reached by session order.
// Searches start at anti-dependencies, of which every cycle has one (but for cycles in so ∪ wr),
// and give up at the length known so far, within a budget of steps for each component. Main
// function: findShortCycles.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { addAll } from '../../base/grow.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { NONE } from '../../history/history.ts'
import { type CyclicParts, txnOf } from './cyclic-parts.ts'
import { type DependencyGraph, FROM_TIME, INSIDE, RW, SO, TIME } from './dependency-graph.ts'

/** Edges of the graph, in the order of the cycle. */
export type EdgeCycle = number[]

const STEPS_PER_COMPONENT = 200_000
/** How often the edges of components are looked at again for what else they hide, on average. */
const LOOKS = 3
/** Edges looked at again in any case: some graphs hold no more than what cycles can touch. */
const LEAST_LOOKED_AT = 10_000_000

export interface ShortCycles {
  readonly cycles: EdgeCycle[]
  /** False if there may be more that share no transaction with these. */
  readonly isComplete: boolean
}

/**
 * @param limit how many are worked out
 * @param leftOut transactions that no cycle may touch
 */
export function findShortCycles(
  parts: CyclicParts,
  limit: number,
  leftOut: ReadonlySet<number>,
  deadline: Deadline,
): ShortCycles {
  const cycles: EdgeCycle[] = []
  const { graph } = parts
  const pending = parts.find(leftOut, deadline)
  let spare = Math.max(LOOKS * graph.edgeCount, LEAST_LOOKED_AT)
  // A list that grows while it is gone through: what a cycle leaves behind joins at the end.
  for (let i = 0; i < pending.length; i++) {
    const edges = pending[i]!
    if (cycles.length === limit) return { cycles, isComplete: false }
    try {
      deadline.check()
      const cycle = new ComponentSearch(parts, edges).findShortest(deadline)
      cycles.push(cycle)
      if (spare < edges.length) return { cycles, isComplete: false }
      spare -= edges.length
      const rest = parts.without(edges, txnsOf(graph, cycle))
      addAll(pending, parts.split(rest, deadline))
    } catch (error) {
      // One cycle is enough to show, and there is no time for more, nor for a short one.
      if (!(error instanceof BudgetExceeded)) throw error
      if (cycles.length === 0) cycles.push(new ComponentSearch(parts, edges).findAny())
      return { cycles, isComplete: false }
    }
  }
  return { cycles, isComplete: true }
}

/** The transactions of a cycle. */
export function txnsOf(graph: DependencyGraph, cycle: EdgeCycle): Set<number> {
  const txns = new Set(cycle.map((edge) => txnOf(graph, graph.from[edge]!)))
  txns.delete(NONE) // instants belong to nobody
  return txns
}

/** The cycle search in one component, with nodes renumbered 0, 1, … */
class ComponentSearch {
  private readonly csr: Csr
  private readonly edges: readonly number[]
  private readonly kindOf: Uint8Array // local edge -> kind
  private readonly starts: number[] // nodes to search from
  private readonly stamp: Int32Array // state (2·node + by session order) -> search that reached it
  private readonly distance: Int32Array // state -> length of the path to it
  private readonly parent: Int32Array // state -> the state before it, NONE at the start
  private readonly via: Int32Array // state -> local edge it was reached by
  private search = 0
  private steps = 0
  private best: { cost: number; rank: number; cycle: EdgeCycle } | null = null

  constructor(parts: CyclicParts, edges: readonly number[]) {
    const { size, from, to } = parts.number(edges)
    this.edges = edges
    this.kindOf = Uint8Array.from(edges, (edge) => parts.graph.kind[edge]!)
    this.csr = buildCsr(size, from, to)
    const readers = new Set(from.filter((_, i) => this.kindOf[i] === RW))
    this.starts = readers.size > 0 ? [...readers] : Array.from({ length: size }, (_, node) => node)
    this.stamp = new Int32Array(2 * size)
    this.distance = new Int32Array(2 * size)
    this.parent = new Int32Array(2 * size)
    this.via = new Int32Array(2 * size)
  }

  findShortest(deadline: Deadline): EdgeCycle {
    try {
      for (const start of this.starts) {
        if (this.best !== null && this.steps > STEPS_PER_COMPONENT) break
        this.searchFrom(start, deadline)
      }
    } catch (error) {
      if (!(error instanceof BudgetExceeded) || this.best === null) throw error
    }
    return this.best!.cycle
  }

  /** The first cycle on the way of whoever goes on from node to node. */
  findAny(): EdgeCycle {
    const { start, target, edge } = this.csr
    const stepOf = new Int32Array(this.stamp.length).fill(NONE) // node -> when it was passed
    const passed: number[] = []
    let node = 0
    while (stepOf[node] === NONE) {
      stepOf[node] = passed.length
      // Every node of a component lies on a cycle of its own, so each has an edge that goes on.
      const slot = start[node]!
      passed.push(this.edges[edge[slot]!]!)
      node = target[slot]!
    }
    return passed.slice(stepOf[node])
  }

  private searchFrom(start: number, deadline: Deadline): void {
    const { start: rowStart, target, edge: edgeAt } = this.csr
    this.search++
    let level = [2 * start]
    this.reach(2 * start, 0, NONE, NONE)
    for (let cost = 0; level.length > 0; cost++) {
      if (this.best !== null && cost >= this.best.cost) return
      const next: number[] = []
      // States that cost nothing more join the level while it is being gone through.
      for (const state of level) {
        const bySession = (state & 1) === 1
        const node = state >> 1
        this.steps++
        deadline.step(4)
        if (this.distance[state] !== cost) continue // a shorter way was found since
        for (let slot = rowStart[node]!; slot < rowStart[node + 1]!; slot++) {
          const kind = this.kindOf[edgeAt[slot]!]!
          // A step to one's own commit, along a session or in time adds nothing to the length.
          const inTime = kind === TIME || kind === FROM_TIME
          const free = inTime || kind === INSIDE || (kind === SO && bySession)
          if (target[slot] === start) {
            this.keep(state, edgeAt[slot]!, free ? cost : cost + 1)
            continue
          }
          const reached =
            2 * target[slot]! + (kind === SO || (kind === INSIDE && bySession) ? 1 : 0)
          if (!this.reach(reached, free ? cost : cost + 1, state, edgeAt[slot]!)) continue
          if (free) level.push(reached)
          else next.push(reached)
        }
      }
      level = next
    }
  }

  /** False if there is a way as short already. */
  private reach(state: number, cost: number, parent: number, via: number): boolean {
    if (this.stamp[state] === this.search && this.distance[state]! <= cost) return false
    this.stamp[state] = this.search
    this.distance[state] = cost
    this.parent[state] = parent
    this.via[state] = via
    return true
  }

  /** Notes a cycle that ends with an edge from the state to the start of the search. */
  private keep(state: number, last: number, cost: number): void {
    const cycle = [last]
    let rank = this.kindOf[last] === RW ? 1 : 0
    for (let at = state; this.parent[at] !== NONE; at = this.parent[at]!) {
      cycle.push(this.via[at]!)
      if (this.kindOf[this.via[at]!] === RW) rank++
    }
    const { best } = this
    if (best !== null && (cost > best.cost || (cost === best.cost && rank >= best.rank))) return
    this.best = { cost, rank, cycle: cycle.reverse().map((edge) => this.edges[edge]!) }
  }
}
