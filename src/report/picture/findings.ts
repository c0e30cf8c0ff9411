// Anomalies of single reads have operations as evidence, not a cycle. Here they become arrows too:
// from whoever wrote what was read to the reader. Main function: readFindings.

import type { Value } from '../../history/values.ts'
import type { EdgeKind } from '../../verdict/verdict.ts'
import type { EdgeJson, OpJson, PlaceJson, TxnJson } from '../../verdict/verdict-file.ts'
import type { Example, Op } from '../example.ts'
import { plain } from '../names.ts'

/** What the offending reads read from whom, one edge a read; or the orders that lists show. */
export function readFindings(example: Example): EdgeJson[] {
  const { anomaly, txns } = example
  const story = anomaly.story ?? anomaly.name
  if (anomaly.absence) {
    // A row that had to be returned: from whoever wrote it to the statement that passed it over.
    const { transaction, key } = anomaly.absence
    const edge = edgeOf('WR', anomaly.ops[0]?.transaction ?? null, transaction, story)
    return [{ ...edge, key, ops: anomaly.ops, passed: anomaly.absence }]
  }
  const orders = findOrders(example)
  if (orders) return orders
  const ops = example.ops()
  const reads = ops.filter(({ op }) => isRead(op))
  const writes = ops.filter(({ op }) => !isRead(op))
  if (anomaly.name === 'LostCommit') return lostCommit(txns, story, reads[0], writes[0])
  return reads.map((read, i) => {
    // The story tells of all the reads at once.
    return findingOf(txns, read, writes, i === 0 ? story : 'this is the other read')
  })
}

function edgeOf(kind: EdgeKind, from: string | null, to: string, because: string): EdgeJson {
  return { from, to, kind, key: null, ops: [], because, premises: [] }
}

/** An audit that began after a commit, and shows what that had replaced. */
function lostCommit(txns: readonly TxnJson[], story: string, read?: Op, write?: Op): EdgeJson[] {
  if (!read || !write) return []
  const kind = txns.every(({ start }) => start !== undefined) ? 'RT' : 'SO'
  const after = edgeOf(kind, write.place.transaction, read.place.transaction, story)
  const shown = findingOf(txns, read, [], 'this is what the audit saw')
  return [{ ...after, ops: [write.place] }, shown]
}

/** Two lists that disagree: each orders the first two elements in which they differ. */
function findOrders(example: Example): EdgeJson[] | null {
  const [one, other] = example.ops()
  if (example.anomaly.name !== 'IncompatibleOrder' || !one || !other) return null
  const lists = [listOf(one), listOf(other)] as const
  const at = lists[0].findIndex((element, i) => element !== lists[1][i])
  const [a, b] = [lists[0][at], lists[1][at]]
  if (a === undefined || b === undefined) return null
  const key = one.op[1]
  const first = findWrite(example.txns, ['r', key, a])
  const second = findWrite(example.txns, ['r', key, b])
  if (!first || !second) return null
  const orders: EdgeJson[] = []
  const add = (read: PlaceJson, from: PlaceJson, to: PlaceJson) => {
    const because = `${plain(read.transaction)} read the elements in this order`
    const edge = edgeOf('WW', from.transaction, to.transaction, because)
    orders.push({ ...edge, key, ops: [from, to, read] })
  }
  if (lists[0].indexOf(b) > at) add(one.place, first, second)
  if (lists[1].indexOf(a) > at) add(other.place, second, first)
  return orders.length === 2 ? orders : null
}

function listOf({ op }: Op): Value[] {
  return Array.isArray(op[2]) ? op[2].flat() : []
}

function findingOf(
  core: readonly TxnJson[],
  read: Op,
  writes: readonly Op[],
  because: string,
): EdgeJson {
  const named = writes.find(({ op }) => wrote(op, read.op))?.place
  const write = named ?? findWrite(core, read.op) ?? writes[0]?.place
  const edge = edgeOf('WR', write?.transaction ?? null, read.place.transaction, because)
  return { ...edge, key: read.op[1], ops: write ? [write, read.place] : [read.place] }
}

/** Whether the read may have got its value, or the end of its list, from this write. */
function wrote(write: OpJson, read: OpJson): boolean {
  const value = Array.isArray(read[2]) ? read[2][read[2].length - 1] : read[2]
  return !isRead(write) && write[1] === read[1] && write[2] === value
}

/** A read, of whatever rows. */
function isRead([verb]: OpJson): boolean {
  return verb === 'r' || verb === 'rows'
}

function findWrite(core: readonly TxnJson[], read: OpJson): PlaceJson | null {
  for (const txn of core) {
    const index = txn.ops.findIndex((op) => wrote(op, read))
    if (index >= 0) return { transaction: txn.id, index }
  }
  return null
}
