// Why one transaction happens before another: a path of session order and reads, with as few
// choices on it as possible. Breadth first search backwards, with given steps before chosen ones
// (0-1 breadth first search). O(edges). Main function: findCauses.

import { NONE } from '../../history/history.ts'
import { IN } from '../problem/mixed-problem.ts'
import type { Problem } from './problem.ts'

/** What a step rests on; ALWAYS if it is given. */
export const ALWAYS = -1

export interface Literals {
  /** Node -> the literal that says it takes part, ALWAYS if it does. */
  presence(node: number): number
  /** Pair -> the literal that says it reads from its source. */
  reading(pair: number): number
}

/** One step of a path: by session order, or by a pair that was read. */
export interface Cause {
  readonly from: number
  readonly to: number
  readonly pair: number // NONE for session order
  readonly literal: number
}

/** A path through what is read for certain. */
export function causesOf(problem: Problem, source: Int32Array, from: number, to: number): Cause[] {
  const { state } = problem.pairs!
  return findCauses(problem, source, from, to, {
    presence: (txn) => (state[txn] === IN ? ALWAYS : 0),
    reading: () => ALWAYS,
  })
}

/** A path from one transaction to another; there is one. */
export function findCauses(
  problem: Problem,
  source: Int32Array,
  from: number,
  to: number,
  literals: Literals,
): Cause[] {
  const { txnStart, ofTxn } = problem.pairs!
  const cost = new Map<number, number>([[to, 0]]) // node -> choices on the best path known
  const towards = new Map<number, Cause>() // node -> step that leads on from it
  const done = new Set<number>()
  let level = [to] // nodes of the current cost, then those one choice further
  let later: number[] = []
  for (let price = 0; level.length > 0; price++, level = later, later = []) {
    while (level.length > 0) {
      const node = level.pop()!
      if (done.has(node)) continue
      done.add(node)
      if (node === from) return stepsFrom(towards, from, to)
      const visit = (next: number, pair: number, literal: number) => {
        const total = literal === ALWAYS ? price : price + 1
        if (next === 0 || done.has(next) || total >= (cost.get(next) ?? Infinity)) return
        cost.set(next, total)
        towards.set(next, { from: next, to: node, pair, literal })
        if (literal === ALWAYS) level.push(next)
        else later.push(next)
      }
      // A predecessor that takes no part is stepped over.
      for (let before = problem.before[node]!; before !== NONE; before = problem.before[before]!) {
        const presence = literals.presence(before)
        visit(before, NONE, presence)
        if (presence === ALWAYS) break
      }
      for (let i = txnStart[node]!; i < txnStart[node + 1]!; i++) {
        const pair = ofTxn[i]!
        if (source[pair] !== NONE) visit(source[pair]!, pair, literals.reading(pair))
      }
    }
  }
  return []
}

function stepsFrom(towards: ReadonlyMap<number, Cause>, from: number, to: number): Cause[] {
  const steps: Cause[] = []
  for (let node = from; node !== to; node = steps.at(-1)!.to) steps.push(towards.get(node)!)
  return steps
}
