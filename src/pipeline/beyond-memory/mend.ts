// What is forced against an order, put right. Every cycle of session order, reads-from and what is
// forced runs back over its whole length by edges against the order, so it lies within one
// connected stretch of the intervals that these span: only such stretches are loaded and ordered
// anew. A stretch that has no order violates the level, and gives the transactions that show it.
// Main function: mend.

import { NONE } from '../../history/history.ts'
import type { ReaderRecords } from '../../spill/by-position.ts'
import { type CommitOrder, orderOf } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { BackEdge } from './confirm.ts'
import type { WeakSpilledLevel } from './levels.ts'
import { WindowGraph } from './window-graph.ts'

export type Mended =
  | { readonly order: CommitOrder; readonly cycle: null }
  | { readonly order: null; readonly cycle: ReadonlySet<number> } // transactions that show it

/** From which edges a cycle is sought, the shortest first. */
const TRIES = 8

export interface MendInput {
  readonly spilled: SpilledHistory
  readonly order: CommitOrder
  readonly level: WeakSpilledLevel
  readonly records: ReaderRecords
}

/**
 * @param edges all that are known, those that the order respects too
 * @param onStep called now and then with how much is done; may throw to give up
 */
export function mend(
  input: MendInput,
  edges: readonly BackEdge[],
  onStep: (done: number, all: number) => void,
): Mended {
  const { spilled, order, records } = input
  const initial = edges.find(({ to }) => to === NONE)
  if (initial) return { order: null, cycle: txnsOf(input, [initial.from], [initial]) }
  const txnAt = order.txnAt?.slice() ?? Int32Array.from({ length: spilled.txnCount }, (_, i) => i)
  const sorted = edges.toSorted((a, b) => lower(a) - lower(b))
  let next = 0 // the first edge of which no stretch so far has the lower end
  for (const [first, last] of stretches(edges)) {
    onStep(next, sorted.length)
    const graph = new WindowGraph(spilled, order, records, first, last)
    while (next < sorted.length && lower(sorted[next]!) < first) next++
    const inside: BackEdge[] = []
    for (; next < sorted.length && lower(sorted[next]!) <= last; next++) {
      const edge = sorted[next]!
      if (Math.max(edge.from, edge.to) > last) continue
      inside.push(edge)
      graph.add(edge.from - first, edge.to - first)
    }
    const nodes = graph.order()
    if (nodes === null) {
      const found = findCycle(graph, inside, () => onStep(next, sorted.length))
      return { order: null, cycle: txnsOf(input, found.positions, found.edges) }
    }
    for (let i = 0; i < nodes.length; i++) {
      const at = first + nodes[i]!
      txnAt[first + i] = order.txnAt === null ? at : order.txnAt[at]!
    }
  }
  return { order: orderOf(txnAt), cycle: null }
}

function lower({ from, to }: BackEdge): number {
  return Math.min(from, to)
}

/** The connected stretches that edges against the order span. */
function stretches(edges: readonly BackEdge[]): [number, number][] {
  const spans = edges.filter(({ from, to }) => from > to).sort((a, b) => a.to - b.to)
  const found: [number, number][] = []
  for (const { from, to } of spans) {
    const last = found.at(-1)
    if (last && to <= last[1]) last[1] = Math.max(last[1], from)
    else found.push([to, from])
  }
  return found
}

/** A short cycle of a stretch that has no order. */
function findCycle(graph: WindowGraph, edges: readonly BackEdge[], onTry: () => void) {
  const nearest = edges
    .filter(({ from, to }) => from > to)
    .sort((a, b) => a.from - a.to - (b.from - b.to))
  let best: number[] | null = null
  for (const [tried, { from, to }] of nearest.entries()) {
    if (best !== null && tried >= TRIES) break
    onTry()
    const path = graph.findPath(to - graph.first, from - graph.first)
    if (path !== null && (best === null || path.length < best.length)) best = path
  }
  const positions = best!.map((node) => node + graph.first)
  const onCycle = new Set(positions)
  const next = new Map(positions.map((at, i) => [at, positions[(i + 1) % positions.length]!]))
  const used = edges.filter(({ from, to }) => onCycle.has(from) && next.get(from) === to)
  return { positions, edges: used }
}

/** The transactions of a cycle, and of the reasons for its edges. */
function txnsOf(
  { spilled, order, level, records }: MendInput,
  positions: readonly number[],
  edges: readonly BackEdge[],
): ReadonlySet<number> {
  const all = new Set(positions)
  for (const { from, to, reader } of edges) {
    all.add(reader).add(from)
    if (to !== NONE) all.add(to)
    if (level !== 'cc') continue
    const graph = new WindowGraph(spilled, order, records, from, reader)
    for (const node of graph.findPath(0, reader - from)!) all.add(node + from)
  }
  return new Set([...all].map((at) => (order.txnAt === null ? at : order.txnAt[at]!)))
}
