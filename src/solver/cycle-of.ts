// The cycle that given literals bring about, as a list of edges.
//
// Lemmas keep only their literals. To show the cycle, take the known edges and the edges of these
// literals alone, and search from the end of each such edge back to its start, breadth first; the
// shortest cycle is kept, on a tie the one found first. It may need fewer literals than given.
// (From a thousand edges at most; any edge within a component lies on a cycle.)
// Works from the edges as added, not from what the search made of them. Cost O(edges) per edge of
// the literals. Main class: CycleSearch.

import type { Deadline } from '../base/deadline.ts'
import { assert } from '../base/errors.ts'
import { buildCsr, type Csr } from '../graph/csr.ts'
import { findComponents } from '../graph/scc.ts'
import type { EdgeStore } from './edges.ts'
import { NONE } from './trail.ts'

const MAX_SEARCHES = 1000 // edges within components from which a cycle is sought

export interface CycleEdge {
  readonly from: number
  readonly to: number
  /** Literals that bring the edge in: none for a known edge, else one or two. */
  readonly literals: readonly number[]
}

export interface FoundCycle {
  readonly literals: readonly number[] // ascending
  readonly edges: readonly CycleEdge[] // each ends where the next starts
}

export class CycleSearch {
  private readonly byLiteral: Csr // literal -> candidates that name it first

  constructor(
    private readonly store: EdgeStore,
    literalCount: number,
  ) {
    const { candidateLiteral, candidateFrom, candidateCount } = store
    this.byLiteral = buildCsr(literalCount, candidateLiteral, candidateFrom, candidateCount)
  }

  /** A shortest cycle through the edges of these literals and known ones; there must be one. */
  find(literals: readonly number[], deadline: Deadline): FoundCycle {
    deadline.check()
    const { store } = this
    const candidates = literals
      .flatMap((literal) => this.candidatesOf(literal))
      .filter((e) => [NONE, ...literals].includes(store.candidateOther[e]!))
    const { knownCount } = store
    const { from, to } = store.withKnown(candidates)
    const graph = buildCsr(store.nodeCount, from, to)
    const { componentOf } = findComponents(graph, deadline)
    const isInside = (e: number) => componentOf[from[e]!] === componentOf[to[e]!]

    // With literals, a cycle needs one of their edges; without, any known edge within a component.
    const first = literals.length > 0 ? knownCount : 0
    let searches = MAX_SEARCHES
    let best: number[] | null = null
    for (let edge = first; edge < from.length && searches > 0; edge++) {
      if (!isInside(edge)) continue
      searches--
      deadline.check()
      const path = findPath(graph, from, to[edge]!, from[edge]!)
      if (path !== null && (best === null || path.length + 1 < best.length)) best = [edge, ...path]
    }
    assert(best !== null, 'the literals of a lemma bring about a cycle')
    const edges = best.map((e) => ({
      from: from[e]!,
      to: to[e]!,
      literals: this.literalsOf(e, candidates),
    }))
    const used = new Set(edges.flatMap((edge) => edge.literals))
    return { literals: [...used].sort((a, b) => a - b), edges }
  }

  private candidatesOf(literal: number): number[] {
    const { start, edge } = this.byLiteral
    return [...edge.subarray(start[literal]!, start[literal + 1]!)]
  }

  private literalsOf(edge: number, candidates: readonly number[]): number[] {
    const { store } = this
    if (edge < store.knownCount) return []
    const candidate = candidates[edge - store.knownCount]!
    const literal = store.candidateLiteral[candidate]!
    const other = store.candidateOther[candidate]!
    return other === NONE ? [literal] : [literal, other]
  }
}

/** The edges of a shortest path, none when source and target are one; null if there is no path. */
function findPath(graph: Csr, from: Int32Array, source: number, target: number): number[] | null {
  const via = new Int32Array(graph.nodeCount).fill(NONE) // node -> edge by which it was reached
  const queue = [source]
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head]!
    if (node === target) break
    for (let i = graph.start[node]!; i < graph.start[node + 1]!; i++) {
      const next = graph.target[i]!
      if (next === source || via[next] !== NONE) continue
      via[next] = graph.edge[i]!
      queue.push(next)
    }
  }
  if (source !== target && via[target] === NONE) return null
  const path: number[] = []
  for (let node = target; node !== source; node = from[via[node]!]!) path.push(via[node]!)
  return path.reverse()
}
