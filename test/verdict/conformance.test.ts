import { describe, expect, it } from 'vitest'
import type { LevelId } from '../../src/levels/levels.ts'
import { type Outcome, weigh } from '../../src/verdict/conformance.ts'

function outcome(strongest: LevelId | null, violated: LevelId | null, more = {}): Outcome {
  const schedule = { id: 'p4', name: 'P4', about: 'an update is lost' }
  const empty = { notPlayed: null, steps: [], ends: [], anomalies: [], history: '' }
  return { schedule, ...empty, strongest, violated, departure: null, ...more }
}

const DOCUMENTED = { departure: { words: 'it is so', source: 'its manual' } }

describe('weigh', () => {
  it('takes the strongest level that no schedule breaks', () => {
    const found = weigh('A', 'rc', [outcome('ser', null), outcome('pc', 'si')])
    expect(found).toMatchObject({ got: 'pc', promised: 'rc', isWeaker: false })
  })

  it('calls weaker what breaks the promise, and only that', () => {
    expect(weigh('A', 'si', [outcome('pc', 'si')])).toMatchObject({ got: 'pc', isWeaker: true })
    expect(weigh('A', 'si', [outcome('si', 'ser')])).toMatchObject({ got: 'si', isWeaker: false })
    expect(weigh('A', 'rc', [outcome(null, 'rc')])).toMatchObject({ got: null, isWeaker: true })
  })

  it('leaves out what the documentation takes back, but not where the level allows it anyway', () => {
    const found = weigh('A', 'rc', [outcome(null, 'rc', DOCUMENTED), outcome('rc', 'ra')])
    expect(found).toMatchObject({ got: 'rc', isWeaker: false })
    expect(weigh('A', 'rc', [outcome('rc', 'ra', DOCUMENTED)]).got).toBe('rc')
  })

  it('says nothing of schedules that were not played', () => {
    const left = outcome(null, null, { notPlayed: 'it has no rows' })
    expect(weigh('A', 'ser', [left, outcome('ser', null)]).got).toBe('ser')
  })
})
