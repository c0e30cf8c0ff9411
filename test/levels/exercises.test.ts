// Every exercise can be solved, is not solved yet, and its solution keeps to its own rules.

import { describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { EXERCISES, type Exercise } from '../../src/levels/exercises.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { findBreach } from '../../src/web/site/exercise-rules.ts'

async function verdictsOf(text: string, { level, holds }: Exercise): Promise<string[]> {
  const results = await judge(parseNotation(text), [{ level }, { level: holds }])
  return results.map(({ verdict }) => verdict)
}

describe('the exercises', () => {
  it('are one for each level', () => {
    expect(EXERCISES.map(({ level }) => level).sort()).toEqual(LEVELS.map(({ id }) => id).sort())
  })

  for (const exercise of EXERCISES) {
    it(`of ${exercise.level} is solved by its solution, and not before`, async () => {
      const { start, solution } = exercise
      expect(await verdictsOf(solution, exercise)).toEqual(['violated', 'satisfied'])
      expect(await verdictsOf(start, exercise)).not.toEqual(['violated', 'satisfied'])
      expect(findBreach(exercise, solution)).toBeNull()
      expect(findBreach(exercise, start)).toBeNull()
    })
  }
})

describe('findBreach', () => {
  const of = (level: string) => EXERCISES.find((exercise) => exercise.level === level)!

  it('allows one read another value, and nothing else', () => {
    const si = of('si')
    const breach = (attempt: string) => findBreach(si, attempt)
    expect(breach('s1: r(x,7) w(x,1)\ns2: r(x,1) w(x,2)')).toBeNull()
    expect(breach('s1: r(x,0)  w(x,1)\ns2: r(x,1) w(x,2)\n')).toBeNull()
    expect(breach('s1: r(x,7) w(x,1)\ns2: r(x,7) w(x,2)')).toBe('only one read may change')
    for (const attempt of [
      's1: r(x,0) w(x,5)\ns2: r(x,1) w(x,2)',
      's1: r(y,0) w(x,1)\ns2: r(x,1) w(x,2)',
      's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2) [aborted]',
      's1: r(x,0) w(x,1) | r(x,1) w(x,2)',
      's1: r(x,0) w(x,1)',
    ]) {
      expect(breach(attempt), attempt).toBe('only the value of a read may change')
    }
  })

  it('allows operations to move, and nothing else', () => {
    const breach = (attempt: string) => findBreach(of('ra'), attempt)
    expect(breach('s0: w(x,1)\ns1: w(x,2) r(x,1) w(y,2)\ns2: r(y,2) r(x,1)')).toBeNull()
    for (const attempt of [
      's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1)',
      's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) | r(x,1)',
      's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,2)',
    ]) {
      expect(breach(attempt), attempt).toBe('operations may move, but not change')
    }
  })
})
