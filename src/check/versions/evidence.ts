// Turns cycles of the dependency graph and diverging versions into evidence, every edge with the
// operations and premises that make it hold. Main class: MiniEvidence.

import { assert } from '../../base/errors.ts'
import { type History, INITIAL } from '../../history/history.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Anomaly, type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { nameViolation } from '../evidence/names.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import {
  type DependencyGraph,
  FROM_TIME,
  INSIDE,
  RW,
  SO,
  TIME,
  TO_TIME,
} from './dependency-graph.ts'
import type { EdgeCycle } from './short-cycles.ts'
import type { Successors } from './successors.ts'

export class MiniEvidence {
  private readonly facts: EdgeFacts

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly successors: Successors,
    private readonly level: LevelId,
  ) {
    this.facts = new EdgeFacts(history, reads)
  }

  /** Two transactions read one version and both replaced it: each missed the other's update. */
  lostUpdate(read: number, other: number): Anomaly {
    return this.anomaly([this.overwriteEdge(read, other), this.overwriteEdge(other, read)])
  }

  cycle(graph: DependencyGraph, cycle: EdgeCycle): Anomaly {
    return this.anomaly(describeCycle(graph, cycle, this.facts, (edge) => this.edgeOf(graph, edge)))
  }

  private anomaly(edges: Edge[]): Anomaly {
    const { history, reads, level } = this
    return nameViolation(history, reads, () => level !== 'pc', { edges, cases: [] })
  }

  private edgeOf(graph: DependencyGraph, first: number): Edge {
    const kind = graph.kind[first]!
    const read = graph.op[first]!
    return kind === RW ? this.overwriteEdge(read, this.successorOf(read)) : this.readEdge(read)
  }

  private readEdge(read: number): Edge {
    const { opTxn, opKey } = this.history
    return this.facts.readFrom(this.sourceOf(read), opTxn[read]!, opKey[read]!)
  }

  /** The transaction of `read` saw a version that the transaction of `replacing` replaced. */
  private overwriteEdge(read: number, replacing: number): Edge {
    const { opTxn, opKey } = this.history
    const to = opTxn[replacing]!
    const key = opKey[read]!
    const source = this.sourceOf(read)
    const replaced =
      source === INITIAL_TXN
        ? this.facts.versions(source, to, key)
        : this.facts.replaced(source, to, key)
    assert(replaced !== null, 'who replaces a version has read it')
    return this.facts.overwrite(this.readEdge(read), replaced)
  }

  private sourceOf(read: number): number {
    const write = this.history.readFrom[read]!
    return write === INITIAL ? INITIAL_TXN : this.history.opTxn[write]!
  }

  private successorOf(read: number): number {
    const { readFrom, opKey } = this.history
    const version = readFrom[read]!
    return version === INITIAL
      ? this.successors.initialSuccessor[opKey[read]!]!
      : this.successors.successor[version]!
  }
}

/** The edges of a cycle from where it reads best; `describe` does those of reads and versions. */
export function describeCycle(
  graph: DependencyGraph,
  cycle: EdgeCycle,
  facts: EdgeFacts,
  describe: (edge: number) => Edge,
): Edge[] {
  const edges: Edge[] = []
  for (const { first, last } of withoutRuns(graph, cycle)) {
    const kind = graph.kind[first]!
    const from = Math.floor(graph.from[first]! / graph.width)
    const to = Math.floor(graph.to[last]! / graph.width)
    if (kind === SO) edges.push(facts.session(from, to))
    else edges.push(kind === TO_TIME ? facts.realTime(from, to) : describe(first))
  }
  return turn(edges)
}

/** The cycle from where it reads best: what led to a transaction, and last what that one missed. */
function turn(edges: readonly Edge[]): Edge[] {
  const last = edges.findIndex((edge, i) => edge.kind === 'RW' && edges.at(i - 1)!.kind !== 'RW')
  return [...edges.slice(last + 1), ...edges.slice(0, last + 1)]
}

/** Edges that make up one step of an argument: a run of session order, or a way through time. */
interface Run {
  readonly first: number
  last: number
}

/** The steps of a cycle, from wherever one begins. */
function withoutRuns(graph: DependencyGraph, cycle: EdgeCycle): Run[] {
  const real = cycle.filter((edge) => graph.kind[edge] !== INSIDE)
  const begin = real.findIndex((edge, i) =>
    startsStep(graph.kind[edge]!, graph.kind[real.at(i - 1)!]!),
  )
  assert(begin >= 0, 'a cycle is more than session order')
  const steps: Run[] = []
  for (let i = 0; i < real.length; i++) {
    const edge = real[(begin + i) % real.length]!
    const before = real[(begin + i - 1 + real.length) % real.length]!
    if (startsStep(graph.kind[edge]!, graph.kind[before]!)) steps.push({ first: edge, last: edge })
    else steps[steps.length - 1]!.last = edge
  }
  return steps
}

function startsStep(kind: number, before: number): boolean {
  if (kind === SO) return before !== SO
  return kind !== TIME && kind !== FROM_TIME
}
