// The reads with a choice of writers that an anomaly relies on: those that its evidence names, and
// those by which transactions of it count whose outcome is not known. A guess, which only makes a
// case say more or less; whether the case holds is for its certificate. Main function:
// findReliedOn.

import { type History, INDETERMINATE, NONE, READ } from '../../history/history.ts'
import { type Anomaly, findEdges } from '../../verdict/verdict.ts'

/**
 * @param assumed the history under a choice of writers
 * @param choiceOf op -> the read by whose choice it saw what it saw, NONE
 */
export function findReliedOn(assumed: History, choiceOf: Int32Array, anomaly: Anomaly): number[] {
  const found = new Set<number>()
  const txns = new Set([...anomaly.txns, ...anomaly.earlier])
  const take = (op: number) => {
    if (op < 0) return
    if (choiceOf[op] !== NONE) found.add(choiceOf[op]!)
    txns.add(assumed.opTxn[op]!)
  }
  for (const op of anomaly.ops) take(op)
  for (const { from, to, ops } of findEdges(anomaly.edges, anomaly.cases)) {
    for (const op of ops) take(op)
    txns.add(from).add(to)
  }
  // A set that grows while it is gone through.
  for (const txn of txns) {
    if (txn >= 0 && assumed.txnStatus[txn] === INDETERMINATE) observers(assumed, txn, take)
  }
  return [...found].sort((a, b) => a - b)
}

/** Takes one read by a transaction that counts, which shows that this one committed. */
function observers(
  { readTxn, opKind, opTxn, txnCounts, txnStatus, opCount }: History,
  txn: number,
  take: (op: number) => void,
): void {
  let seen = -1
  for (let op = 0; op < opCount; op++) {
    const reader = opTxn[op]!
    if (readTxn[op] !== txn || opKind[op] !== READ || reader === txn || !txnCounts[reader]) continue
    if (seen < 0 || txnStatus[reader] !== INDETERMINATE) seen = op
    if (txnStatus[reader] !== INDETERMINATE) break
  }
  take(seen)
}

/** Every read with a choice in the transactions that the anomaly names. */
export function findAround(history: History, choiceOf: Int32Array, anomaly: Anomaly): number[] {
  const txns = new Set([...anomaly.txns, ...anomaly.earlier])
  for (const op of anomaly.ops) if (op >= 0) txns.add(history.opTxn[op]!)
  for (const { from, to } of findEdges(anomaly.edges, anomaly.cases)) txns.add(from).add(to)
  const found: number[] = []
  for (const txn of txns) {
    if (txn < 0) continue
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      if (choiceOf[op] !== NONE) found.push(choiceOf[op]!)
    }
  }
  return found.sort((a, b) => a - b)
}
