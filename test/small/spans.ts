// Small histories of counters, of range reads, of sets and of compare-and-sets that failed without
// telling what they found, and what the definitions say of them. A draft of registers says who does
// what; `asCounters`, `withUntold`, `withRanges` and `asSets` give its operations another meaning,
// and spell out as drafts of registers every way to read them, which the oracle judges. Shares no
// code with src/history but the builder. Main functions: asCounters, withUntold, withRanges,
// asSets, compareWays.

import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import { chooseWriters } from '../../src/check/writers/choose-writers.ts'
import { HistoryBuilder, NOT_TOLD } from '../../src/history/builder.ts'
import { type History, hasTimes, STATUS_NAMES } from '../../src/history/history.ts'
import { CAS } from '../../src/history/light.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { Value } from '../../src/history/values.ts'
import type { LevelRequest } from '../../src/levels/levels.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'
import { type Bounds, smallHistories } from './enumerate.ts'
import { ORACLE_LEVELS, type OracleLevel, profileOf, type Verdict } from './oracle.ts'
import type { RandomShape } from './random-history.ts'

/** A history, with every way to read it as one of registers. */
export interface Ways {
  readonly history: History
  readonly ways: readonly Draft[]
}

/** Which orders count. */
export interface Orders {
  readonly sessionOrder: boolean
  readonly realTime: boolean
}

/** Linearizability is strict serializability of whole transactions, whatever their sessions. */
export const JUDGED: readonly (OracleLevel | 'lin')[] = [...ORACLE_LEVELS, 'lin']

const BEST_FIRST: readonly Verdict[] = ['satisfied', 'unknown', 'violated']

/** Level by level, what the axioms say; throws where the checker says something else. */
export function compareWays({ history, ways }: Ways, orders: Orders, levels = JUDGED): Verdict[] {
  const profiles = ways.map((way) => profileOf(way, orders))
  const linear = ways.map((way) => profileOf(way, { sessionOrder: false }).sser)
  const told = (level: OracleLevel | 'lin') =>
    level === 'lin' ? linear : profiles.map((each) => each[level])
  return levels.map((level) => {
    const truth = BEST_FIRST.find((verdict) => told(level).includes(verdict))!
    const judged = judgeAt(history, { level, ...orders })
    const isUntimed = history.writers !== null && !hasTimes(history)
    if (level === 'lin' && isUntimed && judged.verdict === 'unknown') return 'unknown'
    const isProved = truth === 'unknown' || judged.certificate?.verified === true
    if (judged.verdict === truth && isProved) return truth
    const proof = isProved ? '' : ', without a verified certificate'
    const found = `${level} is ${judged.verdict}, not ${truth}${proof}`
    throw new Error(`${found} (${judged.reason})\n${renderNotation(history)}`)
  })
}

export function judgeAt(history: History, request: LevelRequest): LevelResult {
  return history.writers ? chooseWriters(history, request) : check(history, request)
}

/** More ways than these are left to others. */
const MOST = 200

/** Every write of the draft adds to a counter, every read is of its total. */
function asCounters(draft: Draft, seed: number): Ways | null {
  const random = new Random(seed)
  const txns = draft.sessions.flat()
  const weights = random.pick([[1], [1, 2], [2, 3, 1], [1, 2, 4, 8]])
  const by = new Map<DraftOp, number>()
  for (const { ops } of txns) {
    for (const op of ops) if (op.kind === 'w') by.set(op, random.pick(weights))
  }
  return countersOf(draft, by, (own, others) => {
    const isSeen = () => random.chance(0.6)
    let total = own
    for (const added of others) if (isSeen()) total += added
    if (random.chance(0.03)) total += 1
    if (random.chance(0.1)) total -= own
    return total
  })
}

/**
 * Every history of counters within bounds: the writes add 1 each, or 1, 2, 4, … in turn, and reads
 * return any total up to one more than there is.
 */
