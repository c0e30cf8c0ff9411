// docs/test-your-app.md is true: its test is red as it stands, tells what the page shows, and turns
// green by what the page says helps; in Vitest, and in node:test.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')
const text = readFileSync(join(ROOT, 'docs/test-your-app.md'), 'utf8')
const [red, test, retry] = [...text.matchAll(/```js\n\/\/ booking.*?\n(.*?)```/gs)].map(
  (match) => match[1]!,
)
const green = `${red!
  .replace("'BEGIN'", "'BEGIN ISOLATION LEVEL SERIALIZABLE'")
  .replace('export async function bookRoom', 'async function tryToBook')}\n${retry}`

const folder = mkdtempSync(join(tmpdir(), 'isobar-app-'))
const put = (name: string, content: string) => writeFileSync(join(folder, name), content)

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['pg', 'vitest']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  symlinkSync(ROOT, join(folder, 'node_modules', 'isobar'))
  put('package.json', '{"name":"application","type":"module"}')
  put('booking.test.js', test!)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
  })
  return { code: status, out: stdout + stderr }
}
const vitest = () => run(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder)

describe('docs/test-your-app.md', () => {
  it('has a test that is red, and tells what the page shows', () => {
    put('booking.js', red!)
    const { code, out } = vitest()
    expect(out).toContain('race of ann, bob: Serializability (ser) is violated')
    const shown = /```\nrace of ann, bob: Serializability \(ser\) is violated\n(.*?)```/s.exec(
      text,
    )![1]!
    for (const line of shown.trimEnd().split('\n')) expect(out).toContain(line.trim())
    expect(code).toBe(1)
  })

  it('turns it green', () => {
    put('booking.js', green)
    const { code, out } = vitest()
    expect(out).toContain('1 passed')
    expect(code).toBe(0)
  })

  it('works in node:test', () => {
    put('booking.js', green)
    const assertion = "assert.equal(result.verdict, 'satisfied', String(result))"
    expect(text).toContain(assertion)
    const told = test!
      .replace("import 'isobar/vitest' // or 'isobar/jest'\n", "import assert from 'node:assert'\n")
      .replace(
        "import { afterAll, beforeAll, expect, it } from 'vitest'",
        "import { after as afterAll, before as beforeAll, it } from 'node:test'",
      )
      .replace("await expect(result).toBeIsolated('ser')", assertion)
    put('node.test.mjs', told)
    const { code, out } = run('--test', 'node.test.mjs')
    expect(out).toMatch(/pass 1\b/)
    expect(code).toBe(0)
  })
})
