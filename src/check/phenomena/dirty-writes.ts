// Adya's PL-1: no dirty writes, G0; where sessions count, also none that session order makes one.
// Reads count for nothing but the order in which lists show what was appended; registers show none,
// so that any order of their versions will do, unless the store numbers them. An edge leads from
// each append of others that a read shows to the next one, and from the last one to all that the
// read does not show and to what the reader appended itself; of reads that agree, the longest says
// it all. What databases do that are broken anyway is told too. O(length of all lists and reads),
// and appends of a list for each read of it that contradicts the longest. Main function:
// checkDirtyWrites.

import type { Deadline } from '../../base/deadline.ts'
import { addAll } from '../../base/grow.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { findComponents } from '../../graph/scc.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { rightBefore } from '../../history/after.ts'
import { APPEND, type History, NONE, READ_LIST } from '../../history/history.ts'
import { othersIn } from '../../verdict/certify-dirty-writes.ts'
import { type Anomaly, type Edge, findTxns } from '../../verdict/verdict.ts'
import type { Findings } from '../evidence/findings.ts'
import { joinKinds, listExamples } from '../examples.ts'
import { describeOffences } from '../reads/offences.ts'
import { OFFENCES, type ReadCheck } from '../reads/read-consistency.ts'

const BROKEN: ReadonlySet<string> = new Set(['LostCommit', 'DuplicateRow', 'VanishedRow'])

/** @param history without sessions where they do not count */
export function checkDirtyWrites(
  history: History,
  reads: ReadCheck,
  limit: number,
  deadline: Deadline,
): Findings {
  const isBroken = (i: number) => BROKEN.has(OFFENCES[reads.offendingKind[i]!]!)
  const broken: ReadCheck = {
    ...reads,
    offendingOp: reads.offendingOp.filter((_, i) => isBroken(i)),
    offendingKind: reads.offendingKind.filter((_, i) => isBroken(i)),
  }
  const anomalies = describeOffences(history, broken, limit, deadline)
  const found = findDirtyWrites(history, limit, deadline)
  addAll(anomalies, joinKinds(found.anomalies, limit))
  return { anomalies, proof: anomalies.length === 0 ? found.proof : null }
}

/** The cycles of dirty writes, one for each component of them, or an order without any. */
function findDirtyWrites(history: History, limit: number, deadline: Deadline): Findings {
  const edges = findShownOrders(history, deadline)
  addVersions(history, edges)
  addSessionOrder(history, edges, deadline)
  const from = Int32Array.from(edges, (edge) => edge.from)
  const to = Int32Array.from(edges, (edge) => edge.to)
  const graph = buildCsr(history.txnCount, from, to)
  const order = findTopologicalOrder(graph, undefined, deadline)
  if (order !== null) {
    const counting = order.filter((txn) => history.txnCounts[txn] === 1)
    return { anomalies: [], proof: { kind: 'commit-order', order: counting } }
  }
  const { componentOf } = findComponents(graph, deadline)
  const first = new Map<number, number>() // component -> an edge inside it
  for (const [id, edge] of edges.entries()) {
    const component = componentOf[edge.from]!
    if (component === componentOf[edge.to] && !first.has(component)) first.set(component, id)
  }
  const anomalies = listExamples([...first.values()], limit, deadline, (id): Anomaly => {
    const cycle = closeCycle(graph, edges, id)
    const txns = findTxns(cycle, [])
    return { name: 'G0', count: 1, txns, earlier: [], ops: [], edges: cycle, cases: [] }
  })
  return { anomalies, proof: null }
}