export function* allCounters(
  bounds: Bounds,
  variants: (draft: Draft) => Iterable<Draft> = (draft) => [draft],
): Generator<Ways | null> {
  for (const skeleton of smallHistories(bounds)) {
    const ops = skeleton.sessions.flat().flatMap((txn) => txn.ops)
    // What reads of registers return is nothing to counters: one of each skeleton will do.
    if (ops.some((op) => op.kind === 'r' && op.value !== 0)) continue
    for (const draft of variants(skeleton)) yield* allTotals(draft, ops)
  }
}

function* allTotals(draft: Draft, ops: readonly DraftOp[]): Generator<Ways | null> {
  const writes = ops.filter(({ kind }) => kind === 'w')
  const reads = ops.filter(({ kind }) => kind === 'r')
  for (const weight of [() => 1, (i: number) => 2 ** i]) {
    const by = new Map(writes.map((op, i) => [op, weight(i)]))
    const most = writes.reduce((all, op) => all + by.get(op)!, 2)
    for (let choice = 0; choice < most ** reads.length; choice++) {
      let rest = choice
      yield countersOf(draft, by, () => {
        const total = rest % most
        rest = Math.floor(rest / most)
        return total
      })
    }
  }
}

/** @param choose the total that a read returns, given what its own transaction and others add */
function countersOf(
  draft: Draft,
  by: ReadonlyMap<DraftOp, number>,
  choose: (own: number, others: readonly number[]) => number,
): Ways | null {
  const txns = draft.sessions.flat()
  const shares = sharesOf(txns, by)
  const totals = new Map<DraftOp, number>()
  const sets = new Map<DraftOp, number[][]>() // read -> transactions that it may have seen
  txns.forEach(({ ops, status }, txn) => {
    let own = new Map<Value, number>()
    for (const op of ops) {
      if (op.kind === 'w') own = own.set(op.key, (own.get(op.key) ?? 0) + by.get(op)!)
      if (op.kind !== 'r') continue
      const others = [...(shares.get(op.key) ?? [])].filter(([each]) => each !== txn)
      const added = own.get(op.key) ?? 0
      const total = choose(
        added,
        others.map(([, share]) => share),
      )
      totals.set(op, total)
      if (status === 'aborted') continue
      sets.set(op, subsets(others, total - added))
    }
  })
  const reads = [...sets.keys()]
  const count = reads.reduce((all, read) => all * Math.max(1, sets.get(read)!.length), 1)
  if (count > MOST) return null
  const ways = Array.from({ length: count }, (_, number) => {
    let rest = number
    const seen = new Map<DraftOp, number[] | null>()
    for (const read of reads) {
      const all = sets.get(read)!
      seen.set(read, all[rest % Math.max(1, all.length)] ?? null)
      rest = Math.floor(rest / Math.max(1, all.length))
    }
    return spellOut(draft, by, shares, seen)
  })
  return { history: buildCounters(draft, by, totals), ways }
}

/** Counter -> transaction that adds to it, and took effect or may have -> how much. */
function sharesOf(txns: readonly DraftTxn[], by: ReadonlyMap<DraftOp, number>) {
  const shares = new Map<Value, Map<number, number>>()
  txns.forEach(({ ops, status }, txn) => {
    for (const op of ops) {
      if (op.kind !== 'w' || status === 'aborted') continue
      const share = shares.get(op.key) ?? new Map<number, number>()
      shares.set(op.key, share.set(txn, (share.get(txn) ?? 0) + by.get(op)!))
    }
  })
  return shares
}

function subsets(others: readonly (readonly [number, number])[], left: number): number[][] {
  const found: number[][] = []
  for (let mask = 0; mask < 1 << others.length; mask++) {
    const taken = others.filter((_, i) => (mask >> i) & 1)
    const sum = taken.reduce((all, [, added]) => all + added, 0)
    if (sum === left) found.push(taken.map(([txn]) => txn))
  }
  return found
}

