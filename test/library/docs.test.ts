// Every program in docs/library.md runs as it stands.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const programs = [
  ...readFileSync(join(ROOT, 'docs/library.md'), 'utf8').matchAll(/```js\n(.*?)```/gs),
].map((match) => match[1]!)

describe('docs/library.md', () => {
  it.each(programs)('runs %#', async (program) => {
    const folder = mkdtempSync(join(tmpdir(), 'isobar-docs-'))
    try {
      // A comment behind a value is what the value must be.
      const held: unknown[][] = []
      const text = program
        .replaceAll("from 'isobar'", `from '${pathToFileURL(join(ROOT, 'src/index.ts')).href}'`)
        .replaceAll("'report.html'", JSON.stringify(join(folder, 'report.html')))
        .replaceAll('console.log(', 'void (')
        .replaceAll(/^(\S.*) \/\/ ('.*'|\[.*?\])(?: :.*)?$/gm, 'globalThis.held.push([$1, $2])')
      Object.assign(globalThis, { held })
      const file = join(folder, 'program.mjs')
      writeFileSync(file, text)
      await import(pathToFileURL(file).href)
      for (const [value, expected] of held) expect(value).toEqual(expected)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('has programs that say what comes out', () => {
    expect(programs.length).toBeGreaterThan(3)
  })
})
