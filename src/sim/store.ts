// A multi-version store that keeps exactly the promises of one level, and no more than it must.
// Every commit with writes gets the next number; the order of numbers is the commit order that
// explains the whole history. What a transaction reads is the newest version among the commits it
// sees:
//
//   sser  all commits before it began; what it read must still be current when it commits
//   ser   as sser, but it may begin on an older state (not older than its session has seen)
//   si    as ser, but only what it wrote must still be current: the first committer wins
//   pc    as si, without that check
//   cc    what its session's replica has seen, closed under causality (replicas.ts)
//   ra    its own session's commits, and of the others a set drawn at random when it began
//   rc    all commits up to a moment that only moves forward from one read to the next
//
// A single transaction can be run by the rule of a weaker level, which is how a store misbehaves.
// There is one rule more for that, for stores whose transactions see prefixes of the commit order:
//
//   fork  what its session has seen, and of the later commits a set that is closed under causality
//
// Versions are numbers of the caller's choice (operations of a plan); lists and registers alike:
// a list is the chain of its versions. Cost: O(1) a read, plus the versions it must not see yet.

import { enlarged, IntColumn } from '../base/grow.ts'
import type { Random } from '../base/random.ts'
import { NONE } from '../history/history.ts'
import { mix } from '../history/number-pages.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { Replicas } from './replicas.ts'

/** By which rule a transaction runs: the level's place in the chain, or FORK. */
export type Rule = number

export const ruleOf = (level: LevelId): Rule => CHAIN.indexOf(level)

const RC = ruleOf('rc')
const RA = ruleOf('ra')
const CC = ruleOf('cc')
const PC = ruleOf('pc')
const SI = ruleOf('si')
const SER = ruleOf('ser')
const SSER = ruleOf('sser')
export const FORK: Rule = CHAIN.length

/**
 * rule -> share of transactions that begin on an older state than the newest. From si on such
 * transactions often cannot commit, so there are fewer of them; at cc the replicas see to it.
 */
const LATE_SHARE = [0.5, 1, 0, 0.5, 0.25, 0.25, 0, 0]

export class Store {
  /** Commits so far. */
  seq = 0
  /** How many commits behind a transaction may begin, where the level lets it. */
  lag: number

  private readonly level: Rule
  private readonly random: Random
  private readonly replicas: Replicas | null
  private keyHead: Int32Array // key -> newest version, or NONE
  private keySeq: Int32Array // key -> commit that made it
  versionPrev: Int32Array // version -> version of its key before it, or NONE
  private versionSeq: Int32Array // version -> commit that made it
  private readonly seqSession = new IntColumn() // commit -> session that made it
  private readonly seqCauses = new IntColumn() // commit -> newest commit its txn may have seen

  private readonly rule: Uint8Array // session -> rule of its transaction
  private readonly began: Int32Array // session -> newest commit when its transaction began
  private readonly snapshot: Int32Array // session -> newest commit that its transaction sees fully
  private readonly floor: Int32Array // session -> commit that its next snapshot must contain
  private readonly nonce: Int32Array // session -> what draws its transaction's set of commits
  private readonly writeMask: Int32Array // session -> bit per key % 32 that it wrote
  private readonly writeKeys: IntColumn[] // session -> keys written, in order
  private readonly writeVersions: IntColumn[] // session -> versions written, in order
  private readonly readKeys: IntColumn[] // session -> keys read, where a commit must check them

  constructor(options: {
    level: LevelId
    sessionCount: number
    keyCount: number
    versionCount: number
    lag: number
    random: Random
  }) {
    const { sessionCount, keyCount, versionCount, random } = options
    this.level = ruleOf(options.level)
    this.lag = options.lag
    this.random = random
    this.replicas = this.level === CC ? new Replicas(sessionCount, random) : null
    this.keyHead = new Int32Array(keyCount).fill(NONE)
    this.keySeq = new Int32Array(keyCount)
    this.versionPrev = new Int32Array(versionCount).fill(NONE)
    this.versionSeq = new Int32Array(versionCount)
    this.seqSession.push(NONE)
    this.seqCauses.push(0)
    this.rule = new Uint8Array(sessionCount)
    this.began = new Int32Array(sessionCount)
    this.snapshot = new Int32Array(sessionCount)
    this.floor = new Int32Array(sessionCount)
    this.nonce = new Int32Array(sessionCount)
    this.writeMask = new Int32Array(sessionCount)
    const columns = () => Array.from({ length: sessionCount }, () => new IntColumn(16))
    this.writeKeys = columns()
    this.writeVersions = columns()
    this.readKeys = columns()
  }

  /** Makes room for keys and versions below these numbers. */
  grow(keyCount: number, versionCount: number): void {
    if (keyCount > this.keyHead.length) {
      const length = Math.max(keyCount, this.keyHead.length * 2)
      this.keyHead = enlarged(this.keyHead, length, NONE)
      this.keySeq = enlarged(this.keySeq, length)
    }
    if (versionCount > this.versionPrev.length) {
      const length = Math.max(versionCount, this.versionPrev.length * 2)
      this.versionPrev = enlarged(this.versionPrev, length, NONE)
      this.versionSeq = enlarged(this.versionSeq, length)
    }
  }

