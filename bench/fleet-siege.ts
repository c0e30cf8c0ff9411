// Nights whose workers, coordinator and server are killed, with their queue in PostgreSQL and in
// Redis. Main function: measureSiege.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { redisPath } from '../test/fleet/redis-server.ts'
import { besiege, besiegeWithRedis, type Siege } from '../test/fleet/siege.ts'

const KILLS = { workerKills: 20, coordinatorKills: 3, serverRestarts: 2 }

type Besiege = (siege: Siege) => ReturnType<typeof besiege>

/** A row of the table. */
async function rowOf(folder: string, where: string, jobs: number, run: Besiege): Promise<string> {
  const data = join(folder, `siege-${where}`)
  const plan = join(folder, 'siege.yaml')
  writeFileSync(
    plan,
    `targets: ["sim:si+lost-update"]\nparameters: {sessions: 4, transactions: 60}\nseeds: 1..${jobs}\nattempts: 10\n`,
  )
  const place = { data, place: ['--data', data], results: null, restartServer: null }
  const started = performance.now()
  const outlasted = await run({ plan, ...place, workers: 2, seed: 1, ...KILLS })
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  const { results, failed, kills } = outlasted
  const told = [kills.worker, kills.coordinator, kills.server]
  const row = `| ${[where, outlasted.jobs, ...told, results, outlasted.jobs - results, failed, minutes].join(' | ')} |`
  process.stdout.write(`${row}\n`)
  return row
}

/** @param jobs of each night */
export async function measureSiege(folder: string, jobs: number): Promise<string[]> {
  const rows = [await rowOf(folder, 'PostgreSQL', jobs, besiege)]
  if (redisPath) rows.push(await rowOf(folder, 'Redis', jobs, besiegeWithRedis))
  return [
    'A night of runs, done by two workers. Workers and the coordinator were killed (`kill -9`), and so was the server of the queue, at random moments while the',
    'night went on, and started again. A job cannot have two results, by the key of the table.',
    '',
    '| queue in | jobs | workers killed | coordinators killed | restarts of the server | jobs with a result | lost | without a verdict | minutes |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ]
}
