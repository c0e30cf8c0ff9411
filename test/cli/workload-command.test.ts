// `isobar workload`: Jepsen's counters, banks and monotonic values.

import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()
const ADDED =
  '{:type :invoke :f :add :value 2 :process 0}\n{:type :ok :f :add :value 2 :process 0}\n'
const readOf = (value: string) => `{:type :ok :f :read :value ${value} :process 1}\n`

function put(name: string, text: string | Uint8Array): string {
  writeFileSync(terminal.path(name), text)
  return terminal.path(name)
}

describe('isobar workload', () => {
  it('tells what a counter satisfies, and what violates it with its line', async () => {
    expect(await terminal.run('workload', put('c.edn', ADDED + readOf('2')))).toBe(0)
    expect(terminal.output).toMatch(/\(counter: 1 read\)\n {2}satisfied\n/)
    expect(await terminal.run('workload', put('c.edn', ADDED + readOf('1')))).toBe(1)
    expect(terminal.output).toContain('LostIncrement, line 3: 1 was read, though 2 had been added')
    expect(await terminal.run('workload', put('c.edn', ADDED))).toBe(3)
    expect(terminal.output).toContain('unknown: nothing was read')
  })

  it('reads compressed files and store directories, and prints JSON', async () => {
    const bank = readOf('{0 60, 1 40}') + readOf('{0 60, 1 41}')
    const path = put('b.edn.gz', gzipSync(bank))
    expect(await terminal.run('workload', path, '--kind', 'bank', '--total', '100', '--json')).toBe(
      1,
    )
    expect(JSON.parse(terminal.output)).toMatchObject({
      workload: 'bank',
      verdict: 'violated',
      reads: 2,
      findings: [{ name: 'WrongTotal', line: 2 }],
    })
    mkdirSync(terminal.path('store'))
    put('store/history.edn', ADDED + readOf('2'))
    expect(await terminal.run('workload', terminal.path('store'))).toBe(0)
  })

  it('refuses what makes no sense', async () => {
    const counter = put('c.edn', ADDED + readOf('2'))
    expect(await terminal.run('workload', counter, '--total', 'x')).toBe(2)
    expect(await terminal.run('workload', counter, '--total', '5')).toBe(2)
    expect(await terminal.run('workload', counter, '--kind', 'queue')).toBe(2)
    expect(await terminal.run('workload', terminal.path('absent.edn'))).toBe(2)
    expect(terminal.errors).toContain('absent.edn: there is no such file')
    expect(await terminal.run('workload', put('n.edn', ADDED.replaceAll('2', '-2')))).toBe(2)
    expect(terminal.errors).toContain('n.edn:1:')
    expect(await terminal.run('workload', put('q.edn', '{:type :ok :f :enqueue :process 0}'))).toBe(
      2,
    )
  })

  it('is what check says of a counter', async () => {
    expect(await terminal.run('check', put('c.edn', ADDED + readOf('2')))).toBe(2)
    expect(terminal.errors).toContain('isobar workload')
  })
})
