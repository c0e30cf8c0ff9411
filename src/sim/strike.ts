// Runs a fault's script against the store. All other sessions stand still meanwhile (they may be in
// the middle of transactions), so a read "as it was before" means the newest version when the
// script began, and the strike adds exactly the dependencies its script tells of. The transactions
// that gave way lend it their planned operations, where these touch no key of its others.

import type { Random } from '../base/random.ts'
import { ABORTED, APPEND, COMMITTED, NONE, READ, READ_LIST, WRITE } from '../history/history.ts'
import type { Plan } from '../workload/plan.ts'
import { THIN_AIR } from './execution.ts'
import type { FaultStrike } from './faults.ts'
import type { PlacedScript } from './placement.ts'
import type { Schedule } from './schedule.ts'
import { FROM_INITIAL, type Script, type ScriptStep } from './script.ts'
import type { Store } from './store.ts'

export type Strike = PlacedScript<Script>

/** The parts of a running simulation that a strike works on. */
export interface World {
  readonly plan: Plan
  readonly store: Store
  readonly random: Random
  readonly isList: boolean
  readonly keyIsUsed: Uint8Array // key -> 1 if a strike has used it before
  /** Adds an operation to a transaction of the strike. */
  addOp(txn: number, kind: number, key: number, from: number): number
  readonly schedule: Pick<Schedule<Script>, 'beginTxn' | 'endTxn'>
  /** Read -> writes that it showed as no state of the store would: of a register one, see THIN_AIR. */
  readonly shown: Map<number, readonly number[]>
}

/** What ends a transaction: a commit that is lost is one that the store does not carry out. */
const ENDS: ReadonlySet<string> = new Set(['commit', 'lose', 'abort'])

/** How many operations a role of the strike has at most. */
export function strikeOpCount(plan: Plan, strike: Strike, role: number): number {
  const txn = strike.txns[role]!
  const planned = plan.txnOpStart[txn + 1]! - plan.txnOpStart[txn]!
  return planned + strike.script.steps.filter((step) => step.txn === role).length
}

export class StrikeRun {
  private readonly script: Script
  private readonly keys: number[] // key of the script -> key
  private readonly before: number[] // key of the script -> its newest version when it began
  private readonly writes: number[][][] // role, key of the script -> its writes so far
  private readonly ahead: number[] = [] // reads that show the write to come
  private readonly extras: number[][] // role -> planned ops that it does as well
  private readonly extrasFirst: boolean[] // role -> before the script, rather than after it

  constructor(
    private readonly world: World,
    private readonly strike: Strike,
  ) {
    const { script } = strike
    this.script = script
    this.keys = []
    for (let key = 0; key < script.keyCount; key++) this.keys.push(this.chooseKey(key))
    this.before = this.keys.map((key) => world.store.newest(key))
    this.writes = strike.txns.map(() => this.keys.map(() => []))
    this.extras = this.chooseExtras()
    this.extrasFirst = strike.txns.map(() => world.random.chance(0.5))
  }

  run(): FaultStrike {
    const { world, strike, script } = this
    const settle = () => {
      for (const session of strike.sessions) world.store.settle(session)
    }
    settle()
    const readsFirst = this.before.map((version) => version !== NONE || world.random.chance(0.5))
    const isNeeded = ({ need, key }: ScriptStep) =>
      need === 'always' || world.plan.readsBeforeWrites || (need === 'order' && readsFirst[key]!)
    for (const step of script.steps) {
      const txn = strike.txns[step.txn]!
      const session = strike.sessions[script.txnSession[step.txn]!]!
      if (step.verb === 'begin') {
        world.schedule.beginTxn(txn)
        world.store.begin(session)
        if (this.extrasFirst[step.txn]) this.runExtras(step.txn, session)
      } else if (step.verb === 'write') this.runWrite(step, txn, session)
      else if (ENDS.has(step.verb)) {
        if (!this.extrasFirst[step.txn]) this.runExtras(step.txn, session)
        if (step.verb === 'commit') world.store.install(session)
        settle()
        world.schedule.endTxn(txn, step.verb === 'abort' ? ABORTED : COMMITTED)
      } else if (isNeeded(step)) this.runRead(step, txn)
    }
    return { fault: script.fault.name, txns: strike.txns, keys: this.keys }
  }

  private runRead(step: ScriptStep, txn: number): void {
    const { world } = this
    const key = this.keys[step.key]!
    let from = NONE
    if (step.from === NONE) from = this.before[step.key]!
    else if (step.from !== FROM_INITIAL) {
      const writes = this.writes[step.from]![step.key]!
      from = writes.at(step.nth === NONE ? -1 : step.nth)!
    }
    const read = world.addOp(txn, world.isList ? READ_LIST : READ, key, from)
    if (step.verb === 'ahead') this.ahead.push(read)
    const more = this.shownBehind(step, from)
    if (more !== null) world.shown.set(read, this.shownUpTo(step, more))
  }

