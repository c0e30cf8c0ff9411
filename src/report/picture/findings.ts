// Anomalies of single reads have operations as evidence, not a cycle. Here they become arrows too:
// from whoever wrote what was read to the reader. Main function: readFindings.

import type { AnomalyJson, EdgeJson, OpJson, PlaceJson, TxnJson } from '../verdict-json.ts'

/** What the offending reads read from whom, one edge a read. */
export function readFindings(anomaly: AnomalyJson): EdgeJson[] {
  const reads = anomaly.ops.filter(({ op }) => op[0] === 'r')
  const writes = anomaly.ops.filter(({ op }) => op[0] !== 'r')
  return reads.map((read, i) => {
    // The story tells of all the reads at once.
    const because = i === 0 ? (anomaly.story ?? anomaly.name) : 'The other read.'
    return findingOf(anomaly.core, read, writes, because)
  })
}

function findingOf(
  core: readonly TxnJson[],
  read: PlaceJson,
  writes: readonly PlaceJson[],
  because: string,
): EdgeJson {
  const write = writes.find(({ op }) => wrote(op, read.op)) ?? findWrite(core, read.op) ?? writes[0]
  return {
    from: write?.transaction ?? null,
    to: read.transaction,
    kind: 'WR',
    key: read.op[1],
    ops: write ? [write, read] : [read],
    because,
    premises: [],
  }
}

/** Whether the read may have got its value, or the end of its list, from this write. */
function wrote(write: OpJson, read: OpJson): boolean {
  const value = Array.isArray(read[2]) ? read[2][read[2].length - 1] : read[2]
  return write[0] !== 'r' && write[1] === read[1] && write[2] === value
}

function findWrite(core: readonly TxnJson[], read: OpJson): PlaceJson | null {
  for (const txn of core) {
    const index = txn.ops.findIndex((op) => wrote(op, read))
    if (index >= 0) return { transaction: txn.id, index, op: txn.ops[index]! }
  }
  return null
}
