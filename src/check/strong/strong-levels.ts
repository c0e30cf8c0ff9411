// The verdicts of pc, si, ser and sser on any history, with a proof or a minimal core. A serial
// order found on the way to the weak levels settles all but sser at once; else the engine decides,
// and a violation is cut down to a few transactions and explained on those alone. Main class:
// StrongLevels.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import type { History } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import { classifyCycle } from '../../verdict/classify.ts'
import { type Anomaly, type Case, findTxns, type Proof } from '../../verdict/verdict.ts'
import type { BaseOrder } from '../order/base-order.ts'
import { describeOffences } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { shrinkCore, toTxns } from './core.ts'
import { type Decision, decide } from './engine.ts'
import { type Explanation, explainViolation } from './explain.ts'
import { buildProblem, type Problem } from './problem.ts'
import { buildProof } from './proof.ts'
import { SHAPES, type StrongLevel } from './shape.ts'
import { findSuspects } from './suspects.ts'

export interface Findings {
  anomalies: Anomaly[]
  /** The proof, if nothing was found. */
  proof: Proof | null
}

export class StrongLevels {
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly base: () => BaseOrder,
    private readonly deadline: Deadline,
    private readonly listAll: boolean,
  ) {}

  check(level: StrongLevel): Findings {
    const anomalies = describeOffences(this.history, this.reads, this.listAll)
    if (level !== 'sser' && anomalies.length === 0) {
      const { order, component, staleReads } = this.base()
      if (component === null && staleReads.length === 0) {
        return { anomalies, proof: { kind: 'commit-order', order } }
      }
    }
    const problem = buildProblem(this.history, this.reads)
    const decision = decide(problem, SHAPES[level], this.deadline)
    if (!decision.satisfied) anomalies.push(this.describe(problem, decision, level))
    const proof =
      anomalies.length === 0 && decision.satisfied
        ? buildProof(decision.known, decision.position)
        : null
    return { anomalies, proof }
  }

  /** The violation on a minimal core. */
  private describe(
    problem: Problem,
    decision: Extract<Decision, { satisfied: false }>,
    level: StrongLevel,
  ): Anomaly {
    const { history, reads, deadline } = this
    const shape = SHAPES[level]
    const suspects = toTxns(problem, findSuspects(decision, deadline))
    const core = shrinkCore(history, reads, shape, suspects, deadline)
    const small = decide(buildProblem(history, reads, core), shape, deadline)
    const explanation = small.satisfied ? null : explainViolation(small, deadline)
    if (explanation === null) {
      throw new BudgetExceeded(`no order exists, but the argument is too long to be verified`)
    }
    return nameViolation(history, explanation)
  }
}

function nameViolation(history: History, { edges, cases }: Explanation): Anomaly {
  const txns = findTxns(edges, cases)
  const name = cases.length === 0 ? classifyCycle(history, edges) : nameCases(history, cases)
  return { name, count: 1, txns, ops: [], edges, cases }
}

/** Names from the least to the most that a level must forbid to rule them out. */
const BY_CLASS: readonly AnomalyName[] = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item']

/** The name that all leaves share, else the class that covers all of them. */
function nameCases(history: History, cases: readonly Case[]): AnomalyName {
  const pending = [...cases]
  const names = new Set<AnomalyName>()
  for (const { cycle, cases: further } of pending) {
    if (cycle.length > 0) names.add(classifyCycle(history, cycle))
    pending.push(...further)
  }
  const [first] = names
  if (names.size === 1) return first!
  const rank = (name: AnomalyName) => Math.max(0, BY_CLASS.indexOf(classOf(name)))
  return BY_CLASS[Math.max(...[...names].map(rank))]!
}

function classOf(name: AnomalyName): AnomalyName {
  switch (name) {
    case 'WriteSkew':
    case 'ReadOnlyAnomaly':
      return 'G2-item'
    case 'LongFork':
      return 'G-nonadjacent'
    case 'CyclicCO':
      return 'G1c'
    case 'G0':
    case 'G1c':
    case 'G-nonadjacent':
    case 'G2-item':
      return name
    default:
      return 'G-single'
  }
}
