// Writes Plume text: transactions one after another, or operations in a given order.

import { ABORTED, type History, NONE, READ, WRITE } from '../../history/history.ts'
import { INTERNED } from '../../history/values.ts'
import { type Capacity, isKept, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, putSmall, RenderedKeys, type Sink } from '../sink.ts'

const LONGEST_LINE = 128 // four numbers of at most 20 digits
const TAIL_BYTES = 48

export const PLUME: Capacity = {
  ...PLAIN,
  sessions: 'integers',
  txnNames: 'integers',
  aborted: 'writes',
  emptyTxns: false,
  order: 'input',
}

/**
 * Writes what Plume text can hold.
 * @param opOrder operations in the order of their lines, instead of transaction by transaction.
 */
export function writePlume(history: History, sink: Sink, opOrder: Int32Array | null = null): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, PLUME)
  const keys = new RenderedKeys(history, (_, key) => String(numbering.key(key)))
  const { opCount, opTxn, opKey, opKind, opValue, txnSession, txnStatus } = history
  const tails = new LineTails(history, numbering)
  const plain = numbering.keepsSmallValues()
  const { buffer } = writer
  for (let line = 0; line < opCount; line++) {
    const op = opOrder ? opOrder[line]! : line
    const txn = opTxn[op]!
    const kind = opKind[op]!
    const skipped = kind === READ ? txnStatus[txn] === ABORTED : kind !== WRITE
    if (skipped || !isKept(history, txn)) continue
    writer.room(LONGEST_LINE)
    let at = writer.length
    buffer[at++] = kind === READ ? 114 : 119
    buffer[at++] = 40
    const keyEnd = keys.start[opKey[op]! + 1]!
    for (let i = keys.start[opKey[op]!]!; i < keyEnd; i++) buffer[at++] = keys.bytes[i]!
    buffer[at++] = 44
    const value = opValue[op]!
    if (plain && value < INTERNED) {
      at = putSmall(buffer, at, value)
    } else {
      writer.length = at
      writer.text(String(numbering.value(value) ?? 0))
      at = writer.length
    }
    const tail = tails.find(txn, txnSession[txn]!)
    const tailEnd = tail + tails.length[txnSession[txn]!]!
    for (let i = tail; i < tailEnd; i++) buffer[at++] = tails.bytes[i]!
    writer.length = at
  }
  writer.flush()
}

/**
 * How lines end, `,session,txn)`: a session has one transaction at a time, so alike for a while.
 */
class LineTails {
  readonly bytes: Uint8Array // session * TAIL_BYTES -> its tail
  readonly length: Uint8Array // session -> bytes of its tail
  private readonly txns: Int32Array // session -> txn of its tail

  constructor(
    private readonly history: History,
    private readonly numbering: Numbering,
  ) {
    this.bytes = new Uint8Array(history.sessionCount * TAIL_BYTES)
    this.length = new Uint8Array(history.sessionCount)
    this.txns = new Int32Array(history.sessionCount).fill(NONE)
  }

  /** Where in `bytes` the tail begins. */
  find(txn: number, session: number): number {
    const at = session * TAIL_BYTES
    if (this.txns[session] === txn) return at
    const id = this.history.txnStatus[txn] === ABORTED ? '-1' : this.numbering.txn(txn)
    const tail = `,${this.numbering.session(session)},${id})\n`
    for (let i = 0; i < tail.length; i++) this.bytes[at + i] = tail.charCodeAt(i)
    this.length[session] = tail.length
    this.txns[session] = txn
    return at
  }
}
