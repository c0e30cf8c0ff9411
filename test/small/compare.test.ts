// The canary: deciders with one rule broken must be caught, or the comparison is worth nothing.

import { describe, expect, test } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { compareWithOracle, type Decide, FEWER, SAMPLED, sampled } from './compare.ts'
import { type Draft, type DraftTxn, draftOf, shrinkDraft } from './draft.ts'
import { decideHistory, ORACLE_LEVELS, type OracleLevel, profileOf } from './oracle.ts'

/** The smallest sample that the deciders are compared on elsewhere: it must catch the broken ones. */
const SOME = { stride: FEWER * SAMPLED, seeds: sampled(20_000) / FEWER }

const mapTxns = (draft: Draft, change: (txn: DraftTxn) => DraftTxn): Draft => ({
  ...draft,
  sessions: draft.sessions.map((txns) => txns.map(change)),
})

/** The oracle on a history that was changed first. */
const after =
  (change: (draft: Draft) => Draft): Decide =>
  (history, level) =>
    profileOf(change(draftOf(history).draft))[level]

/** Name, the levels at which it must be caught, and the broken decider. */
const CANARIES: [string, readonly OracleLevel[], Decide][] = [
  [
    'no session order',
    ['ra', 'cc', 'pc', 'si', 'ser'],
    (history, level) => profileOf(draftOf(history).draft, { sessionOrder: false })[level],
  ],
  [
    'indeterminate transactions taken as aborted',
    ['ci', 'cc', 'sser'],
    after((draft) =>
      mapTxns(draft, (txn) =>
        txn.status === 'indeterminate' ? { ...txn, status: 'aborted' } : txn,
      ),
    ),
  ],
  [
    'indeterminate transactions taken as committed',
    ['ra', 'si'],
    after((draft) =>
      mapTxns(draft, (txn) =>
        txn.status === 'indeterminate' ? { ...txn, status: 'committed' } : txn,
      ),
    ),
  ],
  [
    'aborted transactions taken as committed',
    ['rc', 'ser'],
    after((draft) =>
      mapTxns(draft, (txn) => (txn.status === 'aborted' ? { ...txn, status: 'committed' } : txn)),
    ),
  ],
  [
    'reads of the initial value ignored',
    ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'sser'],
    after((draft) =>
      mapTxns(draft, (txn) => ({
        ...txn,
        ops: txn.ops.filter((op) => op.kind !== 'r' || op.value !== draft.initial),
      })),
    ),
  ],
  [
    'only the first transaction of each session followed',
    ['ra', 'cc', 'ser'],
    after((draft) => ({
      ...draft,
      sessions: draft.sessions.map((txns) => txns.slice(0, 2)),
    })),
  ],
  [
    'open intervals',
    ['sser'],
    after((draft) =>
      mapTxns(draft, (txn) => (txn.start === undefined ? txn : { ...txn, start: txn.start + 0.5 })),
    ),
  ],
]

/** Each level mistaken for a neighbour. */
const MISTAKEN: [OracleLevel, OracleLevel][] = [
  ['ci', 'ra'],
  ['rc', 'ra'],
  ['ra', 'cc'],
  ['cc', 'ra'],
  ['cc', 'pc'],
  ['pc', 'cc'],
  ['pc', 'si'],
  ['si', 'pc'],
  ['si', 'ser'],
  ['ser', 'si'],
  ['sser', 'ser'],
]

describe('compareWithOracle', () => {
  test('finds nothing when the decider is right', () => {
    const outcome = compareWithOracle(decideHistory, ORACLE_LEVELS, SOME)
    expect(outcome.disagreement).toBeNull()
    for (const level of ORACLE_LEVELS) {
      expect(outcome.satisfied[level]).toBeGreaterThan(500 / FEWER)
      expect(outcome.violated[level]).toBeGreaterThan(500 / FEWER)
    }
  })

  for (const [name, levels, decide] of CANARIES) {
    for (const level of levels) {
      test(`catches at ${level}: ${name}`, () => {
        const { disagreement } = compareWithOracle(decide, [level], SOME)
        expect(disagreement).toMatch(
          new RegExp(`^${level} \\((seed|small history) \\d+\\): decided`),
        )
        const notation = disagreement!.slice(disagreement!.indexOf('\n') + 1)
        const history = parseNotation(notation)
        expect(decide(history, level)).not.toBe(decideHistory(history, level))
      })
    }
  }

  for (const [level, taken] of MISTAKEN) {
    test(`catches ${level} decided as ${taken}`, () => {
      const decide: Decide = (history) => decideHistory(history, taken)
      expect(
        compareWithOracle(decide, [level], { families: [], seeds: 20_000 }).disagreement,
      ).not.toBe(null)
    })
  }
})

describe('shrinkDraft', () => {
  test('cuts a lost update down to the two transactions that matter', () => {
    const { draft } = draftOf(
      parseNotation('s1: w(y,1) | r(x,0) r(y,1) w(x,1) w(z,5)\ns2: r(x,0) w(x,2) | r(z,5)'),
    )
    const smallest = shrinkDraft(draft, (smaller) => profileOf(smaller).si === 'violated')
    expect(smallest.sessions.flat().map((txn) => txn.ops.length)).toEqual([2, 2])
  })
})
