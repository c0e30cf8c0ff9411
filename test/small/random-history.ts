// Seeded random small histories. The transactions are made one after another, in the order of a
// pretended commit order, each with a set of earlier transactions that it sees: all of them, a
// prefix, a set closed under what those saw, or any set. A read returns the newest version it sees
// with probability `freshness`, else any version of the key. So every level is satisfied by many of
// the histories and violated by many, and the levels fall apart. Aborted and indeterminate
// transactions, times, lists, values that nobody wrote and repeated writes are mixed in on request.
// Main function: randomHistory.

import { Random } from '../../src/base/random.ts'
import type { StatusName } from '../../src/history/history.ts'
import type { Value } from '../../src/history/values.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'

export interface RandomShape {
  readonly sessions: number
  readonly txns: number // at most 30
  readonly maxOps: number // per transaction
  readonly keys: number
  readonly reads: number // share of operations
  /** blind: any writes; rmw: each write after a read of its key; mini: rmw on at most two keys. */
  readonly style: 'blind' | 'rmw' | 'mini'
  /** What a transaction sees: meant for ser, pc, cc and ra in turn. */
  readonly sight: 'all' | 'prefix' | 'causal' | 'any'
  readonly freshness: number // how likely a read returns the newest version that is seen
  readonly aborted: number // share of transactions
  readonly indeterminate: number // share of transactions
  readonly thinAir: number // share of reads
  readonly wild: number // share of reads that return any value of the key, even a later one
  readonly rewrites: boolean // a transaction may write a key twice
  readonly times: boolean
  readonly after: number // share of pairs of which the later one names the earlier one
  readonly lead: number // transactions that spell out the initial state first
  readonly lists: number // share of keys that are lists
  readonly initial: Value | undefined
  readonly valuesPerKey: boolean // keys share values, else every value is written once
  readonly broken: number // share of reads that return no row, or several
  readonly audits: number // share of transactions that are audits
}

/** A shape of its own for each seed, at most six transactions; `fixed` overrides parts of it. */
export function shapeOf(seed: number, fixed: Partial<RandomShape> = {}): RandomShape {
  const random = new Random(seed)
  const sometimes = (probability: number, value: number) => (random.chance(probability) ? value : 0)
  const shape: RandomShape = {
    sessions: 1 + random.below(5),
    txns: 3 + random.below(4),
    maxOps: 2 + random.below(3),
    keys: random.pick([1, 2, 2, 3]),
    reads: random.pick([0.4, 0.5, 0.6, 0.7]),
    style: random.pick(['blind', 'blind', 'rmw', 'mini'] as const),
    sight: random.pick(['all', 'prefix', 'prefix', 'causal', 'causal', 'any'] as const),
    freshness: random.pick([0.5, 0.8, 0.9, 1, 1]),
    aborted: sometimes(0.2, 0.2),
    indeterminate: sometimes(0.25, 0.3),
    thinAir: sometimes(0.03, 0.1),
    wild: sometimes(0.15, random.pick([0.1, 0.3])),
    rewrites: random.chance(0.15),
    times: random.chance(0.6),
    lists: 0,
    initial: random.pick([0, 0, 0, 0, null, undefined]),
    valuesPerKey: random.chance(0.5),
    lead: sometimes(0.15, 1 + random.below(2)),
    broken: 0,
    audits: 0,
    after: sometimes(0.1, 0.2),
  }
  return { ...shape, ...fixed }
}

export function randomHistory(seed: number, shape: RandomShape): Draft {
  return new HistoryMaker(new Random(seed ^ 0x5eed), shape).run()
}

interface Version {
  readonly value: Value
  readonly by: number // -1: the initial state
}

class HistoryMaker {
  private readonly random: Random
  private readonly shape: RandomShape
  private readonly versions: Version[][] // key -> every version so far, in the pretended order
  private readonly hidden: Version[][] // key -> versions that never took effect
  private readonly written = new Map<Value, Value[]>() // key's name -> all values ever written
  private readonly isList: boolean[]
  private readonly sees: number[] = [] // txn -> mask of those it sees
  private valueCount = 0

  constructor(random: Random, shape: RandomShape) {
    this.random = random
    this.shape = shape
    const start = shape.initial === undefined ? [] : [{ value: shape.initial, by: -1 }]
    this.isList = Array.from({ length: shape.keys }, () => random.chance(shape.lists))
    this.versions = this.isList.map((isList) => (isList ? [] : start.slice()))
    this.hidden = this.isList.map(() => [])
  }

