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
  for (const [name, booking] of Object.entries({ red: red!, green })) {
    mkdirSync(join(folder, name))
    put(join(name, 'booking.js'), booking)
    // A busy machine takes as long as it takes.
    put(join(name, 'booking.test.js'), test!.replace('timeout: 60_000', 'timeout: 300_000'))
  }
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
/** One run of both, side by side. */
const vitest = () =>
  run(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--hookTimeout=300000')

/** What the page says that a race tells. */
const toldOf = (verdict: string) =>
  new RegExp(
    `\`\`\`\\n(race of ann, bob: Serializability \\(ser\\) is ${verdict}\\n.*?)\`\`\``,
    's',
  ).exec(text)![1]!
/** A runner of tests indents what they say. */
const flat = (said: string) => said.trim().replaceAll(/^[ \t]+/gm, '')

describe('docs/test-your-app.md', () => {
  it('has a test that is red, tells what the page shows, and turns green', () => {
    const { code, out } = vitest()
    expect(flat(out)).toContain(flat(toldOf('violated')))
    expect(out).toMatch(/FAIL +red\/booking\.test\.js/)
    expect(out).toMatch(/✓ green\/booking\.test\.js/)
    expect(out).toMatch(/Tests +1 failed \| 1 passed/)
    expect(code).toBe(1)
  })

  it('tells what the page says that it tells when it is green', () => {
    const told = test!
      .replace("import 'isobar/vitest' // or 'isobar/jest'\n", '')
      .replace(
        "import { afterAll, beforeAll, expect, it } from 'vitest'",
        'const work = []\nconst [beforeAll, afterAll] = [0, 2].map((at) => (act) => { work[at] = act })\nconst it = (name, options, act) => { work[1] = act }',
      )
      .replace("await expect(result).toBeIsolated('ser')", 'console.log(String(result))')
    put('green/told.mjs', `${told}\nfor (const act of work) await act()\n`)
    const { code, out } = run('green/told.mjs')
    expect(out).toBe(toldOf('satisfied'))
    expect(code).toBe(0)
  })

  it('works in node:test', () => {
    const assertion = "assert.equal(result.verdict, 'satisfied', String(result))"
    expect(text).toContain(assertion)
    const told = test!
      .replace("import 'isobar/vitest' // or 'isobar/jest'\n", "import assert from 'node:assert'\n")
      .replace(
        "import { afterAll, beforeAll, expect, it } from 'vitest'",
        "import { after as afterAll, before as beforeAll, it } from 'node:test'",
      )
      .replace("await expect(result).toBeIsolated('ser')", assertion)
    put('green/node.test.mjs', told)
    const { code, out } = run('--test', 'green/node.test.mjs')
    expect(out).toMatch(/pass 1\b/)
    expect(code).toBe(0)
  })
})
