// Commits that an audit shows to be lost, from the definition: a transaction that was acknowledged
// before the audit began replaced a version, and the audit shows that version, or one further down:
// from each write the versions that its transaction saw are followed towards the initial state. Of
// a list, every append acknowledged before must show. Main class: Audits.

import {
  APPEND,
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../history/history.ts'
import { nameRead, splitList } from './certify-reads.ts'
import type { Anomaly } from './verdict.ts'

const KNOWN = new WeakMap<History, Audits>()

export class Audits {
  private readonly keyWrites = new Map<number, number[]>() // key -> writes and appends of it
  private readonly isReplaced: Uint8Array // write op -> 1 if some transaction saw and replaced it
  private problem: string | null | undefined

  /** The same for everybody who asks about a history. */
  static of(history: History): Audits {
    const known = KNOWN.get(history) ?? new Audits(history)
    KNOWN.set(history, known)
    return known
  }

  private constructor(private readonly history: History) {
    const { txnAudit, opCount, opKind, opKey } = history
    const isAudited = txnAudit?.includes(1) ?? false
    this.isReplaced = new Uint8Array(isAudited ? opCount : 0)
    for (let op = 0; op < opCount && isAudited; op++) {
      if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
      const writes = this.keyWrites.get(opKey[op]!)
      if (writes) writes.push(op)
      else this.keyWrites.set(opKey[op]!, [op])
      const version = opKind[op] === WRITE ? this.replaced(op) : INITIAL
      if (version >= 0) this.isReplaced[version] = 1
    }
  }

  /** Whether the read, sound by itself, is of an audit and does not show a commit that it must. */
  isLosing(read: number): boolean {
    const { txnAudit, opTxn, opKey, opKind, readFrom } = this.history
    const audit = opTxn[read]!
    if (!txnAudit?.[audit]) return false
    if (opKind[read] === READ) return this.findLost(audit, opKey[read]!, readFrom[read]!).length > 0
    return this.findLostAppends(read).length > 0
  }

  /** Verifies that the transaction named first is gone for the audit that is named second. */
  certify({ ops, txns }: Anomaly): string[] {
    const { opTxn, txnCounts } = this.history
    const [read = NONE, write = NONE] = ops
    const reader = opTxn[read] ?? NONE
    if (reader === NONE || !txnCounts[reader]) return ['LostCommit: no reader that counts']
    if (!this.isLost(read, write)) return [`read ${read} does not miss write ${write}`]
    return txns.join() === [opTxn[write], reader].join() ? [] : ['LostCommit names others']
  }

  /** Whether that commit is among those that the read does not show. */
  private isLost(read: number, write: number): boolean {
    const { txnAudit, opTxn, opKey, opKind, readFrom } = this.history
    const audit = opTxn[read]!
    if (!txnAudit?.[audit] || !this.isForeign(read)) return false
    const lost =
      opKind[read] === READ
        ? this.findLost(audit, opKey[read]!, readFrom[read]!)
        : this.findLostAppends(read)
    return lost.includes(write)
  }

  /** Writes of a key, acknowledged before the audit began, that replaced what it saw. */
  findLost(audit: number, key: number, version: number): number[] {
    const { opTxn, opKind } = this.history
    if (version >= 0 && !this.isReplaced[version]) return []
    const isBuilt = new Map<number, boolean>([[INITIAL, version === INITIAL]])
    if (version !== INITIAL) isBuilt.set(version, true)
    return (this.keyWrites.get(key) ?? []).filter((write) => {
      if (opKind[write] !== WRITE || write === version) return false
      return this.isBefore(opTxn[write]!, audit) && this.isBuiltOn(write, isBuilt)
    })
  }

  /** Follows what the write replaced until something is known. @param known version -> result */
  private isBuiltOn(write: number, known: Map<number, boolean>): boolean {
    const path: number[] = []
    let at = write
    while (!known.has(at)) {
      path.push(at)
      known.set(at, false) // against circles, in which nothing leads anywhere
      at = this.replaced(at)
    }
    const result = known.get(at)!
    for (const each of path) known.set(each, result)
    return result
  }

  /** The version that the transaction of a write saw of the key, INITIAL if it saw none. */
  private replaced(write: number): number {
    const { txnOpStart, opTxn, opKind, opKey, readFrom } = this.history
    const txn = opTxn[write]!
    for (let op = write - 1; op >= txnOpStart[txn]!; op--) {
      if (opKind[op] !== READ || opKey[op] !== opKey[write]) continue
      const isOwn = readFrom[op]! >= 0 && opTxn[readFrom[op]!] === txn
      if (!isOwn && nameRead(this.history, op) === null) return readFrom[op]!
    }
    return INITIAL
  }

  private findLostAppends(read: number): number[] {
    const { opKind, opTxn, opKey, opValue, listStart, listFrom } = this.history
    if (opKind[read] !== READ_LIST || !splitList(this.history, read).sound) return []
    const list = opValue[read]!
    const shown = listFrom.subarray(listStart[list]!, listStart[list + 1]!)
    return (this.keyWrites.get(opKey[read]!) ?? []).filter(
      (append) => !shown.includes(append) && this.isBefore(opTxn[append]!, opTxn[read]!),
    )
  }

  private isBefore(txn: number, audit: number): boolean {
    const { txnStatus, txnSession, txnIndex, txnFinishTime, txnStartTime } = this.history
    if (txn === audit || txnStatus[txn] !== COMMITTED || !this.history.txnCounts[txn]) return false
    if (txnSession[txn] === txnSession[audit]) return txnIndex[txn]! < txnIndex[audit]!
    const finish = txnFinishTime?.[txn] ?? Number.NaN
    return finish < (txnStartTime?.[audit] ?? Number.NaN)
  }

  /** What is wrong with the reads of audits; null if nothing is. */
  findProblem(): string | null {
    if (this.problem === undefined) this.problem = this.lookForProblem()
    return this.problem
  }

  private lookForProblem(): string | null {
    const { txnAudit, txnCounts, txnCount, txnOpStart } = this.history
    if (!txnAudit) return null
    for (let txn = 0; txn < txnCount; txn++) {
      if (!txnAudit[txn] || !txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (this.isForeign(op) && this.isLosing(op)) return `read ${op} shows that a commit is lost`
      }
    }
    return null
  }

  /** A sound read of another's version. */
  private isForeign(op: number): boolean {
    const { opKind, readFrom, opTxn } = this.history
    if (opKind[op] === READ_LIST) return true
    if (opKind[op] !== READ || nameRead(this.history, op) !== null) return false
    return readFrom[op] !== NONE && (readFrom[op]! < 0 || opTxn[readFrom[op]!] !== opTxn[op])
  }
}
