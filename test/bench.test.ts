// Benchmarks help instead of running, and refuse what they do not know, before they measure.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const BENCH = join(ROOT, 'bench')
const scripts = readdirSync(BENCH)
  .filter((name) => name.endsWith('.ts'))
  .filter((name) => readFileSync(join(BENCH, name), 'utf8').includes('readOptions<'))

function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(BENCH, script), ...args],
    { cwd: ROOT, encoding: 'utf8' },
  )
  return { code: status, out: stdout, errors: stderr }
}

describe('benchmarks', () => {
  it('all read their options in one way', () => {
    const { scripts: commands } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const benches = Object.entries<string>(commands).filter(([name]) => /^bench/.test(name))
    expect(benches.length).toBeGreaterThan(6)
    for (const [name, command] of benches) {
      const script = /bench\/(\w+\.ts)$/.exec(command)?.[1]
      expect(scripts, name).toContain(script)
      expect(command, name).not.toContain('build')
    }
  })

  it.each(scripts.filter((name) => name !== 'arguments.ts'))('%s helps', (script) => {
    const { code, out, errors } = run(script, '--help')
    expect([code, errors]).toEqual([0, ''])
    expect(out).toMatch(/^Usage: (npm run bench|node)[\s\S]*--help/)
  })

  it('refuse a slip, and say what was meant', () => {
    const { code, out, errors } = run('run.ts', '--ful')
    expect([code, out]).toEqual([2, ''])
    expect(errors).toContain('Did you mean --full?')
  })
})
