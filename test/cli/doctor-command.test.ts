import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DatabaseError } from '../../src/base/errors.ts'
import type { Driver } from '../../src/record/driver.ts'
import { useTerminal } from './terminal.ts'

/** Drivers that are as good as not installed. */
const missing = new Set<string>()
vi.mock('../../src/record/driver.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/record/driver.ts')>()
  const loadDriver = (driver: Driver) => {
    if (missing.has(driver.name)) throw new DatabaseError('it is not installed')
    return original.loadDriver(driver)
  }
  return { ...original, loadDriver }
})
afterEach(() => missing.clear())

const terminal = useTerminal()

async function findingOf(product: string): Promise<object> {
  await terminal.run('doctor', '--json')
  const { findings } = JSON.parse(terminal.output)
  return findings.find(({ name }: { name: string }) => name === product)
}

/** A server of ours on that port of this machine; null if there is one already. */
function listen(port: number, answer: (socket: Socket) => void): Promise<Server | null> {
  const server = createServer(answer)
  return new Promise((resolve) => {
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

const answersPing = (socket: Socket) => socket.once('data', () => socket.end('+PONG\r\n'))

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
      'driver node-firebird',
      'Firebird',
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
    const other = await listen(5432, answersPing)
    if (other === null) return // a real one may be there
    try {
      expect(await findingOf('PostgreSQL')).toEqual({
        name: 'PostgreSQL',
        usable: false,
        detail: 'something else listens on 127.0.0.1:5432',
      })
    } finally {
      other.close()
    }
  })

  it('calls a server unusable whose driver is missing', async () => {
    const ours = await listen(6379, answersPing) // or a real one
    try {
      const found = { name: 'Redis', usable: true, detail: 'it listens on 127.0.0.1:6379' }
      expect(await findingOf('Redis')).toEqual(found)
      missing.add('ioredis')
      expect(await findingOf('Redis')).toEqual({
        ...found,
        usable: false,
        detail: `${found.detail}, but without its driver`,
      })
    } finally {
      ours?.close()
    }
  })

  it('removes what killed runs left, on request', async () => {
    expect(await terminal.run('doctor', '--clean')).toBe(0)
    expect(terminal.output).toMatch(/^(nothing was left behind|removed .*)\n$/)
  })
})
