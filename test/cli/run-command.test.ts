// `isobar run` with SQL transactions: what it prints, and what it refuses before anything starts.

import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readHistory } from '../../src/formats/open.ts'
import { WRITE } from '../../src/history/history.ts'
import { findEmbeddedPackage } from '../../src/record/embedded/binaries.ts'
import { isobar, makeFolder, startIsobar } from './command.ts'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()
const folder = makeFolder()

describe('isobar run', () => {
  it.each([
    [['--db-level', 'ser+ra', '--shape', 'tpcc'], 'does not offer Read Atomic (ra)'],
    [['--db-level', 'sser', '--shape', 'tpcc'], 'SQL transactions cannot be at level "sser"'],
    [['--db-level', 'ser+rc', '--shape', 'mini'], 'unknown level "ser+rc"'],
    [['--aim', 'lost-updat'], 'no workload aims at "lost-updat"'],
    [['--aim', 'lost-update', '--shape', 'mini'], '--aim and --shape exclude each other'],
    [['--aim', 'lost-update', '--reads', '1'], 'reads is not for aimed'],
    [['--shape', 'tpcc', '--mix', '1,2,3'], 'a mix is for the general shape, not for tpcc'],
    [['--shape', 'twitter', '--ops', '3'], 'ops is not for twitter'],
    [['--shape', 'sql', '--keys', '0'], 'keys must be a whole number'],
    [['--shape', 'tpcc', '--workload', 'mini'], '--workload and --shape are the same option'],
    [
      ['--shape', 'nothing'],
      'there are churn, mini, general, append, lwt, aimed, tpcc-kv, twitter-kv, rubis, tpcc, tpcc-pc, twitter, sql',
    ],
    [['sim:ser', '--shape', 'tpcc'], 'this simulated store runs no SQL statements'],
    [['--shape', 'mini', '--level', 'lin'], 'level lin is not for shape mini'],
    [['--shape', 'tpcc', '--level', 'ser,psi'], 'level psi is not for SQL statements'],
    [['--shape', 'tpcc', '--disjoint-writes'], 'disjoint writes are for keys, not for tpcc'],
  ])('refuses %j', async (args, why) => {
    expect(await terminal.run('run', '--out', terminal.path('run'), ...args)).toBe(2)
    expect(terminal.errors).toContain(why)
    expect(existsSync(terminal.path('run'))).toBe(false)
  })

  it('gives each of several runs that begin at once a directory of its own', async () => {
    const inside = mkdtempSync(join(folder, 'runs-'))
    const size = ['--sessions', '2', '--transactions', '10']
    const runs = Array.from({ length: 4 }, () => startIsobar(['run', 'sim:ser', ...size], inside))
    expect(await Promise.all(runs)).toEqual([0, 0, 0, 0])
    expect(readdirSync(join(inside, 'isobar-runs'))).toHaveLength(4)
  })

  it('lets only one session write each key where that is asked for', async () => {
    const out = terminal.path('disjoint')
    const size = ['--sessions', '3', '--transactions', '200', '--keys', '6', '--out', out]
    expect(await terminal.run('run', 'sim:ser', ...size, '--disjoint-writes')).toBe(0)
    const { history } = await readHistory(join(out, 'history.jsonl'))
    const writer = new Map<number, number>()
    for (let op = 0; op < history.opCount; op++) {
      if (history.opKind[op] !== WRITE) continue
      const session = history.txnSession[history.opTxn[op]!]!
      expect(writer.get(history.opKey[op]!) ?? session).toBe(session)
      writer.set(history.opKey[op]!, session)
    }
    expect(new Set(writer.values()).size).toBe(3)
  })

  it('says beside the verdict that nothing was concurrent, and how much memory it took', async () => {
    const out = terminal.path('alone')
    const size = ['--sessions', '1', '--transactions', '20', '--out', out]
    expect(await terminal.run('run', 'sim:ser', ...size)).toBe(0)
    expect(terminal.output).toMatch(
      /Serializability \(ser\): satisfied, but nothing was concurrent/,
    )
    const { memory, concurrency } = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))
    expect(memory.peakBytes).toBeGreaterThan(1e7)
    expect(concurrency).toEqual({ overlapping: 0, conflicting: 0 })
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
