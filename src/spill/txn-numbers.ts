// The numbers of a file's transactions, piece by piece: the same as if it were read as a whole.
// In formats of one operation a line, a piece may go on telling of transactions of the one before.
// Main class: TxnNumbers.

import type { Draft } from '../formats/source.ts'
import type { HistoryBuilder } from '../history/builder.ts'
import { ABORTED, NONE } from '../history/history.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'

/** Transactions at the end of a piece that the next one may go on telling of. */
const RECENT = 4096

export interface Numbers {
  readonly txns: Int32Array // transaction of the piece -> of the whole
  /** Transaction of the piece -> operations of it in earlier pieces; to be counted up. */
  readonly opsBefore: Int32Array
}

interface Recent {
  readonly txn: number
  readonly session: number
  /** The piece that told of it last, and its number there. */
  readonly numbers: Numbers
  readonly local: number
}

export class TxnNumbers {
  readonly sessions = new SymbolTable()
  txnCount = 0
  private recent = new Map<Value, Recent>() // id -> transaction of the last piece
  private readonly rolledBack = new Map<number, Recent>() // session -> aborted one that may go on

  /** @param goesOn whether a transaction can have several lines */
  constructor(private readonly goesOn: boolean) {}

  /** @param onNew called for each transaction that the file has not spoken of before */
  take(draft: Draft, onNew: (local: number, session: number, label: Value) => void): Numbers {
    const { builder } = draft
    const { txnCount } = builder
    const txns = new Int32Array(txnCount)
    const opsBefore = new Int32Array(txnCount)
    const numbers = { txns, opsBefore }
    const recent = new Map<Value, Recent>()
    const open: Recent[] = [] // aborted ones that may go on in the next piece
    const sessionOf = new Int32Array(builder.sessions.size).fill(NONE) // here -> of the file
    for (let local = 0; local < txnCount; local++) {
      const session = this.sessionFor(builder, builder.sessionOf(local), sessionOf)
      const label = builder.labelOf(local)
      const isAborted = label === null && builder.statusOf(local) === ABORTED
      const known = this.goesOn ? this.find(isAborted, session, label) : undefined
      if (known) {
        txns[local] = known.txn
        opsBefore[local] = known.numbers.opsBefore[known.local]!
      } else {
        onNew(local, session, label)
        txns[local] = this.txnCount++
      }
      // The next aborted one of the session in this piece is another.
      if (this.rolledBack.size > 0) this.rolledBack.delete(session)
      if (isAborted && draft.mayGoOn(local)) {
        open.push({ txn: txns[local]!, session, numbers, local })
      }
      if (label !== null && local >= txnCount - RECENT) {
        recent.set(label, { txn: txns[local]!, session, numbers, local })
      }
    }
    for (const each of open) this.rolledBack.set(each.session, each)
    if (txnCount > 0) this.recent = recent // empty lines end nothing
    return numbers
  }

  /** The session of the file, by the order in which they first appear. */
  private sessionFor({ sessions }: HistoryBuilder, session: number, known: Int32Array): number {
    if (known[session] === NONE) known[session] = this.sessions.of(sessions.get(session))
    return known[session]!
  }

  private find(isAborted: boolean, session: number, label: Value): Recent | undefined {
    if (isAborted) return this.rolledBack.get(session)
    const known = label === null ? undefined : this.recent.get(label)
    return known?.session === session ? known : undefined
  }
}
