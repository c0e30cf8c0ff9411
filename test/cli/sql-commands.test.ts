// What the commands say of histories with SQL statements.

import { readFileSync, writeFileSync } from 'node:fs'
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
      statements: { select: 2, insert: 0, update: 0, delete: 1 },
    })
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

  test('is not shrunk as if statements were reads and writes', async () => {
    expect(await terminal.run('shrink', put(), terminal.path('out'), '--level', 'ser')).toBe(2)
    expect(terminal.errors).toContain('cannot be cut into parts')
  })

  test('is judged by what its statements passed over, too', async () => {
    expect(await terminal.run('check', put(), '--level', 'ser')).toBe(0)
    // Without the delete nothing explains why the last statement returned no row.
    const gone = /\{"delete".*?\},(?=\{"select")/
    writeFileSync(terminal.path('phantom.jsonl'), TEXT.replace(gone, ''))
    expect(await terminal.run('check', terminal.path('phantom.jsonl'), '--level', 'ser')).toBe(1)
    expect(terminal.output).toContain('SELECT orders -> no rows')
  })
})
