// Decides mixed levels without enumerating witnesses: who wrote what each statement passed over is
// chosen together with the commit order. First a guess: the order in which transactions finished,
// or else stand in the input, with the last visible version for every conflict. Then rounds of what
// follows without choice (saturate.ts), with a guess now and then. Then the solver, which is told
// only those axioms that its last solution breaks, until it breaks none or there is none: there are
// finitely many, so this ends, and exactly (lazily, as in Barrett, Sebastiani, Seshia, Tinelli:
// Satisfiability Modulo Theories). Deterministic. NP-complete, so with a deadline. Main function:
// solveMixed.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { IN, type MixedProblem, type MixedSolution } from '../problem/mixed-problem.ts'
import { Encoder } from './encode.ts'
import { Guess } from './guess.ts'
import { Layout } from './layout.ts'
import { Saturation } from './saturate.ts'
import { Verifier } from './verify.ts'

const MOST_ROUNDS = 32 // a long chain of consequences is the solver's business

/** What contradicts itself without choice; `known` is null where it took the solver to see. */
export interface MixedRefutation {
  readonly layout: Layout
  readonly known: Saturation | null
}

/** A solution, or null if there is none; offences are not its concern. */
export function solveMixed(
  problem: MixedProblem,
  deadline: Deadline,
  shortcuts = true,
): MixedSolution | null {
  const decision = decideMixed(problem, deadline, shortcuts)
  return 'order' in decision ? decision : null
}

/** @param shortcuts false: no guesses, no rounds, all is left to the solver */
export function decideMixed(
  problem: MixedProblem,
  deadline: Deadline,
  shortcuts = true,
): MixedSolution | MixedRefutation {
  const layout = new Layout(problem)
  const verifier = new Verifier(layout, deadline)
  const guess = new Guess(layout, verifier, deadline)
  const wish = likelyPositions(layout)
  const saturation = new Saturation(layout, deadline, wish)
  const { known } = saturation
  if (!known.update()) return { layout, known: saturation }
  for (let round = 1; shortcuts; round++) {
    const order = certain(problem, known.order)
    const isDue = !saturation.changed || round >= MOST_ROUNDS
    const isGuessed = (isDue || isPowerOfTwo(round)) && guess.try(order)
    if (isGuessed) return asSolution(layout, guess.source, order)
    if (isDue) break
    if (!saturation.round()) return { layout, known: saturation }
  }

  const encoder = new Encoder(layout, saturation, wish, deadline)
  if (shortcuts) {
    encoder.prefer(guess.source)
    encoder.add(verifier, guess.source)
  }
  const tryGuess = (order: Int32Array) => (guess.try(order) ? guess.source : null)
  const found = solveAxioms(encoder, verifier, shortcuts ? tryGuess : () => null)
  return found ? asSolution(layout, found.source, found.order) : { layout, known: null }
}

/** Solves for the axioms that the last solution broke, until one breaks none; null if there is none. */
export function solveAxioms(
  encoder: Encoder,
  verifier: Verifier,
  guess: (order: Int32Array) => Int32Array | null = () => null,
): { order: Int32Array; source: Int32Array } | null {
  while (encoder.solve()) {
    const { order } = encoder
    const guessed = guess(order)
    if (guessed !== null) return { order, source: guessed }
    verifier.setOrder(order)
    verifier.verify(order, encoder.source)
    if (verifier.pair.length === 0) return { order, source: encoder.source }
    encoder.add(verifier, encoder.source)
  }
  return null
}

/** What follows without choice, if that is a contradiction; else null. */
export function refuteByKnown(layout: Layout, deadline: Deadline): Saturation | null {
  const saturation = new Saturation(layout, deadline, likelyPositions(layout))
  if (!saturation.known.update()) return saturation
  for (let round = 1; saturation.changed && round < MOST_ROUNDS; round++) {
    if (!saturation.round()) return saturation
  }
  return null
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0
}

/** Graph node -> where in the order it is likely to be. */
export function likelyPositions(layout: Layout): Int32Array {
  const { problem, snapshot } = layout
  const { history, nodeCount } = problem
  const nodes = Array.from({ length: nodeCount }, (_, node) => node)
  const finish = history.txnFinishTime
  const time = (node: number) => {
    const at = node === 0 ? Number.NEGATIVE_INFINITY : finish![problem.txnOf[node]!]!
    return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at
  }
  if (finish) nodes.sort((a, b) => (time(a) === time(b) ? a - b : time(a) - time(b)))
  const wish = new Int32Array(layout.graphNodeCount)
  nodes.forEach((node, i) => {
    wish[node] = 2 * i + 1
    if (snapshot[node] !== node) wish[snapshot[node]!] = 2 * i
  })
  return wish
}

/** The transactions of an order of graph nodes that take part in any case, the initial one first. */
function certain(problem: MixedProblem, order: Int32Array): Int32Array {
  const nodes = order.filter((node) => node > 0 && problem.state[node] === IN)
  return Int32Array.from([0, ...nodes])
}

/** The order with the writers chosen; NONE for readers that take no part. */
function asSolution(layout: Layout, source: Int32Array, order: Int32Array): MixedSolution {
  const takesPart = new Uint8Array(layout.problem.nodeCount)
  for (const node of order) takesPart[node] = 1
  const choice = source.slice(layout.fixedCount)
  for (let open = 0; open < choice.length; open++) {
    if (!takesPart[layout.pairReader[layout.fixedCount + open]!]) choice[open] = NONE
  }
  return { order: order.slice(), choice }
}
