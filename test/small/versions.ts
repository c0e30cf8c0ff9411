// Histories with versions, as a store might number them, for the tests: every order of the versions
// of every register of a draft, or at random, where some reads report what they saw, some report
// something else, and some writes are told their version by reads alone. Main functions:
// allVersionOrders, randomVersions.

import { Random } from '../../src/base/random.ts'
import type { Value } from '../../src/history/values.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'
import { settle } from './judge.ts'

type VersionOf = (txn: number, op: DraftOp) => number | undefined

/** Gives operations versions; undefined leaves one out. */
function withVersions(draft: Draft, versionOf: VersionOf): Draft {
  let number = 0
  const one = (txn: DraftTxn): DraftTxn => {
    const at = number++
    return {
      ...txn,
      ops: txn.ops.map((op) => {
        const version = op.kind === 'r' || op.kind === 'w' ? versionOf(at, op) : undefined
        return version === undefined ? op : { ...op, version }
      }),
    }
  }
  return { ...draft, sessions: draft.sessions.map((txns) => txns.map(one)) }
}

/** key -> transactions that write it as a register. */
function writersOf(draft: Draft): Map<Value, number[]> {
  const writers = new Map<Value, number[]>()
  draft.sessions.flat().forEach(({ ops }, txn) => {
    for (const op of ops) {
      if (op.kind !== 'w') continue
      const known = writers.get(op.key) ?? []
      if (!known.includes(txn)) writers.set(op.key, [...known, txn])
    }
  })
  return writers
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [first, ...rest]),
  )
}

/** The draft with each order of the versions of each key. */
export function* allVersionOrders(draft: Draft): Generator<Draft> {
  const writers = writersOf(draft)
  const keys = [...writers.keys()]
  const choices = keys.map((key) => permutations(writers.get(key)!))
  const chosen = keys.map(() => 0)
  while (true) {
    const orders = new Map(keys.map((key, i) => [key, choices[i]![chosen[i]!]!]))
    yield withVersions(draft, (txn, op) =>
      op.kind === 'w' ? 1 + orders.get(op.key)!.indexOf(txn) : undefined,
    )
    let at = 0
    while (at < keys.length && ++chosen[at]! === choices[at]!.length) chosen[at++] = 0
    if (at === keys.length) return
  }
}

/**
 * Versions in about the order in which values were written, on most keys; reads report them now and
 * then, and not always rightly.
 */
export function randomVersions(draft: Draft, seed: number): Draft {
  const random = new Random(seed ^ 0x7e1)
  const txns = draft.sessions.flat()
  const counts = settle(draft)
  const versions = new Map<Value, Map<number, number>>() // key -> txn -> version
  const [swapped, reported, wrong, untold] = [
    random.pick([0, 0.1, 0.4]),
    random.pick([0, 0.5, 1]),
    random.pick([0, 0, 0.1]),
    random.pick([0, 0, 0.3]),
  ]
  for (const [key, writers] of writersOf(draft)) {
    if (random.chance(0.15)) continue
    const last = (txn: number) => Number(lastValue(txns[txn]!, key))
    const order = writers.toSorted((a, b) => last(a) - last(b))
    for (let i = 1; i < order.length; i++) {
      if (random.chance(swapped)) [order[i - 1], order[i]] = [order[i]!, order[i - 1]!]
    }
    versions.set(key, new Map(order.map((txn, i) => [txn, 10 * (i + 1) + random.below(5)])))
  }
  const writerOf = (op: DraftOp & { value: Value }) =>
    txns.findIndex(({ ops }) =>
      ops.some((each) => each.kind === 'w' && each.key === op.key && each.value === op.value),
    )
  const told = new Set<string>() // writers and keys that some read tells
  const first = withVersions(draft, (txn, op) => {
    const known = versions.get(op.key)
    if (known === undefined || op.kind !== 'r' || !random.chance(reported)) return undefined
    if (random.chance(wrong)) return random.below(40)
    const writer = op.value === draft.initial ? -1 : writerOf(op)
    if (writer === -1) return op.value === draft.initial ? 3 : undefined
    if (writer === txn) return undefined
    if (counts[txn] && lastValue(txns[writer]!, op.key) === op.value)
      told.add(`${writer} ${op.key}`)
    return known.get(writer)
  })
  return withVersions(first, (txn, op) => {
    if (op.kind !== 'w') return undefined
    if (told.has(`${txn} ${op.key}`) && random.chance(untold)) return undefined
    return versions.get(op.key)?.get(txn)
  })
}

function lastValue({ ops }: DraftTxn, key: Value): Value | undefined {
  const last = ops.findLast((op) => op.kind === 'w' && op.key === key)
  return last?.kind === 'w' ? last.value : undefined
}
