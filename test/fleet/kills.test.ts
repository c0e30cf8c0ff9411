import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LONG } from '../long.ts'
import { redisPath } from './redis-server.ts'
import { besiege, besiegeWithRedis, loseRedis, type Siege } from './siege.ts'
import { makeHome } from './stage.ts'

const SEEDS = LONG ? 30 : 10
const JOBS = 2 * SEEDS
const KILLS = { worker: LONG ? 3 : 1, coordinator: 1, server: 1 }
const PLAN = `
targets: [sim:si, "sim:si+lost-update"]
parameters: {sessions: 4, transactions: 60}
seeds: 1..${SEEDS}
levels: [si]
attempts: 5
`

function siegeIn(home: string): Siege {
  const plan = join(home, 'plan.yaml')
  writeFileSync(plan, PLAN)
  const data = join(home, 'data')
  return {
    ...{ plan, data, place: ['--data', data], results: null, restartServer: null, seed: 1 },
    ...{ workers: 2, workerKills: KILLS.worker, coordinatorKills: KILLS.coordinator },
    serverRestarts: KILLS.server,
  }
}

describe('a night', () => {
  it('has one result for every job, whoever is killed, with its queue in PostgreSQL', async () => {
    const { code, jobs, results, failed, out, kills } = await besiege(siegeIn(makeHome()))
    expect(kills).toEqual(KILLS)
    expect([code, jobs, results, failed], out).toEqual([1, JOBS, JOBS, 0])
    expect(out).toContain('LostUpdate at si')
  }, 300_000)
})

if (redisPath === undefined) process.stderr.write('skipped: no redis-server for the queue\n')

describe.skipIf(redisPath === undefined)('a night', () => {
  it('has one result for every job, whoever is killed, with its queue in Redis', async () => {
    const siege = siegeIn(makeHome())
    const { code, jobs, results, failed, out, kills } = await besiegeWithRedis(siege)
    expect(kills).toEqual(KILLS)
    expect([code, jobs, results, failed], out).toEqual([1, JOBS, JOBS, 0])
  }, 300_000)

  it('ends with an error if its Redis is gone for good', async () => {
    const siege = siegeIn(makeHome())
    // Far more than is done before it is gone.
    writeFileSync(siege.plan, PLAN.replace(`1..${SEEDS}`, '1..500'))
    const { code, said } = await loseRedis(siege)
    expect([code, said]).toEqual([4, expect.stringContaining('the queue cannot be used: ')])
  }, 300_000)
})