/** A register for each transaction and counter, which it writes and all reads of the counter read. */
function spellOut(
  draft: Draft,
  by: ReadonlyMap<DraftOp, number>,
  shares: ReadonlyMap<Value, ReadonlyMap<number, number>>,
  seen: ReadonlyMap<DraftOp, number[] | null>,
): Draft {
  let txn = -1
  const sessions = draft.sessions.map((txns) =>
    txns.map((each) => {
      txn++
      const soFar = new Map<Value, number>()
      const ops = each.ops.flatMap((op): DraftOp[] => {
        if (op.kind === 'w') {
          soFar.set(op.key, (soFar.get(op.key) ?? 0) + by.get(op)!)
          return [{ kind: 'w', key: `${op.key}/${txn}`, value: 1000 + soFar.get(op.key)! }]
        }
        if (op.kind !== 'r') return [op]
        if (!seen.has(op)) return []
        const set = seen.get(op)!
        if (set === null) return [{ kind: 'r', key: op.key, value: 'nobody' }]
        const others = [...(shares.get(op.key) ?? [])].filter(([other]) => other !== txn)
        const read = (isSeen: boolean) =>
          others.flatMap(([other, added]): DraftOp[] => {
            if (set.includes(other) !== isSeen) return []
            return [{ kind: 'r', key: `${op.key}/${other}`, value: isSeen ? 1000 + added : 0 }]
          })
        // What it misses is held against all that it sees.
        return [...read(true), ...read(false)]
      })
      return { ...each, ops, uses: each.ops.map(({ key }) => key) }
    }),
  )
  return { initial: 0, sessions }
}

function buildCounters(
  draft: Draft,
  by: ReadonlyMap<DraftOp, number>,
  totals: ReadonlyMap<DraftOp, number>,
): History {
  return build({ ...draft, initial: 0 }, (builder, txn, op) => {
    const key = builder.keys.of(op.key)
    if (op.kind === 'w') builder.addIncrement(txn, key, builder.values.of(by.get(op)!))
    else if (op.kind === 'r') builder.read(txn, op.key, totals.get(op)!)
  })
}

/** Some reads become a compare-and-set that failed: what it expected is not what was there. */
function withUntold(draft: Draft, seed: number): Ways | null {
  const random = new Random(seed)
  const all = draft.sessions.flat().flatMap(({ ops }) => ops)
  const valuesOf = (key: Value) => [
    ...(draft.initial === undefined ? [] : [draft.initial]),
    ...all.flatMap((op) => (op.kind === 'w' && op.key === key ? [op.value] : [])),
  ]
  const expected = new Map<DraftOp, Value>()
  let count = 1
  for (const op of all) {
    if (op.kind !== 'r' || !random.chance(0.6)) continue
    const values = valuesOf(op.key)
    const others = values.filter((value) => value !== op.value)
    expected.set(op, random.pick(others.length > 0 ? others : values))
    count *= Math.max(1, values.length - 1)
    if (count > MOST) return null
  }
  const ways = Array.from({ length: count }, (_, number) => {
    let rest = number
    const change = (op: DraftOp): DraftOp => {
      if (op.kind !== 'r' || !expected.has(op)) return op
      const values = valuesOf(op.key).filter((value) => value !== expected.get(op))
      const value = values[rest % Math.max(1, values.length)] ?? 'nobody'
      rest = Math.floor(rest / Math.max(1, values.length))
      return { ...op, value }
    }
    return mapTxns(draft, (txn) => ({ ...txn, ops: txn.ops.map(change) }))
  })
  const history = build(draft, (builder, txn, op) => {
    if (op.kind === 'w') builder.write(txn, op.key, op.value)
    else if (op.kind === 'r' && !expected.has(op)) builder.read(txn, op.key, op.value)
    else if (op.kind === 'r') {
      const ids = [expected.get(op)!, 'never'].map((value) => builder.values.of(value!))
      builder.addLight(txn, CAS, builder.keys.of(op.key), ids[0]!, ids[1]!, NOT_TOLD)
    }
  })
  return { history, ways }
}

/** Reads become range reads, which returned their key and found all others absent, or all there. */
export function withRanges(draft: Draft, seed: number): Ways {
  const random = new Random(seed)
  return rangesOf(draft, (keyCount) => {
    const [a, b] = [1 + random.below(10 * keyCount), random.below(25)]
    return (op) => (op.kind === 'r' && random.chance(0.7) ? [a, a + b] : null)
  })
}

