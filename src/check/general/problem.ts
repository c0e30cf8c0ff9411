// What the engine decides: transactions with a level and moments each, who wrote which version and
// who read it. Whoever sees a snapshot and takes part in any case is listed with the version that
// it read; other reads, those below pc, of rows passed over, or of transactions that may take no
// part, are pairs (pairs.ts), which registers at one level for all do without. Main function:
// ofRegisters; see of-rows.ts for a level each.

import { type History, INDETERMINATE, NONE } from '../../history/history.ts'
import { type Access, buildAccess } from '../problem/access.ts'
import { SI, STRONG, type StrongLevel } from '../problem/levels.ts'
import type { RegisterProblem, Versions } from '../problem/register-problem.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { layOutMoments, type Moments } from './moments.ts'
import type { Pairs } from './pairs.ts'

export interface Problem extends Versions {
  readonly history: History
  readonly reads: Pick<ReadCheck, 'opSource' | 'versions'> // those that the problem is about
  readonly txnOf: Int32Array // txn -> txn of the history
  readonly level: Uint8Array // txn -> RC … SER
  readonly before: Int32Array // txn -> the one before it in its session, or NONE
  readonly moments: Moments
  readonly access: Access
  readonly hasSi: boolean // whether somebody is at si
  readonly pairs: Pairs | null
}

/** Registers and lists at one level for all. */
export function ofRegisters(problem: RegisterProblem, at: StrongLevel): Problem {
  const { txnCount, sessionStart, sessionOf } = problem
  const level = new Uint8Array(txnCount).fill(STRONG[at])
  const txns = new Int32Array(txnCount)
  const before = new Int32Array(txnCount)
  for (let txn = 0; txn < txnCount; txn++) {
    txns[txn] = txn
    before[txn] = txn > 0 && sessionOf[txn - 1] === sessionOf[txn] ? txn - 1 : NONE
  }
  const instants = at === 'sser' ? findInstants(problem) : new Float64Array(0)
  const moments = layOutMoments(txns, sessionStart, level, instants)
  const access = buildAccess(problem)
  const hasSi = STRONG[at] === SI
  return { ...problem, level, before, moments, access, hasSi, pairs: null }
}

/** When a transaction finished; NaN if nobody knows, or ever will: it is indeterminate. */
export function finishOf({ txnStatus, txnFinishTime }: History, txn: number): number {
  const isOpen = txn < 0 || txnStatus[txn] === INDETERMINATE
  return isOpen ? Number.NaN : txnFinishTime![txn]!
}

/** Distinct finish times, ascending. */
export function findInstants({
  history,
  txnOf,
}: Pick<RegisterProblem, 'history' | 'txnOf'>): Float64Array {
  const times = new Float64Array(txnOf.length)
  let count = 0
  for (const txn of txnOf) {
    const finish = finishOf(history, txn)
    if (!Number.isNaN(finish)) times[count++] = finish
  }
  const sorted = times.subarray(0, count).sort()
  let distinct = 0
  for (let i = 0; i < count; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]!
  }
  return sorted.slice(0, distinct)
}
