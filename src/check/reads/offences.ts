// Offending reads as anomalies: examples of each name with the number of reads they stand for.

import type { Deadline } from '../../base/deadline.ts'
import { type History, listsOf, NONE, READ, READ_LIST } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import { listExamples } from '../examples.ts'
import { OFFENCES, type ReadCheck } from './read-consistency.ts'

/** What to describe, and how many examples of each name there may be. */
type Asked = [history: History, reads: ReadCheck, limit: number, deadline: Deadline]

export function describeOffences(...[history, reads, limit, deadline]: Asked): Anomaly[] {
  return OFFENCES.flatMap((name, kind) => {
    const found = reads.offendingOp.filter((_, i) => reads.offendingKind[i] === kind)
    return listExamples(found, limit, deadline, (op) => describeOffence(history, reads, op, name))
  })
}

/** The same, and what reads show two by two. */
export function describeReads(...given: Asked): Anomaly[] {
  return [...describeOffences(...given), ...describeUnrepeatable(...given)]
}

/** Pattern j: transactions that read one key from two others. */
export function describeUnrepeatable(...[history, reads, limit, deadline]: Asked): Anomaly[] {
  return listExamples(pairsOf(reads.unrepeatable), limit, deadline, (ops) => {
    const sources = ops.map((op) => writerOf(history, reads, op)).filter((txn) => txn >= 0)
    const txns = [...new Set([history.opTxn[ops[0]]!, ...sources])]
    return { name: 'NonRepeatableRead', count: 1, txns, earlier: [], ops, edges: [], cases: [] }
  })
}

/** What lies side by side, two by two. */
export function pairsOf(ids: ArrayLike<number>): [number, number][] {
  return Array.from({ length: ids.length / 2 }, (_, i) => [ids[2 * i]!, ids[2 * i + 1]!])
}

/** The transaction that a read saw, sound or not; negative if it was the initial one. */
function writerOf(history: History, reads: ReadCheck, read: number): number {
  const { opTxn, opKind, readFrom } = history
  const write = (opKind[read] === READ_LIST ? reads.versions!.readFrom : readFrom)[read]!
  return write >= 0 ? opTxn[write]! : NONE
}

/** One read that offends, as an example. */
export function describeOffence(
  history: History,
  reads: ReadCheck,
  read: number,
  name: AnomalyName,
): Anomaly {
  const reader = history.opTxn[read]!
  if (name === 'LostCommit') {
    const write = reads.lostWrite.get(read)!
    const txns = [history.opTxn[write]!, reader]
    return { name, count: 1, txns, earlier: [], ops: [read, write], edges: [], cases: [] }
  }
  const txns = new Set([reader])
  const ops = [read]
  const addWriter = (write: number) => {
    if (write < 0) return
    ops.push(write)
    txns.add(history.opTxn[write]!)
  }
  if (history.opKind[read] === READ) addWriter(history.readFrom[read]!)
  else if (name === 'IncompatibleOrder') {
    const other = reads.versions!.orderRead[history.opKey[read]!]!
    ops.push(other)
    txns.add(history.opTxn[other]!)
  } else {
    for (const list of Array.from(listsOf(history, read))) {
      for (let i = history.listStart[list]!; i < history.listStart[list + 1]!; i++) {
        addWriter(history.listFrom[i]!)
      }
    }
  }
  return { name, count: 1, txns: [...txns], earlier: [], ops, edges: [], cases: [] }
}