  run(): Draft {
    const { random, shape } = this
    const sessions: DraftTxn[][] = Array.from({ length: shape.sessions }, () => [])
    const clocks = new Array<number>(shape.sessions).fill(0) // session -> last finish
    const finishes: number[] = [] // txn -> its finish, or the last that is known of it
    const earlier = new Array<number>(shape.sessions).fill(0) // session -> mask of its transactions
    for (let t = 0; t < shape.txns; t++) {
      const session = random.below(shape.sessions)
      const named = this.chooseNamed(t)
      for (let other = 0; other < t; other++) {
        if ((named >> other) & 1) clocks[session] = Math.max(clocks[session]!, finishes[other]!)
      }
      this.sees.push(this.chooseSight(t, earlier[session]! | named))
      const made = this.withNames(this.makeTxn(t), t, named)
      const txn = shape.times ? this.withTimes(made, t, clocks, session) : made
      sessions[session]!.push(txn)
      finishes.push(txn.finish ?? txn.start ?? 0)
      earlier[session]! |= 1 << t
    }
    const used = sessions.filter((txns) => txns.length > 0)
    const draft = { initial: shape.initial, sessions: used.map((txns) => this.withWildReads(txns)) }
    const registers = this.isList.flatMap((isList, key) => (isList ? [] : [nameOf(key)]))
    if (shape.initial === undefined || shape.lead === 0 || registers.length === 0) return draft
    return { ...draft, lead: this.spellOut(shape.initial, registers) }
  }

  /** Earlier transactions that transaction t names; drawn only where some are wanted. */
  private chooseNamed(t: number): number {
    let mask = 0
    if (this.shape.after === 0) return mask
    for (let other = 0; other < t; other++) {
      if (this.random.chance(this.shape.after)) mask |= 1 << other
    }
    return mask
  }

  private withNames(txn: DraftTxn, t: number, named: number): DraftTxn {
    if (this.shape.after === 0) return txn
    const others = Array.from({ length: t }, (_, other) => other)
    const after = others.filter((other) => (named >> other) & 1).map((other) => `N${other}`)
    return { ...txn, id: `N${t}`, after }
  }

  /** Before all else, in any session, at times that allow it or at none. */
  private spellOut(initial: Value, keys: readonly string[]): NonNullable<Draft['lead']> {
    const { random, shape } = this
    return Array.from({ length: shape.lead }, (_, i) => {
      const written = random.shuffle([...keys]).slice(0, 1 + random.below(2))
      const ops = written.map((key): DraftOp => ({ kind: 'w', key, value: initial }))
      const times = shape.times && random.chance(0.5) ? { start: 2 * i - 5, finish: 2 * i - 4 } : {}
      return {
        session: random.below(shape.sessions + 1),
        txn: { status: 'committed', ops, ...times },
      }
    })
  }

  /** The transactions that transaction t sees, those before it in its session among them. */
  private chooseSight(t: number, session: number): number {
    const { random, shape } = this
    const all = (1 << t) - 1
    if (shape.sight === 'all') return all
    if (shape.sight === 'prefix') return (all >> random.below(t + 1)) | upTo(session)
    let mask = session | (random.uint32() & random.uint32() & all)
    if (shape.sight === 'any') return mask
    for (let other = t - 1; other >= 0; other--) {
      if ((mask >> other) & 1) mask |= this.sees[other]!
    }
    return mask
  }

  private makeTxn(t: number): DraftTxn {
    const { random, shape } = this
    const status = this.chooseStatus()
    const ops: DraftOp[] = []
    const seen = new Set<number>() // keys read so far
    const own = new Map<number, Value[]>() // key -> values written so far by this transaction
    const keys = random.shuffle(Array.from({ length: shape.keys }, (_, key) => key))
    const usable = shape.style === 'mini' ? keys.slice(0, 2) : keys
    const length = 1 + random.below(shape.maxOps)
    while (ops.length < length) {
      const key = random.pick(usable)
      const readOnly = own.has(key) && !shape.rewrites
      const mustRead = shape.style !== 'blind' && !seen.has(key)
      if (readOnly || mustRead || random.chance(shape.reads)) {
        const read = this.read(t, key, own.get(key) ?? [])
        ops.push(shape.broken > 0 && random.chance(shape.broken) ? this.breakRows(t, read) : read)
        seen.add(key)
        if (!mustRead || random.chance(0.4)) continue
      }
      const value = this.newValue(key)
      ops.push({ kind: this.isList[key] ? 'append' : 'w', key: nameOf(key), value })
      own.set(key, [...(own.get(key) ?? []), value])
    }
    const effective = status === 'committed' || (status !== 'aborted' && random.chance(0.6))
    for (const [key, values] of own) {
      const target = effective ? this.versions : this.hidden
      target[key]!.push(...values.map((value) => ({ value, by: t })))
    }
    const isAudit = shape.audits > 0 && random.chance(shape.audits)
    return isAudit ? { status, ops, audit: true } : { status, ops }
  }

  private chooseStatus(): StatusName {
    if (this.random.chance(this.shape.aborted)) return 'aborted'
    return this.random.chance(this.shape.indeterminate) ? 'indeterminate' : 'committed'
  }

