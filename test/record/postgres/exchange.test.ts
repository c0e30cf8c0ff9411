// What the server says is understood the same however its bytes arrive, and what it does not say is
// not made up.

import { EventEmitter, once } from 'node:events'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { Inlet, Wire } from '../../../src/record/postgres/exchange.ts'
import { inDirectory } from '../stage.ts'

/** A connection whose other end is the test. */
class Stream extends EventEmitter {
  sent = Buffer.alloc(0)

  write(bytes: Buffer): void {
    this.sent = Buffer.concat([this.sent, bytes])
  }

  /** In pieces of so many bytes, all in one buffer, which is used again. */
  answer(bytes: Buffer, size: number): void {
    const lent = Buffer.alloc(size)
    for (let at = 0; at < bytes.length; at += size) {
      const length = bytes.copy(lent, 0, at, at + size)
      this.emit('data', lent.subarray(0, length))
      lent.fill(0xff)
    }
  }
}

function connect() {
  const stream = new Stream()
  let lost = 0
  const client = { connection: { stream } } as unknown as Client
  const wire = new Wire(client, null, () => lost++)
  return { stream, wire, lost: () => lost }
}

function message(kind: string, ...parts: (string | number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(kind), length, body])
}

const BOUND = message('2')
const NOTICE = message('N', 'SNOTICE\0VNOTICE\0C00000\0Mhear\0\0')
const READY = message('Z', 'I')
const REFUSED = message('E', 'SFEHLER\0VERROR\0C40001\0Mno order\0\0')
const FATAL = message('E', 'SFATAL\0VFATAL\0C57P01\0Mgood night\0\0')
const tag = (text: string) => message('C', `${text}\0`)
/** Of a long value, none, and one of two letters. */
const ROW = message('D', [0, 3, 0, 0, 0, 3], '712', [255, 255, 255, 255, 0, 0, 0, 3], 'zé')
const SIZES = [1, 2, 3, 5, 7, 1000]

