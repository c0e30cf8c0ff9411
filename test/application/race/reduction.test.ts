// The reduction against brute force on a real server: every interleaving of small programs, and the
// schedules that were said to matter show the same.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sample } from '../../long.ts'
import { RandomRaces, randomRace, tellDifference } from './random-race.ts'

let races: RandomRaces
beforeAll(async () => {
  races = await RandomRaces.start()
})
afterAll(() => races.stop())

const program = (...statements: string[]) => ({
  begin: ['BEGIN'],
  statements,
  end: 'COMMIT' as const,
})
const ADD = 'INSERT INTO orders (item, n) VALUES (1, 5) RETURNING id'
const FIRST = 'SELECT id FROM items WHERE n > 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED'

describe('the reduction', () => {
  it.each<[string, string, ReturnType<typeof program>[]]>([
    [
      'the level that connections have by default',
      'repeatable read',
      [
        program('SELECT n FROM items WHERE id = 1', 'SELECT n FROM items WHERE id = 2'),
        program('UPDATE items SET n = 0 WHERE id = 2'),
      ],
    ],
    ['numbers from a sequence', 'read committed', [program(ADD), program(ADD)]],
    [
      'an update that waited, and passed the row over',
      'read committed',
      [
        program('UPDATE items SET n = -1 WHERE n = 1 RETURNING id'),
        program('UPDATE items SET n = n + 5 WHERE id = 1'),
      ],
    ],
    ['rows that are skipped because of a lock', 'read committed', [program(FIRST), program(FIRST)]],
  ])('shows what every interleaving shows of %s', { timeout: 120_000 }, async (_, usual, all) => {
    const compared = await races.compare(all, usual)
    expect(tellDifference(compared)).toBeNull()
    expect(compared.every.length).toBeGreaterThan(1)
  })

  it.each(sample([1, 3], 2))(
    'shows what every interleaving shows (seed %d)',
    { timeout: 120_000 },
    async (seed) => {
      const { programs, usual } = randomRace(seed)
      expect(tellDifference(await races.compare(programs, usual))).toBeNull()
    },
  )

  it('takes fewer runs than there are interleavings', { timeout: 120_000 }, async () => {
    const look = program('SELECT n FROM items WHERE id = 1', 'SELECT n FROM items WHERE id = 2')
    const compared = await races.compare([look, look], 'read committed')
    expect(compared).toMatchObject({ runs: 1, schedules: 20 })
    expect(tellDifference(compared)).toBeNull()
  })
})
