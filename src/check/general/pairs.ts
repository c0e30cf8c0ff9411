// What transactions read, pair by pair (a read, a row), in program order: first pairs whose writer
// is given, then conflicts, rows passed over of which some version satisfies the predicate, with
// those who may have written the version seen. Transaction 0 is the initial one. O(size of the
// problem). Main class: Pairs.

import { lowerBound } from '../../base/search.ts'
import { NONE } from '../../history/history.ts'
import { CC, PC } from '../problem/levels.ts'
import { IN, type MixedProblem } from '../problem/mixed-problem.ts'

export class Pairs {
  readonly fixedCount: number // pairs below this are given, those from here on are conflicts
  readonly count: number
  readonly key: Int32Array // pair -> key
  readonly read: Int32Array // pair -> read; those of a transaction ascend
  readonly reader: Int32Array // pair -> txn
  readonly txnStart: Int32Array // txn -> its first slot in `ofTxn`; one more entry at the end
  readonly ofTxn: Int32Array // slot -> pair, in the order of the reads
  readonly looseStart: Int32Array // txn -> its first slot in `loose`; one more entry at the end
  readonly loose: Int32Array // slot -> pair that is not listed with the version it read
  readonly zeroStart: Int32Array // conflict -> its first candidate; one more entry at the end
  readonly zero: Int32Array // candidate -> txn whose version does not satisfy the predicate
  readonly state: Uint8Array // txn -> OUT, IN, MAYBE
  readonly session: Int32Array // txn -> session, NONE for the initial transaction
  readonly index: Int32Array // txn -> place in its session
  readonly hasCausal: boolean // whether some transaction is at cc
  private lazyWriters: Int32Array | null = null

  /** @param localKey key of the rows -> key, NONE if nobody writes it */
  constructor(
    readonly rows: MixedProblem,
    localKey: Int32Array,
    private readonly versions: { readonly keyStart: Int32Array; readonly versionTxn: Int32Array },
  ) {
    const { history, nodeCount, txnOf, fixedKey, openCount, openKey, openRead, readNode } = rows
    this.fixedCount = fixedKey.length
    this.count = fixedKey.length + openCount
    this.key = new Int32Array(this.count)
    for (let i = 0; i < fixedKey.length; i++) this.key[i] = localKey[fixedKey[i]!]!
    for (let i = 0; i < openCount; i++) this.key[fixedKey.length + i] = localKey[openKey[i]!]!
    this.read = new Int32Array(this.count)
    this.read.set(openRead, this.fixedCount)
    for (let read = 0; read < rows.readCount; read++) {
      this.read.fill(read, rows.fixedStart[read]!, rows.fixedStart[read + 1]!)
    }
    this.reader = this.read.map((read) => readNode[read]!)
    this.zeroStart = rows.zeroStart
    this.zero = rows.zeroNode
    this.state = rows.state
    this.txnStart = new Int32Array(nodeCount + 1)
    this.ofTxn = this.listPairs()
    this.looseStart = new Int32Array(nodeCount + 1)
    this.loose = this.listLoose()
    this.session = new Int32Array(nodeCount).fill(NONE)
    this.index = new Int32Array(nodeCount).fill(NONE)
    for (let node = 1; node < nodeCount; node++) {
      this.session[node] = history.txnSession[txnOf[node]!]!
      this.index[node] = history.txnIndex[txnOf[node]!]!
    }
    this.hasCausal = rows.level.some((level, node) => level === CC && rows.state[node] !== 0)
  }

  /** Slot of a key, as `keyStart` has them -> its writers, session by session. */
  get writersBySession(): Int32Array {
    this.lazyWriters ??= this.sortWriters()
    return this.lazyWriters
  }

  /** The candidate of a conflict that is this transaction, NONE if there is none. */
  findCandidate(open: number, txn: number): number {
    const end = this.zeroStart[open + 1]!
    const at = lowerBound(this.zero, txn, this.zeroStart[open]!, end)
    return at < end && this.zero[at] === txn ? at : NONE
  }

  /** The only transaction that a pair can have read from whatever is decided, NONE if unknown. */
  onlySource(pair: number): number {
    if (pair < this.fixedCount) return this.rows.fixedNode[pair]!
    const open = pair - this.fixedCount
    const first = this.zeroStart[open]!
    if (this.zeroStart[open + 1]! - first !== 1 || this.state[this.reader[pair]!] !== IN)
      return NONE
    return this.state[this.zero[first]!] === IN ? this.zero[first]! : NONE
  }

  private listPairs(): Int32Array {
    const { readCount, readNode, fixedStart, openStart } = this.rows
    const pairs = new Int32Array(this.count)
    let count = 0
    for (let read = 0; read < readCount; read++) {
      for (let i = fixedStart[read]!; i < fixedStart[read + 1]!; i++) pairs[count++] = i
      for (let i = openStart[read]!; i < openStart[read + 1]!; i++) {
        pairs[count++] = this.fixedCount + i
      }
      this.txnStart[readNode[read]! + 1] = count
    }
    for (let node = 1; node < this.txnStart.length; node++) {
      if (this.txnStart[node] === 0) this.txnStart[node] = this.txnStart[node - 1]!
    }
    return pairs
  }

  private listLoose(): Int32Array {
    const { level, nodeCount } = this.rows
    const loose = new Int32Array(this.count)
    let count = 0
    for (let txn = 0; txn < nodeCount; txn++) {
      const isListed = level[txn]! >= PC && this.state[txn] === IN
      for (let i = this.txnStart[txn]!; i < this.txnStart[txn + 1]!; i++) {
        if (!isListed || this.ofTxn[i]! >= this.fixedCount) loose[count++] = this.ofTxn[i]!
      }
      this.looseStart[txn + 1] = count
    }
    return loose.slice(0, count)
  }

  private sortWriters(): Int32Array {
    const { keyStart, versionTxn } = this.versions
    const { session, index } = this
    const writers = versionTxn.slice()
    for (let key = 0; key + 1 < keyStart.length; key++) {
      if (keyStart[key + 1]! - keyStart[key]! <= 1) continue
      writers
        .subarray(keyStart[key]!, keyStart[key + 1]!)
        .sort((a, b) => session[a]! - session[b]! || index[a]! - index[b]!)
    }
    return writers
  }
}
