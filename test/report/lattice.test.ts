// The profile as a lattice: that its rows are what the levels imply, and how it is drawn.

import { describe, expect, it } from 'vitest'
import { checkLevels, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { implies, LATTICE, type LevelRequest, PROFILE } from '../../src/levels/levels.ts'
import { drawLattice } from '../../src/report/lattice.ts'
import { summarise } from '../../src/report/summary.ts'
import { renderText } from '../../src/report/text.ts'

const LONG_FORK = `initial 0
a: w(x,1) [start=1 finish=2]
b: w(y,1) [start=1 finish=2]
c: r(x,1) r(y,0) [start=3 finish=4]
d: r(x,0) r(y,1) [start=3 finish=4]`

const WRITE_SKEW = `initial 0
a: r(x,0) r(y,0) w(x,1) [start=1 finish=3]
b: r(x,0) r(y,0) w(y,1) [start=2 finish=4]`

const untimed = (text: string) => text.replaceAll(/ \[.*?\]/g, '')

describe('LATTICE', () => {
  it('has each level after all that it implies, and beside none', () => {
    const rowOf = (level: string) => LATTICE.findIndex((row) => row.some((each) => each === level))
    for (const strong of PROFILE) {
      for (const weak of PROFILE) {
        const isExpected = strong === weak || rowOf(strong) > rowOf(weak)
        expect(implies(strong, weak), `${strong} implies ${weak}`).toBe(isExpected)
      }
    }
  })
})

describe('profile', () => {
  it('tells what a primary with replicas gives from what it does not', () => {
    expect(drawLattice(profile(parseNotation(LONG_FORK)))).toBe(
      'ci ✓, rc ✓ < ra ✓ < cc ✓ < pc ✗, psi ✓ < si ✗ < strong-si ✗, ser ✗ < sser ✗',
    )
    expect(drawLattice(profile(parseNotation(WRITE_SKEW)))).toBe(
      'ci ✓, rc ✓ < ra ✓ < cc ✓ < pc ✓, psi ✓ < si ✓ < strong-si ✓, ser ✗ < sser ✗',
    )
  })

  it('leaves out levels that need times where there are none', () => {
    const history = parseNotation(untimed(WRITE_SKEW))
    expect(renderText(history, profile(history))).toContain(
      '  weaker < stronger: ci ✓, rc ✓ < ra ✓ < cc ✓ < pc ✓, psi ✓ < si ✓ < ser ✗\n',
    )
  })

  it('is drawn, and has a strongest level, only of levels that respect the same orders', () => {
    const history = parseNotation(LONG_FORK)
    const told = (...requests: LevelRequest[]) =>
      renderText(history, checkLevels(history, requests))
    const alike = told({ level: 'ci' }, { level: 'rc' }, { level: 'pc' }, { level: 'cc' })
    expect(alike).toContain('weaker < stronger')
    expect(alike).toContain('strongest satisfied: cc')
    expect(alike).toContain('weakest violated: pc')
    for (const order of [{ realTime: true }, { sessionOrder: false }]) {
      const mixed = [{ level: 'ci' }, { level: 'rc' }, { level: 'cc', ...order }] as const
      const text = told(...mixed, { level: 'pc' })
      expect(text).not.toMatch(/weaker < stronger|strongest|weakest/)
      const { strongest, weakestViolated } = summarise(checkLevels(history, mixed))
      expect([strongest, weakestViolated]).toEqual([null, null])
      const all = profile(history, order)
      expect(renderText(history, all)).toContain('weaker < stronger: ci')
    }
  })

  it('is not drawn where the levels asked for are on one line', () => {
    const history = parseNotation(WRITE_SKEW)
    const onOneLine = profile(history).filter(({ level }) => ['cc', 'si', 'ser'].includes(level))
    expect(renderText(history, onOneLine)).not.toContain('weaker < stronger')
  })
})
