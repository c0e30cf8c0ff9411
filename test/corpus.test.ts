// Regression histories: what test/corpus/README.md says of each still holds.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkModels } from '../src/check/check.ts'
import { judge } from '../src/check/judge.ts'
import { parseHistory } from '../src/formats/parse.ts'
import type { LevelId } from '../src/levels/levels.ts'

const FOLDER = join(import.meta.dirname, 'corpus')
const rows = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [\w.-]+\.\w+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, file, what, expected]) => ({ file: file!, what: what!, expected: expected! }))

describe('test/corpus', () => {
  it('has a line for every history, and a history for every line', () => {
    const files = readdirSync(FOLDER).filter((name) => name !== 'README.md')
    expect(rows.map(({ file }) => file).sort()).toEqual(files.sort())
    for (const { what } of rows) expect(what.length).toBeGreaterThan(10)
  })

  it.each(rows)('$file: $expected', async ({ file, expected }) => {
    const bytes = readFileSync(join(FOLDER, file))
    const refused = /^refused: (.*)$/.exec(expected)?.[1]
    if (refused !== undefined) {
      expect(() => parseHistory(bytes)).toThrow(refused)
      return
    }
    const history = parseHistory(bytes)
    // Nothing that can be asked of it ends in a crash.
    expect(checkModels(history).length).toBeGreaterThan(5)
    for (const part of expected.split(', ')) {
      const [level, verdict] = part.split(' ') as [LevelId, string]
      if ((level as string) === 'not') continue
      const [result] = await judge(history, [level])
      expect(result!.verdict, level).toBe(verdict)
      const names = result!.anomalies.map(({ name }) => name)
      const forbidden = /not (\w+)/.exec(expected)?.[1]
      if (forbidden) expect(names).not.toContain(forbidden)
    }
  })
})
