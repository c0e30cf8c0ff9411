// Canaries: a checker with one rule broken must be caught by some property, or the properties are
// worth nothing. Each is the real checker on a history that was changed behind its back.

import { describe, expect, test } from 'vitest'
import { check } from '../../src/check/check.ts'
import { type History, INITIAL, NONE, READ } from '../../src/history/history.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { subHistory } from '../history/sub-history.ts'
import { LONG } from '../long.ts'
import { buildHistory, type Draft, type DraftOp, type DraftTxn, draftOf } from '../small/draft.ts'
import { againstCertifier } from './forgeries.ts'
import { fuzz } from './fuzz.ts'
import { PROPERTIES } from './properties.ts'
import { type Judge, judgeAll } from './property.ts'

const opsWhere = (history: History, keep: (op: number) => boolean) =>
  Array.from({ length: history.opCount }, (_, op) => op).filter(keep)

/** The checker on a history of which some operations are hidden from it. */
const without =
  (hides: (history: History, op: number) => boolean): Judge =>
  (history, options) =>
    judgeAll(
      subHistory(
        history,
        opsWhere(history, (op) => !hides(history, op)),
      ),
      options,
    )

const changing =
  (change: (draft: Draft) => Draft): Judge =>
  (history, options) =>
    judgeAll(buildHistory(change(draftOf(history).draft)), options)

const mapTxns = (draft: Draft, change: (txn: DraftTxn) => DraftTxn): Draft => ({
  ...draft,
  sessions: draft.sessions.map((txns) => txns.map(change)),
})

/** Keys by their text alone, so that 1 and "1" are one. */
const keysAsText = changing((draft) => {
  const written = new Set<string>()
  const change = (op: DraftOp): DraftOp[] => {
    const isList =
      op.kind === 'append' ||
      op.kind === 'list' ||
      (op.kind === 'rows' && Array.isArray(op.rows[0]))
    const key = `${isList ? 'list' : 'key'} ${op.key}`
    if (op.kind === 'list' || op.kind === 'r' || op.kind === 'rows') return [{ ...op, key }]
    const slot = `${key} = ${typeof op.value} ${op.value}`
    const again = written.has(slot)
    written.add(slot)
    return again ? [] : [{ ...op, key }]
  }
  return mapTxns(draft, (txn) => ({ ...txn, ops: txn.ops.flatMap(change) }))
})

/** Name of the canary, the properties of which each must catch it, the broken checker. */
const CANARIES: (readonly [string, readonly string[], Judge])[] = [
  [
    'no session order',
    ['oracle', 'faults'],
    changing((draft) => ({ ...draft, sessions: draft.sessions.flat().map((txn) => [txn]) })),
  ],
  [
    'no reads of the initial state',
    ['oracle'],
    without((history, op) => history.readFrom[op] === INITIAL),
  ],
  [
    'no reads of nothing',
    ['oracle'],
    without(({ opKind, readFrom }, op) => opKind[op] === READ && readFrom[op] === NONE),
  ],
  [
    'aborted transactions taken as committed',
    ['oracle', 'faults'],
    changing((draft) =>
      mapTxns(draft, (txn) => (txn.status === 'aborted' ? { ...txn, status: 'committed' } : txn)),
    ),
  ],
  [
    'indeterminate transactions taken as aborted',
    ['oracle', 'stores'],
    changing((draft) =>
      mapTxns(draft, (txn) =>
        txn.status === 'indeterminate' ? { ...txn, status: 'aborted' } : txn,
      ),
    ),
  ],
  [
    'no real time',
    ['oracle', 'faults'],
    changing((draft) =>
      mapTxns(draft, ({ status, ops }) => ({ status, ops, start: 0, finish: 0 })),
    ),
  ],
  [
    'only the first transactions of the file',
    ['oracle', 'metamorphic'],
    without(({ opTxn }, op) => opTxn[op]! > 3),
  ],
  [
    'only the first session',
    ['metamorphic', 'components'],
    without(({ opTxn, txnSession }, op) => txnSession[opTxn[op]!] !== 0),
  ],
  [
    'no session of an odd name',
    ['metamorphic'],
    without(({ opTxn, txnSession, sessionLabel }, op) => {
      const label = sessionLabel(txnSession[opTxn[op]!]!)
      return typeof label === 'number' && label % 2 !== 0
    }),
  ],
  // Keys that differ in their type alone are rare.
  ...(LONG ? [['keys as text', ['metamorphic'], keysAsText] as const] : []),
  [
    'a stronger level in place of a weaker one',
    ['hierarchy', 'stores', 'oracle'],
    (history) =>
      judgeAll(history).map((result) =>
        result.level === 'cc' ? { ...check(history, 'si'), level: 'cc' } : result,
      ),
  ],
]

