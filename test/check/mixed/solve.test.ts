import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { BudgetExceeded } from '../../../src/base/errors.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'
import { solveMixed, verifySolution } from './solve-mixed.ts'

/** Whether the history is consistent; with and without shortcuts, the solutions verified. */
function holds(history: History, level: LevelId): boolean {
  const problem = buildMixedProblem(history, level)
  expect(problem.offences).toEqual([])
  const [quick, bare] = [true, false].map((shortcuts) => {
    const solution = solveMixed(problem, Deadline.none(), shortcuts)
    if (solution) expect(verifySolution(problem, solution)).toBe(true)
    return solution !== null
  })
  expect(quick).toBe(bare)
  return quick!
}

const LEVELS = ['rc', 'ra', 'cc', 'pc', 'si', 'ser'] as const

/** The levels at which an SQL history holds; its own levels are of no account. */
function levelsOf(sql: string): string {
  const history = historyOfSql(parseSql(sql))
  return LEVELS.filter((level) => holds(history, level)).join(' ')
}

function isMixed(sql: string): boolean {
  return holds(historyOfSql(parseSql(sql)), 'mixed')
}

describe('solveMixed', () => {
  it('finds a phantom: a row that is there the second time', () => {
    const phantom = `init: x=-
s1: [ser] insert as w1 x=1
s2: [ser] select(v = 1) ; select(v = 1) x@w1`
    expect(levelsOf(phantom)).toBe('rc')
    expect(levelsOf(phantom.replace('select(v = 1) ;', 'select(v = 2) ;'))).toContain('ser')
  })

  it('explains a row that is gone by whoever deleted it', () => {
    const gone = `init: x=-
s1: [ser] insert as w1 x=1
s2: [ser] delete(v = 1) as w2 x@w1
s3: [ser] select(v = 1) x@w1 | [ser] select(v > 0)`
    expect(levelsOf(gone)).toBe('rc ra cc pc si ser')
    expect(levelsOf(gone.replace('delete(v = 1) as w2', 'select(v = 1)'))).toBe('rc ra')
  })

  it('finds write skew by predicate, which si allows', () => {
    const skew = `init: x=0 y=0
s1: [ser] select(v = 1) ; update(id = 'x') as w1 x@0=1
s2: [ser] select(v = 1) ; update(id = 'y') as w2 y@0=1`
    expect(levelsOf(skew)).toBe('rc ra cc pc si')
    expect(levelsOf(skew.replace("select(v = 1) ; update(id = 'y')", "update(id = 'y')"))).toBe(
      'rc ra cc pc si ser',
    )
  })

  it('finds a lost update, which pc allows', () => {
    const lost = `init: x=0
s1: [si] update(v = 0) as w1 x@0=1
s2: [si] update(v = 0) as w2 x@0=2`
    expect(levelsOf(lost)).toBe('rc ra cc pc')
    expect(levelsOf(lost.replace('update(v = 0) as w2 x@0=2', 'update(v = 1) as w2 x@w1=2'))).toBe(
      'rc ra cc pc si ser',
    )
  })

  it('finds a long fork over predicates, which cc allows', () => {
    const fork = `init: x=0 y=0
s1: [si] update(id = 'x') as w1 x@0=1
s2: [si] update(id = 'y') as w2 y@0=1
s3: [si] select(v = 1) x@w1
s4: [si] select(v = 1) y@w2`
    expect(levelsOf(fork)).toBe('rc ra cc')
    expect(levelsOf(fork.replace('s4: [si] select(v = 1) y@w2', 's4: [si] select(v = 1)'))).toBe(
      'rc ra cc pc si ser',
    )
  })

  it('judges each transaction at its own level', () => {
    const mixed = (level: string) => `init: x=0 y=0
s1: [ser] select(v = 1) ; update(id = 'x') as w1 x@0=1
s2: [${level}] select(v = 1) ; update(id = 'y') as w2 y@0=1`
    expect(isMixed(mixed('ser'))).toBe(false)
    for (const level of ['rc', 'ra', 'cc', 'pc', 'si']) expect(isMixed(mixed(level))).toBe(true)
  })

  it('lets a serializable reader see all that a weak writer left, or nothing', () => {
    const mixed = (level: string) => `init: x=0 y=0
s1: [rc] update(true) as w1 x@0=1 y@0=1
s2: [${level}] select(v = 1) x@w1`
    expect(isMixed(mixed('ser'))).toBe(false)
    expect(isMixed(mixed('rc'))).toBe(false)
    expect(isMixed(mixed('ser').replace('select(v = 1) x@w1', 'select(v = 1) x@w1 y@w1'))).toBe(
      true,
    )
  })

  it('lets a lost transaction explain an absent row, and then all it did counts', () => {
    const absent = `init: x=1 y=0
s1: [ser] select(v = 1)
s2: [ser indeterminate] delete(v = 1) as w1 x@0`
    expect(levelsOf(absent)).toBe('rc ra cc pc si ser')
    const both = absent.replace('x@0', 'x@0 ; insert as w2 y=1')
    expect(levelsOf(both)).toBe('')
    expect(levelsOf(both.replace('y=1', 'y=2'))).toBe('rc ra cc pc si ser')
  })

  it('does not let a lost transaction count that saw what cannot be', () => {
    const sql = `init: x=1 y=0
s1: [ser] insert as w1 y=1
s2: [ser indeterminate] select(id = 'y') y@w1 ; select(v = 0) y@0 ; delete(id = 'x') as w2 x@0
s3: [ser] select(v = 1) y@w1`
    expect(levelsOf(sql)).toBe('')
    expect(levelsOf(sql.replace(' ; select(v = 0) y@0', ''))).toBe('rc ra cc pc si ser')
  })

  it('knows that what ser passed over is a cause for cc', () => {
    const sql = `init: w=0 x=0 y=0 z=0
s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
s2: [ser] update(id = 'x') as w2 x@0=1 ; insert as w3 w=1 | [cc] select(id = 'z') z@0`
    expect(isMixed(sql)).toBe(false)
    expect(isMixed(sql.replace('[cc]', '[ra]'))).toBe(true)
  })

  it('judges registers at mixed levels', () => {
    const skew = (level: LevelId) =>
      parseNotation(`s1: r(x,0) w(y,1) [level=ser]\ns2: r(y,0) w(x,2) [level=${level}]`)
    expect(holds(skew('ser'), 'mixed')).toBe(false)
    expect(holds(skew('si'), 'mixed')).toBe(true)
    const stale = (level: LevelId) =>
      parseNotation(`s1: w(x,1) [level=ser] | r(x,0) [level=${level}]`)
    expect(holds(stale('ra'), 'mixed')).toBe(false)
    expect(holds(stale('rc'), 'mixed')).toBe(true)
  })

  it('gives up when the time is over', () => {
    const history = historyOfSql(
      parseSql(`init: x=0 y=0
s1: [ser] select(v = 1) ; update(id = 'x') as w1 x@0=1
s2: [ser] select(v = 1) ; update(id = 'y') as w2 y@0=1`),
    )
    const problem = buildMixedProblem(history, 'ser')
    expect(() => solveMixed(problem, new Deadline(-1))).toThrow(BudgetExceeded)
  })
})
