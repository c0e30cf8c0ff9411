// A history with a level per transaction, as the deciders of mixed levels see it: who wrote which
// row, what each statement saw, and for every row that a statement passed over, although some
// version of it satisfies its predicate, who could have written the version that it saw (Bouajjani,
// Enea, Román-Calvo: client histories, Definition 4; conflicts, Equation 4). A row no version of
// which satisfies the predicate needs no writer: the last one visible always does, and makes
// nothing else visible. But for one case: what a reader at pc, si or ser passed over happens before
// it, and so before a reader at cc that saw its effects. Where levels are mixed so, its rows are
// conflicts all the same (an example is in published/extensions.ts).
//
// Lists are keys of which reads show in what order they were written: every commit order has it.
//
// Nodes: 0 is the initial transaction, the others are transactions in the order of the input.
// Built by build-problem.ts.

import type { History } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** Whether a transaction takes part: never, always, or only if the deciders choose so. */
export const OUT = 0
export const IN = 1
export const MAYBE = 2

/** In place of a place: an append that no read shows comes after all that are shown. */
export const UNSEEN = 0x7fffffff

/** What a statement saw, or should have seen, of one row, and must not have. */
export interface MixedOffence {
  readonly name: AnomalyName
  readonly txn: number
  readonly event: number // the statement; NONE for a register
  readonly key: number
  readonly op: number // the read; NONE if the row was passed over
  readonly write: number // the write it saw or should have seen; NONE or INITIAL if there is none
}

export interface MixedProblem {
  readonly history: History
  readonly reads: ReadCheck
  readonly nodeCount: number
  readonly txnOf: Int32Array // node -> transaction, INITIAL_TXN for the initial one
  readonly state: Uint8Array // node -> OUT, IN, MAYBE
  readonly level: Uint8Array // node -> RC … SER
  readonly before: Int32Array // node -> the one before it in its session that is not OUT, else 0
  readonly inTime: boolean // whether who finished before another started comes before it (sser)

  // Who writes a key, the initial transaction first. Only the last write of each counts.
  readonly keyOf: Int32Array // key -> key of the history: all of them, or of a part those it needs
  readonly writerStart: Int32Array // key -> its first writer; one more entry at the end
  readonly writerNode: Int32Array // writer -> node
  readonly writerOp: Int32Array // writer -> write op, INITIAL for the initial transaction
  /** Writer -> place in what reads show of its list, UNSEEN, NONE; null: there are no lists. */
  readonly writerPlace: Int32Array | null

  // Reads in the order of their nodes, then program order: statements, and reads of registers.
  readonly readCount: number
  readonly nodeReadStart: Int32Array // node -> its first read; one more entry at the end
  readonly readNode: Int32Array // read -> node
  readonly readEvent: Int32Array // read -> statement, NONE for a register
  readonly readOp: Int32Array // read -> op, NONE for a statement

  // Rows whose writer is given: returned, touched, or named by the history.
  readonly fixedStart: Int32Array // read -> its first fixed pair; one more entry at the end
  readonly fixedKey: Int32Array // fixed pair -> key
  readonly fixedNode: Int32Array // fixed pair -> node that wrote what was read, never the reader's
  readonly fixedOp: Int32Array // fixed pair -> read op

  // Conflicts: rows passed over that have versions which satisfy the predicate.
  readonly openCount: number
  readonly openStart: Int32Array // read -> its first conflict; one more entry at the end
  readonly openRead: Int32Array // conflict -> read
  readonly openKey: Int32Array // conflict -> key
  readonly zeroStart: Int32Array // conflict -> its first candidate; one more entry at the end
  readonly zeroNode: Int32Array // candidate -> node whose version does not satisfy the predicate

  /** What violates every level, whatever the order. Those reads have no pairs above. */
  readonly offences: readonly MixedOffence[]
}

/** What proves that a problem is consistent. */
export interface MixedSolution {
  readonly order: Int32Array // nodes that take part, in commit order; the initial one first
  readonly choice: Int32Array // conflict -> node chosen as the writer of the version passed over
}
