// Random programs with and without recording: the application sees the same, and what is recorded
// of them satisfies the levels that the server grants.

import { describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { FILL, randomProgram, runProgram, TABLES } from './programs.ts'
import { onServer, recording, reset } from './server.ts'

const stage = onServer(4)
const COUNT = Number(process.env.ISOBAR_PROGRAMS ?? 40)
const FIRST = Number(process.env.ISOBAR_SEED ?? 1)

describe('recording random programs', () => {
  it('changes nothing that the application sees', { timeout: 3_600_000 }, async () => {
    const { pool } = stage
    await reset(pool, ...TABLES)
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
      const program = randomProgram(seed, false)
      for (const text of FILL) await pool.query(text)
      const plain = await runProgram(pool, program)
      for (const text of FILL) await pool.query(text)
      let seen: unknown[] = []
      await recording(pool, async () => {
        seen = await runProgram(pool, program)
      })
      expect(seen, `seed ${seed}`).toEqual(plain)
    }
  })

  it('tells all of the plain ones, which keep what was granted', {
    timeout: 3_600_000,
  }, async () => {
    const { pool } = stage
    await reset(pool, ...TABLES)
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
      for (const text of FILL) await pool.query(text)
      const recorded = await recording(pool, async () => {
        await runProgram(pool, randomProgram(seed, true))
      })
      // What a failed statement saw is not told, and matters where the transaction goes on.
      const { 'a statement that failed before ROLLBACK TO': failed, ...skipped } = recorded.skipped
      expect(skipped, `seed ${seed}`).toEqual({})
      const [result] = await judge(await recorded.history(), ['mixed'])
      const verdict = failed === undefined ? 'satisfied' : 'unknown'
      expect(result!.verdict, `seed ${seed}\n${recorded.text()}`).toBe(verdict)
    }
  })
})
