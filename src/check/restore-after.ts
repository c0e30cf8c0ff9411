// Evidence that was found with session order beyond sessions turned into reads
// (history/after-as-reads.ts), told of the history as it was recorded: such reads are steps of
// session order again, and operations get their own numbers back. Main function: restoreAfter.

import type { AfterAsReads } from '../history/after-as-reads.ts'
import { type History, NONE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { misnomer, nameEvidence } from '../verdict/anomaly-rules.ts'
import { LEVEL_RULES } from '../verdict/level-rules.ts'
import { splitTxns } from '../verdict/starting-state.ts'
import { type Anomaly, type Case, type Edge, findEdges } from '../verdict/verdict.ts'

export function restoreAfter(
  recorded: History,
  told: AfterAsReads,
  level: LevelId,
  anomalies: readonly Anomaly[],
): Anomaly[] {
  return anomalies.map((anomaly) => {
    const restored = new Restorer(recorded, told, anomaly).anomaly()
    const { edges, cases } = restored
    if (edges.length === 0 && cases.length === 0) return restored
    // What was a read may have given the cycle a name that does not fit session order.
    const fits = misnomer(recorded, restored.name, edges, cases) === null
    const name = fits ? restored.name : nameEvidence(recorded, edges, cases)
    if (!LEVEL_RULES[level].argued) return { ...restored, name }
    return { ...restored, name, ...splitTxns(recorded, edges, cases) }
  })
}

class Restorer {
  private readonly edges = new Map<Edge, Edge>()

  constructor(
    private readonly recorded: History,
    private readonly told: AfterAsReads,
    private readonly found: Anomaly,
  ) {
    const all = findEdges(found.edges, found.cases)
    for (const edge of all) this.edges.set(edge, this.restore(edge))
    // Only when all are there can they refer to one another.
    for (const edge of all) {
      this.edges.get(edge)!.premises = edge.premises.map((premise) => this.edges.get(premise)!)
    }
  }

  anomaly(): Anomaly {
    const { found } = this
    const [edges, ops] = [this.list(found.edges), this.ops(found.ops)]
    return { ...found, edges, ops, cases: this.cases() }
  }

  private restore(edge: Edge): Edge {
    if (edge.kind === 'WR' && edge.key >= this.recorded.keyCount) {
      return { from: edge.from, to: edge.to, kind: 'SO', key: NONE, ops: [], premises: [] }
    }
    return { ...edge, ops: this.ops(edge.ops) }
  }

  private list(edges: readonly Edge[]): Edge[] {
    return edges.map((edge) => this.edges.get(edge)!)
  }

  private ops(ops: readonly number[]): number[] {
    const own = ops.map((op) => (op < 0 ? op : this.told.opOf[op]!))
    return own.filter((op, i) => op !== NONE || ops[i] === NONE)
  }

  private cases(): Case[] {
    return this.found.cases.map(({ assumptions, cycle }) => ({
      assumptions: this.list(assumptions),
      cycle: this.list(cycle),
    }))
  }
}
