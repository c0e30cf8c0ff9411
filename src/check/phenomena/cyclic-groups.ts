// Which transactions can lie on a cycle of what is known at any level: the strongly connected
// components of session order, reads-from, known orders of versions and the anti-dependencies that
// follow from these. The graph of a level (dependencies.ts) has no cycle but inside one of them,
// nor has that of fewer transactions, whose edges are paths here. In a history that is right but
// for some faults they are few and small, so that only these are looked at closely. Versions that
// many replaced have a node of their own, and so has the last known version of each key.
// O(operations). Main function: findCyclicGroups.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { addTo } from '../../base/maps.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findComponents } from '../../graph/scc.ts'
import { type History, INITIAL, NONE, READ } from '../../history/history.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import type { ListVersions } from '../reads/list-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/**
 * Groups of two and more, each in the order given, the one with the first transaction first.
 * @param txns those that it is about
 * @param known txn -> its component if somebody else has found that, NONE if it is alone
 */
export function findCyclicGroups(
  history: History,
  reads: ReadCheck,
  txns: Int32Array,
  deadline: Deadline,
  known: Int32Array | null = null,
): Int32Array[] {
  const componentOf = known ?? findKnownComponents(history, reads, txns, deadline)
  const members = new Map<number, number[]>() // component -> its transactions
  for (const txn of txns) {
    const component = componentOf[txn]!
    if (component === NONE) continue
    addTo(members, component, txn)
  }
  return [...members.values()]
    .filter((group) => group.length > 1)
    .map((group) => Int32Array.from(group))
}

function findKnownComponents(
  history: History,
  reads: ReadCheck,
  txns: Int32Array,
  deadline: Deadline,
): Int32Array {
  const { nodeCount, from, to } = new KnownOrder(history, reads, txns, deadline)
  const csr = buildCsr(nodeCount, from.data, to.data, from.length)
  const { componentOf } = findComponents(csr, deadline)
  const size = new Int32Array(nodeCount) // component -> transactions
  for (const txn of txns) size[componentOf[txn]!]!++
  return componentOf.map((component) => (size[component]! < 2 ? NONE : component))
}

/** What is known, as edges between transactions and nodes that stand for versions. */
class KnownOrder {
  nodeCount: number // transactions, keys (who replaced the last known version), further versions
  readonly from: IntColumn
  readonly to: IntColumn
  private readonly isOfThese: Uint8Array // txn -> 1
  private readonly lastWrite: Int32Array // write op -> its transaction's last of the key
  private readonly isShown: Uint8Array // last write op -> 1 if a list shows it
  private readonly next: Int32Array // last write op -> node of those who replaced it, or NONE
  private readonly first: Int32Array // key -> node of those who replaced the initial state

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    txns: Int32Array,
    deadline: Deadline,
  ) {
    const { txnCount, opCount, keyCount } = history
    this.nodeCount = txnCount + keyCount
    // About as many as there will be: an edge of a session each, of a write one, of a read two.
    this.from = new IntColumn(txnCount + 2 * opCount)
    this.to = new IntColumn(txnCount + 2 * opCount)
    this.isOfThese = new Uint8Array(txnCount)
    for (const txn of txns) this.isOfThese[txn] = 1
    this.lastWrite = new Int32Array(opCount)
    this.isShown = new Uint8Array(opCount)
    this.next = new Int32Array(opCount).fill(NONE)
    this.first = new Int32Array(keyCount)
    for (let key = 0; key < keyCount; key++) this.first[key] = txnCount + key
    this.addSessions()
    this.findLastWrites(txns)
    if (reads.versions !== null) this.addLists(reads.versions)
    this.addReplacements(txns)
    deadline.check()
    for (const txn of txns) this.addReads(txn)
    deadline.check()
  }

  private add(from: number, to: number): void {
    this.from.push(from)
    this.to.push(to)
  }

  private addSessions(): void {
    const { sessionTxns, txnSession } = this.history
    let last: number = NONE
    for (const txn of sessionTxns) {
      if (!this.isOfThese[txn]) continue
      if (last !== NONE && txnSession[last] === txnSession[txn]) this.add(last, txn)
      last = txn
    }
  }

  private findLastWrites(txns: Int32Array): void {
    const { history, lastWrite } = this
    const { txnOpStart, opKey, keyCount } = history
    const writer = new Int32Array(keyCount).fill(NONE) // key -> who wrote it, of those gone through
    const write = new Int32Array(keyCount) // key -> that one's last write
    for (const txn of txns) {
      for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
        if (!isWrite(history, op)) continue
        const key = opKey[op]!
        if (writer[key] !== txn) write[key] = op
        writer[key] = txn
        lastWrite[op] = write[key]!
      }
    }
  }

  /** The orders that lists show. */
  private addLists({ orderStart, order }: ListVersions): void {
    const { isOfThese, isShown, lastWrite, next } = this
    const { keyCount, opTxn } = this.history
    for (let key = 0; key < keyCount; key++) {
      let later = this.first[key]!
      for (let i = orderStart[key + 1]! - 1; i >= orderStart[key]!; i--) {
        const txn = opTxn[order[i]!]!
        const write = lastWrite[order[i]!]!
        if (!isOfThese[txn] || isShown[write]) continue
        isShown[write] = 1
        next[write] = later
        this.add(txn, later)
        later = txn
      }
      this.first[key] = later
    }
  }

  /** Who read a version and wrote the key; and who wrote what no list shows. */
  private addReplacements(txns: Int32Array): void {
    const { history, lastWrite, isShown } = this
    const { txnOpStart, opKey, keyCount, txnCount } = history
    const writer = new Int32Array(keyCount).fill(NONE) // key -> who wrote it, of those gone through
    for (const txn of txns) {
      const [start, end] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
      for (let op = start; op < end; op++) {
        if (!isWrite(history, op)) continue
        writer[opKey[op]!] = txn
        if (lastWrite[op] === op && !isShown[op]) this.add(txnCount + opKey[op]!, txn)
      }
      for (let op = start; op < end; op++) {
        if (writer[opKey[op]!] !== txn || !this.isFromThese(op)) continue
        this.addReplacement(this.versionOf(op), txn)
      }
    }
  }

  private addReplacement(version: number, txn: number): void {
    const { next } = this
    const known = next[version]!
    if (known === NONE) next[version] = txn
    else if (known >= this.history.txnCount) this.add(known, txn)
    else if (known !== txn) {
      next[version] = this.nodeCount++
      this.add(next[version], known)
      this.add(next[version], txn)
    }
  }

  private addReads(txn: number): void {
    const { txnOpStart, opKey } = this.history
    const { opSource } = this.reads
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      let replacing: number = NONE
      if (opSource[op] === INITIAL) replacing = this.first[opKey[op]!]!
      else if (this.isFromThese(op)) {
        this.add(opSource[op]!, txn)
        replacing = this.next[this.versionOf(op)]!
      }
      if (replacing !== NONE && replacing !== txn) this.add(txn, replacing)
    }
  }

  private isFromThese(op: number): boolean {
    const source = this.reads.opSource[op]!
    return source >= 0 && this.isOfThese[source] === 1
  }

  /** The last write of whom a read saw. */
  private versionOf(read: number): number {
    const { opKind, readFrom } = this.history
    const version = (opKind[read] === READ ? readFrom : this.reads.versions!.readFrom)[read]!
    return this.lastWrite[version]!
  }
}
