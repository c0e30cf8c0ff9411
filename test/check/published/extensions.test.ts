import { describe, expect, test } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { BudgetExceeded } from '../../../src/base/errors.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { decideByExtensions } from '../../../src/check/published/extensions.ts'
import { randomSql, sqlShapeOf } from '../../small/random-sql.ts'
import { historyOfSql, parseSql, type SqlDraft } from '../../small/sql-draft.ts'
import { judgeSql } from '../mixed/judge-sql.ts'

describe('decideByExtensions', () => {
  test('finds a lost update at si, which Table 1 of the paper as printed misses', () => {
    const history = `
      init: x=0
      s1: [si] update(true) as w1 x@0=1
      s2: [si] update(true) as w2 x@0=2`
    expect(judgeSql(history).order).toBeNull()
    expect(judgeSql(history, 'pc').order).not.toBeNull()
    expect(judgeSql(history.replace('x@0=2', 'x@w1=2')).order).toEqual(['T1', 'T2'])
  })

  test('lets a rival go first when the version seen is still to come', () => {
    const history = `
      init: x=0
      s1: [rc] insert as w1 x=1 | [si] update(true) as w2 x@w1=2`
    expect(judgeSql(history).order).toEqual(['T1', 'T2'])
    expect(judgeSql(history.replace('x@w1', 'x@0')).order).toBeNull()
  })

  test('lets others replace what an si reader saw, once its rivals are past', () => {
    const history = `
      init: w=0 x=0
      s1: [rc] insert as w1 x=1 | [ser] select(id = 'w') w@0
      s2: [si] select(id = 'x') x@0 ; insert as w2 w=1`
    expect(judgeSql(history).order).toEqual(['T1', 'T2', 'T3'])
    expect(judgeSql(history.replace('w2 w=1', 'w2 w=1 x=2')).order).toBeNull()
  })

  test('counts rows that a serializable statement passed over among the causes of cc', () => {
    const history = `
      init: w=0 x=0 y=0 z=0
      s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
      s2: [ser] update(id = 'x') as w2 x@0=1 ; insert as w3 w=1 | [cc] select(id = 'z') z@0`
    expect(judgeSql(history).order).toBeNull()
    expect(judgeSql(history.replace('[cc]', '[ra]')).order).toEqual(['T1', 'T2', 'T3'])
    expect(judgeSql(history.replace('z@0', 'z@w1')).order).toEqual(['T1', 'T2', 'T3'])
  })

  test('lets an unobserved indeterminate transaction explain an absent row', () => {
    const history = `
      init: x=0
      s1: [ser indeterminate] delete(true) as w1 x@0
      s2: [ser] select(true)`
    expect(judgeSql(history).order).toEqual(['T1', 'T2'])
    const aborted = judgeSql(history.replace('indeterminate', 'aborted'))
    expect(aborted.offences).toEqual(['VanishedRow'])
  })

  test('leaves an indeterminate transaction out that would forbid what was seen', () => {
    const history = `
      init: x=0 y=0
      s1: [ser indeterminate] delete(true) as w1 x@0 y@0 | [ser] select(id = 'y') y@0
      s2: [ser] select(id = 'x') x@0`
    expect(judgeSql(history).order).toEqual(['T2', 'T3'])
    expect(judgeSql(history.replace(' indeterminate', '')).order).toBeNull()
  })

  test('finds a phantom: a row passed over in a version that must commit later', () => {
    const history = `
      init: x=0 y=0
      s1: [ser] select(v = 1) ; update(id = 'y') as w1 y@0=1
      s2: [ser] select(v = 1) ; update(id = 'x') as w2 x@0=1`
    expect(judgeSql(history).order).toBeNull()
    expect(judgeSql(history, 'si').order).not.toBeNull()
  })

  test('notices a row of its own that it passed over, though it deleted it later', () => {
    const history = `
      init: x=-
      s1: [ser] insert as w1 x=1 ; select(v = 1) ; delete(true) as w2 x@w1`
    expect(judgeSql(history).offences).toEqual(['NotMyOwnWrite'])
    expect(judgeSql(history.replace('select(v = 1)', 'select(v = 1) x@w1')).offences).toEqual([])
  })

  test('stops at the deadline', () => {
    const draft = randomSql(1, sqlShapeOf(1, { txns: 30, sessions: 20, levels: ['si'] }))
    const problem = buildMixedProblem(historyOfSql(draft), 'si')
    expect(() => decideByExtensions(problem, new Deadline(-1))).toThrow(BudgetExceeded)
  })
})

describe('full histories at rc, ra and cc', () => {
  test('are decided by saturation, however many orders there are', () => {
    let satisfied = 0
    let violated = 0
    for (let seed = 1; seed <= 60; seed++) {
      const shape = {
        txns: 30,
        sessions: 20,
        levels: ['rc', 'ra', 'cc'],
        named: 1,
        indeterminate: 0,
        sight: 'causal',
        stale: seed % 2 === 0 ? 0 : 0.03,
      } as const
      const draft: SqlDraft = randomSql(seed, sqlShapeOf(seed, shape))
      const problem = buildMixedProblem(historyOfSql(draft), 'mixed')
      expect(problem.openCount).toBe(0)
      if (decideByExtensions(problem, new Deadline(5_000))) satisfied++
      else violated++
    }
    expect(satisfied).toBeGreaterThan(10)
    expect(violated).toBeGreaterThan(10)
  })

  test('tell a fractured read from a whole one', () => {
    const history = `
      init: x=0 y=0
      s1: [ra] insert as w1 x=1 y=1
      s2: [ra] select(v = 1) x@w1 !y@0`
    expect(judgeSql(history).order).toBeNull()
    expect(judgeSql(history.replace('[ra] select', '[rc] select')).order).toBeNull()
    const later = 'select(v = 1) !x@0 !y@0 ; select(v = 1) x@w1 y@w1'
    const split = history.replace('select(v = 1) x@w1 !y@0', later)
    expect(judgeSql(split).order).toBeNull()
    expect(judgeSql(split.replace('[ra] select', '[rc] select')).order).toEqual(['T1', 'T2'])
    expect(parseSql(split).sessions[1]![0]!.events).toHaveLength(2)
  })
})
