// Every example runs, and finds what it says; examples/matcher.test.mjs is a test itself.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '..')
const EXAMPLES = join(ROOT, 'examples')
const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'isobar-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder whose `isobar` and `npx` are this checkout's. */
function commands(): string {
  const bin = join(folder, 'bin')
  if (existsSync(bin)) return bin
  mkdirSync(bin)
  const isobar = `exec "${process.execPath}" "${join(ROOT, 'bin/isobar.js')}" "$@"\n`
  writeFileSync(join(bin, 'isobar'), `#!/bin/sh\n${isobar}`)
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\n${isobar}`)
  for (const name of ['isobar', 'npx']) chmodSync(join(bin, name), 0o755)
  return bin
}

function run(command: string, args: string[], env: Record<string, string> = {}, cwd = ROOT) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { code: status, out: stdout, errors: stderr }
}

const withCommands = () => ({ PATH: `${commands()}${delimiter}${process.env['PATH']}` })

describe('examples', () => {
  it('are all named in their README', () => {
    const files = readdirSync(EXAMPLES).filter((name) => name !== 'README.md')
    expect(files.length).toBeGreaterThan(4)
    for (const name of files) expect(readme).toContain(`(${name})`)
  })

  const histories = readdirSync(EXAMPLES).filter((name) => /\.(txt|jsonl)$/.test(name))
  it.each(histories)('%s violates the level that the README says, not the weaker one', (name) => {
    const row = readme.split('\n').find((line) => line.includes(`(${name})`))
    const levels = /violates `(\w+)`, not `(\w+)`/.exec(row ?? '')?.slice(1) ?? []
    const codes = levels.map(
      (level) => run(process.execPath, ['examples/check-file.mjs', `examples/${name}`, level]).code,
    )
    expect(codes).toEqual([1, 0])
  })

  it('check-file.mjs tells a violation, and ends as the command does', () => {
    const { code, out } = run(process.execPath, ['examples/check-file.mjs'])
    expect(out).toContain('LostUpdate')
    expect(code).toBe(1)
  })

  it('record.mjs finds the updates that its store loses', () => {
    const { code, out } = run(process.execPath, ['examples/record.mjs'])
    expect(code).toBe(0)
    expect(out).toContain('40 transactions: si is violated')
    expect(out).toContain('LostUpdate')
  })

  it.skipIf(process.platform === 'win32')('simulated.sh shows a lost update', () => {
    const { code, out, errors } = run('sh', ['examples/simulated.sh'], withCommands())
    expect(errors).not.toContain('internal error')
    expect(out).toContain('Snapshot Isolation (si): violated')
    expect(out).toMatch(/s\w+: r\(/)
    expect(code).toBe(0)
  })

  it.skipIf(process.platform === 'win32')('ci.yml judges what tests left behind', () => {
    const { jobs } = parse(readFileSync(join(EXAMPLES, 'ci.yml'), 'utf8'))
    const command = jobs.check.steps.at(-1).run as string
    const cwd = join(folder, 'job')
    mkdirSync(join(cwd, 'histories'), { recursive: true })
    const history = readFileSync(join(EXAMPLES, 'lost-update.txt'))
    writeFileSync(join(cwd, 'histories', 'one.txt'), history)
    const summary = join(cwd, 'summary.md')
    const env = { ...withCommands(), GITHUB_STEP_SUMMARY: summary }
    expect(run('sh', ['-c', command], env, cwd).code).toBe(1)
    expect(readFileSync(summary, 'utf8')).toContain('LostUpdate')
    expect(readFileSync(join(cwd, 'junit.xml'), 'utf8')).toContain('<failure')
  })
})