describe('a checker with one rule broken', () => {
  for (const [name, catchers, judge] of CANARIES) {
    for (const catcher of catchers) {
      test(`${name}: caught by ${catcher}`, async () => {
        const properties = PROPERTIES.filter((property) => property.name === catcher)
        const { failure } = await fuzz({ seed: 1, seconds: 60, count: 3000, properties, judge })
        expect(failure).toContain(`npm run fuzz -- --only ${catcher} --seed`)
        // Not by crashing.
        expect(failure).not.toMatch(/Error|decided nothing/)
      })
    }
  }
})

/** A certifier with one rule broken must be deceived by some forgery. */
const GULLIBLE: [string, (history: History, claim: LevelResult) => readonly string[]][] = [
  [
    'overlooks that session order is off',
    (history, claim) => {
      const { sessionOrder: _, ...rest } = claim
      return certifyPlain(history, rest).problems
    },
  ],
  [
    'lets session order count at pl-2',
    (history, claim) => {
      const level = claim.level === 'pl-2' && claim.verdict === 'violated' ? 'rc' : claim.level
      return certifyPlain(history, { ...claim, level }).problems
    },
  ],
  [
    'takes any cycle of serializability for one with a single anti-dependency',
    (history, claim) => {
      const serial: Partial<Record<LevelId, LevelId>> = { 'pl-2+': 'pl-2.99', psi: 'ser' }
      const level = (claim.verdict === 'violated' && serial[claim.level]) || claim.level
      return certifyPlain(history, { ...claim, level }).problems
    },
  ],
  [
    'takes any order for one that no transaction leads back against',
    (history, claim) => {
      const level = claim.level === 'pl-2+' && claim.verdict === 'satisfied' ? 'pl-cs' : claim.level
      return certifyPlain(history, { ...claim, level }).problems
    },
  ],
  [
    'lets aborted transactions count',
    (history, claim) => {
      const txnCounts = history.txnCounts.map((_, txn) => (history.txnIsInitial[txn] ? 0 : 1))
      return certifyPlain({ ...history, txnCounts }, claim).problems
    },
  ],
  [
    'takes anything for a proof',
    (history, claim) =>
      claim.verdict === 'satisfied' ? [] : certifyPlain(history, claim).problems,
  ],
  [
    'lets circles count at cut isolation',
    (history, claim) => {
      const level = claim.level === 'ci' && claim.verdict === 'violated' ? 'ra' : claim.level
      return certifyPlain(history, { ...claim, level }).problems
    },
  ],
]

/** Deceived only after many forgeries: where there is time. */
const LATE = /any cycle of serializability|no transaction leads back against|lets aborted/

describe('forgeries', () => {
  const tried = GULLIBLE.filter(([name]) => LONG || !LATE.test(name))
  test.each(tried)('deceive a certifier that %s', async (_, certify) => {
    const properties = [againstCertifier(certify)]
    const { failure } = await fuzz({ seed: 1, seconds: 600, count: 2000, properties })
    expect(failure).toContain('was certified')
  })
})
