// Clients that send more than the server takes, that do not read, or that hang up at any moment:
// nobody waits for ever, nothing is lost, and the proxy keeps little of it.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Framer, frame, int32 } from '../../../src/application/proxy/frames.ts'
import { startProxy } from '../../../src/application/proxy/proxy.ts'
import { parsePostgresAddress } from '../../../src/record/postgres/address.ts'
import { reset } from '../server.ts'
import { onProxiedServer, throughProxy } from './stage.ts'
import { COPY_DONE, copyData, Q, RawClient } from './transcript.ts'

const stage = onProxiedServer()
const TABLES = ['CREATE TABLE stock (id int PRIMARY KEY, name text)']
/** More than the buffers between a client, the proxy and the server hold. */
const MANY_BYTES = 32 << 20

/** Until somebody's statement waits for what is named. */
async function untilWaiting(event: string): Promise<void> {
  const text = 'SELECT FROM pg_stat_activity WHERE wait_event = $1'
  while ((await stage.direct.query(text, [event])).rowCount === 0);
}

/** Until nothing more of what was written leaves; how much is left. */
async function untilStuck(socket: Socket): Promise<number> {
  for (;;) {
    const before = socket.writableLength
    for (let i = 0; i < 20; i++) await stage.direct.query('SELECT')
    if (socket.writableLength === before) return before
  }
}

describe('a stream of messages', () => {
  it('is cut wherever its chunks end, and what was taken is not kept', () => {
    const message = copyData('x'.repeat(1000))
    const stream = Buffer.concat(Array(1000).fill(message))
    const framer = new Framer(true)
    let count = 0
    for (let at = 0; at < stream.length; at += 700) {
      framer.push(Buffer.from(stream.subarray(at, at + 700)))
      for (let taken = framer.next(); taken !== null; taken = framer.next()) {
        expect(taken.equals(message)).toBe(true)
        expect(taken.buffer.byteLength).toBeLessThan(1 << 16)
        count++
      }
    }
    expect(count).toBe(1000)
  })
})

describe('a client', () => {
  it('may send a long message while another is answered', async () => {
    await throughProxy(stage, async (_, proxy) => {
      const holder = await stage.direct.connect()
      await holder.query('SELECT pg_advisory_lock(1)')
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      const long = Q(`SELECT length('${'x'.repeat(MANY_BYTES)}')`)
      const locked = client.ask({ send: [Q('SELECT pg_advisory_lock(1)'), long] })
      await untilWaiting('advisory')
      expect(await untilStuck(client.socket)).toBeGreaterThan(0)
      await holder.query('SELECT pg_advisory_unlock(1)')
      holder.release()
      await locked
      expect((await client.ask({ send: [] })).join()).toContain(`${MANY_BYTES}`)
      await client.end()
    })
  })

  it('waits while the server does not take its rows', async () => {
    await reset(stage.direct, ...TABLES)
    await throughProxy(stage, async (_, proxy) => {
      const holder = await stage.direct.connect()
      await holder.query('BEGIN')
      await holder.query('INSERT INTO stock VALUES (1)')
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      await client.ask({ send: [Q('COPY stock FROM STDIN')], until: 'G' })
      const name = 'x'.repeat(1 << 16)
      const count = MANY_BYTES / name.length
      for (let i = 1; i <= count; i++) client.socket.write(copyData(`${i}\t${name}\n`))
      await untilWaiting('transactionid')
      expect(await untilStuck(client.socket)).toBeGreaterThan(0)
      await holder.query('ROLLBACK')
      holder.release()
      expect((await client.ask({ send: [COPY_DONE] })).join()).toContain(`COPY ${count}`)
      await client.end()
    })
  })

  it('that hangs up in the middle of an answer leaves nobody waiting', async () => {
    await throughProxy(stage, async (_, proxy) => {
      const client = await RawClient.login({ ...stage.login, port: proxy.port })
      client.socket.pause()
      client.socket.write(Q(`SELECT repeat('x', 1 << 20) FROM generate_series(1, 30)`))
      await untilWaiting('ClientWrite')
      client.socket.destroy()
      const left =
        "SELECT FROM pg_stat_activity WHERE query LIKE '%repeat%' AND pid <> pg_backend_pid()"
      while ((await stage.direct.query(left)).rowCount !== 0);
    })
  })
})

describe('with a server that is made here', () => {
  const ends: (() => void)[] = []
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })

  /** A proxy before a server that does what is told with each connection. */
  async function serveThrough(serve: (socket: Socket) => void, query: string) {
    const server = createServer(serve)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const to = parsePostgresAddress(`postgres://127.0.0.1:${port}/?${query}`, {})
    const proxy = await startProxy({ to, host: '127.0.0.1', port: 0 })
    ends.push(() => server.close())
    return proxy
  }

  function startup(...words: string[]): Buffer {
    const body = Buffer.from(`${words.join('\0')}\0\0`)
    return Buffer.concat([int32(8 + body.length), int32(196_608), body])
  }

  function open(port: number): Socket {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    ends.push(() => socket.destroy())
    return socket
  }

  it('is over for a client that hung up before the server answered', async () => {
    let answer = () => {}
    let asked: (() => void) | null = null
    const proxy = await serveThrough((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        answer = () => socket.write('N')
        if (asked === null) answer()
        else asked()
      })
    }, 'sslmode=prefer')
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const client = open(proxy.port)
    client.write(startup('user', 'me'))
    await isAsked
    client.destroy()
    // Whoever comes later is heard later.
    const later = open(proxy.port)
    later.write(Buffer.from([0x16]))
    await once(later.resume(), 'close')
    expect(proxy.openCount).toBe(1)
    answer()
    while (proxy.openCount > 0) await new Promise((resolve) => setImmediate(resolve))
    proxy.recorded.stop()
  })

  it('gets all bytes of clients that are not recorded', async () => {
    const heard: Buffer[] = []
    let hears = () => {}
    const READY = Buffer.concat([frame('R', int32(0)), frame('Z', Buffer.from('I'))])
    const proxy = await serveThrough((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(READY))
      socket.on('data', (chunk: Buffer) => {
        heard.push(chunk)
        hears()
      })
    }, 'sslmode=disable')
    const first = open(proxy.port)
    first.write(startup('user', 'me', 'database', 'one'))
    await once(first, 'data')
    const said = Buffer.concat([Q('SELECT 1'), Q('SELECT 2').subarray(0, 7)])
    for (const [words, reason] of [
      [['user', 'me', 'replication', 'true'], 'a connection for replication'],
      [['user', 'me', 'database', 'two'], 'a connection to another database'],
      [['user', 'one', 'database', 'one'], undefined],
    ] as const) {
      heard.length = 0
      const client = open(proxy.port)
      const bytes = Buffer.concat([startup(...words), said])
      client.write(bytes)
      if (reason === undefined) {
        await once(client, 'data')
        continue
      }
      while (Buffer.concat(heard).length < bytes.length) {
        await new Promise<void>((resolve) => {
          hears = resolve
        })
      }
      expect(Buffer.concat(heard)).toEqual(bytes)
      expect(proxy.recorded.skipped).toHaveProperty(reason, 1)
    }
    expect(Object.keys(proxy.recorded.skipped)).toHaveLength(2)
    proxy.recorded.stop()
  })
})
