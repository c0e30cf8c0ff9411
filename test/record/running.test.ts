// What docs/running.md shows of PostgreSQL is what the checker says. (That PostgreSQL does it is
// shown by test/live/sql.test.ts.)

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { parseHistory } from '../../src/formats/parse.ts'

const text = readFileSync(join(import.meta.dirname, '../../docs/running.md'), 'utf8')
const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)]
  .map((match) => match[1]!)
  .filter((block) => block.includes('"isobar"'))

async function verdictOf(history: string): Promise<string> {
  const [result] = await judge(parseHistory(history), ['mixed'])
  return [result!.verdict, ...result!.anomalies.map(({ name }) => name)].join(' ')
}

describe('docs/running.md', () => {
  it('shows histories that violate their levels', async () => {
    const verdicts: string[] = []
    for (const block of blocks) verdicts.push(await verdictOf(block))
    expect(verdicts).toEqual([
      'violated Phantom',
      'violated LostUpdate',
      'violated ReadOnlyAnomaly',
    ])
  })

  it('shows histories that are one edit away from sound ones', async () => {
    const [rc, si, ser] = blocks as [string, string, string]
    // A clause that no version satisfies; a level that lets updates be lost; snapshots only.
    expect(await verdictOf(rc.replace('"where":"hits = 10"', '"where":"hits = 12"'))).toBe(
      'satisfied',
    )
    expect(await verdictOf(si.replaceAll('"level":"si"', '"level":"pc"'))).toBe('satisfied')
    expect(await verdictOf(ser.replaceAll('"level":"ser"', '"level":"si"'))).toBe('satisfied')
  })
})
