// A multi-version store that keeps exactly the promises of one level, and no more than it must. Every
// commit with writes gets the next number; the order of numbers is the commit order that explains
// the whole history. What a transaction reads is the newest version among the commits it sees:
//
//   sser  all commits before it began; what it read must still be current when it commits
//   ser   as sser, but it may begin on an older state (not older than its session has seen)
//   si    as ser, but only what it wrote must still be current: the first committer wins
//   pc    as si, without that check
//   cc    what its session's replica has seen, closed under causality (replicas.ts)
//   ra    its own session's commits, and of the others a set drawn at random when it began
//   rc    all commits up to a moment that only moves forward from one read to the next
//
// Versions are numbers of the caller's choice (operations of a program); lists and registers alike:
// a list is the chain of its versions. Cost: O(1) a read, plus the versions it must not see yet.

import { IntColumn } from '../base/grow.ts'
import type { Random } from '../base/random.ts'
import { NONE } from '../history/history.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import { Replicas } from './replicas.ts'

const RC = CHAIN.indexOf('rc')
const RA = CHAIN.indexOf('ra')
const CC = CHAIN.indexOf('cc')
const SI = CHAIN.indexOf('si')
const SER = CHAIN.indexOf('ser')

/**
 * level -> share of transactions that begin on an older state than the newest. From si on such
 * transactions often cannot commit, so there are fewer of them; at cc the replicas see to it.
 */
const LATE_SHARE: Partial<Record<LevelId, number>> = {
  rc: 0.5,
  ra: 1,
  pc: 0.5,
  si: 0.25,
  ser: 0.25,
}

export class Store {
  /** Commits so far. */
  seq = 0
  /** How many commits behind a transaction may begin, where the level lets it. */
  lag: number

  private readonly level: number
  private readonly lateShare: number
  private readonly random: Random
  private readonly replicas: Replicas | null
  private readonly keyHead: Int32Array // key -> newest version, or NONE
  private readonly keySeq: Int32Array // key -> commit that made it
  readonly versionPrev: Int32Array // version -> version of its key before it, or NONE
  private readonly versionSeq: Int32Array // version -> commit that made it
  private readonly seqSession = new IntColumn() // commit -> session that made it

  private readonly began: Int32Array // session -> newest commit when its transaction began
  private readonly snapshot: Int32Array // session -> newest commit that its transaction sees fully
  private readonly floor: Int32Array // session -> commit that its next snapshot must contain
  private readonly nonce: Int32Array // session -> what draws its transaction's set at level ra
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
    this.level = CHAIN.indexOf(options.level)
    this.lateShare = LATE_SHARE[options.level] ?? 0
    this.lag = options.lag
    this.random = random
    this.replicas = this.level === CC ? new Replicas(sessionCount, random) : null
    this.keyHead = new Int32Array(keyCount).fill(NONE)
    this.keySeq = new Int32Array(keyCount)
    this.versionPrev = new Int32Array(versionCount).fill(NONE)
    this.versionSeq = new Int32Array(versionCount)
    this.seqSession.push(NONE)
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

  begin(session: number): void {
    const { level, seq } = this
    this.began[session] = seq
    this.writeMask[session] = 0
    this.writeKeys[session]!.length = 0
    this.writeVersions[session]!.length = 0
    this.readKeys[session]!.length = 0
    let snapshot = seq
    if (this.lateShare > 0 && this.lag > 0 && this.random.chance(this.lateShare)) {
      snapshot = Math.max(0, seq - 1 - this.random.below(this.lag))
    }
    // Below pc a session may go back in time, but for its own commits at ra and cc.
    if (level > CC && snapshot < this.floor[session]!) snapshot = this.floor[session]!
    this.snapshot[session] = snapshot
    if (level === RA) this.nonce[session] = this.random.uint32() | 0
    else if (this.replicas) this.replicas.begin(session)
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

  /** As `read`, without the transaction's own versions: what a list was before it appended to it. */
  readOthers(session: number, key: number): number {
    const { level, versionPrev, versionSeq } = this
    if (level > SI) this.readKeys[session]!.push(key)
    let version = this.keyHead[key]!
    if (level === CC) {
      const replicas = this.replicas!
      while (version >= 0 && !replicas.sees(session, versionSeq[version]!)) {
        version = versionPrev[version]!
      }
      return version
    }
    if (level === RA) {
      while (version >= 0 && !this.isDrawn(session, versionSeq[version]!)) {
        version = versionPrev[version]!
      }
      return version
    }
    let snapshot = this.snapshot[session]!
    if (level === RC && snapshot < this.seq && this.random.chance(0.5)) {
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

  /** Ends the session's transaction. False if the level does not let it commit: nothing happened. */
  commit(session: number): boolean {
    const keys = this.writeKeys[session]!
    if (keys.length > 0) {
      if (this.level >= SI && !this.isCurrent(session)) return false
      this.install(session)
      this.floor[session] = this.seq
    } else if (this.snapshot[session]! > this.floor[session]!) {
      this.floor[session] = this.snapshot[session]!
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

  /** Delivers everything everywhere; the session will never see less than this again. */
  settle(session: number): void {
    this.replicas?.settle()
    this.floor[session] = this.seq
  }

  /** First committer wins: what must not have changed since the snapshot has not. */
  private isCurrent(session: number): boolean {
    const { keySeq } = this
    const snapshot = this.snapshot[session]!
    const keys = (this.level >= SER ? this.readKeys : this.writeKeys)[session]!
    for (let i = 0; i < keys.length; i++) if (keySeq[keys.data[i]!]! > snapshot) return false
    return true
  }

  /** Level ra: is the commit in the set that the session's transaction sees? */
  private isDrawn(session: number, seq: number): boolean {
    if (seq <= this.snapshot[session]!) return true
    if (seq > this.began[session]!) return false
    if (this.seqSession.data[seq] === session) return true
    let hash = Math.imul(seq ^ this.nonce[session]!, 0x9e3779b1)
    hash ^= hash >>> 15
    hash = Math.imul(hash, 0x2c1b3c6d)
    return ((hash ^ (hash >>> 13)) & 1) === 0
  }
}
