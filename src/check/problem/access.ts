// What each transaction of a problem reads, writes and has to follow, transaction by transaction:
// the problem itself is laid out by version. For the search. Main function: buildAccess.

import { buildCsr } from '../../graph/csr.ts'
import { COMMITTED, NONE } from '../../history/history.ts'
import type { RegisterProblem, Versions } from './register-problem.ts'

export interface Access {
  readonly readStart: Int32Array // local txn -> its first read; one more entry at the end
  readonly readVersion: Int32Array // read -> version, or ~local key for the initial state
  readonly writeStart: Int32Array // local txn -> its first write; one more entry at the end
  readonly writeKey: Int32Array // write -> local key
  readonly writeVersion: Int32Array // write -> version
  readonly keyOfVersion: Int32Array // version -> local key
  readonly appendStart: Int32Array // local txn -> first of those that must append before it
  readonly appendFrom: Int32Array // local txns, right before it in the order of a list
}

export function buildAccess(problem: Versions): Access {
  const { txnCount, keyCount, keyStart, versionTxn } = problem
  const keyOfVersion = new Int32Array(versionTxn.length)
  for (let key = 0; key < keyCount; key++) keyOfVersion.fill(key, keyStart[key], keyStart[key + 1])
  const writes = buildCsr(txnCount, versionTxn, keyOfVersion)
  const appends = buildCsr(txnCount, problem.appendTo, problem.appendFrom)
  return {
    ...groupReads(problem),
    writeStart: writes.start,
    writeKey: writes.target,
    writeVersion: writes.edge,
    keyOfVersion,
    appendStart: appends.start,
    appendFrom: appends.target,
  }
}

function groupReads(problem: Versions) {
  const { readerStart, reader, initialStart, initialReader, txnCount } = problem
  const readers = new Int32Array(reader.length + initialReader.length)
  const version = new Int32Array(readers.length)
  readers.set(reader)
  readers.set(initialReader, reader.length)
  for (let v = 0; v + 1 < readerStart.length; v++) {
    version.fill(v, readerStart[v], readerStart[v + 1])
  }
  for (let key = 0; key + 1 < initialStart.length; key++) {
    version.fill(~key, reader.length + initialStart[key]!, reader.length + initialStart[key + 1]!)
  }
  const reads = buildCsr(txnCount, readers, version)
  return { readStart: reads.start, readVersion: reads.target }
}

/** Local txn -> the first finish among it and what follows it in its session. */
export function findEarliestFinish(problem: RegisterProblem): Float64Array {
  const { history, txnCount, txnOf, sessionOf } = problem
  const earliest = new Float64Array(txnCount)
  for (let t = txnCount - 1; t >= 0; t--) {
    const txn = txnOf[t]!
    // An observed indeterminate transaction has no finish.
    const committed = history.txnStatus[txn] === COMMITTED
    const finish = committed ? history.txnFinishTime![txn]! : Number.POSITIVE_INFINITY
    const isLast = t + 1 === txnCount || sessionOf[t + 1] !== sessionOf[t]
    earliest[t] = isLast ? finish : Math.min(finish, earliest[t + 1]!)
  }
  return earliest
}

/** Whether the transaction read this version of the key; NONE stands for the initial state. */
export function readsVersion(access: Access, txn: number, version: number, key: number): boolean {
  const { readStart, readVersion } = access
  const wanted = version === NONE ? ~key : version
  for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
    if (readVersion[i] === wanted) return true
  }
  return false
}
