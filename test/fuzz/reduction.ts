// Random races on the embedded server: the schedules that are said to matter show whatever any
// schedule shows. Takes a server, so it runs only when it is asked for:
// npm run fuzz -- --only reduction --count 1000

import { RandomRaces, randomRace, tellDifference } from '../application/race/random-race.ts'
import type { Property } from './property.ts'

let running: Promise<RandomRaces> | null = null
let [runs, schedules] = [0, 0]

async function showsAll(seed: number): Promise<string | null> {
  running ??= RandomRaces.start()
  const races = await running
  const { programs, usual } = randomRace(seed)
  const compared = await races.compare(programs, usual)
  runs += compared.runs
  schedules += compared.schedules
  return tellDifference(compared)
}

export const REDUCTION: Property = {
  name: 'reduction',
  run: showsAll,
  told: () => `${runs} runs for ${schedules} schedules`,
  close: async () => (await running)?.stop(),
}
