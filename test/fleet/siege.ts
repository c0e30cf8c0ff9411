// A night under siege: workers, the coordinator and the queue's server are killed while it goes on,
// and started again, or not. Main functions: besiege, besiegeWithRedis, loseRedis.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Random } from '../../src/base/random.ts'
import { findServer } from '../../src/fleet/data-directory.ts'
import { FleetStore } from '../../src/fleet/store.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { freePort, startRedisServer } from './redis-server.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const LOOK_EVERY_MS = 100

export interface Siege {
  /** The plan's file. */
  readonly plan: string
  /** The directory of the fleet. */
  readonly data: string
  /** Options that say where queue and results are, if not there. */
  readonly place: readonly string[]
  /** Where the results are; null: in the directory. */
  readonly results: string | null
  readonly workers: number
  readonly workerKills: number
  readonly coordinatorKills: number
  readonly serverRestarts: number
  /** Kills the queue's server, and sees to it that it comes back; null: the one of the directory. */
  readonly restartServer: (() => Promise<void>) | null
  readonly seed: number
}

export interface Outlasted {
  /** How the coordinator ended that saw the end. */
  readonly code: number | null
  /** What it said. */
  readonly out: string
  readonly jobs: number
  /** Jobs with a result. */
  readonly results: number
  /** Jobs with a result that is no verdict. */
  readonly failed: number
  /** Who was killed while the night went on, and how often. */
  readonly kills: Readonly<Record<Victim, number>>
}

type Victim = 'worker' | 'coordinator' | 'server'

export async function besiege(siege: Siege): Promise<Outlasted> {
  const random = new Random(siege.seed)
  const start = (args: string[]) => startIsobar([...args, ...siege.place, '--lease', '2s'])
  const startCoordinator = () => start(['run', siege.plan, '--jobs', '0'])
  const startWorker = () => start(['work', '--jobs', '1'])
  let coordinator = startCoordinator()
  const workers = Array.from({ length: siege.workers }, startWorker)
  const store = await openStore(siege)
  try {
    const victims = random.shuffle([
      ...Array.from({ length: siege.workerKills }, (): Victim => 'worker'),
      ...Array.from({ length: siege.coordinatorKills }, (): Victim => 'coordinator'),
      ...Array.from({ length: siege.serverRestarts }, (): Victim => 'server'),
    ])
    const kills = { worker: 0, coordinator: 0, server: 0 }
    for (const [i, what] of victims.entries()) {
      await untilDone(store, (i + 1) / (victims.length + 2), coordinator)
      // What is over cannot be besieged.
      if (coordinator.exitCode !== null) break
      kills[what]++
      if (what === 'worker') {
        const which = random.below(workers.length)
        await kill(workers[which]!)
        workers[which] = startWorker()
      } else if (what === 'coordinator') {
        await kill(coordinator)
        coordinator = startCoordinator()
      } else if (siege.restartServer) await siege.restartServer()
      else killServer(siege.data)
    }
    if (coordinator.exitCode === null) await once(coordinator, 'close')
    return { ...(await outcomeOf(siege, coordinator)), kills }
  } finally {
    await store.close()
    for (const child of [coordinator, ...workers]) await kill(child)
  }
}

interface Servers {
  /** Options that say where they are. */
  readonly place: readonly string[]
  readonly results: string
  killRedis(): Promise<void>
  startRedis(): Promise<void>
}

/** A Redis in the directory for the queue, and a server of their own for the results. */
async function withRedis<T>(data: string, run: (servers: Servers) => Promise<T>): Promise<T> {
  const port = await freePort()
  const start = () => startRedisServer(join(data, 'redis'), port)
  let redis = await start()
  const server = await EmbeddedServer.start()
  const results = `postgres://isobar:${server.password}@127.0.0.1:${server.port}/postgres?sslmode=disable`
  try {
    return await run({
      ...{ place: ['--queue', `redis://127.0.0.1:${port}`, '--results', results], results },
      killRedis: () => kill(redis),
      startRedis: async () => {
        redis = await start()
      },
    })
  } finally {
    await kill(redis)
    await server.stop()
  }
}

/** The same with its queue in a Redis. */
export function besiegeWithRedis(siege: Siege): Promise<Outlasted> {
  return withRedis(siege.data, ({ place, results, killRedis, startRedis }) => {
    const restartServer = async () => {
      await killRedis()
      await startRedis()
    }
    return besiege({ ...siege, place, results, restartServer })
  })
}

/** A night whose Redis does not come back: how it ended, and what it said. */
export function loseRedis(siege: Siege): Promise<{ code: number | null; said: string }> {
  return withRedis(siege.data, async ({ place, results, killRedis }) => {
    const child = startIsobar(['run', siege.plan, ...place, '--patience', '3s', '--jobs', '1'])
    const store = await openStore({ ...siege, results })
    await untilDone(store, 0.0001, child)
    await store.close()
    await killRedis()
    if (child.exitCode === null) await once(child, 'close')
    return { code: child.exitCode, said: said.get(child) ?? '' }
  })
}

const said = new WeakMap<ChildProcess, string>()

function startIsobar(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [BIN, 'fleet', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (bytes) => said.set(child, (said.get(child) ?? '') + bytes))
  }
  return child
}

/** As if the power of its machine had gone: it has no chance to tidy up. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function killServer(data: string): void {
  const [pid] = readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGKILL')
}

async function openStore({ results, data }: Siege): Promise<FleetStore> {
  for (;;) {
    try {
      return await FleetStore.open(results ?? findServer(data), {}, 60_000)
    } catch {
      await pause(LOOK_EVERY_MS) // the coordinator is about to make it
    }
  }
}

/** Waits until so much of the night is done, or all that there is. */
async function untilDone(store: FleetStore, share: number, coordinator: ChildProcess) {
  while (coordinator.exitCode === null) {
    const night = await store.findNight(null)
    const counts = night && (await store.count(night.id))
    if (night && night.jobs > 0 && counts!.done >= share * night.jobs) return
    await pause(LOOK_EVERY_MS)
  }
}

async function outcomeOf(
  siege: Siege,
  coordinator: ChildProcess,
): Promise<Omit<Outlasted, 'kills'>> {
  const out = said.get(coordinator) ?? ''
  // The server of a directory has ended with the coordinator: the night is in what it said.
  const [, results = '', jobs = ''] = /: (\d+) of (\d+) jobs? \(/.exec(out) ?? []
  const [, failed = ''] = /, (\d+) failed\)/.exec(out) ?? []
  if (results === '') throw new Error(`${siege.plan} did not end: ${out}`)
  return {
    ...{ code: coordinator.exitCode, out, jobs: Number(jobs), results: Number(results) },
    failed: Number(failed),
  }
}