/** The edge, and a shortest way back to where it starts. */
function closeCycle(graph: Csr, edges: readonly Edge[], id: number): Edge[] {
  const { from: goal, to: start } = edges[id]!
  const cameBy = new Map<number, number>() // txn -> edge
  const queue = [start]
  for (const txn of queue) {
    if (txn === goal) break
    for (let slot = graph.start[txn]!; slot < graph.start[txn + 1]!; slot++) {
      const next = graph.target[slot]!
      if (next === start || cameBy.has(next)) continue
      cameBy.set(next, graph.edge[slot]!)
      queue.push(next)
    }
  }
  const cycle: Edge[] = []
  for (let txn = goal; txn !== start; txn = cycle[0]!.from) cycle.unshift(edges[cameBy.get(txn)!]!)
  return [edges[id]!, ...cycle]
}

/** From those that come right before a transaction in session order, whoever does not count aside. */
function addSessionOrder(history: History, edges: Edge[], deadline: Deadline): void {
  const { txnCount, txnCounts, txnIndex, after } = history
  for (let to = 0; to < txnCount; to++) {
    if (!txnCounts[to] || (txnIndex[to] === 0 && after === null)) continue
    const pending = new Set(rightBefore(history, to))
    for (const from of pending) {
      deadline.step()
      if (txnCounts[from]) edges.push({ from, to, kind: 'SO', key: NONE, ops: [], premises: [] })
      else for (const earlier of rightBefore(history, from)) pending.add(earlier)
    }
  }
}

/** From each version that the store numbered to the next one. */
function addVersions({ versions, keyCount, opTxn }: History, edges: Edge[]): void {
  for (let key = 0; versions !== null && key < keyCount; key++) {
    for (let i = versions.orderStart[key]! + 1; i < versions.orderStart[key + 1]!; i++) {
      const ops = [versions.order[i - 1]!, versions.order[i]!]
      const [from, to] = [opTxn[ops[0]!]!, opTxn[ops[1]!]!]
      edges.push({ from, to, kind: 'WW', key, ops, premises: [] })
    }
  }
}

/** What reads of lists show of the order of their appends. */
function findShownOrders(history: History, deadline: Deadline): Edge[] {
  const { opCount, opKind, opTxn, opKey, txnCounts } = history
  const readsOf = new Map<number, number[]>() // key -> list reads
  const appendsOf = new Map<number, number[]>() // key -> appends
  for (let op = 0; op < opCount; op++) {
    const isRead = opKind[op] === READ_LIST
    if (!txnCounts[opTxn[op]!] || (!isRead && opKind[op] !== APPEND)) continue
    const group = isRead ? readsOf : appendsOf
    const known = group.get(opKey[op]!)
    if (known) known.push(op)
    else group.set(opKey[op]!, [op])
  }
  const edges: Edge[] = []
  for (const [key, reads] of readsOf) {
    const shown = new Map(reads.map((read) => [read, othersIn(history, read)]))
    const lengthOf = (read: number) => shown.get(read)!.length
    const longer = (best: number, read: number) => (lengthOf(read) > lengthOf(best) ? read : best)
    const longest = reads.reduce(longer)
    const all = shown.get(longest)!
    const agrees = (read: number) => shown.get(read)!.every((append, i) => append === all[i])
    for (const read of reads) {
      const own = shown.get(read)!
      deadline.step(1 + (own.length >> 2))
      if (read !== longest && agrees(read)) continue
      addShown(history, read, own, appendsOf.get(key) ?? [], edges)
    }
  }
  return edges
}

function addShown(
  { opTxn, opKey }: History,
  read: number,
  shown: readonly number[],
  appends: readonly number[],
  edges: Edge[],
): void {
  const add = (first: number, second: number) => {
    const [from, to] = [opTxn[first]!, opTxn[second]!]
    if (from === to) return
    edges.push({
      from,
      to,
      kind: 'WW',
      key: opKey[read]!,
      ops: [first, second, read],
      premises: [],
    })
  }
  for (let i = 1; i < shown.length; i++) add(shown[i - 1]!, shown[i]!)
  const last = shown.at(-1)
  if (last === undefined) return
  const isShown = new Set(shown)
  for (const append of appends) if (!isShown.has(append)) add(last, append)
}
