// How a history is taken apart: into items that can be left out, each with those that it cannot be
// without, so that a part never violates what the whole satisfies. Of registers and lists the items
// are the operations; what statements add is in sql-parts.ts, which is loaded only for them. Main
// function: partsOf.

import type { History } from '../history/history.ts'
import { buildPart, needsOf, type SubHistoryOptions } from '../history/sub-history.ts'
import { type Anomaly, findEdges } from './verdict.ts'

/** Part of a history, as a history of its own. */
export interface Part {
  readonly history: History
  /** The items that the evidence of an anomaly of the part names, of the whole. */
  named(anomaly: Anomaly): number[]
  /** All items of a transaction of the part, of the whole. */
  ofTxn(txn: number): number[]
}

export interface Parts {
  readonly itemCount: number
  /** The part that leaves nothing out. */
  readonly whole: Part
  /** The items that one cannot be without. */
  needs(item: number): readonly number[]
  /** @param items ascending, with all that they need */
  build(items: Int32Array): Part
  /** What can be tried to leave out together, one list after the other. */
  groups(items: Int32Array): number[][][]
}

export async function partsOf(history: History, options: SubHistoryOptions = {}): Promise<Parts> {
  if (history.sql === null) return new OperationParts(history, options)
  const { SqlParts } = await import('./sql-parts.ts')
  return new SqlParts(history, history.sql)
}

class OperationParts implements Parts {
  readonly itemCount: number
  readonly whole: Part

  constructor(
    private readonly history: History,
    private readonly options: SubHistoryOptions,
  ) {
    this.itemCount = history.opCount
    this.whole = partOf(
      history,
      history.opTxn.map((_, op) => op),
    )
  }

  needs(op: number): number[] {
    return needsOf(this.history, op, this.options)
  }

  build(ops: Int32Array): Part {
    return partOf(buildPart(this.history, ops), ops)
  }

  groups(ops: Int32Array): number[][][] {
    const txns = groupBy(ops, (op) => this.history.opTxn[op]!)
    return this.options.whole ? [txns] : [txns, Array.from(ops, (op) => [op])]
  }
}

/** @param ops op of the part -> op of the whole */
function partOf(history: History, ops: Int32Array): Part {
  return {
    history,
    named: (anomaly) => findOps(anomaly).map((op) => ops[op]!),
    ofTxn: (txn) => Array.from(ops.subarray(...opRange(history, txn))),
  }
}

/** The items with the same number together, in the order in which those come first. */
export function groupBy(items: Iterable<number>, numberOf: (item: number) => number): number[][] {
  const groups = new Map<number, number[]>()
  for (const item of items) {
    const group = groups.get(numberOf(item))
    if (group) group.push(item)
    else groups.set(numberOf(item), [item])
  }
  return [...groups.values()]
}

export function opRange({ txnOpStart }: History, txn: number): [from: number, to: number] {
  return [txnOpStart[txn]!, txnOpStart[txn + 1]!]
}

/** Every operation that the anomaly's evidence names. */
export function findOps({ ops, edges, cases }: Anomaly): number[] {
  const found = new Set(ops)
  for (const edge of findEdges(edges, cases)) for (const op of edge.ops) found.add(op)
  return [...found].filter((op) => op >= 0)
}
