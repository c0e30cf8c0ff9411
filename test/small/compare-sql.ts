// Compares deciders of mixed levels with the oracle for SQL histories: the mix of levels as drawn,
// and every level for all; the reads of transactions that were rolled back on purpose judged, for
// one seed in four ignored; also what offends, and whether what a decider gives as proof is one.
// Main function: compareWithSqlOracle.

import { Deadline } from '../../src/base/deadline.ts'
import { buildMixedProblem } from '../../src/check/mixed/build-problem.ts'
import type { MixedProblem, MixedSolution } from '../../src/check/problem/mixed-problem.ts'
import { withRolledBack } from '../../src/history/counts.ts'
import type { History } from '../../src/history/history.ts'
import { Confirmed } from './confirmed.ts'
import { randomSql } from './random-sql.ts'
import { historyOfSql, renderSql, SQL_LEVELS, type SqlDraft, type SqlLevel } from './sql-draft.ts'
import { SqlOracle } from './sql-oracle.ts'

export type MixedDecider = (problem: MixedProblem, deadline: Deadline) => MixedSolution | null

export const MIXES = ['mixed', ...SQL_LEVELS] as const
export type Mix = (typeof MIXES)[number]

export interface SqlComparison {
  /** The first difference, as text; null if there is none. */
  readonly disagreement: string | null
  readonly satisfied: Record<Mix, number>
  readonly violated: Record<Mix, number>
}

/** @param seeds how many histories, from seed 1 on */
export function compareWithSqlOracle(
  deciders: Readonly<Record<string, MixedDecider>>,
  seeds: number,
  mixes: readonly Mix[] = MIXES,
  build: (history: History, mix: Mix) => MixedProblem = buildMixedProblem,
): SqlComparison {
  const none = () => Object.fromEntries(MIXES.map((mix) => [mix, 0])) as Record<Mix, number>
  const satisfied = none()
  const violated = none()
  const confirmed = new Confirmed('SQL')
  for (let seed = 1; seed <= seeds; seed++) {
    const draft = randomSql(seed)
    const history = historyOfSql(draft)
    const judgesAborted = seed % 4 > 0
    const oracle = new SqlOracle(history, judgesAborted)
    const judged = judgesAborted ? withRolledBack(history) : history
    for (const mix of mixes) {
      const levels = levelsOf(draft, mix)
      const truth = oracle.decide(levels)
      const counts = truth.holds ? satisfied : violated
      counts[mix]++
      const problem = build(judged, mix)
      const wrong =
        compareOffences(truth.offences, problem) ??
        compareVerdicts(oracle, levels, truth.holds, problem, deciders)
      if (wrong === null) {
        confirmed.add(mix, true, truth.holds ? 'satisfied' : 'violated')
        continue
      }
      const disagreement = `${mix} (seed ${seed}): ${wrong}\n${renderSql(draft)}`
      return { disagreement, satisfied, violated }
    }
  }
  confirmed.tell()
  return { disagreement: null, satisfied, violated }
}

export function levelsOf(draft: SqlDraft, mix: Mix): SqlLevel[] {
  return draft.sessions.flat().map(({ level }) => (mix === 'mixed' ? level : mix))
}

interface Named {
  readonly name: string
  readonly txn: number
  readonly event: number
  readonly key: number
}

function compareOffences(truth: readonly Named[], problem: MixedProblem): string | null {
  const list = (offences: readonly Named[]) =>
    offences
      .map(({ name, txn, event, key }) => `${name} T${txn + 1} #${event} k${key}`)
      .sort()
      .join(', ')
  const [expected, found] = [list(truth), list(problem.offences)]
  return expected === found ? null : `offences ${found || 'none'}, truly ${expected || 'none'}`
}

function compareVerdicts(
  oracle: SqlOracle,
  levels: readonly SqlLevel[],
  holds: boolean,
  problem: MixedProblem,
  deciders: Readonly<Record<string, MixedDecider>>,
): string | null {
  for (const [name, decide] of Object.entries(deciders)) {
    const solution = decide(problem, Deadline.none())
    if ((solution !== null) !== holds) {
      const words = (yes: boolean) => (yes ? 'satisfied' : 'violated')
      return `${name} decided ${words(solution !== null)}, truly ${words(holds)}`
    }
    if (solution && !isProof(oracle, levels, problem, solution)) {
      return `${name} gave no proof: order ${solution.order.join(' ')}, choice ${solution.choice.join(' ')}`
    }
  }
  return null
}

function isProof(
  oracle: SqlOracle,
  levels: readonly SqlLevel[],
  problem: MixedProblem,
  { order, choice }: MixedSolution,
): boolean {
  const chosen = Array.from(choice, (node, conflict) => ({
    event: problem.readEvent[problem.openRead[conflict]!]!,
    key: problem.openKey[conflict]!,
    node,
  }))
  const taking = chosen.filter(({ node }) => node >= 0)
  return oracle.isProof(levels, Array.from(order), taking)
}
