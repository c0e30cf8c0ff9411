// Random programs of an application on the embedded server: recording changes nothing that they
// see, and tells all of those it knows. Takes a server, so it runs only when it is asked for:
// npm run fuzz -- --only recording --count 10000

import pg from 'pg'
import { instrument } from '../../src/application/observe/instrument.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { FILL, type Program, randomProgram, runProgram, TABLES } from '../application/programs.ts'
import type { Property } from './property.ts'

let running: Promise<{ server: EmbeddedServer; pool: pg.Pool }> | null = null

async function start() {
  const server = await EmbeddedServer.start()
  const pool = new pg.Pool({ ...server.address, max: 4 })
  for (const text of TABLES) await pool.query(text)
  return { server, pool }
}

async function recorded(pool: pg.Pool, program: Program) {
  for (const text of FILL) await pool.query(text)
  const { recorded: what, restore } = instrument(pool)
  try {
    return { seen: await runProgram(pool, program), skipped: what.skipped }
  } finally {
    restore()
  }
}

async function changesNothing(seed: number): Promise<string | null> {
  running ??= start()
  const { pool } = await running
  const program = randomProgram(seed, false)
  for (const text of FILL) await pool.query(text)
  const plain = JSON.stringify(await runProgram(pool, program), null, 1)
  const watched = JSON.stringify((await recorded(pool, program)).seen, null, 1)
  if (watched !== plain) return `the application saw\n${watched}\nand not\n${plain}`
  // What such a statement met is not known, and is counted.
  const { 'a statement that failed before ROLLBACK TO': _, ...skipped } = (
    await recorded(pool, randomProgram(seed, true))
  ).skipped
  return Object.keys(skipped).length === 0 ? null : `not told: ${JSON.stringify(skipped)}`
}

async function stop(): Promise<void> {
  if (running === null) return
  const { server, pool } = await running
  await pool.end()
  await server.stop()
}

export const RECORDING: Property = { name: 'recording', run: changesNothing, close: stop }
