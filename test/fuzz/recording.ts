// Random programs of an application on the embedded server: recording, in the application or by a
// proxy, changes nothing that they see, and tells all of those it knows. Takes a server, so it runs
// only when it is asked for: npm run fuzz -- --only recording --count 10000, or --only proxy

import pg from 'pg'
import { instrument } from '../../src/application/observe/instrument.ts'
import { startProxy } from '../../src/application/proxy/proxy.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { parsePostgresAddress } from '../../src/record/postgres/address.ts'
import { FILL, type Program, randomProgram, runProgram, TABLES } from '../application/programs.ts'
import type { Property } from './property.ts'

interface Stage {
  readonly server: EmbeddedServer
  readonly pool: pg.Pool
}

let running: Promise<Stage> | null = null

async function start(): Promise<Stage> {
  const server = await EmbeddedServer.start()
  const pool = new pg.Pool({ ...server.address, max: 4 })
  for (const text of TABLES) await pool.query(text)
  return { server, pool }
}

interface Run {
  readonly seen: unknown[]
  readonly skipped: Readonly<Record<string, number>>
}

type Watch = (stage: Stage, program: Program) => Promise<Run>

const inTheApplication: Watch = async ({ pool }, program) => {
  const { recorded: what, restore } = instrument(pool)
  try {
    return { seen: await runProgram(pool, program), skipped: what.skipped }
  } finally {
    restore()
  }
}

const byProxy: Watch = async ({ server }, program) => {
  const to = parsePostgresAddress(`postgres://${server.host}:${server.port}/`, {})
  const proxy = await startProxy({ to, host: '127.0.0.1', port: 0 })
  const pool = new pg.Pool({ ...server.address, host: '127.0.0.1', port: proxy.port, max: 4 })
  pool.on('error', () => {}) // connections that end after the pool
  try {
    return { seen: await runProgram(pool, program), skipped: proxy.recorded.skipped }
  } finally {
    await pool.end()
    proxy.recorded.stop()
  }
}

async function changesNothing(seed: number, watch: Watch): Promise<string | null> {
  running ??= start()
  const stage = await running
  const { pool } = stage
  const fill = () => pool.query(FILL.join(';'))
  const program = randomProgram(seed, false)
  await fill()
  const plain = JSON.stringify(await runProgram(pool, program), null, 1)
  await fill()
  const watched = JSON.stringify((await watch(stage, program)).seen, null, 1)
  if (watched !== plain) return `the application saw\n${watched}\nand not\n${plain}`
  await fill()
  // What such a statement met is not known, and is counted.
  const { 'a statement that failed before ROLLBACK TO': _, ...skipped } = (
    await watch(stage, randomProgram(seed, true))
  ).skipped
  return Object.keys(skipped).length === 0 ? null : `not told: ${JSON.stringify(skipped)}`
}

async function stop(): Promise<void> {
  if (running === null) return
  const { server, pool } = await running
  running = null
  await pool.end()
  await server.stop()
}

export const RECORDING: Property = {
  name: 'recording',
  run: (seed) => changesNothing(seed, inTheApplication),
  close: stop,
}
export const PROXY: Property = {
  name: 'proxy',
  run: (seed) => changesNothing(seed, byProxy),
  close: stop,
}
