// Decides a problem: the order of the record, if it is likely to hold (recorded-order.ts), what is
// known by definition (known-edges.ts), what follows from it (saturate.ts), a guess at the rest
// (guess.ts), and, if that fails, clause learning modulo acyclicity (src/solver) for what stays
// open (encode.ts, row-axioms.ts). Who wrote what statements passed over is chosen together with
// the order: for an order at hand by choose.ts, else by the solver, which is told only the axioms
// that its last solution breaks (verify.ts; lazily, as in Barrett, Sebastiani, Seshia, Tinelli:
// Satisfiability Modulo Theories). NP-complete in general (Biswas & Enea, Theorem 3.2), but on
// recorded histories little or nothing stays open. Exact: 'satisfied' comes with a commit order,
// 'violated' with what is needed to explain it (suspects.ts, explain.ts). Main function: decide.

import { type Deadline, withProgress } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { positionsOf } from '../../graph/toposort.ts'
import { NONE } from '../../history/history.ts'
import { Choice } from './choose.ts'
import { Conflicts } from './conflicts.ts'
import { Encoder } from './encode.ts'
import { guessOrder } from './guess.ts'
import { buildKnownEdges, type KnownEdges } from './known-edges.ts'
import type { Problem } from './problem.ts'
import { commitsIn, orderAsRecorded, type Recorded } from './recorded-order.ts'
import { RowAxioms } from './row-axioms.ts'
import { saturate } from './saturate.ts'
import { SnapshotGuess } from './snapshot-guess.ts'
import { Verifier } from './verify.ts'

export interface Limits {
  /** Beyond this number, open pairs are added only as they are needed. */
  readonly pairs: number
  /** A graph whose closure would hold more numbers than this has none: nothing is inferred. */
  readonly closure: number
}

export const LIMITS: Limits = { pairs: 500_000, closure: 2 ** 29 }

/** How far around a clash further pairs are added, in places of the order of a key. */
const WIDEST = 64

/** A commit order of those that take part. */
export interface Solution {
  readonly satisfied: true
  readonly order: Int32Array // transactions, first to last
  readonly source: Int32Array | null // pair -> txn it reads from, NONE if its reader takes no part
  readonly verifier: Verifier // that may know the order already
}

export interface Violation {
  readonly satisfied: false
  readonly known: KnownEdges
  readonly conflicts: Conflicts | null
  /** What cannot all be ordered; null if what is known contradicts itself. */
  readonly contradiction: Encoder | null
}

export type Decision = Solution | Violation

/** @param recorded null: no order is at hand */
export function decide(
  problem: Problem,
  deadline: Deadline,
  recorded: Recorded | null = null,
  limits = LIMITS,
): Decision {
  return new Engine(problem, deadline, limits).run(recorded)
}

/** Decides without guesses and inference: all is left to the solver. */
export function decideBySolver(problem: Problem, deadline: Deadline): Decision {
  return new Engine(problem, deadline, { pairs: 0, closure: 0 }).runSolver()
}

/** A violation that follows without any search, null if none does. */
export function refuteByKnown(problem: Problem, deadline: Deadline): Violation | null {
  return new Engine(problem, deadline, LIMITS).refute()
}

class Engine {
  private readonly known: KnownEdges
  private readonly conflicts: Conflicts | null
  private readonly verifier: Verifier
  private readonly choice: Choice | null

  constructor(
    problem: Problem,
    private readonly deadline: Deadline,
    private readonly limits: Limits,
  ) {
    this.known = buildKnownEdges(problem, deadline, limits.closure)
    deadline.check()
    this.conflicts = problem.pairs && new Conflicts(problem, this.known, true, deadline)
    this.verifier = new Verifier(problem, deadline)
    this.choice = problem.pairs && new Choice(problem, this.verifier, deadline)
    deadline.check()
  }

  run(recorded: Recorded | null): Decision {
    const { known, deadline } = this
    const { hasClosure } = known.graph
    let nodes: Int32Array | null = null
    if (recorded !== null && (recorded.isLikely || !hasClosure)) {
      nodes = orderAsRecorded(known, recorded, deadline)
      const found = nodes && this.tryOrder(commitsIn(known, nodes))
      if (found) return found
    }
    const refuted = this.refute()
    if (refuted) return refuted
    // Where nothing can be inferred, the record is a better start than any guess.
    if (hasClosure || nodes === null) {
      const guessed = guessOrder(known, deadline)
      const found = guessed && (this.choice ? this.tryOrder(guessed) : this.solution(guessed))
      if (found) return found
      // What was inferred may have mended the record.
      if (nodes !== null) nodes = orderAsRecorded(known, recorded!, deadline)
      const mended = nodes && this.choice && this.tryOrder(commitsIn(known, nodes))
      if (mended) return mended
    }
    return this.solve(nodes)
  }

