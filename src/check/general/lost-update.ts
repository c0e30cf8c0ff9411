// A lost update is plain to see: two at si or ser saw the same version of a key and both replaced
// it. No order need be inferred to show it, and its two anti-dependencies say more than whatever
// else the two may have to do with each other. O(reads · writes of a transaction). Main function:
// findLostUpdate.

import { NONE, READ_LIST } from '../../history/history.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { SI } from '../problem/levels.ts'
import { readsOf } from './explain.ts'
import type { Problem } from './problem.ts'

/** Two edges that lead from one to the other and back, null if no update is lost. */
export function findLostUpdate(problem: Problem): Edge[] | null {
  const { history, keyCount, keyStart, keyOf, versionTxn, txnOf } = problem
  const { readerStart, reader, initialStart, initialReader } = problem
  if (history.opKind.includes(READ_LIST)) return null // what lists show is known
  for (let key = 0; key < keyCount; key++) {
    const readers = initialReader.subarray(initialStart[key]!, initialStart[key + 1]!)
    let two = findTwo(problem, key, readers)
    let writer = INITIAL_TXN
    for (let v = keyStart[key]!; two === null && v < keyStart[key + 1]!; v++) {
      two = findTwo(problem, key, reader.subarray(readerStart[v]!, readerStart[v + 1]!))
      writer = txnOf[versionTxn[v]!]!
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

function findTwo(problem: Problem, key: number, readers: Int32Array): number[] | null {
  const { level, access } = problem
  const { writeStart, writeKey } = access
  let first: number = NONE
  for (const txn of readers) {
    if (level[txn]! < SI) continue
    let at = writeStart[txn]!
    while (at < writeStart[txn + 1]! && writeKey[at] !== key) at++
    if (at === writeStart[txn + 1]) continue
    if (first !== NONE) return [first, txn]
    first = txn
  }
  return null
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
