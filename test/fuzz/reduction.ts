// Random races on the embedded server: the schedules that are said to matter show whatever any
// schedule shows, or say that they may not be all: when several wait for one lock, the server does
// not always let the same one go on. Takes a server, so it runs only when it is asked for, and
// several times faster where temporary files are in memory:
// TMPDIR=/dev/shm npm run fuzz -- --only reduction --count 1000

import { RandomRaces, randomRace, tellDifference } from '../application/race/random-race.ts'
import type { Property } from './property.ts'

let running: Promise<RandomRaces> | null = null
let [runs, schedules, incomplete, unsteady] = [0, 0, 0, 0]

async function showsAll(seed: number): Promise<string | null> {
  running ??= RandomRaces.start()
  const races = await running
  const { programs, usual } = randomRace(seed)
  const compared = await races.compare(programs, usual)
  runs += compared.runs
  schedules += compared.schedules
  if (compared.limit !== null) incomplete++
  if (compared.limit !== null || tellDifference(compared) === null) return null
  // The server may refuse what it need not, and not each time.
  const again = await races.compare(programs, usual)
  if (tellDifference(again) === null) unsteady++
  return tellDifference(again)
}

export const REDUCTION: Property = {
  name: 'reduction',
  run: showsAll,
  told: () =>
    `${runs} runs for ${schedules} schedules, ${incomplete} said to be incomplete, ${unsteady} once only`,
  close: async () => (await running)?.stop(),
}
