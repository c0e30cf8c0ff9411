// Decides a strong level on a problem: the order of the record, if it is likely to hold
// (recorded-order.ts), what is known by definition (known-edges.ts), what follows from it
// (saturate.ts), a guess at the rest (guess.ts), and, if that fails, clause learning modulo
// acyclicity (src/solver) for what stays open (open-pairs.ts). NP-complete in general
// (Biswas & Enea, Theorem 3.2), but on recorded histories little or nothing stays open. Exact:
// 'satisfied' comes with an order of all nodes, 'violated' with what is needed to explain it
// (suspects.ts, explain.ts). Main function: decide.

import { type Deadline, withProgress } from '../../base/deadline.ts'
import { positionsOf } from '../../graph/toposort.ts'
import { type Access, buildAccess } from '../problem/access.ts'
import type { Problem } from '../problem/register-problem.ts'
import type { LevelShape } from '../problem/shape.ts'
import { findClashes, findNeighbours } from './clashes.ts'
import { guessOrder } from './guess.ts'
import { buildKnownEdges, type KnownEdges } from './known-edges.ts'
import { OpenPairs } from './open-pairs.ts'
import { orderAsRecorded, type Recorded } from './recorded-order.ts'
import { saturate } from './saturate.ts'

export interface Limits {
  /** Beyond this number, open pairs are added only as they are needed. */
  readonly pairs: number
  /** A graph whose closure would hold more numbers than this has none: nothing is inferred. */
  readonly closure: number
}

const LIMITS: Limits = { pairs: 500_000, closure: 2 ** 28 }

/** How far around a clash further pairs are added, in places of the order of a key. */
const WIDEST = 64

export type Decision =
  | { readonly satisfied: true; readonly order: Int32Array } // nodes, first to last
  | {
      readonly satisfied: false
      readonly known: KnownEdges
      /** Open pairs that cannot all be ordered; null if the known edges alone have a cycle. */
      readonly contradiction: OpenPairs | null
    }

export type Violation = Extract<Decision, { satisfied: false }>

export function decide(
  problem: Problem,
  shape: LevelShape,
  deadline: Deadline,
  recorded: Recorded | null = null,
  limits = LIMITS,
): Decision {
  const known = buildKnownEdges(problem, shape, deadline, limits.closure)
  deadline.check()
  const access = buildAccess(problem)
  deadline.check()
  const { hasClosure } = known.graph
  let order: Int32Array | null = null
  if (recorded !== null && (recorded.isLikely || !hasClosure)) {
    order = orderAsRecorded(known, access, recorded, deadline)
    if (order !== null && findClashes(known, access, order, deadline).length === 0) {
      return { satisfied: true, order }
    }
  }
  const basis = known.graph.edgeCount
  const isSound = withProgress(
    () => saturate(known, deadline),
    () => `${known.graph.edgeCount - basis} orders were inferred, and more may follow`,
  )
  if (!isSound) return { satisfied: false, known, contradiction: null }
  // Where nothing can be inferred, the record is a better start than any guess.
  if (hasClosure || order === null) {
    const guessed = guessOrder(known, access, deadline)
    if (guessed !== null) return { satisfied: true, order: guessed }
    // What was inferred may have mended the record.
    if (order !== null) order = orderAsRecorded(known, access, recorded!, deadline)
  }
  return orderOpenPairs(known, access, deadline, limits.pairs, order)
}

/** Solves for the open pairs: for all at once, or for more and more until an order holds. */
function orderOpenPairs(
  known: KnownEdges,
  access: Access,
  deadline: Deadline,
  mostPairs: number,
  start: Int32Array | null,
): Decision {
  const open = new OpenPairs(known, access, deadline)
  if (start !== null) open.solver.setInitialOrder(positionsOf(start))
  const hasAll = known.graph.hasClosure && open.count(deadline) <= mostPairs
  if (!hasAll) return orderWhatClashes(open, known, access, deadline)
  open.addAll(deadline)
  const answer = withProgress(
    () => open.solver.solve(deadline),
    () => `${open.pairs.count} pairs of transactions that write a common key were left to order`,
  )
  if (answer === 'unsat') return { satisfied: false, known, contradiction: open }
  return { satisfied: true, order: positionsOf(open.solver.order(deadline)) }
}

/** Adds the pairs that an order gets wrong, until one gets none wrong. */
function orderWhatClashes(
  open: OpenPairs,
  known: KnownEdges,
  access: Access,
  deadline: Deadline,
): Decision {
  let last = 'no order of all transactions was found yet'
  for (let round = 0; ; round++) {
    const answer = withProgress(
      () => open.solver.solve(deadline),
      () => last,
    )
    if (answer === 'unsat') return { satisfied: false, known, contradiction: open }
    const position = open.solver.order(deadline)
    const order = positionsOf(position)
    const clashes = findClashes(known, access, order, deadline)
    if (clashes.length === 0) return { satisfied: true, order }
    last = `the last order tried was wrong in ${clashes.length >> 1} places`
    open.addEach(clashes, deadline)
    // One clash mended often makes the next one beside it: look further and further around.
    const within = Math.min(1 << round, WIDEST)
    const near = findNeighbours(known, access, position, clashes, within, deadline)
    open.addEach(near, deadline)
    open.solver.setInitialOrder(position)
  }
}

/** A violation that follows without any search, null if none does. */
export function refuteByKnown(
  problem: Problem,
  shape: LevelShape,
  deadline: Deadline,
): Violation | null {
  const known = buildKnownEdges(problem, shape, deadline, LIMITS.closure)
  return saturate(known, deadline) ? null : { satisfied: false, known, contradiction: null }
}
