// "Copy as SQL": what a report offers to type into two terminals shows on a real server what the
// report says. Each terminal is a connection; a statement that has to wait for the other terminal
// is waited for where the script says that its transaction ends.

import type { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { findSections } from '../../src/report/page/sections.ts'
import { buildReplay } from '../../src/report/replay.ts'
import { renderSqlScript } from '../../src/report/sql-script.ts'
import type { RunJson } from '../../src/verdict/verdict-file.ts'
import { judge } from '../report/gallery.ts'
import { liveServers, withClient } from './postgres.ts'

interface Said {
  readonly terminal: string
  readonly statement: string
  /** What the report says that it showed. */
  readonly remark: string
  /** What it showed here, a cell a row. */
  rows: unknown[]
}

function scriptOf(notation: string, judged: 'si' | 'ser', asked: string): string {
  const run = { database: { name: 'PostgreSQL 18', place: 'here' }, level: { asked, granted: '' } }
  const verdict = { ...judge(notation, judged), run: run as RunJson }
  const { example } = findSections(verdict)[0]!.evidence[0]!
  return renderSqlScript(example, buildReplay(example, verdict.initial), verdict.run)!
}

/** Types the script line by line, each into the terminal of its letter. */
async function type(script: string, terminals: Record<string, Client>): Promise<Said[]> {
  const said: Said[] = []
  const waiting = new Map<string, Promise<void>>() // terminal -> a statement that has not returned
  for (const line of script.split('\n')) {
    if (line === '' || line.startsWith('--')) continue
    const [, letter = 'A', text = line] = /^\/\* ([A-Z]) \*\/ (.*)$/.exec(line) ?? []
    const [statement = '', remark = ''] = text.split(/;(?: -- |$)/)
    const one: Said = { terminal: letter, statement, remark, rows: [] }
    said.push(one)
    // A terminal takes nothing before it has answered.
    await waiting.get(letter)
    const client = terminals[letter]!
    let isAnswered = false
    const done = () => {
      isAnswered = true
    }
    const answer = client.query(statement).then(({ rows }) => {
      one.rows = (rows ?? []).map((row: Record<string, unknown>) => Object.values(row).at(-1))
    })
    waiting.set(letter, answer)
    answer.then(done, done)
    await settled(terminals['watch']!, client, () => isAnswered)
  }
  await Promise.all(waiting.values())
  return said
}

/** Returns once the terminal has answered, or the server says that it waits for another one. */
async function settled(watch: Client, client: Client, isAnswered: () => boolean): Promise<void> {
  const pid = (client as unknown as { processID: number }).processID
  while (!isAnswered()) {
    const { rows } = await watch.query('SELECT cardinality(pg_blocking_pids($1)) AS by', [pid])
    if (rows[0].by > 0) return
  }
}

describe.each(liveServers())('copy as SQL on %s', (_, target) => {
  const inTerminals = <T>(work: (terminals: Record<string, Client>) => Promise<T>) =>
    withClient(target(), (A) =>
      withClient(target(), (B) =>
        withClient(target(), async (watch) => {
          try {
            return await work({ A, B, watch })
          } finally {
            await watch.query('DROP TABLE IF EXISTS kv')
          }
        }),
      ),
    )

  it('shows the write skew that the report tells of, at REPEATABLE READ', async () => {
    const skew = 'initial null\ns1: r(1,null) r(2,null) w(1,7)\ns2: r(1,null) r(2,null) w(2,8)'
    const script = scriptOf(skew, 'ser', 'si')
    await inTerminals(async (terminals) => {
      const said = await type(script, terminals)
      const reads = said.filter(({ statement }) => statement.startsWith('SELECT'))
      expect(reads).toHaveLength(4)
      for (const { rows, remark } of reads) {
        expect(remark).toMatch(/null/i)
        expect(rows).toEqual([null])
      }
      expect(said.filter(({ statement }) => statement === 'COMMIT')).toHaveLength(2)
      const { rows } = await terminals['watch']!.query('SELECT k, v FROM kv ORDER BY k')
      expect(rows).toEqual([
        { k: '1', v: '7' },
        { k: '2', v: '8' },
      ])
    })
  })

  it('shows the lost update that the report tells of, at READ COMMITTED, where one waits', async () => {
    const lost = 'initial null\ns1: r(1,null) w(1,7)\ns2: r(1,null) w(1,8)'
    const script = scriptOf(lost, 'si', 'rc')
    await inTerminals(async (terminals) => {
      const said = await type(script, terminals)
      const reads = said.filter(({ statement }) => statement.startsWith('SELECT'))
      expect(reads.map(({ rows }) => rows)).toEqual([[null], [null]])
      // Both committed, both had read nothing, and of the first update nothing is left.
      expect(said.filter(({ statement }) => statement === 'COMMIT')).toHaveLength(2)
      const updates = said.filter(({ statement }) => statement.startsWith('UPDATE'))
      const last = /SET v = (\d)/.exec(updates.at(-1)!.statement)![1]
      const { rows } = await terminals['watch']!.query('SELECT v FROM kv')
      expect(rows).toEqual([{ v: last }])
    })
  })

  it('is refused by the server where the level forbids it', async () => {
    const skew = 'initial null\ns1: r(1,null) r(2,null) w(1,7)\ns2: r(1,null) r(2,null) w(2,8)'
    const script = scriptOf(skew, 'ser', 'ser')
    expect(script).toContain('BEGIN ISOLATION LEVEL SERIALIZABLE')
    await inTerminals(async (terminals) => {
      await expect(type(script, terminals)).rejects.toMatchObject({ code: '40001' })
    })
  })
})
