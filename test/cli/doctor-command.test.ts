import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()

describe('isobar doctor', () => {
  it('names what can be used, each target with its driver', async () => {
    await terminal.run('doctor', '--json')
    const { findings } = JSON.parse(terminal.output)
    const names = findings.map(({ name }: { name: string }) => name)
    expect(names).toEqual([
      'isobar',
      'Node',
      'driver pg',
      'embedded PostgreSQL',
      'PostgreSQL',
      'driver mysql2',
      'MariaDB or MySQL',
      'driver ioredis',
      'Redis',
      'etcd',
      'driver libsql',
      'SQLite',
      'driver @tursodatabase/database',
      'Turso',
      'driver @duckdb/node-api',
      'DuckDB',
      'browser',
    ])
  })

  it('takes nothing for PostgreSQL that does not answer like it', async () => {
    const other = createServer((socket) => socket.once('data', () => socket.end('+PONG')))
    const listens = await new Promise<boolean>((resolve) => {
      other.once('error', () => resolve(false))
      other.listen(5432, '127.0.0.1', () => resolve(true))
    })
    if (!listens) return // a real one may be there
    try {
      await terminal.run('doctor', '--json')
      const { findings } = JSON.parse(terminal.output)
      expect(findings.find(({ name }: { name: string }) => name === 'PostgreSQL')).toEqual({
        name: 'PostgreSQL',
        usable: false,
        detail: 'something else listens on 127.0.0.1:5432',
      })
    } finally {
      other.close()
    }
  })

  it('removes what killed runs left, on request', async () => {
    expect(await terminal.run('doctor', '--clean')).toBe(0)
    expect(terminal.output).toMatch(/^(nothing was left behind|removed .*)\n$/)
  })
})
