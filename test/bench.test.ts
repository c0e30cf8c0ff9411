// Benchmarks help instead of running, and refuse what they do not know, before they measure.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const BENCH = join(ROOT, 'bench')
const scripts = readdirSync(BENCH)
  .filter((name) => name.endsWith('.ts'))
  .filter((name) => readFileSync(join(BENCH, name), 'utf8').includes('readOptions<'))

const slip = ['run.ts', '--ful']
const helped = scripts.filter((name) => name !== 'arguments.ts').map((name) => [name, '--help'])

/** In one process, where what they share is loaded once: a call ends where it would end the process. */
const PROGRAM = `
import { writeSync } from 'node:fs'
const told = []
for (const [script, ...args] of ${JSON.stringify([...helped, slip])}) {
  const call = { script, code: null, out: '', errors: '' }
  process.argv = [process.execPath, script, ...args]
  process.exit = (code) => {
    call.code = code
    throw new Error('the end')
  }
  process.stdout.write = (text) => { call.out += text; return true }
  process.stderr.write = (text) => { call.errors += text; return true }
  // The same script may be called again.
  await import('./bench/' + script + '?' + told.length).catch((error) => {
    if (call.code === null) call.errors += error.stack
  })
  told.push(call)
}
writeSync(1, JSON.stringify(told))
`

interface Call {
  readonly script: string
  readonly code: number | null
  readonly out: string
  readonly errors: string
}
let calls: readonly Call[]

beforeAll(() => {
  const args = ['--import', 'tsx', '--input-type=module', '-e', PROGRAM]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  expect(stderr).toBe('')
  calls = JSON.parse(stdout)
})

describe('benchmarks', () => {
  it('all read their options in one way', () => {
    const { scripts: commands } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const benches = Object.entries<string>(commands).filter(([name]) => /^bench/.test(name))
    expect(benches.length).toBeGreaterThan(6)
    for (const [name, command] of benches) {
      const script = /bench\/([\w-]+\.ts)$/.exec(command)?.[1]
      expect(scripts, name).toContain(script)
      expect(command, name).not.toContain('build')
    }
  })

  it.each(helped)('%s helps', (script) => {
    const { code, out, errors } = calls.find((call) => call.script === script)!
    expect([code, errors]).toEqual([0, ''])
    expect(out).toMatch(/^Usage: (npm run bench|node)[\s\S]*--help/)
  })

  it('refuse a slip, and say what was meant', () => {
    const { code, out, errors } = calls.at(-1)!
    expect([code, out]).toEqual([2, ''])
    expect(errors).toContain('Did you mean --full?')
  })
})
