// Random programs as they are and recorded, in whichever way: the application sees the same, and
// what is recorded of them satisfies the levels that the server grants. Main function:
// describePrograms.

import type pg from 'pg'
import { expect, it } from 'vitest'
import type { Recorded } from '../../src/application/observe/instrument.ts'
import { judge } from '../../src/check/judge.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { FILL, randomProgram, runProgram, TABLES } from './programs.ts'
import { reset } from './server.ts'

type Told = Pick<Recorded<pg.Pool>, 'skipped' | 'history' | 'text'>

export interface WayToRecord {
  /** Straight to the server; known once the tests run. */
  readonly direct: () => pg.Pool
  /** Runs work on a pool that is recorded, and returns what was. */
  readonly recording: (work: (pool: pg.Pool) => Promise<void>) => Promise<Told>
  /** How many programs, unless told. */
  readonly count: number
}

const LONG_MS = 3_600_000

async function mixedVerdict(text: string): Promise<string> {
  const [result] = await judge(parseHistory(text, { format: 'native' }), ['mixed'])
  return result!.verdict
}

/** The history, but that no INSERT says what refused it. */
function withoutRefused(text: string): string {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const line of lines) line.ops = line.ops?.filter((op: object) => !('refused' in op))
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function describePrograms({ direct, recording, count }: WayToRecord): void {
  const first = Number(process.env.ISOBAR_SEED ?? 1)
  const end = first + Number(process.env.ISOBAR_PROGRAMS ?? count)

  async function fill(): Promise<void> {
    for (const text of FILL) await direct().query(text)
  }

  it('see what they see without it', { timeout: LONG_MS }, async () => {
    await reset(direct(), ...TABLES)
    for (let seed = first; seed < end; seed++) {
      const program = randomProgram(seed, false)
      await fill()
      const plain = await runProgram(direct(), program)
      await fill()
      let seen: unknown[] = []
      await recording(async (pool) => {
        seen = await runProgram(pool, program)
      })
      expect(seen, `seed ${seed}`).toEqual(plain)
    }
  })

  it(
    'see it in one long recording, whose statements come again and again',
    async () => {
      await reset(direct(), ...TABLES)
      const seen: unknown[] = []
      const plain: unknown[] = []
      const run = async (pool: pg.Pool, into: unknown[]) => {
        for (let seed = first; seed < end; seed++) {
          await fill()
          into.push([seed, await runProgram(pool, randomProgram(seed, false), true)])
        }
      }
      await run(direct(), plain)
      await recording((pool) => run(pool, seen))
      expect(seen).toEqual(plain)
    },
    LONG_MS,
  )

  it('are told in full, and keep what was granted', { timeout: LONG_MS }, async () => {
    await reset(direct(), ...TABLES)
    for (let seed = first; seed < end; seed++) {
      await fill()
      const recorded = await recording(async (pool) => {
        // On connections of its own, or again on the same.
        for (let times = seed % 2 === 0 ? 1 : 3; times > 0; times--) {
          await runProgram(pool, randomProgram(seed, true), seed % 2 === 1)
        }
      })
      // What a failed statement saw is not told, and matters where the transaction goes on.
      const { 'a statement that failed before ROLLBACK TO': failed, ...skipped } = recorded.skipped
      expect(skipped, `seed ${seed}`).toEqual({})
      const verdict = failed === undefined ? 'satisfied' : 'unknown'
      const text = recorded.text()
      if ((await mixedVerdict(text)) === verdict) continue
      // The server looks for keys beyond the snapshots that it grants, and nowhere else.
      expect(text, `seed ${seed}`).toMatch(/"level":"(si|ser)","ops":.*"refused"/)
      expect(await mixedVerdict(withoutRefused(text)), `seed ${seed}\n${text}`).toBe(verdict)
    }
  })
}
