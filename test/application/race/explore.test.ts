// The reduction against brute force, on a database in memory: every outcome that some schedule has
// is found, by fewer runs; and a reduction that takes too much for commuting is caught.

import { describe, expect, it } from 'vitest'
import { explore } from '../../../src/application/race/explore.ts'
import { NOTHING } from '../../../src/application/race/footprint.ts'
import { Random } from '../../../src/base/random.ts'
import { everyOutcome, type Played, type Program, play, randomProgram } from './model.ts'

async function reduced(programs: ReadonlyMap<string, Program>, blind = false) {
  const outcomes = new Set<string>()
  const run = async (schedule: readonly string[]): Promise<Played> => {
    const played = play(programs, schedule)
    outcomes.add(played.outcome)
    if (!blind) return played
    // A canary: COMMIT taken for a statement that commutes with everything.
    const events = played.events.map((event) =>
      event.footprint.ends ? { ...event, footprint: NOTHING } : event,
    )
    return { ...played, events }
  }
  const explored = await explore([[]], run, () => true)
  return { outcomes, ...explored }
}

function programsOf(seed: number): Map<string, Program> {
  const random = new Random(seed)
  const names = ['a', 'b', 'c'].slice(0, 2 + random.below(2))
  return new Map(names.map((name) => [name, randomProgram(random, names.length === 2 ? 3 : 2)]))
}

describe('explore', () => {
  it('finds what all schedules find, by fewer', async () => {
    let [all, few] = [0, 0]
    for (let seed = 1; seed <= 60; seed++) {
      const programs = programsOf(seed)
      const { outcomes, count } = everyOutcome(programs)
      const found = await reduced(programs)
      expect([...found.outcomes].sort(), `seed ${seed}`).toEqual([...outcomes].sort())
      expect(found).toMatchObject({ isComplete: true, strays: 0 })
      all += count
      few += found.runs
      expect(found.runs).toBeLessThanOrEqual(count)
    }
    expect(few).toBeLessThan(all / 4)
  })

  it('misses something if it takes too much for commuting', async () => {
    let missed = 0
    for (let seed = 1; seed <= 30; seed++) {
      const programs = programsOf(seed)
      const found = await reduced(programs, true)
      if (found.outcomes.size < everyOutcome(programs).outcomes.size) missed++
    }
    expect(missed).toBeGreaterThan(0)
  })

  it('runs one schedule of what commutes', async () => {
    const read: Program = {
      level: 'rc',
      actions: [{ kind: 'read', row: 'x' }, { kind: 'read', row: 'y' }, { kind: 'commit' }],
    }
    const programs = new Map([
      ['a', read],
      ['b', read],
    ])
    expect(everyOutcome(programs).count).toBe(20)
    expect(await reduced(programs)).toMatchObject({ runs: 1, traces: 1 })
  })

  it('says so when it was not allowed to run all', async () => {
    const write: Program = {
      level: 'rc',
      actions: [{ kind: 'write', row: 'x' }, { kind: 'commit' }],
    }
    const programs = new Map([
      ['a', write],
      ['b', write],
    ])
    const run = async (schedule: readonly string[]) => play(programs, schedule)
    const explored = await explore([[]], run, (runs) => runs < 2)
    expect(explored).toMatchObject({ runs: 2, isComplete: false })
  })
})
