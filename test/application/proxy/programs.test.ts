// Random programs straight to the server and through the proxy: the application sees the same, and
// what is recorded of them satisfies the levels that the server grants.

import { describe, expect, it } from 'vitest'
import { judge } from '../../../src/check/judge.ts'
import { FILL, randomProgram, runProgram, TABLES } from '../programs.ts'
import { reset } from '../server.ts'
import { onProxiedServer, throughProxy } from './stage.ts'

const stage = onProxiedServer()
const COUNT = Number(process.env.ISOBAR_PROGRAMS ?? 12)
const FIRST = Number(process.env.ISOBAR_SEED ?? 1)

describe('random programs through the proxy', () => {
  it('see what they see without it', { timeout: 3_600_000 }, async () => {
    const { direct } = stage
    await reset(direct, ...TABLES)
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
      const program = randomProgram(seed, false)
      for (const text of FILL) await direct.query(text)
      const plain = await runProgram(direct, program)
      for (const text of FILL) await direct.query(text)
      let seen: unknown[] = []
      await throughProxy(stage, async (pool) => {
        seen = await runProgram(pool, program)
      })
      expect(seen, `seed ${seed}`).toEqual(plain)
    }
  })

  it('are told in full, and keep what was granted', { timeout: 3_600_000 }, async () => {
    const { direct } = stage
    await reset(direct, ...TABLES)
    for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
      for (const text of FILL) await direct.query(text)
      const recorded = await throughProxy(stage, async (pool) => {
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
