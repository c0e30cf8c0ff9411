import { describe, expect, test } from 'vitest'
import { buildMixedProblem } from '../../src/check/mixed/build-problem.ts'
import { CC, PC, RA, RC, RC_SQL, SER, SI } from '../../src/check/problem/levels.ts'
import { IN, MAYBE, type MixedProblem, OUT } from '../../src/check/problem/mixed-problem.ts'
import { decideByExtensions } from '../../src/check/published/extensions.ts'
import { ABORTED, COMMITTED, type History } from '../../src/history/history.ts'
import { solveMixed } from '../check/mixed/solve-mixed.ts'
import { FEWER, sampled } from './compare.ts'
import { compareWithSqlOracle, MIXES, type Mix, type MixedDecider } from './compare-sql.ts'

describe('deciders of mixed levels', () => {
  test('agree with the oracle on random histories, 5,000 if asked, at every level and at their own', () => {
    const solveOnly: MixedDecider = (problem, deadline) => solveMixed(problem, deadline, false)
    const outcome = compareWithSqlOracle(
      { decideByExtensions, solveMixed, solveOnly },
      sampled(5000) / FEWER,
    )
    expect(outcome.disagreement).toBeNull()
    for (const mix of MIXES) {
      expect(outcome.satisfied[mix]).toBeGreaterThan(sampled(1000) / FEWER)
      expect(outcome.violated[mix]).toBeGreaterThan(sampled(1000) / FEWER)
    }
  }, 120_000)
})

type Break = (problem: MixedProblem) => MixedProblem

const takenAs =
  (from: number, to: number): Break =>
  (problem) => ({ ...problem, level: problem.level.map((level) => (level === from ? to : level)) })

/** Keeps the rows passed over, and the candidates for each, that `keeps` accepts. */
const keeping =
  (keeps: (problem: MixedProblem, conflict: number, candidate: number) => boolean): Break =>
  (problem) => {
    const openStart = [0]
    const openRead: number[] = []
    const openKey: number[] = []
    const zeroStart = [0]
    const zeroNode: number[] = []
    for (let read = 0; read < problem.readCount; read++) {
      for (let open = problem.openStart[read]!; open < problem.openStart[read + 1]!; open++) {
        const from = problem.zeroStart[open]!
        const zeros = problem.zeroNode.subarray(from, problem.zeroStart[open + 1]!)
        const kept = Array.from(zeros).filter((_, i) => keeps(problem, open, i))
        if (kept.length === 0) continue
        openRead.push(read)
        openKey.push(problem.openKey[open]!)
        zeroNode.push(...kept)
        zeroStart.push(zeroNode.length)
      }
      openStart.push(openKey.length)
    }
    return {
      ...problem,
      openCount: openKey.length,
      openStart: Int32Array.from(openStart),
      openRead: Int32Array.from(openRead),
      openKey: Int32Array.from(openKey),
      zeroStart: Int32Array.from(zeroStart),
      zeroNode: Int32Array.from(zeroNode),
    }
  }

/** Whether no version of the row satisfies the predicate. */
function isNoConflict(problem: MixedProblem, open: number): boolean {
  const { writerStart, writerNode, zeroStart, openKey, openRead, readNode } = problem
  const key = openKey[open]!
  const own = readNode[openRead[open]!]!
  const writers = writerNode.subarray(writerStart[key]!, writerStart[key + 1]!)
  const others = writers.filter((node) => node !== own).length
  return others === zeroStart[open + 1]! - zeroStart[open]!
}

const statesAs =
  (to: number): Break =>
  (problem) => ({ ...problem, state: problem.state.map((state) => (state === MAYBE ? to : state)) })

/** Those that were rolled back have nobody behind them in their sessions. */
function skippingAborted(problem: MixedProblem): MixedProblem {
  const { txnStatus } = problem.history
  const skip = (node: number): number =>
    node > 0 && txnStatus[node - 1] === ABORTED ? skip(problem.before[node]!) : node
  return { ...problem, before: problem.before.map(skip) }
}

const BROKEN: readonly (readonly [string, Mix, Break])[] = [
  ['rc without session order', 'rc', takenAs(RC_SQL, RC)],
  ['rc taken as ra', 'rc', takenAs(RC_SQL, RA)],
  ['ra taken as rc', 'ra', takenAs(RA, RC_SQL)],
  ['ra taken as cc', 'ra', takenAs(RA, CC)],
  ['cc taken as ra', 'cc', takenAs(CC, RA)],
  ['cc taken as pc', 'cc', takenAs(CC, PC)],
  ['pc taken as cc', 'pc', takenAs(PC, CC)],
  ['pc taken as si', 'pc', takenAs(PC, SI)],
  ['si taken as pc', 'si', takenAs(SI, PC)],
  ['si taken as ser', 'si', takenAs(SI, SER)],
  ['ser taken as si', 'ser', takenAs(SER, SI)],
  ['rows passed over ignored', 'ser', keeping(() => false)],
  ['rows passed over ignored at rc', 'rc', keeping(() => false)],
  ['only the first candidate tried', 'ser', keeping((_, __, candidate) => candidate === 0)],
  [
    'only conflicts given writers',
    'mixed',
    keeping((problem, open) => !isNoConflict(problem, open)),
  ],
  ['optional transactions left out', 'ser', statesAs(OUT)],
  ['optional transactions taken in', 'ser', statesAs(IN)],
  ['no session order', 'ra', (problem) => ({ ...problem, before: problem.before.map(() => 0) })],
  ['nothing follows those rolled back', 'cc', skippingAborted],
]

describe('compareWithSqlOracle', () => {
  for (const [name, mix, spoil] of BROKEN) {
    test(`catches at ${mix}: ${name}`, () => {
      const { disagreement } = compareWithSqlOracle(
        { decideByExtensions },
        20_000,
        [mix],
        (history, level) => spoil(buildMixedProblem(history, level)),
      )
      expect(disagreement).toMatch(
        new RegExp(`^${mix} \\(seed \\d+\\): decideByExtensions (decided|gave no proof)`),
      )
    }, 60_000)
  }

  const MISREAD: readonly (readonly [
    string,
    (history: History) => Partial<Pick<History, 'txnCounts' | 'txnStatus'>>,
  ])[] = [
    [
      'those rolled back ignored',
      ({ txnCounts, txnStatus }) => ({
        txnCounts: txnCounts.map((counts, txn) => (txnStatus[txn] === ABORTED ? 0 : counts)),
      }),
    ],
    [
      'those rolled back taken as committed',
      ({ txnStatus, sql }) => ({
        txnStatus: txnStatus.map((status, txn) =>
          sql!.txnRolledBack[txn] === 1 ? COMMITTED : status,
        ),
      }),
    ],
  ]
  for (const [name, misread] of MISREAD) {
    test(`catches at mixed: ${name}`, () => {
      const { disagreement } = compareWithSqlOracle(
        { decideByExtensions },
        2000,
        ['mixed'],
        (history, level) => buildMixedProblem({ ...history, ...misread(history) }, level),
      )
      expect(disagreement).toMatch(/^mixed \(seed \d+\)/)
    }, 60_000)
  }
})
