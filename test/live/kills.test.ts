// Databases that run in isobar's own process, killed in the middle of it: what a client was told is
// there when the file is opened again. The history ends wherever the process did; an audit, read
// from the file afterwards, is added to it, and the whole is judged.

import { appendFileSync, copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { readHistory } from '../../src/formats/open.ts'
import { openInstance, query as queryDuck } from '../../src/record/duckdb/driver.ts'
import { openClient, query } from '../../src/record/sqlite/driver.ts'
import { openClient as openTurso, query as queryTurso } from '../../src/record/turso/driver.ts'
import { LONG } from '../long.ts'
import { eventually, inDirectory, startCli } from '../record/stage.ts'

/** How long a history is when its process is killed, one after the other until COMMIT was hit. */
const SIZES = [35_000, 20_000, 60_000, 45_000]
const ROWS = 'SELECT k, v FROM isobar_registers'

async function rowsOfSqlite(path: string): Promise<[number, number][]> {
  const client = await openClient(path)
  const { rows } = query(client, ROWS)
  client.close()
  return rows as [number, number][]
}

async function rowsOfDuckdb(path: string): Promise<[number, number][]> {
  const instance = await openInstance(path)
  const client = await instance.connect()
  const { rows } = await queryDuck(client, ROWS)
  client.closeSync()
  instance.closeSync()
  return rows.map(([k, v]) => [Number(k), Number(v)])
}

async function rowsOfTurso(path: string): Promise<[number, number][]> {
  const client = await openTurso(path)
  const { rows } = await queryTurso(client, ROWS)
  await client.close()
  return rows as [number, number][]
}

type Write = readonly [key: number, value: number]

/** Writes of transactions that were sent to COMMIT: those that committed, and those never answered. */
function writesOf(path: string): { committed: Write[]; open: Write[][] } {
  const pending = new Map<number, Write[]>()
  const committed: Write[] = []
  for (const line of readFileSync(path, 'utf8').split('\n').slice(1, -1)) {
    const told = JSON.parse(line)
    if (told.pending !== undefined) {
      const ops = told.ops as [string, ...Write][]
      const writes = ops.filter(([kind]) => kind === 'w').map(([, ...write]): Write => write)
      pending.set(told.pending, writes)
    } else if (pending.has(told.outcome)) {
      if (told.status === 'committed') committed.push(...pending.get(told.outcome)!)
      pending.delete(told.outcome)
    }
  }
  return { committed, open: [...pending.values()] }
}

/** Keys that the history has committed writes of: those must be there. */
function keysWritten(path: string): Set<number> {
  return new Set(writesOf(path).committed.map(([key]) => key))
}

/**
 * Judges a history with an audit behind it that found these rows. What was open at COMMIT may have
 * stayed, or be gone (or written over by what stayed), and either is right.
 */
async function judgeWith(path: string, rows: readonly [number, number][]) {
  const held = new Map(rows)
  const ops = [...keysWritten(path)].map((key) => ['r', key, held.get(key) ?? null])
  const copy = `${path}.audited.jsonl`
  copyFileSync(path, copy)
  // The last line may have been cut off by the kill.
  const text = readFileSync(copy, 'utf8')
  if (!text.endsWith('\n')) appendFileSync(copy, '\n')
  const times = { start: 1e12, finish: 2e12 }
  const audit = { id: 'audit', session: 'audit', status: 'committed', audit: true, ...times, ops }
  appendFileSync(copy, `${JSON.stringify(audit)}\n`)
  const { history } = await readHistory(copy)
  const isThere = ([key, value]: Write) => held.get(key) === value
  const { open } = writesOf(path)
  const stayed = open.filter((writes) => writes.some(isThere)).length
  return { ...check(history, 'rc'), open: open.length, stayed }
}

describe.each([
  ['sqlite', 'churn', rowsOfSqlite],
  ['turso', 'churn', rowsOfTurso],
  ['duckdb', 'mini', rowsOfDuckdb],
] as const)('%s', (scheme, shape, rowsOf) => {
  it('keeps what it has acknowledged when its process is killed', async () => {
    await inDirectory(async (directory) => {
      let open = 0 // transactions that were at COMMIT when their process was killed
      for (const size of SIZES) {
        if (open > 0 && !LONG) break
        const file = join(directory, `database-${size}`)
        const out = join(directory, `run-${size}`)
        const seed = String(size)
        const args = ['run', `${scheme}:${file}`, '--shape', shape, '--seed', seed, '--out', out]
        const { child, ended } = startCli([...args, '--duration', '60s'])
        const path = join(out, 'history.jsonl')
        const grown = () => existsSync(path) && readFileSync(path).length > size
        expect(await eventually(grown, 60_000)).toBe(true)
        child.kill('SIGKILL')
        await ended
        const rows = await rowsOf(file)
        expect(keysWritten(path).size).toBeGreaterThan(3)
        const judged = await judgeWith(path, rows)
        expect(judged.verdict).toBe('satisfied')
        open += judged.open
        console.info(`${scheme}: ${judged.open} at COMMIT, of which ${judged.stayed} stayed`)

        // Were one of them gone, that would be seen.
        const last = [...keysWritten(path)].at(-1)!
        const lost = await judgeWith(
          path,
          rows.filter(([key]) => key !== last),
        )
        expect(lost.anomalies.map(({ name }) => name)).toContain('LostCommit')
      }
      expect(open).toBeGreaterThan(0)
    })
  })
})
