import { describe, expect, it } from 'vitest'
import { isobar } from './command.ts'

describe('isobar differ', () => {
  it('shows a history with both verdicts, and what makes the difference', () => {
    const { code, out } = isobar(['differ', 'rc', 'ra'])
    expect(code).toBe(0)
    expect(out).toContain('rc allows, ra forbids (the first of')
    expect(out).toContain('s1: w(x,1)')
    expect(out).toContain('ra allows, rc forbids: nothing, rc allows all that ra allows')
  })

  it('prints a history that check takes, and JSON with its verdict', () => {
    const history = isobar(['differ', 'ser', 'sser', '--history']).out
    expect(isobar(['check', '-', '--level', 'ser'], history).code).toBe(0)
    expect(isobar(['check', '-', '--level', 'sser'], history).code).toBe(1)
    const statements = isobar(['differ', 'rc', 'ra', '--shape', 'sql', '--history']).out
    expect(isobar(['check', '-', '--level', 'ra'], statements).code).toBe(1)
    const told = JSON.parse(isobar(['differ', 'ci', 'rc', '--json']).out)
    expect(
      told.differences.map((d: { verdict: { strongest: string[] } }) => d.verdict.strongest),
    ).toEqual([['ci'], ['rc']])
  })

  it('says how far it looked, and ends with 3, if there is nothing', () => {
    const { code, out } = isobar(['differ', 'si', 'ser', '--max-ops', '2'])
    expect(code).toBe(3)
    expect(out).toContain('si allows, ser forbids: nothing of up to 2 operations')
  })

  it('refuses unknown levels and shapes', () => {
    expect(isobar(['differ', 'si', 'sre']).err).toContain('did you mean ser?')
    const shape = isobar(['differ', 'si', 'ser', '--shape', 'lists'])
    expect(shape.code).toBe(2)
    expect(isobar(['differ', 'si', 'ser', '--max-ops', '2.5']).code).toBe(2)
    expect(isobar(['differ', 'si']).code).toBe(2)
  })
})
