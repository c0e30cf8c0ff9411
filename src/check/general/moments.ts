// The moments of transactions as nodes of one graph that has to be acyclic. At pc and si a
// transaction has two, its snapshot (begin) and its commit (Viper's BC graph): a path alternates
// dependency and, at most, one anti-dependency, so a cycle of it is a cycle of (so ∪ wr ∪ ww);rw?
// for si and of ((so ∪ wr);rw?) ∪ ww for pc. At ser, and below pc, there is one moment. Each
// transaction has its own level:
//
//   T is at | so, wr S→T | ww S→T     | rw T→S     | T is known before S when
//   pc      | c_S → b_T  | c_S → c_T  | b_T → c_S  | c_T ⇝ c_S
//   si      | c_S → b_T  | c_S → b_T  | b_T → c_S  | b_T ⇝ c_S (else they overlap, and share a key)
//   ser     | c_S → T    | c_S → T    | T → c_S    | T ⇝ c_S
//   below   | c_S → T    | c_S → T    |            | T ⇝ c_S
//
// So where versions are ordered, a transaction counts from one moment on, its claim: the snapshot
// at si, else the commit. The moments of a session lie on one chain, each before the next. In real
// time (sser) the instants at which something finished are one more chain. Main function:
// layOutMoments.

import { NONE } from '../../history/history.ts'
import { PC, SI } from '../problem/levels.ts'

export interface Moments {
  readonly begin: Int32Array // txn -> node of its snapshot, NONE if it has no moments
  readonly commit: Int32Array // txn -> node of its commit; its snapshot's where they are one
  readonly claim: Int32Array // txn -> node from which it counts among writers
  readonly txnAt: Int32Array // node -> txn, NONE for an instant
  readonly chainStart: Int32Array // chain -> its first node; one more entry at the end
  readonly instants: Float64Array // ascending; the last chain, if there are any
}

/**
 * @param txns chain by chain
 * @param starts chain -> its first slot in `txns`; one more entry at the end
 * @param level txn -> level
 */
export function layOutMoments(
  txns: Int32Array,
  starts: Int32Array,
  level: Uint8Array,
  instants: Float64Array,
): Moments {
  const begin = new Int32Array(level.length).fill(NONE)
  const commit = new Int32Array(level.length).fill(NONE)
  const claim = new Int32Array(level.length).fill(NONE)
  const txnAt = new Int32Array(2 * txns.length + instants.length)
  const chainCount = starts.length - 1 + (instants.length > 0 ? 1 : 0)
  const chainStart = new Int32Array(chainCount + 1)
  let count = 0
  for (let chain = 0; chain + 1 < starts.length; chain++) {
    chainStart[chain] = count
    for (let slot = starts[chain]!; slot < starts[chain + 1]!; slot++) {
      const txn = txns[slot]!
      const its = level[txn]!
      txnAt[count] = txn
      begin[txn] = count++
      if (its === PC || its === SI) txnAt[count++] = txn
      commit[txn] = count - 1
      claim[txn] = its === SI ? begin[txn] : count - 1
    }
  }
  chainStart[starts.length - 1] = count
  txnAt.fill(NONE, count, count + instants.length)
  chainStart[chainCount] = count + instants.length
  return {
    begin,
    commit,
    claim,
    txnAt: txnAt.subarray(0, count + instants.length),
    chainStart,
    instants,
  }
}
