// Linearizability where every transaction uses one key (Gibbons and Korach 1997, for reads that
// tell which write they saw). A version, whoever read it, and whoever read and replaced it form a
// block: nobody else's write can come in between. So the order sought is one of blocks. A block
// must come before another if something in it finished before something in the other started, that
// is, if its earliest finish is before the other's latest start; and if any circle of blocks must
// come before one another, then some two of them must. So it is enough to sort the blocks of a key
// by the earlier of these two moments, and to look whether that order agrees with real time. What
// contradicts it are a few operations of one block, or of two: the suspects, on which the general
// engine then finds the evidence. Keys do not influence one another (Herlihy and Wing's locality).
// O(n log n). Main function: findOneKeyOrders.

import { COMMITTED, type History, INITIAL, NONE, READ, WRITE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export interface OneKeyOrders {
  /** The transactions with sound reads, key by key, each key's in an order they can have had. */
  readonly orders: readonly Int32Array[]
  /** Transactions that contradict one another, of which the first such key is told; else null. */
  readonly suspects: readonly number[] | null
}

/** Null if some transaction that counts uses two keys, or a list. The history has times. */
export function findOneKeyOrders(history: History, reads: ReadCheck): OneKeyOrders | null {
  if (!usesOneKeyEach(history)) return null
  return new BlockOrders(history, reads).run()
}

function usesOneKeyEach({ txnCount, txnCounts, txnOpStart, opKind, opKey }: History): boolean {
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue
    const first = txnOpStart[txn]!
    const end = txnOpStart[txn + 1]!
    if (first === end) return false
    for (let op = first; op < end; op++) {
      if (opKey[op] !== opKey[first]) return false
      if (opKind[op] !== READ && opKind[op] !== WRITE) return false
    }
  }
  return true
}

/** Two places of the order. */
type Pair = readonly [one: number, other: number]

/** What stands together in any order: order[from .. to). */
interface Block {
  readonly from: number
  readonly to: number
  readonly firstFinish: number
  readonly lastStart: number
}

class BlockOrders {
  // A version is its write, or opCount + key for the initial one.
  private readonly firstReader: Int32Array // version -> who only read it
  private readonly nextReader: Int32Array // txn -> the next one that only read the same version
  private readonly replacer: Int32Array // version -> txn that read and replaced it, or NONE
  private readonly written: Int32Array // txn -> its last write, or NONE
  private readonly source: Int32Array // txn -> the version it read of another, or NONE
  private readonly heads: number[][] // key -> versions whose writer had not read the key
  private readonly order: Int32Array
  private length = 0

