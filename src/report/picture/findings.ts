// Anomalies of single reads have operations as evidence, not a cycle. Here they become arrows too:
// from whoever wrote what was read to the reader. Main function: readFindings.

import type { Value } from '../../history/values.ts'
import { plain } from '../names.ts'
import type {
  AnomalyJson,
  EdgeJson,
  OpJson,
  PassedJson,
  PlaceJson,
  TxnJson,
} from '../verdict-json.ts'

/** What the offending reads read from whom, one edge a read; or the orders that lists show. */
export function readFindings(anomaly: AnomalyJson): EdgeJson[] {
  if (anomaly.absence) return [absentRow(anomaly, anomaly.absence)]
  const orders = findOrders(anomaly)
  if (orders) return orders
  const reads = anomaly.ops.filter(({ op }) => isRead(op))
  const writes = anomaly.ops.filter(({ op }) => !isRead(op))
  if (anomaly.name === 'LostCommit') return lostCommit(anomaly, reads[0], writes[0])
  return reads.map((read, i) => {
    // The story tells of all the reads at once.
    const because = i === 0 ? (anomaly.story ?? anomaly.name) : 'this is the other read'
    return findingOf(anomaly.core, read, writes, because)
  })
}

/** An audit that began after a commit, and shows what that had replaced. */
function lostCommit(
  { core, story, name }: AnomalyJson,
  read: PlaceJson | undefined,
  write: PlaceJson | undefined,
): EdgeJson[] {
  if (!read || !write) return []
  const timed = core.every(({ start }) => start !== undefined)
  const after: EdgeJson = {
    from: write.transaction,
    to: read.transaction,
    kind: timed ? 'RT' : 'SO',
    key: null,
    ops: [write],
    because: story ?? name,
    premises: [],
  }
  return [after, findingOf(core, read, [], 'this is what the audit saw')]
}

/** A row that had to be returned: from whoever wrote it to the statement that passed it over. */
function absentRow({ ops, story, name }: AnomalyJson, passed: PassedJson): EdgeJson {
  return {
    from: ops[0]?.transaction ?? null,
    to: passed.transaction,
    kind: 'WR',
    key: passed.key,
    ops,
    because: story ?? name,
    premises: [],
    passed,
  }
}

/** Two lists that disagree: each orders the first two elements in which they differ. */
function findOrders({ name, ops, core }: AnomalyJson): EdgeJson[] | null {
  const [one, other] = ops
  if (name !== 'IncompatibleOrder' || !one || !other) return null
  const lists = [listOf(one), listOf(other)] as const
  const at = lists[0].findIndex((element, i) => element !== lists[1][i])
  const [a, b] = [lists[0][at], lists[1][at]]
  if (a === undefined || b === undefined) return null
  const key = one.op[1]
  const first = findWrite(core, ['r', key, a])
  const second = findWrite(core, ['r', key, b])
  if (!first || !second) return null
  const orders: EdgeJson[] = []
  const add = (read: PlaceJson, from: PlaceJson, to: PlaceJson) => {
    const because = `${plain(read.transaction)} read the elements in this order`
    const { transaction } = from
    const ops = [from, to, read]
    const edge = { kind: 'WW' as const, key, ops, because, premises: [] }
    orders.push({ from: transaction, to: to.transaction, ...edge })
  }
  if (lists[0].indexOf(b) > at) add(one, first, second)
  if (lists[1].indexOf(a) > at) add(other, second, first)
  return orders.length === 2 ? orders : null
}

function listOf({ op }: PlaceJson): Value[] {
  return Array.isArray(op[2]) ? op[2].flat() : []
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
  return !isRead(write) && write[1] === read[1] && write[2] === value
}

/** A read, of whatever rows. */
function isRead([verb]: OpJson): boolean {
  return verb === 'r' || verb === 'rows'
}

function findWrite(core: readonly TxnJson[], read: OpJson): PlaceJson | null {
  for (const txn of core) {
    const index = txn.ops.findIndex((op) => wrote(op, read))
    if (index >= 0) return { transaction: txn.id, index, op: txn.ops[index]! }
  }
  return null
}
