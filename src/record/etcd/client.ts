// etcd through its JSON gateway, on one connection of HTTP each: requests are answered one after
// another, and none is sent twice. Keys and values travel in base64. Main class: EtcdClient.

import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { DatabaseError, UsageError } from '../../base/errors.ts'
import { parseServerUrl, portOf } from '../server-url.ts'

export interface EtcdAddress {
  readonly host: string
  readonly port: number
  /** Runs under different names do not meet. */
  readonly name: string
}

const FORM = 'etcd://host:2379/name'

export function parseEtcdAddress(text: string): EtcdAddress {
  const url = parseServerUrl(text, FORM, [])
  if (url.username || url.password) {
    throw new UsageError('users of etcd are not supported', `write it as ${FORM}`)
  }
  const name = url.pathname.slice(1) || 'default'
  if (!/^[\w.-]+$/.test(name)) {
    throw new UsageError('the name behind the address is of letters and digits', `as in ${FORM}`)
  }
  return {
    name,
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: portOf(url.port || '2379'),
  }
}

export function showAddress({ host, port, name }: EtcdAddress): string {
  return `etcd://${host.includes(':') ? `[${host}]` : host}:${port}/${name}`
}

/** The server answered by an error. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError'

  /** @param code of gRPC, null if the answer has none */
  constructor(
    message: string,
    readonly code: number | null,
  ) {
    super(message)
  }
}

/** A key with its value; revisions tell versions apart. */
export interface Found {
  readonly value: string | null
  /** 0 if the key is not there. */
  readonly revision: string
}

export interface Compare {
  readonly key: string
  readonly revision?: string
  readonly value?: string
}

const ANSWER_PATIENCE_MS = 60_000

export class EtcdClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 })
  private socket: Socket | null = null
  isLost = false

  constructor(private readonly address: EtcdAddress) {}

  get localPort(): number {
    return this.socket?.localPort ?? 0
  }

  /** Throws EtcdError, or what the system says. */
  async version(): Promise<string> {
    const answer = (await this.send('GET', '/version', null)) as { etcdserver?: string }
    if (typeof answer.etcdserver === 'string') return answer.etcdserver
    throw new DatabaseError(`what listens at ${showAddress(this.address)} is not etcd`)
  }

  async find(key: string): Promise<Found> {
    const answer = (await this.post('/v3/kv/range', { key: encode(key) })) as {
      kvs?: { value?: string; mod_revision: string }[]
    }
    const found = answer.kvs?.[0]
    if (!found) return { value: null, revision: '0' }
    return { value: decode(found.value ?? ''), revision: found.mod_revision }
  }

  /** All keys that begin with the prefix, as they are at one moment. */
  async findAll(prefix: string): Promise<Map<string, string>> {
    const range = { key: encode(prefix), range_end: encode(endOf(prefix)) }
    const answer = (await this.post('/v3/kv/range', range)) as {
      kvs?: { key: string; value?: string }[]
    }
    return new Map(answer.kvs?.map(({ key, value }) => [decode(key), decode(value ?? '')]))
  }

  /** Puts all if every comparison holds; whether it did. */
  async putIf(
    compares: readonly Compare[],
    puts: readonly (readonly [key: string, value: string])[],
    lease: string | null = null,
  ): Promise<boolean> {
    const answer = (await this.post('/v3/kv/txn', {
      compare: compares.map(({ key, revision, value }) => ({
        key: encode(key),
        result: 'EQUAL',
        ...(value === undefined
          ? { target: 'MOD', mod_revision: revision }
          : { target: 'VALUE', value: encode(value) }),
      })),
      success: puts.map(([key, value]) => ({
        request_put: { key: encode(key), value: encode(value), ...(lease ? { lease } : {}) },
      })),
    })) as { succeeded?: boolean }
    return answer.succeeded === true
  }

  async deletePrefix(prefix: string): Promise<void> {
    const range = { key: encode(prefix), range_end: encode(endOf(prefix)) }
    await this.post('/v3/kv/deleterange', range)
  }

  /** A lease of so many seconds; what hangs on it goes with it. */
  async grantLease(seconds: number): Promise<string> {
    const answer = (await this.post('/v3/lease/grant', { TTL: seconds })) as { ID: string }
    return answer.ID
  }

  /** Whether the lease was still there to be renewed. */
  async renewLease(lease: string): Promise<boolean> {
    const answer = (await this.post('/v3/lease/keepalive', { ID: lease })) as {
      result?: { TTL?: string }
    }
    return Number(answer.result?.TTL ?? 0) > 0
  }

  async revokeLease(lease: string): Promise<void> {
    await this.post('/v3/lease/revoke', { ID: lease })
  }

  cut(): void {
    this.isLost = true
    this.socket?.destroy()
    this.agent.destroy()
  }

  private post(path: string, body: object): Promise<unknown> {
    return this.send('POST', path, JSON.stringify(body))
  }

  private send(method: string, path: string, body: string | null): Promise<unknown> {
    const { host, port } = this.address
    const headers = body === null ? {} : { 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const sent = request({ agent: this.agent, host, port, method, path, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8')
          // An answer that was cut off ends, too.
          if (answer.complete) settle(answer.statusCode ?? 0, text, resolve, reject)
          else reject(new Error('the answer was cut off'))
        })
      })
      sent.setTimeout(ANSWER_PATIENCE_MS, () => sent.destroy(new Error('no answer')))
      sent.on('error', reject)
      sent.on('socket', (socket) => this.use(socket))
      sent.end(body ?? undefined)
    })
  }

  /** One connection for ever: on another one, a proxy would not know us. */
  private use(socket: Socket): void {
    if (this.socket === socket) return
    this.socket = socket
    socket.setNoDelay(true)
    socket.once('close', () => {
      this.isLost = true
    })
  }
}

function settle(
  status: number,
  text: string,
  resolve: (value: unknown) => void,
  reject: (error: Error) => void,
): void {
  let answer: { error?: unknown; message?: string; code?: number } | null = null
  try {
    answer = JSON.parse(text)
  } catch {
    // Not etcd, or not its gateway.
  }
  if (status === 200 && answer) return resolve(answer)
  const why = answer?.message ?? answer?.error ?? `HTTP ${status}`
  reject(new EtcdError(String(why), typeof answer?.code === 'number' ? answer.code : null))
}

/** The first name behind all that begin with the prefix. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/ECONNREFUSED/, 'is it running, and is the port right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'is the host spelled right?'],
  [/no answer within/, 'is it the right port? --patience waits longer'],
  [/HTTP 404/, 'etcd 3.4 or later is needed, with its JSON gateway'],
  [/space exceeded/, 'compact and defragment it, or raise --quota-backend-bytes'],
]

export function asDatabaseError(error: unknown, address: EtcdAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { message } = error as Error
  const hint = HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? null
  return new DatabaseError(`${showAddress(address)}: ${message}`, hint)
}
