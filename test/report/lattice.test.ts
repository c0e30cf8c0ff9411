// The profile as a lattice: that its rows are what the levels imply, and how it is drawn.

import { describe, expect, it } from 'vitest'
import { checkLevels, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import {
  implies,
  LATTICE,
  type LevelId,
  type LevelRequest,
  PROFILE,
} from '../../src/levels/levels.ts'
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
  const rowOf = (level: string) => LATTICE.findIndex((row) => row.some((each) => each === level))

  it('has no level beside or before one that it implies', () => {
    for (const strong of LATTICE.flat()) {
      for (const weak of LATTICE.flat()) {
        if (strong !== weak && implies(strong, weak)) {
          expect(rowOf(strong), `${strong} implies ${weak}`).toBeGreaterThan(rowOf(weak))
        }
      }
    }
  })

  it('has each level of a profile after all that it implies, and beside none', () => {
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
      expect([strongest, weakestViolated]).toEqual([[], []])
      const all = profile(history, order)
      expect(renderText(history, all)).toContain('weaker < stronger: ci')
    }
  })

  it('has every level that was asked for and says something of others', () => {
    const history = parseNotation(LONG_FORK)
    const levels = ['ci', 'rc', 'ryw', 'mr', 'mw', 'wfr', 'ra', 'cc', 'ser', 'ser+lin'] as const
    const results = checkLevels(history, [...levels, 'lin', { level: 'stale', bound: '5' }])
    expect(drawLattice(results)).toBe(
      'ci ✓, rc ✓; rc < ryw ✓, mr ✓, mw ✓, wfr ✓; ci, ryw < ra ✓; mr, mw, wfr, ra < cc ✓ < ser ✗ < ser+lin ✗',
    )
    const adya = checkLevels(history, ['pl-2', 'pl-3u', 'pl-2.99', 'pl-cs'], {
      sessionOrder: false,
    })
    expect(drawLattice(adya)).toBe('pl-2 ✓ < pl-cs ✓ < pl-3u ✓, pl-2.99 ✗')
  })

  it('tells the strongest and the weakest ones, of which none implies another', () => {
    const fork = parseNotation(LONG_FORK)
    const told = (text: string, ...levels: LevelId[]) => {
      const history = parseNotation(text)
      const lines = renderText(history, checkLevels(history, levels)).split('\n')
      return lines.filter((line) => /^ {2}(strongest|weakest) /.test(line))
    }
    const psi = '  strongest satisfied: psi (Parallel Snapshot Isolation)'
    expect(told(LONG_FORK, 'psi', 'si')).toEqual([
      psi,
      '  weakest violated: si (Snapshot Isolation)',
    ])
    expect(told(LONG_FORK, 'strong-si', 'sser', 'ser', 'cc', 'psi')).toEqual([
      psi,
      '  weakest violated: strong-si (Strong Snapshot Isolation) and ser (Serializability)',
    ])
    expect(told(LONG_FORK, 'pc', 'ser')).toEqual([
      '  strongest satisfied: none',
      '  weakest violated: pc (Prefix Consistency)',
    ])
    expect(told(LONG_FORK, 'cc')).toEqual([])
    expect(summarise(profile(fork))).toEqual({ strongest: ['psi'], weakestViolated: ['pc'] })
    // A bound is no place in the order: that it holds is not that nothing does.
    const stale = checkLevels(fork, [{ level: 'stale', bound: '5' }, 'pc'])
    expect(renderText(fork, stale)).not.toContain('strongest satisfied')
  })

  it('is not drawn where the levels asked for are on one line', () => {
    const history = parseNotation(WRITE_SKEW)
    const onOneLine = profile(history).filter(({ level }) => ['cc', 'si', 'ser'].includes(level))
    expect(renderText(history, onOneLine)).not.toContain('weaker < stronger')
  })
})
