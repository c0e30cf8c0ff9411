// Edges of evidence that need no argument beyond the history, in the form certify expects: finds
// the operations that an edge between two transactions has to name. Scans the operations of the
// two, so meant for the few transactions of a core. Main class: EdgeFacts.

import { assert } from '../../base/errors.ts'
import { type History, INITIAL, NONE, READ_LIST } from '../../history/history.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export class EdgeFacts {
  constructor(
    private readonly history: History,
    private readonly reads: Pick<ReadCheck, 'opSource' | 'versions'> | null = null,
  ) {}

  session(from: number, to: number): Edge {
    return { from, to, kind: 'SO', key: NONE, ops: [], premises: [] }
  }

  realTime(from: number, to: number): Edge {
    return { from, to, kind: 'RT', key: NONE, ops: [], premises: [] }
  }

  /** The reader's first read from the writer, or of the initial state, and of a key if given. */
  readFrom(from: number, to: number, key: number = NONE): Edge {
    const read = this.findRead(to, from, (k) => key === NONE || k === key)
    assert(read !== NONE, 'a reader has read from its writer')
    return this.seenBy(read, from)
  }

  /** What a read saw, and whose version that is. */
  seenBy(read: number, from: number): Edge {
    const { opTxn, opKey } = this.history
    const version = this.versionOf(read)
    const ops = version >= 0 ? [version, read] : [read]
    return { from, to: opTxn[read]!, kind: 'WR', key: opKey[read]!, ops, premises: [] }
  }

  /** SQL: whose version of a row a statement saw that passed it over. */
  passedOver(from: number, to: number, key: number, event: number): Edge {
    const ops = from === INITIAL_TXN ? [] : [this.lastWrite(from, key)]
    return { from, to, kind: 'WR', key, ops, premises: [], event }
  }

  /** At a weak level: the writer was visible to who saw another version of the key. */
  forced(from: number, seen: Edge, visible: readonly Edge[]): Edge {
    const { key, from: to } = seen
    const read = seen.event === undefined ? [seen.ops.at(-1)!] : []
    const old = to === INITIAL_TXN ? [] : [this.lastWrite(to, key)]
    const ops = [this.lastWrite(from, key), ...read, ...old]
    return { from, to, kind: 'CO', key, ops, premises: [seen, ...visible] }
  }

  /** Version order between two writers of the key, for the caller to give reasons. */
  versions(from: number, to: number, key: number): Edge {
    const ops = [this.lastWrite(to, key)]
    if (from !== INITIAL_TXN) ops.unshift(this.lastWrite(from, key))
    return { from, to, kind: 'WW', key, ops, premises: [] }
  }

  assumedVersions(from: number, to: number, key: number): Edge {
    return { ...this.versions(from, to, key), assumed: true }
  }

  /** The order that the longest read of a list shows, or that the versions of a register have. */
  knownOrder(from: number, to: number, key: number): Edge {
    const edge = this.versions(from, to, key)
    const shown = this.reads!.versions!.orderRead[key]!
    if (shown !== NONE) edge.ops.push(shown)
    return edge
  }

  /** If the later writer read the earlier one's version of the key: the order, with that read. */
  replaced(from: number, to: number, key: number): Edge | null {
    const read = this.findRead(to, from, (k) => k === key)
    if (read === NONE || this.history.opKind[read] === READ_LIST) return null
    const edge = this.versions(from, to, key)
    edge.ops.push(read)
    return edge
  }

  /** The reader of a version precedes whoever wrote the later one. */
  overwrite(seen: Edge, replaced: Edge): Edge {
    const read = seen.event === undefined ? [seen.ops.at(-1)!] : []
    const ops = [...read, this.lastWrite(replaced.to, seen.key)]
    const premises = [seen, replaced]
    return { from: seen.to, to: replaced.to, kind: 'RW', key: seen.key, ops, premises }
  }

  /** A key that the reader read from the writer and the other one writes. */
  sharedRead(reader: number, writer: number, other: number): number {
    const read = this.findRead(reader, writer, (key) => this.lastWrite(other, key) !== NONE)
    assert(read !== NONE, 'an anti-dependency is about a key')
    return this.history.opKey[read]!
  }

  /** A key that both write. */
  sharedWrite(a: number, b: number): number {
    const { txnOpStart, opKey } = this.history
    for (let op = txnOpStart[a]!; op < txnOpStart[a + 1]!; op++) {
      if (isWrite(this.history, op) && this.lastWrite(b, opKey[op]!) !== NONE) return opKey[op]!
    }
    return NONE
  }

  private findRead(reader: number, writer: number, accepts: (key: number) => boolean): number {
    const { txnOpStart, opKey } = this.history
    const source = writer === INITIAL_TXN ? INITIAL : writer
    for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
      if (this.reads!.opSource[op] === source && accepts(opKey[op]!)) return op
    }
    return NONE
  }

  private versionOf(read: number): number {
    return this.history.opKind[read] === READ_LIST
      ? this.reads!.versions!.readFrom[read]!
      : this.history.readFrom[read]!
  }

  private lastWrite(txn: number, key: number): number {
    const { txnOpStart, opKey } = this.history
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      if (opKey[op] === key && isWrite(this.history, op)) return op
    }
    return NONE
  }
}
