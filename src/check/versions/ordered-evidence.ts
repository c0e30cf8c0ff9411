// Turns cycles of the graph of a history whose order of versions is known into evidence: of lists
// by what their longest read shows, of registers by their versions. Main class: OrderedEvidence.

import { type History, INITIAL } from '../../history/history.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Anomaly, type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { nameViolation } from '../evidence/names.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type DependencyGraph, RW, WW } from './dependency-graph.ts'
import { describeCycle } from './evidence.ts'
import type { EdgeCycle } from './short-cycles.ts'

export class OrderedEvidence {
  private readonly facts: EdgeFacts

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    this.facts = new EdgeFacts(history, reads)
  }

  cycle(graph: DependencyGraph, cycle: EdgeCycle, level: LevelId): Anomaly {
    const edges = this.edges(graph, cycle)
    return nameViolation(this.history, this.reads, () => level !== 'pc', { edges, cases: [] })
  }

  edges(graph: DependencyGraph, cycle: EdgeCycle): Edge[] {
    return describeCycle(graph, cycle, this.facts, (edge) => this.edgeOf(graph, edge))
  }

  private edgeOf(graph: DependencyGraph, edge: number): Edge {
    const { facts } = this
    const { opKey, opTxn } = this.history
    const op = graph.op[edge]!
    const key = opKey[op]!
    const to = Math.floor(graph.to[edge]! / graph.width)
    if (graph.kind[edge] === WW) {
      return facts.knownOrder(Math.floor(graph.from[edge]! / graph.width), to, key)
    }
    const source = this.reads.opSource[op]!
    const writer = source === INITIAL ? INITIAL_TXN : source
    const seen = facts.readFrom(writer, opTxn[op]!, key)
    if (graph.kind[edge] !== RW) return seen
    const replaced =
      source === INITIAL ? facts.versions(INITIAL_TXN, to, key) : facts.knownOrder(source, to, key)
    return facts.overwrite(seen, replaced)
  }
}
