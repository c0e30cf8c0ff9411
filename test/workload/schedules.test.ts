import { describe, expect, it } from 'vitest'
import { DATABASE_LEVELS, type DatabaseLevels } from '../../src/levels/databases.ts'
import { parseStep, SCHEDULES, stepsOf } from '../../src/workload/schedules.ts'

describe('parseStep', () => {
  it('reads steps on keys and on rows', () => {
    expect(parseStep('T1 r x')).toEqual({ txn: 1, text: 'r x', kind: 'read', key: 'x' })
    expect(parseStep('T2 select v % 3 = 0')).toMatchObject({ kind: 'select', where: 'v % 3 = 0' })
    expect(parseStep('T3 insert 3 30')).toMatchObject({ txn: 3, kind: 'insert', row: [3n, 30n] })
    expect(parseStep('T1 update v + 10 where TRUE')).toMatchObject({ to: { add: 10n } })
    expect(parseStep('T1 update v = 12 where id = 1')).toMatchObject({ to: 12n, where: 'id = 1' })
    expect(parseStep('T1 begin')).toEqual({ txn: 1, text: 'begin', kind: 'begin' })
    expect(parseStep('T1 commit')).toEqual({ txn: 1, text: 'commit', kind: 'commit' })
  })

  it('refuses what is no step', () => {
    expect(() => parseStep('T1 upsert x')).toThrow('a step of a schedule')
    expect(() => parseStep('r x')).toThrow('a step of a schedule')
  })
})

describe('SCHEDULES', () => {
  it('end every transaction once, at its end, and have names of their own', () => {
    expect(new Set(SCHEDULES.map(({ id }) => id)).size).toBe(SCHEDULES.length)
    for (const schedule of SCHEDULES) {
      const steps = stepsOf(schedule)
      for (const txn of new Set(steps.map((step) => step.txn))) {
        const kinds = steps.filter((step) => step.txn === txn).map(({ kind }) => kind)
        const ends = kinds.filter((kind) => kind === 'commit' || kind === 'abort')
        expect(ends, `T${txn} of ${schedule.id}`).toEqual([kinds.at(-1)])
      }
      const onKeys = steps.some((step) => 'key' in step)
      expect(onKeys, schedule.id).toBe(schedule.on === 'keys')
    }
  })

  it('are what the departures of databases speak of', () => {
    const all: readonly DatabaseLevels[] = DATABASE_LEVELS
    for (const { levels, departures = [] } of all) {
      for (const { at, schedules } of departures) {
        // This one is not asked for by any level of ours, but by the address alone.
        expect([...levels.values(), 'READ UNCOMMITTED']).toContain(at)
        for (const id of schedules) expect(SCHEDULES.map((each) => each.id)).toContain(id)
      }
    }
  })
})