  private read(t: number, key: number, own: readonly Value[]): DraftOp {
    if (this.isList[key]) return this.readList(t, key, own)
    const { random, shape } = this
    const name = nameOf(key)
    if (random.chance(shape.thinAir)) return { kind: 'r', key: name, value: -1 - random.below(3) }
    if (own.length > 0 && random.chance(0.95)) {
      return { kind: 'r', key: name, value: random.chance(0.95) ? own.at(-1)! : random.pick(own) }
    }
    const versions = this.versions[key]!
    const inSight = versions.filter(({ by }) => by < 0 || (this.sees[t]! >> by) & 1)
    if (random.chance(shape.freshness) && inSight.length > 0) {
      return { kind: 'r', key: name, value: inSight.at(-1)!.value }
    }
    const pool = random.chance(0.1) ? [...versions, ...this.hidden[key]!] : versions
    return { kind: 'r', key: name, value: pool.length === 0 ? -9 : random.pick(pool).value }
  }

  /** No row, or what was read and something else beside it. */
  private breakRows(t: number, read: DraftOp): DraftOp {
    const { key } = read
    if (this.random.chance(0.5)) return { kind: 'rows', key, rows: [] }
    const other = this.read(t, namesOf.indexOf(String(key)), [])
    if (read.kind === 'list' && other.kind === 'list') {
      return { kind: 'rows', key, rows: [[...read.list], [...other.list]] }
    }
    if (read.kind !== 'r' || other.kind !== 'r') return read
    return { kind: 'rows', key, rows: [read.value, other.value] }
  }

  /** Mostly the appends up to the newest in sight; sometimes something that cannot be. */
  private readList(t: number, key: number, own: readonly Value[]): DraftOp {
    const { random, shape } = this
    const versions = this.versions[key]!
    let length = versions.findLastIndex(({ by }) => (this.sees[t]! >> by) & 1) + 1
    if (!random.chance(shape.freshness)) {
      length = random.below(versions.length + 1)
      // A prefix that ends inside a transaction is an intermediate read: not too many of them.
      const next = versions[length - 1]?.by
      if (random.chance(0.8)) length = versions.findLastIndex(({ by }) => by === next) + 1
    }
    const list = versions.slice(0, length).map(({ value }) => value)
    list.push(...own)
    const spoilt = random.chance(0.04) ? this.spoil(list, key) : list
    return { kind: 'list', key: nameOf(key), list: spoilt }
  }

  private spoil(list: readonly Value[], key: number): Value[] {
    const { random } = this
    const spoilt = list.slice()
    const pool = [...this.versions[key]!, ...this.hidden[key]!]
    switch (random.below(4)) {
      case 0:
        return random.shuffle(spoilt)
      case 1:
        spoilt.splice(random.below(spoilt.length + 1), 0, -7)
        return spoilt
      case 2:
        spoilt.splice(random.below(spoilt.length + 1), 1)
        return spoilt
      default:
        if (pool.length > 0) spoilt.push(random.pick(pool).value)
        return spoilt
    }
  }

  private newValue(key: number): Value {
    const name = nameOf(key)
    const written = this.written.get(name) ?? []
    this.valueCount++
    const value = this.shape.valuesPerKey ? written.length + 1 : this.valueCount
    this.written.set(name, [...written, value])
    return value
  }

  private withWildReads(txns: readonly DraftTxn[]): DraftTxn[] {
    const change = (op: DraftOp): DraftOp => {
      if (op.kind !== 'r' || !this.random.chance(this.shape.wild)) return op
      const written = this.written.get(op.key) ?? []
      return written.length === 0 ? op : { ...op, value: this.random.pick(written) }
    }
    return txns.map((txn) => ({ ...txn, ops: txn.ops.map(change) }))
  }

  /** Around the instant of the transaction's turn; now and then real time contradicts the order. */
  private withTimes(txn: DraftTxn, turn: number, clocks: number[], session: number): DraftTxn {
    const { random } = this
    const middle = turn * 2 + (random.chance(0.1) ? random.below(9) - 4 : 0)
    const start = Math.max(clocks[session]!, middle - random.below(4))
    const finish = Math.max(start, middle + random.below(4))
    clocks[session] = finish
    // Nobody knows when an indeterminate transaction ended, if it did.
    if (txn.status === 'indeterminate' && random.chance(0.5)) {
      clocks[session] = start
      return { ...txn, start }
    }
    return { ...txn, start, finish }
  }
}

/** All transactions up to the last one of the mask. */
function upTo(mask: number): number {
  return mask === 0 ? 0 : (1 << (32 - Math.clz32(mask))) - 1
}

const namesOf = ['x', 'y', 'z', 'u', 'v']

function nameOf(key: number): string {
  return namesOf[key] ?? `k${key}`
}
