// Who of a session was the first to read from given transactions: a later one of the session that
// misses their effects breaks a promise to the session. One pass over the reads. Main class:
// SessionReads.

import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export class SessionReads {
  private readonly first = new Map<number, number>() // writer · sessions + session -> read

  constructor(
    private readonly history: History,
    { opSource }: ReadCheck,
    writers: ReadonlySet<number>,
  ) {
    if (writers.size === 0) return
    const { opTxn, txnIndex } = history
    for (let op = 0; op < opSource.length; op++) {
      const source = opSource[op]!
      if (source < 0 || !writers.has(source)) continue
      const place = this.placeOf(source, opTxn[op]!)
      const known = this.first.get(place)
      if (known === undefined || txnIndex[opTxn[op]!]! < txnIndex[opTxn[known]!]!) {
        this.first.set(place, op)
      }
    }
  }

  /** The first read from the writer in an earlier transaction of the reader's session, or NONE. */
  before(writer: number, reader: number): number {
    const { opTxn, txnIndex } = this.history
    const read = this.first.get(this.placeOf(writer, reader)) ?? NONE
    return read !== NONE && txnIndex[opTxn[read]!]! < txnIndex[reader]! ? read : NONE
  }

  private placeOf(writer: number, txn: number): number {
    return writer * this.history.sessionCount + this.history.txnSession[txn]!
  }
}