  /** What a read shows that no state of the store has; null if there is such a state. */
  private shownBehind({ verb, txn, key, from, nth }: ScriptStep, seen: number): number[] | null {
    if (verb === 'guess') return [THIN_AIR]
    if (!this.world.isList) return null
    if (verb === 'miss') return []
    // The element was appended a second time: it stands at the end of the list as it is now.
    if (verb === 'again') return [seen]
    if (from !== txn) return null
    return this.writes[txn]![key]!.slice(0, nth + 1)
  }

  /** Those writes behind the elements of the list when the script began, or now; or they alone. */
  private shownUpTo({ verb, key }: ScriptStep, more: readonly number[]): number[] {
    const { store, isList } = this.world
    const elements: number[] = []
    let at = isList ? (verb === 'again' ? store.newest(this.keys[key]!) : this.before[key]!) : NONE
    for (; at !== NONE; at = store.versionPrev[at]!) elements.push(at)
    return [...elements.reverse(), ...more]
  }

  private runWrite(step: ScriptStep, txn: number, session: number): void {
    const { world } = this
    const key = this.keys[step.key]!
    const own = this.writes[step.txn]![step.key]!
    const op = world.addOp(txn, world.isList ? APPEND : WRITE, key, NONE)
    // Who reads it before it is committed finds it behind what was there before.
    world.store.versionPrev[op] = own.at(-1) ?? this.before[step.key]!
    world.store.write(session, key, op)
    own.push(op)
    for (const read of this.ahead.splice(0)) world.shown.set(read, this.shownUpTo(step, [op]))
  }

  private runExtras(role: number, session: number): void {
    const { world, strike } = this
    const { opKind, opKey } = world.plan
    const txn = strike.txns[role]!
    const own = new Map<number, number>() // key -> this transaction's last write of it
    for (const planned of this.extras[role]!) {
      const kind = opKind[planned]!
      const key = opKey[planned]!
      if (kind === READ) world.addOp(txn, kind, key, own.get(key) ?? world.store.newest(key))
      else if (kind === READ_LIST) world.addOp(txn, kind, key, world.store.newest(key))
      else {
        const op = world.addOp(txn, kind, key, NONE)
        world.store.write(session, key, op)
        own.set(key, op)
      }
    }
  }

  /** A key that no other strike used and that one of the transactions was to touch anyway. */
  private chooseKey(key: number): number {
    const { world, strike, script } = this
    const { plan, random, store, keyIsUsed } = world
    const writer = [...script.keyWriters[key]!][0]
    const owner = writer === undefined ? NONE : strike.sessions[writer]!
    const isAllowed = (candidate: number) =>
      !this.keys.includes(candidate) &&
      (!plan.disjointWrites || candidate % plan.sessionCount === owner)
    const isPreferred = (candidate: number) =>
      (store.newest(candidate) === NONE) === (script.fault.unwritten ?? false)
    const candidates: number[] = []
    for (const txn of strike.txns) {
      for (let op = plan.txnOpStart[txn]!; op < plan.txnOpStart[txn + 1]!; op++) {
        candidates.push(plan.opKey[op]!)
      }
    }
    random.shuffle(candidates)
    for (let i = 0; i < 64; i++) candidates.push(this.anyKey(owner))
    const allowed = candidates.filter(isAllowed)
    const fresh = allowed.filter((candidate) => !keyIsUsed[candidate])
    let chosen = fresh.find(isPreferred) ?? fresh[0] ?? allowed[0]
    for (let next = 0; chosen === undefined; next++) if (isAllowed(next)) chosen = next
    keyIsUsed[chosen] = 1
    return chosen
  }

  private anyKey(owner: number): number {
    const { plan, random } = this.world
    if (!plan.disjointWrites) return random.below(plan.keyCount)
    const ownCount = Math.ceil((plan.keyCount - owner) / plan.sessionCount)
    return owner + plan.sessionCount * random.below(ownCount)
  }

  private chooseExtras(): number[][] {
    const { world, strike, script } = this
    const { plan } = world
    const holder = new Map<number, number>() // key -> role whose extras touch it
    for (const key of this.keys) holder.set(key, NONE)
    return strike.txns.map((txn, role) => {
      const extras: number[] = []
      if (plan.readsBeforeWrites || script.alone.has(role)) return extras
      for (let op = plan.txnOpStart[txn]!; op < plan.txnOpStart[txn + 1]!; op++) {
        const key = plan.opKey[op]!
        if (!holder.has(key)) holder.set(key, role)
        if (holder.get(key) === role) extras.push(op)
      }
      return extras
    })
  }
}