/** Every history within bounds in which some reads are ranges over all keys. */
export function* allRanges(
  bounds: Bounds,
  variants: (draft: Draft) => Iterable<Draft> = (draft) => [draft],
): Generator<Ways> {
  for (const skeleton of smallHistories(bounds)) {
    for (const draft of variants(skeleton)) yield* allChoices(draft)
  }
}

function* allChoices(small: Draft): Generator<Ways> {
  const asAbsent = (op: DraftOp): DraftOp =>
    op.kind === 'r' && op.value === 0 ? { ...op, value: null } : op
  const spelt = mapTxns(small, (txn) => ({ ...txn, ops: txn.ops.map(asAbsent) }))
  const draft = { ...spelt, initial: null }
  const reads = draft.sessions.flat().flatMap(({ ops }) => ops.filter(({ kind }) => kind === 'r'))
  for (let choice = 1; choice < 1 << reads.length; choice++) {
    yield rangesOf(draft, (keyCount) => (op) => {
      const read = reads.indexOf(op)
      return read >= 0 && (choice >> read) & 1 ? [1, 10 * keyCount] : null
    })
  }
}

/** @param choose for each operation, given how many keys there are: the ends of its range, or null */
function rangesOf(
  draft: Draft,
  choose: (keyCount: number) => (op: DraftOp) => [number, number] | null,
): Ways {
  const names = [...new Set(draft.sessions.flat().flatMap(({ ops }) => ops.map(({ key }) => key)))]
  const number = new Map(names.map((name, i) => [name, 10 * (i + 1)]))
  const written = names.filter((name) =>
    draft.sessions.flat().some(({ ops }) => ops.some((op) => op.kind === 'w' && op.key === name)),
  )
  const ends = new Map<DraftOp, [number, number]>()
  for (const { ops } of draft.sessions.flat()) {
    for (const op of ops) {
      const range = choose(names.length)(op)
      if (range !== null) ends.set(op, range)
    }
  }
  const isIn = (op: DraftOp, name: Value) => {
    const [from, to] = ends.get(op)!
    return number.get(name)! >= from && number.get(name)! <= to
  }
  const returnsKey = (op: DraftOp) => op.kind === 'r' && isIn(op, op.key) && op.value !== null
  const spelt = mapTxns(draft, (txn) => ({
    ...txn,
    ops: txn.ops.flatMap((op): DraftOp[] => {
      if (op.kind !== 'r' || !ends.has(op)) return [{ ...op, key: number.get(op.key)! }]
      const absent = written.filter((key) => isIn(op, key) && !(returnsKey(op) && key === op.key))
      const reads = absent.map(
        (key): DraftOp => ({ kind: 'r', key: number.get(key)!, value: null }),
      )
      return [...(returnsKey(op) ? [{ ...op, key: number.get(op.key)! }] : []), ...reads]
    }),
    uses: txn.ops.flatMap((op) => {
      const [from, to] = ends.get(op) ?? [number.get(op.key)!, number.get(op.key)!]
      return Array.from({ length: to - from + 1 }, (_, i) => from + i)
    }),
  }))
  const history = build(draft, (builder, txn, op) => {
    const key = number.get(op.key)!
    if (op.kind === 'w') builder.write(txn, key, op.value)
    else if (op.kind === 'r' && !ends.has(op)) builder.read(txn, key, op.value)
    else if (op.kind === 'r') {
      const [first, last] = ends.get(op)!.map((end) => builder.values.of(end))
      const range = builder.addRange(txn, first!, last!)
      if (returnsKey(op)) range.addPair(builder.keys.of(key), builder.valueId(op.value))
    }
  })
  return { history, ways: [spelt] }
}

/** Every write adds an element of its own to the set, every read is of the set. */
function asSets(draft: Draft, seed: number): Ways {
  const random = new Random(seed)
  return setsOf(draft, () => random.chance(0.5), random.chance(0.1))
}

