// A lost update is plain to see: two at si or ser saw the same version of a key, and no other one,
// and both replaced it. No order need be inferred to show it, and its two anti-dependencies say
// more than whatever else the two may have to do with each other. O(reads, and the operations of
// those that write what they read). Main function: findLostUpdates.

import { type History, INITIAL, NONE, READ_LIST } from '../../history/history.ts'
import { updatesBlindly } from '../../verdict/anomaly-rules.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { SI } from '../problem/levels.ts'
import { readsOf } from './explain.ts'
import type { Problem } from './problem.ts'

/**
 * Of each update that was lost, two edges that lead from one to the other and back.
 *
 * @param most how many at the most; no transaction is in two of them
 */
export function findLostUpdates(problem: Problem, most: number): Edge[][] {
  const { history, keyCount, keyStart, keyOf, versionTxn, txnOf } = problem
  const { readerStart, reader, initialStart, initialReader, level } = problem
  const lost: Edge[][] = []
  if (history.opKind.includes(READ_LIST)) return lost // what lists show is known
  const isTold = new Uint8Array(level.length)
  const writes = new Int32Array(level.length).fill(NONE) // txn -> the last key that it writes
  for (let key = 0; lost.length < most && key < keyCount; key++) {
    if (keyStart[key + 1]! - keyStart[key]! < 2) continue
    for (let v = keyStart[key]!; v < keyStart[key + 1]!; v++) writes[versionTxn[v]!] = key
    /** Readers of a version, from `from` to `to`, that also write the key. */
    const updaters = (all: Int32Array, from: number, to: number): number[] => {
      const found: number[] = []
      for (let i = from; i < to; i++) {
        const txn = all[i]!
        if (writes[txn] === key && level[txn]! >= SI && !isTold[txn]) found.push(txn)
      }
      return found
    }
    const tell = (by: number, version: number, seers: readonly number[]) => {
      const writer = by === NONE ? INITIAL_TXN : txnOf[by]!
      for (const [a, b] of findPairs(problem, key, version, seers)) {
        if (lost.length >= most) return
        isTold[a] = isTold[b] = 1
        if (by !== NONE) isTold[by] = 1
        const edge = (from: number, to: number) =>
          replace(problem, writer, txnOf[from]!, txnOf[to]!, keyOf[key]!)
        lost.push([edge(a, b), edge(b, a)])
      }
    }
    tell(NONE, INITIAL, updaters(initialReader, initialStart[key]!, initialStart[key + 1]!))
    for (let v = keyStart[key]!; lost.length < most && v < keyStart[key + 1]!; v++) {
      if (readerStart[v + 1]! - readerStart[v]! < 2) continue
      const seers = updaters(reader, readerStart[v]!, readerStart[v + 1]!)
      if (seers.length < 2) continue
      const by = versionTxn[v]!
      tell(by, lastWrite(history, txnOf[by]!, keyOf[key]!), seers)
    }
  }
  return lost
}

/** Two by two, those that read a version, write its key and saw no other. */
function* findPairs(
  { history, txnOf, keyOf }: Problem,
  key: number,
  version: number,
  updaters: readonly number[],
): Generator<[number, number]> {
  let first: number = NONE
  for (const txn of updaters) {
    if (!updatesBlindly(history, txnOf[txn]!, keyOf[key]!, version)) continue
    if (first !== NONE) yield [first, txn]
    first = first === NONE ? txn : NONE
  }
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
