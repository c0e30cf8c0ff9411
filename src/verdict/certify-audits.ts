// Commits that an audit shows to be lost, from the definition: a transaction that was acknowledged
// before the audit began saw a version before it wrote the key, and the audit shows that version,
// or one further down: from each write the versions that its transaction saw are followed. Where
// the audit shows the initial state, any write will do; of a list, every append acknowledged before
// must show. Main class: Audits.

import { addTo, obtain } from '../base/maps.ts'
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
import { isLastWrite, isWrite, nameRead, nameReadGiven, splitList } from './certify-reads.ts'
import type { Anomaly } from './verdict.ts'

const KNOWN = new WeakMap<History, Audits>()

export class Audits {
  private readonly keyWrites = new Map<number, number[]>() // key -> writes and appends of it
  private readonly isReplaced: Uint8Array // write op -> 1 if some transaction saw and replaced it
  private problem: string | null | undefined

  /** The same for everybody who asks about a history. */
  static of(history: History): Audits {
    return obtain(KNOWN, history, () => new Audits(history))
  }

  private constructor(private readonly history: History) {
    const { txnAudit, opCount, opKind, opKey } = history
    const isAudited = txnAudit?.includes(1) ?? false
    this.isReplaced = new Uint8Array(isAudited ? opCount : 0)
    for (let op = 0; op < opCount && isAudited; op++) {
      if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
      addTo(this.keyWrites, opKey[op]!, op)
      if (opKind[op] !== WRITE) continue
      for (const version of this.replaced(op)) this.isReplaced[version] = 1
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
    const offence = opKind[read] === READ ? nameRead(this.history, read) : null
    if (!txnAudit?.[audit] || !this.isForeign(read, offence)) return false
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
    const shown = version >= 0 ? opTxn[version] : NONE
    const built = version === INITIAL ? null : this.findBuiltOn(key, version)
    return (this.keyWrites.get(key) ?? []).filter((write) => {
      if (opKind[write] !== WRITE || opTxn[write] === shown) return false
      if (!this.isBefore(opTxn[write]!, audit)) return false
      return built === null || built.has(opTxn[write]!)
    })
  }

  /** Who saw the version before writing the key, or a version by somebody who did. */
  private findBuiltOn(key: number, version: number): Set<number> {
    const { opTxn } = this.history
    const writes = this.keyWrites.get(key) ?? []
    const versionsOf = new Map<number, number[]>() // version -> those who saw it and wrote the key
    for (const write of writes) {
      for (const seen of this.replaced(write)) {
        versionsOf.set(seen, [...(versionsOf.get(seen) ?? []), opTxn[write]!])
      }
    }
    const built = new Set(versionsOf.get(version))
    // A set that grows while it is gone through.
    for (const txn of built) {
      for (const write of writes) {
        if (opTxn[write] !== txn) continue
        for (const next of versionsOf.get(write) ?? []) built.add(next)
      }
    }
    return built
  }

  /** The versions that the transaction of a write saw of the key before it wrote it. */
  private replaced(write: number): number[] {
    const { txnOpStart, opTxn, opKind, opKey, readFrom, txnCounts } = this.history
    const txn = opTxn[write]!
    const versions: number[] = []
    if (!txnCounts[txn]) return versions
    for (let op = write - 1; op >= txnOpStart[txn]!; op--) {
      if (opKind[op] !== READ || opKey[op] !== opKey[write] || readFrom[op]! < 0) continue
      const isOwn = opTxn[readFrom[op]!] === txn
      if (!isOwn && nameRead(this.history, op) === null) versions.push(readFrom[op]!)
    }
    return versions
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
    const { txnAudit, txnCounts, txnCount } = this.history
    if (!txnAudit) return null
    for (let txn = 0; txn < txnCount; txn++) {
      if (!txnAudit[txn] || !txnCounts[txn]) continue
      const problem = this.problemOf(txn)
      if (problem !== null) return problem
    }
    return null
  }

  /** An audit may read all keys there are: its own writes are remembered, not looked for each time. */
  private problemOf(audit: number): string | null {
    const { history } = this
    const { txnOpStart, opKind, opKey, readFrom } = history
    const own = new Map<number, number>() // key -> the last write of it so far
    for (let op = txnOpStart[audit]!; op < txnOpStart[audit + 1]!; op++) {
      if (isWrite(history, op)) own.set(opKey[op]!, op)
      let offence: string | null = null
      if (opKind[op] === READ) {
        const isLast = readFrom[op]! >= 0 && isLastWrite(history, readFrom[op]!)
        offence = nameReadGiven(history, op, own.get(opKey[op]!) ?? NONE, isLast, true)
      }
      if (!this.isForeign(op, offence) || !this.isLosing(op)) continue
      return `read ${op} shows that a commit is lost`
    }
    return null
  }

  /**
   * A sound read of another's version.
   * @param offence what is wrong with a read of a register by itself
   */
  private isForeign(op: number, offence: string | null): boolean {
    const { opKind, readFrom, opTxn } = this.history
    if (opKind[op] === READ_LIST) return true
    if (opKind[op] !== READ || offence !== null) return false
    return readFrom[op] !== NONE && (readFrom[op]! < 0 || opTxn[readFrom[op]!] !== opTxn[op])
  }
}