/** Every history of sets within bounds: reads return any elements that somebody adds. */
export function* allSets(
  bounds: Bounds,
  variants: (draft: Draft) => Iterable<Draft> = (draft) => [draft],
): Generator<Ways> {
  for (const skeleton of smallHistories(bounds)) {
    const ops = skeleton.sessions.flat().flatMap((txn) => txn.ops)
    if (ops.some((op) => op.kind === 'r' && op.value !== 0)) continue
    const reads = ops.filter(({ kind }) => kind === 'r').length
    const writes = ops.length - reads
    for (const draft of variants(skeleton)) {
      for (let choice = 0; choice < 2 ** (reads * writes); choice++) {
        let bit = 0
        yield setsOf(draft, () => ((choice >> bit++) & 1) === 1, false)
      }
    }
  }
}

/** @param isThere for each element of the set whether the read at hand returns it */
function setsOf(draft: Draft, isThere: () => boolean, isThin: boolean): Ways {
  const all = draft.sessions.flat().flatMap(({ ops }) => ops)
  const elementOf = new Map(all.filter(({ kind }) => kind === 'w').map((op, i) => [op, i]))
  const of = (key: Value) =>
    [...elementOf].flatMap(([op, element]) => (op.key === key ? [element] : []))
  const returned = new Map<DraftOp, number[]>()
  for (const op of all) {
    if (op.kind === 'r') returned.set(op, of(op.key).filter(isThere))
    if (op.kind === 'r' && isThin) returned.get(op)!.push(99)
  }
  const name = (set: Value, element: number) => `${set}/${element}`
  const spelt = mapTxns(draft, (txn) => ({
    ...txn,
    uses: txn.ops.map(({ key }) => key),
    ops: txn.ops.flatMap((op): DraftOp[] => {
      const { key } = op
      if (op.kind === 'w') return [{ kind: 'w', key: name(key, elementOf.get(op)!), value: 'in' }]
      const there = returned.get(op)!
      const absent = of(key).filter((element) => !there.includes(element))
      const read =
        (value: Value) =>
        (element: number): DraftOp => ({
          kind: 'r',
          key: name(key, element),
          value,
        })
      return [...there.map(read('in')), ...absent.map(read(0))]
    }),
  }))
  const history = build(draft, (builder, txn, op) => {
    const key = builder.keys.of(op.key)
    if (op.kind === 'w') return builder.addToSet(txn, key, elementOf.get(op)!)
    const set = builder.addSet(txn, key)
    for (const element of returned.get(op)!) set.addPair(key, element)
  })
  return { history, ways: [spelt] }
}

function mapTxns(draft: Draft, change: (txn: DraftTxn) => DraftTxn): Draft {
  return { ...draft, sessions: draft.sessions.map((txns) => txns.map(change)) }
}

function build(
  draft: Draft,
  add: (builder: HistoryBuilder, txn: number, op: DraftOp) => void,
): History {
  const builder = new HistoryBuilder(draft.initial, 32)
  draft.sessions.forEach((txns, session) => {
    for (const { status, ops, start, finish } of txns) {
      const txn = builder.addTxn(builder.session(session + 1), STATUS_NAMES.indexOf(status))
      if (start !== undefined) builder.setStart(txn, start)
      if (finish !== undefined) builder.setFinish(txn, finish)
      for (const op of ops) add(builder, txn, op)
    }
  })
  return builder.finish()
}

/** Registers only, so that each can become something else. */
const PLAIN = { lead: 0, after: 0, lists: 0, broken: 0, audits: 0 }
const REGISTERS = { ...PLAIN, initial: 0 }

/** Name, how it is made of a draft, and of which random drafts. */
export const KINDS: readonly [string, Kind, Partial<RandomShape>][] = [
  ['counters', asCounters, REGISTERS],
  ['untold', withUntold, REGISTERS],
  ['ranges', withRanges, { ...PLAIN, initial: null }],
  ['sets', asSets, REGISTERS],
]

export type Kind = (draft: Draft, seed: number) => Ways | null
