// How a history is taken apart: into items that can be left out, each with those that it cannot be
// without, so that a part never violates what the whole satisfies. Of registers and lists the items
// are the operations; sql-parts.ts adds to them, loaded only for SQL. Main function: partsOf.

import type { History } from '../history/history.ts'
import { buildPart, needsOf, type SubHistoryOptions } from '../history/sub-history.ts'
import { findOps, groupBy, opRange, type Part, type Parts } from './part.ts'

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
    const all = history.opTxn.map((_, op) => op)
    this.whole = partOf(history, all)
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