  runSolver(): Decision {
    if (!this.known.graph.refresh(this.deadline)) return this.violation(null)
    return this.solve(null)
  }

  refute(): Violation | null {
    const { known, deadline } = this
    const basis = known.graph.edgeCount
    const isSound = withProgress(
      () => deadline.during('inferring', () => saturate(known, this.conflicts, deadline)),
      () => `${known.graph.edgeCount - basis} orders were inferred, and more may follow`,
    )
    return isSound ? null : this.violation(null)
  }

  /** The order, with writers chosen where that is needed, if it satisfies all axioms. */
  private tryOrder(order: Int32Array): Solution | null {
    const { choice, verifier } = this
    if (choice === null) return verifier.isValid(order, null) ? this.solution(order) : null
    const valid = choice.findValid(order)
    return valid && this.solution(valid)
  }

  private solution(order: Int32Array): Solution {
    const { verifier, choice } = this
    return { satisfied: true, order, source: choice?.source ?? null, verifier }
  }

  private violation(contradiction: Encoder | null): Violation {
    const { known, conflicts } = this
    return { satisfied: false, known, conflicts, contradiction }
  }

  /** Solves for what is open: all pairs of writers, or more and more as orders need them. */
  private solve(start: Int32Array | null): Decision {
    return this.deadline.during('searching', () => this.search(start))
  }

  private search(start: Int32Array | null): Decision {
    const { known, conflicts, deadline, limits } = this
    const encoder = new Encoder(known, deadline)
    const axioms = conflicts && new RowAxioms(encoder, conflicts)
    if (start !== null) encoder.startFrom(start)
    const openCount = known.graph.hasClosure ? encoder.countOpen() : Number.POSITIVE_INFINITY
    const hasAll = openCount <= limits.pairs
    if (hasAll) encoder.addAll(openCount)
    if (axioms && start !== null) {
      axioms.prefer(this.choice!.source)
      axioms.add(this.verifier, this.choice!.source)
    }
    let last = hasAll
      ? `${encoder.orderCount} pairs of transactions that write a common key were left to order`
      : 'no order of all transactions was found yet'
    const mayGuess = conflicts !== null && known.graph.hasClosure
    const snapshots = mayGuess ? new SnapshotGuess(known, conflicts, limits.closure) : null
    for (let round = 0; ; round++) {
      const order = snapshots?.next(encoder.solver.conflictCount, round, deadline)
      const guessed = order && this.tryOrder(order)
      if (guessed) return guessed
      const mostConflicts = snapshots?.conflictsToGo(encoder.solver.conflictCount)
      const answer = withProgress(
        () => encoder.solver.solve(deadline, mostConflicts ?? Number.POSITIVE_INFINITY),
        () => last,
      )
      if (answer === 'unsat') return this.violation(encoder)
      if (answer === 'open') continue
      const found = solveRound(encoder, axioms, this.verifier, this.choice, hasAll, round)
      if (typeof found !== 'number') return found
      last = `the last order tried was wrong in ${found} places`
    }
  }
}

/**
 * After the solver found an order: that, if it breaks no axiom; else adds those that it breaks, and
 * says how many.
 *
 * @param choice tries other writers for the same order
 */
export function solveRound(
  encoder: Encoder,
  axioms: RowAxioms | null,
  verifier: Verifier,
  choice: Choice | null,
  hasAll: boolean,
  round: number,
): Solution | number {
  const { known, deadline, solver } = encoder
  const position = solver.order(deadline)
  const order = axioms ? axioms.readSolution(position) : commitsIn(known, positionsOf(position))
  const source = axioms?.source ?? null
  const isProved = axioms === null && hasAll
  const chosen = choice?.findValid(order) ?? null
  if (chosen !== null) {
    return { satisfied: true, order: chosen, source: choice!.source, verifier }
  }
  if (isProved || verifier.isValid(order, source)) {
    return { satisfied: true, order, source, verifier }
  }
  const before = encoder.orderCount
  const clashing = new Set<number>()
  for (let i = 0; i < verifier.via.length; i++) {
    const from = verifier.from.data[i]!
    const by = verifier.by.data[i]!
    // Pairs have axioms of their own; who follows a reader of the initial version is known.
    if (verifier.pair.data[i] !== NONE || from === NONE) continue
    encoder.addIfMatters(from, by)
    clashing.add(from).add(by)
  }
  // One clash mended often makes the next one beside it: look further and further around.
  const within = Math.min(1 << round, WIDEST)
  for (const txn of clashing) {
    deadline.step(32 * within)
    verifier.forEachNear(txn, within, (other) => encoder.addIfMatters(txn, other))
  }
  const added = axioms?.add(verifier, source!) ?? false
  assert(added || encoder.orderCount > before, 'a solution of the axioms so far breaks others')
  if (!hasAll) solver.setInitialOrder(position)
  return verifier.via.length
}
