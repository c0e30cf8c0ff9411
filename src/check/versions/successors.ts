// Who replaced which version, as far as that is known from reads alone: who reads a version and
// writes the key comes after it, and any writer after the initial state. Where every transaction
// that counts reads each key before it writes it (read-modify-write), that is all of the version
// order (MTC, section IV-A). Two transactions that do so with one version diverge, which ser and si
// forbid (MTC, Lemma 1). Nothing here depends on the size of transactions. One pass, O(n). Main
// function: findSuccessors.

import { IntColumn } from '../../base/grow.ts'
import { type History, INITIAL, NONE, READ, WRITE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** How versions were replaced by who had read them. */
export interface Successors {
  /** True if every write comes after a sound read of its key, and there are no lists. */
  readonly isReadModifyWrite: boolean
  /** True if all transactions that count are mini-transactions. */
  readonly isMini: boolean
  readonly successor: Int32Array // write op -> read op of the first transaction that replaced it
  /** key -> the same for the key's initial version; a write where no reader of it replaced it. */
  readonly initialSuccessor: Int32Array
  /** Pairs of reads of one version whose transactions both replace it: the first, another one. */
  readonly divergent: Int32Array
}

export function findSuccessors(history: History, reads: ReadCheck): Successors {
  return new SuccessorScan(history, reads).run()
}

class SuccessorScan {
  private readonly successor: Int32Array
  private readonly initialSuccessor: Int32Array
  private readonly divergent = new IntColumn(16)
  private readonly readTxn: Int32Array // key -> txn that last read it from elsewhere
  private readonly readOp: Int32Array // key -> the first such read of that txn, NONE once it wrote
  private readonly blind: Int32Array // key -> the first write by a txn that had not read it
  private isReadModifyWrite = true
  private isMini = true

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    this.successor = new Int32Array(history.opCount).fill(NONE)
    this.initialSuccessor = new Int32Array(history.keyCount).fill(NONE)
    this.readTxn = new Int32Array(history.keyCount).fill(NONE)
    this.readOp = new Int32Array(history.keyCount)
    this.blind = new Int32Array(history.keyCount).fill(NONE)
  }

  run(): Successors {
    const { txnCount, txnCounts } = this.history
    for (let txn = 0; txn < txnCount; txn++) if (txnCounts[txn]) this.visit(txn)
    const { isReadModifyWrite, successor, initialSuccessor, blind } = this
    for (let key = 0; key < blind.length && !isReadModifyWrite; key++) {
      if (initialSuccessor[key] === NONE) initialSuccessor[key] = blind[key]!
    }
    const isMini = isReadModifyWrite && this.isMini
    const divergent = this.divergent.view()
    return { isReadModifyWrite, isMini, successor, initialSuccessor, divergent }
  }

  private visit(txn: number): void {
    const { txnOpStart, opKind, opKey } = this.history
    const { opSource } = this.reads
    const { readTxn, readOp } = this
    const end = txnOpStart[txn + 1]!
    let readCount = 0
    let writeCount = 0
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (opKind[op] === WRITE) {
        writeCount++
        if (readTxn[key] !== txn) this.addBlind(key, op)
        else if (readOp[key] !== NONE) this.replace(readOp[key]!)
        // What it reads of the key from now on is no version that it replaces.
        readTxn[key] = txn
        readOp[key] = NONE
      } else if (opKind[op] === READ) {
        readCount++
        if (opSource[op] === NONE || readTxn[key] === txn) continue
        readTxn[key] = txn
        readOp[key] = op
      } else this.isReadModifyWrite = false
    }
    if (readCount < 1 || readCount > 2 || writeCount > 2) this.isMini = false
  }

  private addBlind(key: number, write: number): void {
    this.isReadModifyWrite = false
    if (this.blind[key] === NONE) this.blind[key] = write
  }

  /** The transaction of this read replaces the version that it saw. */
  private replace(read: number): void {
    const version = this.history.readFrom[read]!
    const table = version === INITIAL ? this.initialSuccessor : this.successor
    const at = version === INITIAL ? this.history.opKey[read]! : version
    if (table[at] === NONE) table[at] = read
    else {
      this.divergent.push(table[at]!)
      this.divergent.push(read)
    }
  }
}
