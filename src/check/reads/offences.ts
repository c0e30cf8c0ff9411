// Offending reads as anomalies: by default one example of each name with the number of reads it
// touches, on request every one.

import type { History } from '../../history/history.ts'
import { NONE, READ_LIST } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import { OFFENCES, type ReadCheck } from './read-consistency.ts'

export function describeOffences(history: History, reads: ReadCheck, listAll: boolean): Anomaly[] {
  const byName = new Map<AnomalyName, Anomaly>()
  const all: Anomaly[] = []
  for (let i = 0; i < reads.offendingOp.length; i++) {
    const name = OFFENCES[reads.offendingKind[i]!]!
    const known = byName.get(name)
    if (known && !listAll) {
      known.count++
      continue
    }
    const anomaly = describe(history, reads, reads.offendingOp[i]!, name)
    byName.set(name, anomaly)
    all.push(anomaly)
  }
  const rank = (anomaly: Anomaly) => OFFENCES.indexOf(anomaly.name as (typeof OFFENCES)[number])
  return all.sort((a, b) => rank(a) - rank(b))
}

/** Pattern j: transactions that read one key from two others. */
export function describeUnrepeatable(
  history: History,
  reads: ReadCheck,
  listAll: boolean,
): Anomaly[] {
  const pairs = reads.unrepeatable
  const found: Anomaly[] = []
  for (let i = 0; i < pairs.length; i += 2) {
    const ops = [pairs[i]!, pairs[i + 1]!]
    const sources = ops.map((op) => writerOf(history, reads, op)).filter((txn) => txn >= 0)
    const txns = [...new Set([history.opTxn[ops[0]!]!, ...sources])]
    const count = listAll ? 1 : pairs.length / 2
    found.push({ name: 'NonRepeatableRead', count, txns, earlier: [], ops, edges: [], cases: [] })
    if (!listAll) break
  }
  return found
}

/** The transaction that a read saw, sound or not; negative if it was the initial one. */
function writerOf(history: History, reads: ReadCheck, read: number): number {
  const { opTxn, opKind, readFrom } = history
  if (opKind[read] === READ_LIST) return reads.opSource[read]!
  return readFrom[read]! >= 0 ? opTxn[readFrom[read]!]! : NONE
}

function describe(history: History, reads: ReadCheck, read: number, name: AnomalyName): Anomaly {
  const reader = history.opTxn[read]!
  const txns = [reader]
  const ops = [read]
  const addWriter = (write: number) => {
    if (write < 0) return
    ops.push(write)
    const writer = history.opTxn[write]!
    if (!txns.includes(writer)) txns.push(writer)
  }
  if (history.opKind[read] !== READ_LIST) addWriter(history.readFrom[read]!)
  else if (name === 'IncompatibleOrder') {
    const other = reads.lists!.orderRead[history.opKey[read]!]!
    ops.push(other)
    if (!txns.includes(history.opTxn[other]!)) txns.push(history.opTxn[other]!)
  } else {
    const list = history.opValue[read]!
    for (let i = history.listStart[list]!; i < history.listStart[list + 1]!; i++) {
      addWriter(history.listFrom[i]!)
    }
  }
  return { name, count: 1, txns, earlier: [], ops, edges: [], cases: [] }
}