  constructor(
    private readonly history: History,
    reads: ReadCheck,
  ) {
    const { txnCount, txnCounts, txnOpStart, opCount, keyCount, opKind, opKey, readFrom } = history
    this.firstReader = new Int32Array(opCount + keyCount).fill(NONE)
    this.nextReader = new Int32Array(txnCount).fill(NONE)
    this.replacer = new Int32Array(opCount + keyCount).fill(NONE)
    this.written = new Int32Array(txnCount).fill(NONE)
    this.source = new Int32Array(txnCount).fill(NONE)
    this.heads = Array.from({ length: keyCount }, (_, key) => [opCount + key])
    this.order = new Int32Array(txnCount)
    for (let txn = 0; txn < txnCount; txn++) {
      if (!txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opKind[op] === WRITE) this.written[txn] = op
        else if (reads.opSource[op] !== NONE) {
          this.source[txn] = readFrom[op] === INITIAL ? opCount + opKey[op]! : readFrom[op]!
        }
      }
    }
  }

  run(): OneKeyOrders {
    const { keyCount } = this.history
    const twice = this.link()
    if (twice !== null) return { orders: [], suspects: twice }
    const orders: Int32Array[] = []
    for (let key = 0; key < keyCount; key++) {
      const found = this.orderKey(key)
      if (!(found instanceof Int32Array)) return { orders: [], suspects: found }
      if (found.length > 0) orders.push(found)
    }
    return { orders, suspects: this.findCircle() }
  }

  /** Finds who read and who replaced each version; two who replaced the same one, if there are. */
  private link(): number[] | null {
    const { txnCount, txnCounts, opKey, opTxn } = this.history
    const { source, written, replacer, firstReader, nextReader } = this
    for (let txn = txnCount - 1; txn >= 0; txn--) {
      if (!txnCounts[txn]) continue
      const [version, write] = [source[txn]!, written[txn]!]
      if (version === NONE) {
        if (write !== NONE) this.heads[opKey[write]!]!.push(write)
      } else if (write === NONE) {
        nextReader[txn] = firstReader[version]!
        firstReader[version] = txn
      } else if (replacer[version] === NONE) replacer[version] = txn
      else return [txn, replacer[version]!, ...(version < opTxn.length ? [opTxn[version]!] : [])]
    }
    return null
  }

  /** The order of a key's transactions, or those that contradict it. */
  private orderKey(key: number): Int32Array | number[] {
    const begin = this.length
    const blocks: Block[] = []
    for (const head of this.heads[key]!) {
      const from = this.length
      const contrary = this.addBlock(head)
      if (contrary !== null) return this.among(from, contrary)
      if (this.length > from) blocks.push(this.measure(from, head))
    }
    blocks.sort((a, b) => momentOf(a) - momentOf(b) || Number(isForward(a)) - Number(isForward(b)))
    const sorted = new Int32Array(this.length - begin)
    let length = 0
    let latest: Block | null = null // of those so far, the one with the latest start
    for (const block of blocks) {
      if (latest && block.firstFinish < latest.lastStart) return this.suspectsOf(latest, block)
      sorted.set(this.order.subarray(block.from, block.to), length)
      length += block.to - block.from
      if (!latest || block.lastStart > latest.lastStart) latest = block
    }
    return sorted
  }

  /** The version, its readers, who replaced it, and so on. Two that cannot be in this order. */
  private addBlock(head: number): Pair | null {
    const { opCount, opTxn, txnStartTime } = this.history
    const start = txnStartTime!
    const begin = this.length
    if (head < opCount) this.order[this.length++] = opTxn[head]!
    for (let version = head; ; ) {
      this.addReaders(version)
      const next = this.replacer[version]!
      if (next === NONE) break
      this.order[this.length++] = next
      version = this.written[next]!
    }
    let latest = Number.NEGATIVE_INFINITY
    for (let place = begin; place < this.length; place++) {
      const txn = this.order[place]!
      const finish = this.finishOf(txn)
      if (finish < latest) {
        let nearest = place
        while (start[this.order[nearest]!]! <= finish) nearest--
        return [nearest, place]
      }
      latest = Math.max(latest, start[txn]!)
    }
    return null
  }

  private addReaders(version: number): void {
    const start = this.history.txnStartTime!
    const begin = this.length
    for (let txn = this.firstReader[version]!; txn !== NONE; txn = this.nextReader[txn]!) {
      this.order[this.length++] = txn
    }
    this.order.subarray(begin, this.length).sort((a, b) => start[a]! - start[b]!)
  }

  private measure(from: number, head: number): Block {
    const start = this.history.txnStartTime!
    const to = this.length
    let firstFinish = Number.POSITIVE_INFINITY
    let lastStart = Number.NEGATIVE_INFINITY
    for (let place = from; place < to; place++) {
      const txn = this.order[place]!
      firstFinish = Math.min(firstFinish, this.finishOf(txn))
      lastStart = Math.max(lastStart, start[txn]!)
    }
    // The initial state was there before anything finished.
    if (head >= this.history.opCount) firstFinish = Number.NEGATIVE_INFINITY
    return { from, to, firstFinish, lastStart }
  }

  /** Indeterminate transactions never finish. */
  private finishOf(txn: number): number {
    const { txnStatus, txnFinishTime } = this.history
    return txnStatus[txn] === COMMITTED ? txnFinishTime![txn]! : Number.POSITIVE_INFINITY
  }

  /** Of two blocks that must come before one another, as few as show it; the first is the earlier. */
  private suspectsOf(one: Block, other: Block): number[] {
    const [early, late] = this.nearest(one, other)
    const told = {
      firstFinish: early < one.from ? one.firstFinish : this.finishOf(this.order[early]!),
      lastStart: this.history.txnStartTime![this.order[late]!]!,
    }
    const pair = this.nearest(other, told)
    return [...this.among(one.from, [early, late]), ...this.among(other.from, pair)]
  }

  /**
   * One that finished before a start of the others, and one that started after a finish of theirs,
   * as close together in the block as they are. The initial state has the place before the first.
   */
  private nearest(block: Block, others: Pick<Block, 'firstFinish' | 'lastStart'>): Pair {
    const start = this.history.txnStartTime!
    const isInitial = block.firstFinish === Number.NEGATIVE_INFINITY
    let early = isInitial ? block.from - 1 : Number.NEGATIVE_INFINITY
    let late = Number.NEGATIVE_INFINITY
    let found: Pair = [early, late]
    let least = Number.POSITIVE_INFINITY
    for (let place = block.from; place < block.to; place++) {
      const txn = this.order[place]!
      if (this.finishOf(txn) < others.lastStart) early = place
      if (start[txn]! > others.firstFinish) late = place
      const distance = Math.abs(early - late)
      if (distance < least) {
        least = distance
        found = [early, late]
      }
    }
    return found
  }

  /** These of a block, with those who wrote the versions from the first to the last of them. */
  private among(from: number, [one, other]: Pair): number[] {
    let first = Math.max(from, Math.min(one, other))
    while (first > from && this.written[this.order[first]!] === NONE) first--
    const told: number[] = []
    for (let place = first; place <= Math.max(one, other); place++) {
      const txn = this.order[place]!
      if (place === one || place === other || this.written[txn] !== NONE) told.push(txn)
    }
    return told
  }

  /** Transactions that read from one another in a circle, so that no block reaches them. */
  private findCircle(): number[] | null {
    const { txnCount, opTxn } = this.history
    const isPlaced = new Uint8Array(txnCount)
    for (const txn of this.order.subarray(0, this.length)) isPlaced[txn] = 1
    const sources = this.source
    let at = sources.findIndex((version, txn) => version !== NONE && !isPlaced[txn])
    if (at === NONE) return null
    const seen = new Set<number>()
    for (; !seen.has(at); at = opTxn[sources[at]!]!) seen.add(at)
    const circle = [at]
    for (let txn = opTxn[sources[at]!]!; txn !== at; txn = opTxn[sources[txn]!]!) circle.push(txn)
    return circle
  }
}

/** Where something finished before something else of the block started. */
function isForward({ firstFinish, lastStart }: Block): boolean {
  return firstFinish < lastStart
}

function momentOf({ firstFinish, lastStart }: Block): number {
  return Math.min(firstFinish, lastStart)
}
