// What a server answers to bytes, message by message: the same requests go to the server and to the
// proxy before it, and the answers are compared. Main function: transcriptOf.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'
import { Framer, frame, int32, letterOf } from '../../../src/application/proxy/frames.ts'
import { parse } from '../../../src/application/proxy/frontend.ts'

/** Requests, and the letter of the message that says that they were answered. */
export interface Round {
  readonly send: readonly Buffer[]
  readonly until?: string
}

/** A client that is logged in, as a socket. */
export class RawClient {
  private readonly framer = new Framer(true)
  private readonly waiting: (() => void)[] = []
  private isClosed = false

  private constructor(
    private readonly client: pg.Client,
    readonly socket: Socket,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.framer.push(chunk)
      this.wake()
    })
    socket.on('close', () => {
      this.isClosed = true
      this.wake()
    })
  }

  static async login(config: pg.ClientConfig): Promise<RawClient> {
    const client = new pg.Client(config)
    client.on('error', () => {})
    await client.connect()
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.removeAllListeners('data')
    return new RawClient(client, stream)
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }

  /** The next message; null if the connection was closed. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      const message = this.framer.next()
      if (message !== null) return message
      if (this.isClosed) return null
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  /** What comes back, up to the message that ends it. */
  async ask({ send, until = 'Z' }: Round): Promise<string[]> {
    this.socket.write(Buffer.concat(send))
    const told: string[] = []
    for (let message = await this.next(); message !== null; message = await this.next()) {
      told.push(show(message))
      if (letterOf(message) === until) break
    }
    return told
  }

  async end(): Promise<void> {
    if (!this.isClosed) {
      this.socket.end(frame('X'))
      await once(this.socket, 'close')
    }
    await this.client.end().catch(() => {})
  }
}

function show(message: Buffer): string {
  // Lines of the server's source differ by nothing, but ids of tables do from one server to another.
  return `${letterOf(message)} ${JSON.stringify(message.subarray(5).toString('latin1'))}`
}

export async function transcriptOf(
  config: pg.ClientConfig,
  rounds: readonly Round[],
): Promise<string[][]> {
  const client = await RawClient.login(config)
  try {
    const told: string[][] = []
    for (const round of rounds) told.push(await client.ask(round))
    return told
  } finally {
    await client.end()
  }
}

export const P = (text: string, name = '', types: number[] = []) => parse(name, text, types)

/** @param answers formats of columns; 1: binary */
export function B(
  values: readonly (string | Buffer | null)[] = [],
  given: { name?: string; portal?: string; answers?: number[]; formats?: number[] } = {},
): Buffer {
  const { name = '', portal = '', answers = [], formats = [] } = given
  const cells = values.flatMap((value) => {
    if (value === null) return [int32(-1)]
    const bytes = Buffer.from(value)
    return [int32(bytes.length), bytes]
  })
  const head = [formats.length, ...formats, values.length]
  return frame('B', portal, name, head, Buffer.concat(cells), [answers.length, ...answers])
}

export const D = (kind: 'S' | 'P', name = '') => frame('D', Buffer.from(kind), name)
export const E = (maxRows = 0, portal = '') => frame('E', portal, int32(maxRows))
export const C = (kind: 'S' | 'P', name = '') => frame('C', Buffer.from(kind), name)
export const S = frame('S')
export const H = frame('H')
export const Q = (text: string) => frame('Q', text)
export const copyData = (text: string) => frame('d', Buffer.from(text))
export const COPY_DONE = frame('c')
export const COPY_FAIL = frame('f', 'no more')
