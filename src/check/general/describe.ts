// From a violation that was found to an anomaly: a lost update if there is one; else a core of a
// few transactions (core.ts), and on these alone one cycle, or cases (argue.ts); by the first name
// that fits (verdict/anomaly-rules.ts). A violation is not lost when time runs out: then a cycle
// among all transactions is shown as it was found. Main function: describeViolation.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { Argument } from '../evidence/fold.ts'
import { nameViolation } from '../evidence/names.ts'
import { SI } from '../problem/levels.ts'
import { argue, explainPlainly } from './argue.ts'
import { type PartOf, shrinkCore } from './core.ts'
import { refuteByKnown, type Violation } from './engine.ts'
import { Explainer } from './explain.ts'
import { findLostUpdates } from './lost-update.ts'
import { ofRows } from './of-rows.ts'
import type { Problem } from './problem.ts'
import { findSuspects } from './suspects.ts'
import { trimRows } from './trim-rows.ts'

/** How much of the time that is left may go into showing a violation by few transactions. */
const SHRINKING = 0.5

/** Throws BudgetExceeded if there is no time to show anything. */
export function describeViolation(found: Violation, partOf: PartOf, deadline: Deadline): Anomaly {
  const { problem } = found.known
  const [lost] = describeLostUpdates(problem, 1)
  if (lost) return lost
  return named(
    problem,
    deadline.during('explaining', () => explain(found, partOf, deadline)),
  )
}

/** Lost updates, as many as asked for at the most: nothing need be decided to see them. */
export function describeLostUpdates(problem: Problem, most: number): Anomaly[] {
  return findLostUpdates(problem, most).map((edges) => named(problem, { edges, cases: [] }))
}

function explain(found: Violation, partOf: PartOf, deadline: Deadline): Argument {
  // What was found is worth the time that is kept for the end.
  const last = deadline.toTheEnd()
  const isKnown = found.contradiction === null
  try {
    return explainCore(found, partOf, deadline, isKnown ? deadline.part(SHRINKING) : last)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    const larger = isKnown ? explainUnshrunk(found, partOf, last) : null
    if (larger !== null) return larger
    const count = found.known.problem.txnOf.filter((txn) => txn >= 0).length
    const progress = `no order of ${count} transactions is valid`
    throw new BudgetExceeded(error.limit, [`${progress}, but those to blame were not singled out`])
  }
}

function explainCore(
  found: Violation,
  partOf: PartOf,
  deadline: Deadline,
  last: Deadline,
): Argument {
  const core = shrinkCore(partOf, found, deadline.part(SHRINKING), last)
  const problem = partOf(core, null, last)
  const plain = explainPlainly(problem, last)
  if (plain !== null) return plain
  const { pairs } = problem
  if (pairs === null) return argue(problem, deadline.part(SHRINKING), last)
  const isKnown = found.contradiction === null
  const rows = trimRows(pairs.rows, isKnown, deadline.part(SHRINKING))
  const trimmed = ofRows(rows)
  return (
    explainPlainly(trimmed, last) ?? argue(trimmed, deadline.part(SHRINKING), deadline.toTheEnd())
  )
}

/** A cycle as it was found, or cases among those that it was traced back to; null if out of time. */
function explainUnshrunk(found: Violation, partOf: PartOf, deadline: Deadline): Argument | null {
  try {
    const edges = new Explainer(found.known, found.conflicts).explainKnown(deadline)
    if (edges !== null) return { edges, cases: [] }
    for (const suspects of findSuspects(found, deadline)) {
      const txns = [...suspects.txns].map((txn) => found.known.problem.txnOf[txn]!)
      const part = partOf(txns, null, deadline)
      const plain = explainPlainly(part, deadline)
      if (plain !== null) return plain
      if (refuteByKnown(part, deadline) !== null) return argue(part, deadline, deadline)
    }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return null
}

function named({ history, reads, level, txnOf, pairs }: Problem, argument: Argument): Anomaly {
  const ordersCommits = (txn: number) => level[txnOf.indexOf(txn)]! >= SI
  return nameViolation(history, pairs === null ? reads : null, ordersCommits, argument)
}
