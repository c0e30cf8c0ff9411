// A lost update is plain to see: two at si or ser saw the same version of a key, and no other one,
// and both replaced it. No order need be inferred to show it, and its two anti-dependencies say
// more than whatever else the two may have to do with each other. O(reads, and the operations of
// those that write what they read). Main function: findLostUpdate.

import { type History, INITIAL, NONE, READ_LIST } from '../../history/history.ts'
import { updatesBlindly } from '../../verdict/anomaly-rules.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { SI } from '../problem/levels.ts'
import { readsOf } from './explain.ts'
import type { Problem } from './problem.ts'

/** Two edges that lead from one to the other and back, null if no update is lost. */
export function findLostUpdate(problem: Problem): Edge[] | null {
  const { history, keyCount, keyStart, keyOf, versionTxn, txnOf } = problem
  const { readerStart, reader, initialStart, initialReader, level } = problem
  if (history.opKind.includes(READ_LIST)) return null // what lists show is known
  const writes = new Int32Array(level.length).fill(NONE) // txn -> the last key that it writes
  for (let key = 0; key < keyCount; key++) {
    if (keyStart[key + 1]! - keyStart[key]! < 2) continue
    for (let v = keyStart[key]!; v < keyStart[key + 1]!; v++) writes[versionTxn[v]!] = key
    /** Readers of a version, from `from` to `to`, that also write the key. */
    const updaters = (all: Int32Array, from: number, to: number): number[] => {
      const found: number[] = []
      for (let i = from; i < to; i++) {
        const txn = all[i]!
        if (writes[txn] === key && level[txn]! >= SI) found.push(txn)
      }
      return found
    }
    const first = updaters(initialReader, initialStart[key]!, initialStart[key + 1]!)
    let two = findTwo(problem, key, INITIAL, first)
    let writer = INITIAL_TXN
    for (let v = keyStart[key]!; two === null && v < keyStart[key + 1]!; v++) {
      if (readerStart[v + 1]! - readerStart[v]! < 2) continue
      const seers = updaters(reader, readerStart[v]!, readerStart[v + 1]!)
      if (seers.length < 2) continue
      writer = txnOf[versionTxn[v]!]!
      two = findTwo(problem, key, lastWrite(history, writer, keyOf[key]!), seers)
    }
    if (two === null) continue
    const [a, b] = two.map((txn) => txnOf[txn]!)
    return [
      replace(problem, writer, a!, b!, keyOf[key]!),
      replace(problem, writer, b!, a!, keyOf[key]!),
    ]
  }
  return null
}

/** Two of those that read a version and write its key that saw no other. */
function findTwo(
  { history, txnOf, keyOf }: Problem,
  key: number,
  version: number,
  updaters: readonly number[],
): number[] | null {
  let first: number = NONE
  for (const txn of updaters) {
    if (!updatesBlindly(history, txnOf[txn]!, keyOf[key]!, version)) continue
    if (first !== NONE) return [first, txn]
    first = txn
  }
  return null
}

function lastWrite(history: History, txn: number, key: number): number {
  let op = history.txnOpStart[txn + 1]! - 1
  while (history.opKey[op] !== key || !isWrite(history, op)) op--
  return op
}

/** Both read the key from the writer: the one precedes the other, who replaced what it read. */
function replace(problem: Problem, writer: number, from: number, to: number, key: number): Edge {
  const facts = new EdgeFacts(problem.history, readsOf(problem))
  const seen = facts.readFrom(writer, from, key)
  if (writer === INITIAL_TXN) return facts.overwrite(seen, facts.versions(writer, to, key))
  const order =
    problem.pairs === null
      ? facts.replaced(writer, to, key)!
      : { ...facts.versions(writer, to, key), premises: [facts.readFrom(writer, to, key)] }
  return facts.overwrite(seen, order)
}
