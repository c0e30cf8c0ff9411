// The store as a database: sessions open transactions, read and write keys and values of their own
// choice, and commit. A fault asked for strikes a share of the transactions: such a transaction
// runs by the rule of the strongest level that still allows the fault, or meets what the fault does
// (a commit that keeps nothing, a read of uncommitted writes, a write applied twice). Whether that
// shows depends on what the workload does; nothing here plans ahead, as strikes of a simulation do.

import { assert } from '../base/errors.ts'
import { Random } from '../base/random.ts'
import { NONE } from '../history/history.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { Fault } from './faults.ts'
import { FORK, type Rule, ruleOf, Store } from './store.ts'

export interface LiveOptions {
  readonly level: LevelId
  readonly seed: number
  readonly sessionCount: number
  readonly faults: readonly Fault[]
  /** Share of the transactions that a fault strikes. */
  readonly faultShare: number
}

/** fault -> the rule by which its transactions run; the others do something of their own. */
const RULES: Readonly<Record<string, Rule>> = {
  'non-repeatable-read': ruleOf('rc'),
  'fractured-read': ruleOf('rc'),
  'session-order-violation': ruleOf('rc'),
  'causality-violation': ruleOf('ra'),
  'long-fork': FORK,
  'lost-update': ruleOf('pc'),
  'write-skew': ruleOf('si'),
  'stale-read': ruleOf('ser'),
  'real-time-violation': ruleOf('ser'),
}

/** Faults whose transactions read what others have not committed yet. */
const UNCOMMITTED = new Set(['dirty-read', 'aborted-read', 'intermediate-read'])

export class LiveStore {
  private readonly store: Store
  private readonly random: Random
  private readonly level: Rule
  private readonly faults: readonly Fault[]
  private readonly faultShare: number
  private readonly keys = new SymbolTable()
  private readonly values: Value[] = [] // version -> value
  private readonly open: Map<number, number>[] // session -> key -> last version it wrote
  private readonly struck: (string | null)[] // session -> fault that strikes its transaction
  private readonly hasRead: Uint8Array // session -> 1 if its transaction has read from others
  private thinAir = 0 // the last value that was read and never written
  private readonly doomed: Uint8Array // session -> 1 if its transaction must not commit

  constructor(given: Partial<LiveOptions> & { level: LevelId }) {
    const { seed = 1, sessionCount = 64, faults = [], faultShare = 0.05 } = given
    const random = new Random(seed)
    this.random = random.fork(1)
    this.level = ruleOf(given.level)
    this.faults = faults
    this.faultShare = faultShare
    this.open = Array.from({ length: sessionCount }, () => new Map())
    this.struck = new Array<string | null>(sessionCount).fill(null)
    this.doomed = new Uint8Array(sessionCount)
    this.hasRead = new Uint8Array(sessionCount)
    this.store = new Store({
      level: given.level,
      sessionCount,
      keyCount: 1024,
      versionCount: 1024,
      lag: sessionCount,
      random: random.fork(2),
    })
  }

  begin(session: number): void {
    assert(session < this.open.length, 'a session below the number of sessions asked for')
    this.open[session]!.clear()
    this.doomed[session] = 0
    this.hasRead[session] = 0
    const strikes = this.faults.length > 0 && this.random.chance(this.faultShare)
    const fault = strikes ? this.random.pick(this.faults).name : null
    this.struck[session] = fault
    const rule = (fault === null ? undefined : RULES[fault]) ?? this.level
    // A store that is weaker than the fault needs shows it without help.
    const isWeaker = rule === FORK ? this.level >= ruleOf('pc') : rule < this.level
    this.store.begin(session, isWeaker ? rule : this.level)
  }

  /** The value of a register; undefined if it has its initial one. */
  read(session: number, key: Value): Value | undefined {
    const version = this.find(session, this.keyOf(key), true)
    return version === NONE ? undefined : this.values[version]
  }

  /** The elements of a list, oldest first. */
  readList(session: number, key: Value): Value[] {
    const id = this.keyOf(key)
    const elements: Value[] = []
    let version = this.find(session, id, false)
    for (; version !== NONE; version = this.store.versionPrev[version]!) {
      elements.push(this.values[version]!)
    }
    elements.reverse()
    for (const own of this.store.openVersions(session, id)) elements.push(this.values[own]!)
    return elements
  }

  /** Writes a register, or appends to a list: which it is depends on how the key is read. */
  write(session: number, key: Value, value: Value): void {
    const id = this.keyOf(key)
    const version = this.addVersion(value)
    // Who reads it before it is committed finds it behind the version before it.
    this.store.versionPrev[version] = this.open[session]!.get(id) ?? this.store.newest(id)
    this.store.write(session, id, version)
    this.open[session]!.set(id, version)
  }

  /** False if the transaction could not commit and was rolled back. */
  commit(session: number): boolean {
    const { store, struck } = this
    const written = [...this.open[session]!]
    this.open[session]!.clear()
    if (this.doomed[session]) return false
    if (struck[session] === 'lost-write' && written.length > 0) return true
    const replaced = written.map(([key]) => store.newest(key))
    if (!store.commit(session)) return false
    if (struck[session] === 'duplicate-delivery') this.deliverAgain(session, written, replaced)
    return true
  }

  rollback(session: number): void {
    this.open[session]!.clear()
  }

  /** The version that the session's transaction finds; its own only if `own`. */
  private find(session: number, key: number, own: boolean): number {
    const { store, struck, open } = this
    const fault = struck[session]!
    const ownVersion = open[session]!.get(key)
    if (ownVersion !== undefined && own) {
      if (fault === 'not-my-own-write') return store.readOthers(session, key)
      if (fault === 'not-my-last-write') return store.openVersions(session, key)[0]!
    }
    if (fault !== null && ownVersion === undefined) {
      if (fault === 'thin-air-read') return this.addVersion(--this.thinAir)
      if (fault === 'non-monotonic-read' && this.hasRead[session]) {
        const version = store.readOthers(session, key)
        return version === NONE ? NONE : store.versionPrev[version]!
      }
      this.hasRead[session] = 1
      if (fault === 'stale-initial-read') return NONE
      if (UNCOMMITTED.has(fault)) {
        const writer = open.findIndex((writes, other) => other !== session && writes.has(key))
        if (writer !== NONE) {
          if (fault === 'aborted-read') this.doomed[writer] = 1
          return open[writer]!.get(key)!
        }
      }
    }
    return own ? store.read(session, key) : store.readOthers(session, key)
  }

  /** Applies the versions that a commit replaced once more, on top of it. */
  private deliverAgain(session: number, written: [number, number][], replaced: number[]): void {
    this.store.begin(session)
    written.forEach(([key], i) => {
      if (replaced[i] === NONE) return
      this.store.write(session, key, this.addVersion(this.values[replaced[i]!]!))
    })
    this.store.install(session)
  }

  private addVersion(value: Value): number {
    this.values.push(value)
    this.store.grow(0, this.values.length)
    return this.values.length - 1
  }

  private keyOf(key: Value): number {
    const id = this.keys.of(key)
    this.store.grow(id + 1, 0)
    return id
  }
}