  /** Opens a transaction; `rule` is that of the store's level unless it is to misbehave. */
  begin(session: number, rule: Rule = this.level): void {
    const { seq } = this
    this.rule[session] = rule
    this.began[session] = seq
    this.writeMask[session] = 0
    this.writeKeys[session]!.length = 0
    this.writeVersions[session]!.length = 0
    this.readKeys[session]!.length = 0
    let snapshot = seq
    const late = rule === this.level ? LATE_SHARE[rule]! : 1
    if (late > 0 && this.lag > 0 && this.random.chance(late)) {
      snapshot = Math.max(0, seq - 1 - this.random.below(this.lag))
    }
    // Below pc a session may go back in time, but for its own commits at ra and cc.
    if (rule >= PC && snapshot < this.floor[session]!) snapshot = this.floor[session]!
    this.snapshot[session] = snapshot
    if (rule === CC) this.replicas!.begin(session)
    else if (rule === RA || rule === FORK) this.nonce[session] = this.random.uint32() | 0
    if (rule === FORK) this.snapshot[session] = this.beforeFirstMissing(session)
  }

  /** The version the session's transaction sees, its own included; NONE is the initial state. */
  read(session: number, key: number): number {
    if (this.writeMask[session]! & (1 << (key & 31))) {
      const keys = this.writeKeys[session]!
      for (let i = keys.length - 1; i >= 0; i--) {
        if (keys.data[i] === key) return this.writeVersions[session]!.data[i]!
      }
    }
    return this.readOthers(session, key)
  }

  /** As `read`, without the transaction's own versions: what a list was before it appended. */
  readOthers(session: number, key: number): number {
    const { versionPrev, versionSeq } = this
    const rule = this.rule[session]!
    if (rule === SER || rule === SSER) this.readKeys[session]!.push(key)
    let version = this.keyHead[key]!
    if (rule === CC) {
      const replicas = this.replicas!
      while (version >= 0 && !replicas.sees(session, versionSeq[version]!)) {
        version = versionPrev[version]!
      }
      return version
    }
    if (rule === RA || rule === FORK) {
      while (version >= 0 && !this.isInSet(session, versionSeq[version]!)) {
        version = versionPrev[version]!
      }
      return version
    }
    let snapshot = this.snapshot[session]!
    if (rule === RC && snapshot < this.seq && this.random.chance(0.5)) {
      snapshot = this.seq
      this.snapshot[session] = snapshot
    }
    if (this.keySeq[key]! <= snapshot) return version
    while (version >= 0 && versionSeq[version]! > snapshot) version = versionPrev[version]!
    return version
  }

  write(session: number, key: number, version: number): void {
    this.writeMask[session]! |= 1 << (key & 31)
    this.writeKeys[session]!.push(key)
    this.writeVersions[session]!.push(version)
  }

  /** Ends the session's transaction. False if its level forbids to commit: nothing happened. */
  commit(session: number): boolean {
    const rule = this.rule[session]!
    if (this.writeKeys[session]!.length > 0) {
      if (rule >= SI && rule !== FORK && !this.isCurrent(session)) return false
      this.install(session)
      this.floor[session] = this.seq
    } else {
      const isPrefix = rule >= PC && rule !== FORK
      const seen = isPrefix ? this.snapshot[session]! : this.began[session]!
      if (seen > this.floor[session]!) this.floor[session] = seen
    }
    return true
  }

  /** Makes what the session's transaction wrote the newest, whatever the level says. */
  install(session: number): void {
    const { keyHead, keySeq, versionPrev, versionSeq } = this
    const keys = this.writeKeys[session]!
    const versions = this.writeVersions[session]!
    const seq = ++this.seq
    this.seqSession.push(session)
    this.seqCauses.push(
      this.rule[session] === FORK ? this.began[session]! : this.snapshot[session]!,
    )
    for (let i = 0; i < keys.length; i++) {
      const key = keys.data[i]!
      const version = versions.data[i]!
      versionPrev[version] = keyHead[key]!
      versionSeq[version] = seq
      keyHead[key] = version
      keySeq[key] = seq
    }
    this.replicas?.commit(session)
  }

  /** The newest committed version of the key, or NONE. */
  newest(key: number): number {
    return this.keyHead[key]!
  }

  /** What the session's open transaction wrote to the key, oldest first. */
  openVersions(session: number, key: number): number[] {
    const keys = this.writeKeys[session]!
    const versions: number[] = []
    for (let i = 0; i < keys.length; i++) {
      if (keys.data[i] === key) versions.push(this.writeVersions[session]!.data[i]!)
    }
    return versions
  }

  /** Delivers everything everywhere; the session will never see less than this again. */
  settle(session: number): void {
    this.replicas?.settle()
    this.floor[session] = this.seq
  }

  /** First committer wins: what must not have changed since the snapshot has not. */
  private isCurrent(session: number): boolean {
    const { keySeq } = this
    const snapshot = this.snapshot[session]!
    const keys = (this.rule[session] === SI ? this.writeKeys : this.readKeys)[session]!
    for (let i = 0; i < keys.length; i++) if (keySeq[keys.data[i]!]! > snapshot) return false
    return true
  }

  /** Rules ra, fork: is the commit in the set that the session's transaction sees? */
  private isInSet(session: number, seq: number): boolean {
    const snapshot = this.snapshot[session]!
    if (seq <= snapshot) return true
    if (seq > this.began[session]!) return false
    if (this.rule[session] === FORK && this.seqCauses.data[seq]! > snapshot) return false
    return this.seqSession.data[seq] === session || this.isDrawn(session, seq)
  }

  /** Rule fork: up to here everything is seen, of what follows only what does not depend on it. */
  private beforeFirstMissing(session: number): number {
    let seq = this.floor[session]!
    while (seq < this.seq && this.isDrawn(session, seq + 1)) seq++
    return seq
  }

  /** Tosses the coin of this transaction for a commit; the same coin every time. */
  private isDrawn(session: number, seq: number): boolean {
    return (mix(seq ^ this.nonce[session]!, 0) & 1) === 0
  }
}
