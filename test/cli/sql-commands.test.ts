// What the commands say of histories with SQL statements.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()
const TEXT =
  '{"isobar":1,"initial":null,"tables":{"orders":{"columns":{"id":"integer","type":"text"},"key":["id"],"rows":[{"id":1,"type":"ok"}]}}}\n' +
  '{"session":0,"ops":[{"select":"orders","where":"type = \'ok\'","rows":[{"key":[1],"from":null}]}]}\n' +
  '{"session":1,"ops":[{"delete":"orders","write":"w1","rows":[{"key":[1],"from":null}]},{"select":"orders","rows":[]}]}\n'

function put(): string {
  writeFileSync(terminal.path('sql.txt'), TEXT)
  return terminal.path('sql.txt')
}

describe('a SQL history', () => {
  test('is told by its content, and counted by statements', async () => {
    expect(await terminal.run('stats', put())).toBe(0)
    expect(terminal.output).toContain('native JSON Lines')
    expect(terminal.output).toMatch(/statements +2 select, 1 delete\n/)
    expect(await terminal.run('stats', put(), '--json')).toBe(0)
    expect(JSON.parse(terminal.output)).toMatchObject({
      shape: 'sql',
      statements: { select: 2, insert: 0, update: 0, delete: 1, refused: 0 },
      width: 2,
      communication: { edges: 1, components: 1, blocks: 1, largestBlock: 2 },
      conflicts: 0,
    })
  })

  test('is judged with real time at sser', async () => {
    const order = ['--order', 'session,real-time']
    expect(await terminal.run('check', put(), '--level', 'ser', ...order)).toBe(2)
    expect(terminal.errors).toContain('ask for --level sser')
    expect(await terminal.run('check', put(), '--level', 'sser', ...order)).toBe(
      await terminal.run('check', put(), '--level', 'sser'),
    )
  })

  test('is converted to the native format without loss', async () => {
    expect(await terminal.run('convert', put(), terminal.path('out.jsonl'))).toBe(0)
    expect(readFileSync(terminal.path('out.jsonl'), 'utf8')).toBe(TEXT)
  })

  test.each(['notation', 'plume', 'jepsen', 'dbcop-json', 'hist', 'awdit'])(
    'does not fit into %s, unless statements may be lost',
    async (id) => {
      expect(await terminal.run('convert', put(), terminal.path('out'), '--to', id)).toBe(2)
      expect(terminal.errors).toContain('SQL statements')
      const lossy = ['convert', put(), terminal.path('out'), '--to', id, '--lossy']
      expect(await terminal.run(...lossy)).toBe(0)
      expect(terminal.errors).toContain('does not hold SQL statements')
    },
  )

  test('is shrunk to the statements and rows that matter, from its verdict file too', async () => {
    const path = terminal.path('h.jsonl')
    const make = ['--shape', 'tpcc', '--transactions', '80', '--sessions', '5', '--seed', '4']
    await terminal.run('generate', path, ...make, '--store', 'ser', '--inject', 'phantom')
    const [out, again, verdict] = ['a.jsonl', 'b.jsonl', 'v.json'].map((name) =>
      terminal.path(name),
    )
    expect(await terminal.run('shrink', path, out!, '--level', 'ser')).toBe(0)
    expect(terminal.output).toContain('a.jsonl: 2 of 80 transactions, 2 of ')
    expect(await terminal.run('check', out!, '--level', 'ser')).toBe(1)
    const lines = readFileSync(out!, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    await terminal.run('check', path, '--level', 'ra,ser', '--certificate', verdict!)
    expect(await terminal.run('shrink', path, again!, '--verdict', verdict!)).toBe(0)
    expect(readFileSync(again!, 'utf8')).toBe(readFileSync(out!, 'utf8'))
  })

  test('is judged by what its statements passed over, too', async () => {
    expect(await terminal.run('check', put(), '--level', 'ser')).toBe(0)
    // Without the delete nothing explains why the last statement returned no row.
    const gone = /\{"delete".*?\},(?=\{"select")/
    writeFileSync(terminal.path('phantom.jsonl'), TEXT.replace(gone, ''))
    expect(await terminal.run('check', terminal.path('phantom.jsonl'), '--level', 'ser')).toBe(1)
    expect(terminal.output).toContain('SELECT orders -> no rows')
  })

  test('of the README says what explains the rows that were not returned', async () => {
    const rooms = fileURLToPath(new URL('../../examples/rooms.jsonl', import.meta.url))
    expect(await terminal.run('check', rooms, '--level', 'si')).toBe(0)
    expect(terminal.output).toContain('2 rows not returned are explained')
  })

  test('makes reports of every kind, from a verdict that was saved too', async () => {
    writeFileSync(terminal.path('gone.jsonl'), TEXT.replace(/\{"delete".*?\},(?=\{"select")/, ''))
    const make = (...options: string[]) =>
      terminal.run('check', terminal.path('gone.jsonl'), '--level', 'rc', ...options)
    for (const [option, name] of [
      ['--report', 'out.html'],
      ['--svg', 'out.svg'],
      ['--dot', 'out.dot'],
      ['--junit', 'out.xml'],
      ['--summary', 'out.md'],
    ] as const) {
      expect(await make(option, terminal.path(name))).toBe(1)
      expect(readFileSync(terminal.path(name), 'utf8')).toContain('VanishedRow')
    }
    expect(await make('--json')).toBe(1)
    writeFileSync(terminal.path('verdict.json'), terminal.output)
    expect(
      await terminal.run('report', terminal.path('verdict.json'), terminal.path('2.svg')),
    ).toBe(0)
    expect(readFileSync(terminal.path('2.svg'), 'utf8')).toBe(
      readFileSync(terminal.path('out.svg'), 'utf8'),
    )
  })

  test.each(['--tap=j', '--elle'])('is refused by %s, with a way out', async (option) => {
    expect(await terminal.run('check', put(), option)).toBe(2)
    expect(terminal.errors).toContain('not SQL statements')
    expect(terminal.errors).toContain('hint: ask')
  })
})
