// Linearizability of lightweight transactions, by brute force and by the chain of versions.
//
// Each operation is a transaction of its own on one key: a cas that succeeded reads `expected` and
// writes `value`, an insert reads null and writes `value`; one that failed is a read of `seen`, or
// nothing if it returned nothing; an indeterminate one takes effect at any moment after its start,
// or never. Intervals are closed: equal instants overlap. Keys do not influence one another.
// Main functions: isLinearizable (tries every order), isLinearizableByChain (as defined).

import { Random } from '../../src/base/random.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { ABORTED, COMMITTED, type History, INDETERMINATE, NONE } from '../../src/history/history.ts'
import { CAS, INSERT } from '../../src/history/light.ts'
import type { Value } from '../../src/history/values.ts'

export interface LightOp {
  readonly key: string
  readonly kind: 'cas' | 'insert'
  readonly expected: Value // what a cas compares with; null for an insert
  readonly value: Value // what it writes if it succeeds
  readonly outcome: 'succeeded' | 'failed' | 'indeterminate'
  readonly seen?: Value // what one that failed returned, if it did
  readonly start: number
  readonly finish: number // means nothing for an indeterminate one
}

/** What an operation does to its key. */
interface Effect {
  readonly reads: Value
  readonly writes: Value | undefined // undefined: only a read
  readonly optional: boolean
  readonly start: number
  readonly finish: number
}

function effectsByKey(ops: readonly LightOp[]): Effect[][] {
  const byKey = new Map<string, Effect[]>()
  for (const op of ops) {
    if (op.outcome === 'failed' && op.seen === undefined) continue
    const failed = op.outcome === 'failed'
    const optional = op.outcome === 'indeterminate'
    const effect: Effect = {
      reads: failed ? op.seen! : op.kind === 'insert' ? null : op.expected,
      writes: failed ? undefined : op.value,
      optional,
      start: op.start,
      finish: optional ? Number.POSITIVE_INFINITY : op.finish,
    }
    byKey.set(op.key, [...(byKey.get(op.key) ?? []), effect])
  }
  return [...byKey.values()]
}

/** Tries every order of the operations that agrees with real time. */
export function isLinearizable(ops: readonly LightOp[]): boolean {
  return effectsByKey(ops).every((effects) => canFinish(effects, null))
}

function canFinish(left: readonly Effect[], state: Value): boolean {
  if (left.every((effect) => effect.optional)) return true
  return left.some((next) => {
    if (next.reads !== state) return false
    const others = left.filter((effect) => effect !== next)
    if (others.some((effect) => effect.finish < next.start)) return false
    return canFinish(others, next.writes === undefined ? state : next.writes)
  })
}

/**
 * The versions form one chain from null, and nothing on a later version finishes before something
 * on an earlier one starts. A write stands between the version it reads and the one it makes. An
 * indeterminate operation belongs to the chain if something that took effect is further along.
 */
export function isLinearizableByChain(ops: readonly LightOp[]): boolean {
  return effectsByKey(ops).every((effects) => {
    const writers = new Map(effects.flatMap((e) => (e.writes === undefined ? [] : [[e.writes, e]])))
    const placed: { effect: Effect; at: number }[] = []
    for (const effect of effects) {
      if (effect.optional && !isNeeded(effect, effects, writers)) continue
      const depth = depthOf(effect.reads, writers)
      if (depth === null) return false
      placed.push({ effect, at: effect.writes === undefined ? 2 * depth : 2 * depth + 1 })
    }
    return placed.every((a) =>
      placed.every((b) => {
        if (a === b) return true
        const rivals = a.at === b.at && a.at % 2 === 1
        return !rivals && !(a.at > b.at && a.effect.finish < b.effect.start)
      }),
    )
  })
}

/** How far a version is from null, or null if it cannot be reached. */
function depthOf(version: Value, writers: ReadonlyMap<Value, Effect>): number | null {
  let depth = 0
  for (let at = version; at !== null; depth++) {
    const writer = writers.get(at)
    if (writer === undefined || depth > writers.size) return null
    at = writer.reads
  }
  return depth
}

/** True if an operation that took effect for sure depends on this one. */
function isNeeded(
  effect: Effect,
  effects: readonly Effect[],
  writers: ReadonlyMap<Value, Effect>,
): boolean {
  return effects.some((sure) => {
    if (sure.optional) return false
    let at: Effect | undefined = writers.get(sure.reads)
    for (let steps = 0; at !== undefined && steps <= writers.size; steps++) {
      if (at === effect) return true
      at = writers.get(at.reads)
    }
    return false
  })
}

/** Operations of a store that mostly works: some results are invented, some times are shifted. */
export function randomLightOps(seed: number): LightOp[] {
  const random = new Random(seed)
  const keys = 1 + random.below(2)
  const versions: Value[][] = Array.from({ length: keys }, () => [null])
  const ops: LightOp[] = []
  const count = 1 + random.below(7)
  for (let i = 0; i < count; i++) {
    const key = random.below(keys)
    const known = versions[key]!
    const current = known.at(-1)!
    const expected = random.chance(0.75) ? current : random.pick(known)
    const value = i + 1
    const middle = i * 2 + (random.chance(0.3) ? random.below(9) - 4 : 0)
    const start = middle - random.below(3)
    const finish = middle + random.below(3)
    const kind = expected === null ? 'insert' : 'cas'
    const base = { key: `k${key}`, kind, expected, value, start, finish } as const
    if (random.chance(0.2)) {
      if (random.chance(0.6)) known.push(value)
      ops.push({ ...base, outcome: 'indeterminate' })
    } else if (random.chance(0.35)) {
      const seen = random.chance(0.85) ? current : random.pick([...known, 99])
      ops.push({ ...base, outcome: 'failed', ...(random.chance(0.8) ? { seen } : {}) })
    } else {
      known.push(value)
      ops.push({ ...base, outcome: 'succeeded' })
    }
  }
  return ops
}

/** Every operation in a session of its own, unless told. */
export function buildLightHistory(ops: readonly LightOp[]): History {
  const builder = new HistoryBuilder(null)
  ops.forEach((op, i) => {
    const failed = op.outcome === 'failed'
    const unseen = failed && op.seen === undefined
    const known = unseen ? ABORTED : COMMITTED
    const status = op.outcome === 'indeterminate' ? INDETERMINATE : known
    const txn = builder.addTxn(builder.session(i), status)
    builder.setStart(txn, op.start)
    if (status !== INDETERMINATE) builder.setFinish(txn, op.finish)
    const kind = op.kind === 'insert' ? INSERT : CAS
    const expected = op.kind === 'insert' ? null : op.expected
    const ids = [builder.valueId(expected), builder.valueId(op.value)] as const
    const seen = failed && !unseen ? builder.valueId(op.seen!) : NONE
    builder.addLight(txn, kind, builder.keys.of(op.key), ...ids, seen)
  })
  return builder.finish()
}
