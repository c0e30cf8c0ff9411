// What a job tells of its levels.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { perform } from '../../src/fleet/perform.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-perform-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('perform', () => {
  it('keeps apart two words for one level under different orders', async () => {
    const levels = ['ser', 'jepsen:serializable']
    const bytes = Buffer.from('a: w(x,1)\na: r(x,0)\nb: w(y,1)')
    for (const words of [levels, [...levels].reverse()]) {
      const job = { kind: 'file' as const, path: 'h.txt', levels: words, part: null, input: null }
      const task = { job, bytes, budgetMs: 60_000, keep: 'none' as const }
      const result = await perform(task, { directory, version: '0', environment: {} })
      expect(result.outcome).toBe('violated')
      expect(result.verdicts).toEqual({
        ser: 'violated',
        'ser without session order': 'satisfied',
      })
      expect(result.occurrences.map(({ level }) => level)).toEqual(['ser'])
    }
  })
})
