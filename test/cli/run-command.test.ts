// `isobar run` with SQL transactions: what it prints, and what it refuses before anything starts.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findEmbeddedPackage } from '../../src/record/embedded/binaries.ts'
import { isobar, makeFolder } from './command.ts'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()
const folder = makeFolder()

describe('isobar run', () => {
  it.each([
    [['--db-level', 'ser+ra', '--shape', 'tpcc'], 'does not offer Read Atomic (ra)'],
    [['--db-level', 'sser', '--shape', 'tpcc'], 'SQL transactions cannot be at level "sser"'],
    [['--db-level', 'ser+rc', '--shape', 'mini'], 'unknown level "ser+rc"'],
    [['--shape', 'tpcc', '--mix', '1,2,3'], 'a mix is for the general shape, not for tpcc'],
    [['--shape', 'twitter', '--ops', '3'], '--ops is not for twitter'],
    [['--shape', 'sql', '--keys', '0'], 'keys must be a whole number'],
    [['--shape', 'tpcc', '--workload', 'mini'], '--workload and --shape are the same option'],
    [
      ['--shape', 'nothing'],
      'there are churn, mini, general, append, lwt, tpcc, tpcc-pc, twitter, sql',
    ],
    [['sim:ser', '--shape', 'tpcc'], 'this simulated store runs no SQL statements'],
  ])('refuses %j', async (args, why) => {
    expect(await terminal.run('run', '--out', terminal.path('run'), ...args)).toBe(2)
    expect(terminal.errors).toContain(why)
    expect(existsSync(terminal.path('run'))).toBe(false)
  })

  it.skipIf(findEmbeddedPackage() === null)('judges SQL transactions, each at its level', () => {
    const out = join(folder, 'run')
    const size = ['--sessions', '4', '--transactions', '20', '--seed', '1', '--out', out]
    const { code, out: printed } = isobar([
      'run',
      ...['--shape', 'twitter', '--db-level', 'si+rc', ...size],
    ])
    expect(printed).toContain('asked for si+rc (Snapshot Isolation and Read Committed)')
    expect(printed).toContain('granted REPEATABLE READ and READ COMMITTED')
    expect(printed).toContain('Mixed SQL levels (mixed): satisfied')
    expect(code).toBe(0)
    for (const file of ['history.jsonl', 'verdict.json', 'run.json', 'report.html']) {
      expect(existsSync(join(out, file))).toBe(true)
    }
    const again = isobar(['check', join(out, 'history.jsonl'), '--level', 'mixed'])
    expect(again.code).toBe(0)
  })
})
