// Choices that must add up: which increments a read of a counter saw. For the solver, the partial
// sums are states: behind each choice there is one for every sum from which the total can still be
// reached, so that whatever the rest no longer allows follows by itself. Main functions:
// encodeSums, guessSums.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import type { PossibleWriters, Sums } from '../../history/history.ts'
import { type Source, sourceOf } from '../../history/writers.ts'
import type { AcyclicSolver } from '../../solver/solver.ts'

/** States of all sums together: each is a variable of the solver. */
const MOST_STATES = 1_000_000

/** @param firstVariable choice -> the variable of INITIAL; that of the write comes next */
export function encodeSums(
  solver: AcyclicSolver,
  { start, choice, weight, total }: Sums,
  firstVariable: Int32Array,
  deadline: Deadline,
): void {
  let states = 0
  for (let sum = 0; sum < total.length; sum++) {
    const [from, to] = [start[sum]!, start[sum + 1]!]
    const layers = statesOf(weight.subarray(from, to), total[sum]!, deadline)
    for (const layer of layers) states += layer.size
    // No sum reaches the total if it was too much to find out when the history was read.
    if (states > MOST_STATES || !layers[0]!.has(0)) {
      throw new BudgetExceeded('too many sets of increments add up to what counters were read as')
    }
    const variables = layers.map(
      (layer) => new Map(Array.from(layer, (reached) => [reached, solver.newVariable()])),
    )
    solver.addClause([2 * variables[0]!.get(0)!])
    for (let at = from; at < to; at++) {
      deadline.step()
      const unseen = firstVariable[choice[at]!]!
      solver.addClause([2 * unseen + 1, 2 * (unseen + 1) + 1]) // not both
      const next = variables[at - from + 1]!
      for (const [reached, state] of variables[at - from]!) {
        step(solver, state, unseen, next.get(reached))
        step(solver, state, unseen + 1, next.get(reached + weight[at]!))
      }
    }
  }
}

/** From a state, by a choice, to the next one; if there is none, it cannot be chosen there. */
function step(solver: AcyclicSolver, state: number, chosen: number, next: number | undefined) {
  const given = [2 * state + 1, 2 * chosen + 1]
  solver.addClause(next === undefined ? given : [...given, 2 * next])
}

/** count -> partial sums of so many choices from which the total is still reached. */
function statesOf(weights: Float64Array, total: number, deadline: Deadline): Set<number>[] {
  const layers: Set<number>[] = [new Set([0])]
  let states = 1
  for (let i = 0; i < weights.length; i++) {
    const next = new Set(layers[i]!)
    for (const sum of layers[i]!) {
      deadline.step()
      if (sum + weights[i]! <= total) next.add(sum + weights[i]!)
    }
    states += next.size
    if (states > MOST_STATES) return [next, ...layers] // more than anybody takes
    layers.push(next)
  }
  let good = new Set([total])
  for (let i = weights.length; i >= 0; i--) {
    const kept = new Set<number>()
    for (const sum of layers[i]!) {
      const isGood =
        i === weights.length ? good.has(sum) : good.has(sum) || good.has(sum + weights[i]!)
      if (isGood) kept.add(sum)
    }
    layers[i] = kept
    good = kept
  }
  return layers
}

/**
 * Whom reads saw if each saw the increments told first: right where the history is told in the
 * order of its commits. Null if a total is none that was ever reached then.
 */
export function guessSums(writers: PossibleWriters): Source[] | null {
  const { start, choice, weight, total } = writers.sums!
  const position = writers.likeliest.slice()
  for (let sum = 0; sum < total.length; sum++) {
    let left = total[sum]!
    for (let at = start[sum]!; at < start[sum + 1]!; at++) {
      const isSeen = left >= weight[at]!
      position[choice[at]!] = isSeen ? 1 : 0
      if (isSeen) left -= weight[at]!
    }
    if (left !== 0) return null
  }
  return Array.from(position, (at, each) => sourceOf(writers, each, at))
}
