// A short run of the fuzzer, with the same seeds every time; `npm run fuzz` takes fresh ones.

import { describe, expect, test } from 'vitest'
import { some } from '../long.ts'
import { fuzz } from './fuzz.ts'
import { PROPERTIES } from './properties.ts'

describe('fuzz', () => {
  test.each(PROPERTIES)('finds nothing wrong with $name', async (property) => {
    const { runs, failure } = await fuzz({
      seed: 1,
      seconds: 60,
      count: some(100, 6),
      properties: [property],
    })
    expect(failure).toBeNull()
    expect(runs.get(property.name)).toBeGreaterThan(0)
  })

  // What the fuzzer has found: version orders through transactions that were left out; the initial
  // state told behind a transaction that Cobra's logs leave open; fractured reads that only the
  // clock says were any; rows of a damaged verdict with a key too long, and rows that were written
  // and are not there; transactions of one session that begin as others end, which Jepsen's
  // processes cannot; a history of initial values alone, without times.
  test.each([
    ['deciders', 3576165455],
    ['formats', 2761558444],
    ['names', 3822356001],
    ['damage-verdict', 3459329447],
    ['damage-verdict', 1033996305],
    ['damage-notation', 3372470119],
    ['damage-plume', 98250289],
  ])('finds nothing wrong any more with %s, seed %i', async (name, seed) => {
    const properties = PROPERTIES.filter((property) => property.name === name)
    const { runs, failure } = await fuzz({ seed, seconds: 60, count: 1, properties })
    expect(failure).toBeNull()
    expect(runs.get(name)).toBe(1)
  })

  test('tries fresh seeds, and says how to see a failure again', async () => {
    const seeds: number[] = []
    const properties = [
      { name: 'quiet', run: () => null },
      { name: 'loud', run: (seed: number) => (seeds.push(seed) < 3 ? null : 'oh no') },
    ]
    const { runs, failure } = await fuzz({ seed: 9, seconds: 60, count: 10, properties })
    expect([...runs]).toEqual([
      ['quiet', 3],
      ['loud', 3],
    ])
    expect(new Set(seeds).size).toBe(3)
    expect(failure).toBe(
      `loud, seed ${seeds[2]}: oh no\nreplay: npm run fuzz -- --only loud --seed ${seeds[2]} --count 1`,
    )
  })

  test('ends when it is told to, and says how far it came', async () => {
    const stop = new AbortController()
    const run = (seed: number) => {
      if (seed !== 9) stop.abort()
      return null
    }
    const properties = [{ name: 'quiet', run }]
    const { signal } = stop
    const { runs, failure } = await fuzz({ seed: 9, seconds: 60, count: 10, properties, signal })
    expect(failure).toBeNull()
    expect(runs.get('quiet')).toBe(2)
  })

  test('takes a crash for a failure', async () => {
    const crash = () => {
      throw new Error('boom')
    }
    const properties = [{ name: 'crash', run: crash }]
    const { failure } = await fuzz({ seed: 9, seconds: 60, count: 1, properties })
    expect(failure).toContain('Error: boom')
  })
})
