// Decides mixed levels without enumerating witnesses: who wrote what each statement passed over is
// chosen together with the commit order. First a guess: the order in which transactions finished,
// or else stand in the input, with the last visible version for every conflict. Then what follows
// without choice (saturate.ts), and another guess. Then the solver, which is told only those axioms
// that its last solution breaks, until it breaks none or there is none: there are finitely many, so
// this ends, and exactly. Deterministic. NP-complete, so with a deadline; the search is lazy in the
// sense of Barrett, Sebastiani, Seshia, Tinelli (Satisfiability Modulo Theories). Main function:
// solveMixed.

import type { Deadline } from '../../base/deadline.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { NONE } from '../../history/history.ts'
import { Encoder } from './encode.ts'
import { Guess } from './guess.ts'
import { Layout } from './layout.ts'
import { IN, type MixedProblem, type MixedSolution } from './problem.ts'
import { Saturation } from './saturate.ts'
import { Verifier } from './verify.ts'

/** A solution, or null if there is none; offences are not its concern. */
export function solveMixed(problem: MixedProblem, deadline: Deadline): MixedSolution | null {
  const layout = new Layout(problem)
  const verifier = new Verifier(layout)
  const guess = new Guess(layout, verifier)
  const wish = wishedPositions(layout)
  const saturation = new Saturation(layout, deadline, wish)
  const { from, to } = saturation.known

  // Without any consequence of the axioms, whose bookkeeping takes the most time.
  const given = buildCsr(layout.graphNodeCount, from.data, to.data, from.length)
  const first = findTopologicalOrder(given, wish)
  if (first === null) return null
  if (guess.try(certain(problem, first)))
    return solution(layout, guess.source, certain(problem, first))

  if (!saturation.run()) return null
  const order = certain(problem, saturation.known.order)
  if (guess.try(order)) return solution(layout, guess.source, order)

  const encoder = new Encoder(layout, saturation, wish)
  encoder.add(verifier, guess.source)
  while (encoder.solve(deadline)) {
    deadline.check()
    if (guess.try(encoder.order)) return solution(layout, guess.source, encoder.order)
    verifier.verify(encoder.order, encoder.source)
    if (verifier.pair.length === 0) return solution(layout, encoder.source, encoder.order)
    encoder.add(verifier, encoder.source)
  }
  return null
}

/** Graph node -> where in the order it is likely to be. */
function wishedPositions(layout: Layout): Int32Array {
  const { problem, snapshot } = layout
  const { history, nodeCount } = problem
  const nodes = Array.from({ length: nodeCount }, (_, node) => node)
  const finish = history.txnFinishTime
  const time = (node: number) => {
    const at = node === 0 ? Number.NEGATIVE_INFINITY : finish![node - 1]!
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

function solution(layout: Layout, source: Int32Array, order: Int32Array): MixedSolution {
  const takesPart = new Uint8Array(layout.problem.nodeCount)
  for (const node of order) takesPart[node] = 1
  const choice = source.slice(layout.fixedCount)
  for (let open = 0; open < choice.length; open++) {
    if (!takesPart[layout.pairReader[layout.fixedCount + open]!]) choice[open] = NONE
  }
  return { order: order.slice(), choice }
}
