// Part of a history, and a history as parts that can be left out.

import { addTo } from '../base/maps.ts'
import type { History } from '../history/history.ts'
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

/** The items with the same number together, in the order in which those come first. */
export function groupBy(items: Iterable<number>, numberOf: (item: number) => number): number[][] {
  const groups = new Map<number, number[]>()
  for (const item of items) {
    addTo(groups, numberOf(item), item)
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