describe('an exchange', () => {
  it.each(SIZES)('reads rows that come in pieces of %i bytes', async (size) => {
    const { stream, wire } = connect()
    const answer = wire.query(null, 'SELECT', [], [])
    stream.answer(Buffer.concat([BOUND, ROW, NOTICE, ROW, tag('SELECT 2'), READY]), size)
    const cells = ['712', null, 'zé']
    expect(await answer).toEqual({
      cell: '712',
      rowCount: 2,
      rows: [cells, cells],
      tag: 'SELECT 2',
    })
  })

  it.each(SIZES)('counts rows that changed, in pieces of %i bytes', async (size) => {
    const { stream, wire } = connect()
    const answer = wire.execute('begin', 'write', ['1'])
    stream.answer(Buffer.concat([BOUND, tag('BEGIN'), BOUND, tag('UPDATE 17'), READY]), size)
    expect(await answer).toMatchObject({ cell: null, rowCount: 17, tag: 'UPDATE 17' })
  })

  it.each([
    ['0', 0],
    ['712', 712],
    ['999999999999999', 999999999999999],
    ['9007199254740993', '9007199254740993'],
    ['-5', '-5'],
    ['{4,12}', '{4,12}'],
    ['{}', '{}'],
    ['', ''],
    ['1é', '1é'],
  ])('takes %j for %j, the number it tells if it surely tells one', async (text, cell) => {
    const { stream, wire } = connect()
    const answer = wire.execute(null, 'read', ['1'])
    const bytes = Buffer.from(text)
    const row = message('D', [0, 1, 0, 0, 0, bytes.length], text)
    stream.answer(Buffer.concat([BOUND, row, tag('SELECT 1'), READY]), 6)
    expect(await answer).toEqual({ cell, rowCount: 1, rows: [], tag: 'SELECT 1' })
  })

  it('keeps each row behind the first, and NULL apart from what is empty', async () => {
    const { stream, wire } = connect()
    const answer = wire.execute(null, 'read', ['1'])
    const nothing = message('D', [0, 1, 255, 255, 255, 255])
    stream.answer(Buffer.concat([BOUND, nothing, ROW, ROW, tag('SELECT 3'), READY]), 1000)
    const cells = ['712', null, 'zé']
    expect(await answer).toEqual({
      cell: null,
      rowCount: 3,
      rows: [cells, cells],
      tag: 'SELECT 3',
    })
    const next = wire.execute(null, 'read', ['1'])
    stream.answer(Buffer.concat([BOUND, tag('SELECT 0'), READY]), 1000)
    expect(await next).toEqual({ cell: null, rowCount: 0, rows: [], tag: 'SELECT 0' })
  })

  it.each(['COMMIT', 'COMMIX', 'ROLLBACK', 'SELECT 2', 'COMMIT 1'])(
    'knows the word %s from all others',
    async (word) => {
      const { stream, wire } = connect()
      const answer = wire.execute(null, 'commit', [])
      stream.answer(Buffer.concat([BOUND, tag(word), READY]), 1000)
      expect((await answer).tag).toBe(word)
    },
  )

  it('means what whoever asks makes of it, and goes on where that throws', async () => {
    const { stream, wire } = connect()
    const meaning = {
      read: ({ tag: word }: { tag: string }) => {
        if (word !== 'COMMIT') throw new Error(`not ${word}`)
        return word.length
      },
      fail: (error: Error) => new Error(`failed: ${error.message}`),
    }
    const settled = async (bytes: Buffer) => {
      const answer = wire.execute(null, 'commit', [], meaning)
      stream.answer(Buffer.concat([bytes, READY]), 1000)
      return answer.catch(({ message: words }) => words)
    }
    expect(await settled(tag('ROLLBACK'))).toBe('not ROLLBACK')
    expect(await settled(REFUSED)).toBe('failed: no order')
    expect(await settled(tag('COMMIT'))).toBe(6)
  })

  it('is told of an error when the server is ready again, and goes on', async () => {
    const { stream, wire } = connect()
    const refused = wire.execute(null, 'commit', [])
    stream.answer(Buffer.concat([REFUSED, READY]), 4)
    await expect(refused).rejects.toMatchObject({
      message: 'no order',
      severity: 'ERROR',
      code: '40001',
    })
    const next = wire.execute(null, 'commit', [])
    stream.answer(Buffer.concat([BOUND, tag('COMMIT'), READY]), 4)
    expect((await next).tag).toBe('COMMIT')
  })

  it.each([
    ['of which nothing came', Buffer.alloc(0)],
    ['that is not whole', Buffer.concat([BOUND, tag('COMMIT').subarray(0, -1)])],
    ['behind which nobody is ready', Buffer.concat([BOUND, tag('COMMIT')])],
    ['that is half an error', REFUSED.subarray(0, -1)],
  ])('knows nothing of an answer %s', async (_, bytes) => {
    const { stream, wire } = connect()
    const answer = wire.execute(null, 'commit', [])
    stream.answer(bytes, 1000)
    stream.emit('close')
    const error = await answer.catch((caught) => caught)
    expect(error.message).toBe('Connection terminated unexpectedly')
    expect(error.severity).toBeUndefined()
  })

  it('knows why the server hung up, if it said so', async () => {
    const { stream, wire, lost } = connect()
    const answer = wire.execute(null, 'commit', [])
    stream.answer(FATAL, 1000)
    stream.emit('close')
    await expect(answer).rejects.toMatchObject({ severity: 'FATAL', code: '57P01' })
    expect(lost()).toBe(0)
  })

  it('hears that the server hangs up while nobody asks', () => {
    const { stream, lost } = connect()
    stream.answer(Buffer.concat([NOTICE, message('S', 'TimeZone\0UTC\0')]), 1000)
    expect(lost()).toBe(0)
    stream.answer(FATAL, 1000)
    expect(lost()).toBe(1)
  })

  it('sends values as they are, short or long, in any letters', () => {
    for (const value of ['', '7', 'é', `${'x'.repeat(31)}é`, 'x'.repeat(32), 'x'.repeat(300)]) {
      const { stream, wire } = connect()
      wire.execute('first', 'read', [value, null])
      const begin = message('B', '\0first\0', [0, 0, 0, 0, 0, 0])
      const execute = message('E', '\0', [0, 0, 0, 0])
      const length = Buffer.alloc(4)
      length.writeInt32BE(Buffer.byteLength(value))
      const head = ['\0read\0', [0, 0, 0, 2], [...length], value]
      const bind = message('B', ...head, [255, 255, 255, 255], [0, 0])
      const all = Buffer.concat([begin, execute, bind, execute, message('S')])
      expect(stream.sent.toString('latin1')).toBe(all.toString('latin1'))
    }
  })

  it('sends one message after the other, each with its length', () => {
    const { stream, wire } = connect()
    const long = 'é'.repeat(5000)
    wire.query('b', 'SELECT $1, $2', [25, 0], [long, null])
    const kinds: string[] = []
    let at = 0
    while (at < stream.sent.length) {
      kinds.push(String.fromCharCode(stream.sent[at]!))
      at += 1 + stream.sent.readInt32BE(at + 1)
    }
    expect(at).toBe(stream.sent.length)
    expect(kinds.join('')).toBe('BEPBES')
    expect(stream.sent.toString('utf8')).toContain(long)
  })
})

describe('an inlet', () => {
  /** A socket of the inlet and its other end. */
  async function connected() {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const inlet = new Inlet()
    inlet.socket.on('error', () => {})
    inlet.socket.connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [other] = (await once(server, 'connection')) as [Socket]
    await once(inlet.socket, 'connect')
    server.close()
    return { inlet, other }
  }

  it('sends all in order, where the socket is full, too', async () => {
    const { inlet, other } = await connected()
    // More than a socket takes whose other end reads nothing.
    const large = Buffer.alloc(1 << 23, 'a')
    inlet.give(Buffer.from('begin,rest'), 6)
    inlet.give(large, large.length)
    expect(inlet.socket.writableLength).toBeGreaterThan(0)
    inlet.give(Buffer.from('end,rest'), 3)
    const arrived: Buffer[] = []
    other.on('data', (bytes) => arrived.push(bytes)).resume()
    let count = 0
    while (count < large.length + 9) count += ((await once(other, 'data')) as [Buffer])[0].length
    expect(Buffer.concat(arrived).equals(Buffer.from(`begin,${large}end`))).toBe(true)
    inlet.socket.destroy()
    other.destroy()
  })

  it('sends nothing where its socket is closed, nor into a file that has its number', async () => {
    const { inlet, other } = await connected()
    inlet.socket.destroy()
    await once(inlet.socket, 'close')
    await inDirectory(async (directory) => {
      const files = Array.from({ length: 20 }, (_, i) => openSync(join(directory, `${i}`), 'w'))
      inlet.give(Buffer.from('lost'), 4)
      for (const file of files) expect(fstatSync(file).size).toBe(0)
      for (const file of files) closeSync(file)
    })
    other.destroy()
  })
})
