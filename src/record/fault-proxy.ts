// A loopback proxy between the sessions and the server, which cuts connections when it is told to.
// The runner announces a cut before the session sends COMMIT; the proxy carries it out at the very
// message, so that the cut falls exactly before, into, or behind the COMMIT. It knows connections
// by the client's port and bytes as chunks: it works for any protocol in which a client waits for
// the answer to what it sent.

import { createServer, type Server, Socket } from 'node:net'
import { DatabaseError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import type { CutPoint, FaultPlan } from './faults.ts'

/** A cut behind so many bytes to the server, or of its answer. */
export interface ByteCut {
  readonly request?: number
  readonly reply?: number
}

export interface ProxyTarget {
  readonly host: string
  readonly port: number
}

export class FaultProxy {
  /** Connections cut so far. */
  cutCount = 0
  /** Told of every cut as it happens, and where it was armed for. */
  onCut: ((point: CutPoint | ByteCut | null) => void) | null = null
  readonly port: number
  private readonly links = new Map<number, Link>() // client's port -> its connection
  private held: 'both' | 'client' | null = null

  private constructor(
    private readonly server: Server,
    private readonly target: ProxyTarget,
    private readonly plan: FaultPlan,
    private readonly random: Random,
  ) {
    this.port = (server.address() as { port: number }).port
    server.on('connection', (client) => this.accept(client))
  }

  static async start(target: ProxyTarget, plan: FaultPlan, random: Random): Promise<FaultProxy> {
    const server = createServer({ noDelay: true })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) =>
        reject(new DatabaseError(`the proxy that brings faults about: ${error.message}`)),
      )
      server.listen(0, '127.0.0.1', resolve)
    })
    return new FaultProxy(server, target, plan, random)
  }

  /**
   * Cuts the connection at that point of the message that its client sends next. False if it does
   * not know the connection.
   */
  arm(clientPort: number, point: CutPoint | ByteCut): boolean {
    this.links.get(clientPort)?.arm(point)
    return this.links.has(clientPort)
  }

  /** How many bytes have passed since the connection was armed. */
  passed(clientPort: number): { request: number; reply: number } {
    return this.links.get(clientPort)?.passed ?? { request: 0, reply: 0 }
  }

  /**
   * Nothing gets through until `release`, and nobody is told: the two sides are apart.
   * @param side whose words do not get through
   */
  hold(side: 'both' | 'client' = 'both'): void {
    this.held = side
    for (const link of this.links.values()) link.hold(side)
  }

  release(): void {
    this.held = null
    for (const link of this.links.values()) link.release()
  }

  /** Cuts the connection now. False if it does not know the connection. */
  cut(clientPort: number): boolean {
    const link = this.links.get(clientPort)
    link?.cut()
    return link !== undefined
  }

  async close(): Promise<void> {
    for (const link of this.links.values()) link.end()
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }

  private accept(client: Socket): void {
    const { target } = this
    const clientPort = client.remotePort ?? 0
    const server = new Socket()
    server.setNoDelay(true)
    // A path is that of a Unix socket's directory, as PostgreSQL's own clients understand it.
    if (target.host.startsWith('/')) server.connect(`${target.host}/.s.PGSQL.${target.port}`)
    else server.connect(target.port, target.host)
    const link = new Link(client, server, this.plan, this.random, (point) => {
      this.cutCount++
      this.onCut?.(point)
    })
    if (this.held !== null) link.hold(this.held)
    this.links.set(clientPort, link)
    client.once('close', () => this.links.delete(clientPort))
  }
}

class Link {
  readonly passed = { request: 0, reply: 0 } // bytes since it was armed
  private armed: CutPoint | ByteCut | null = null
  private ended = false

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    plan: FaultPlan,
    random: Random,
    private readonly onCut: (point: CutPoint | ByteCut | null) => void,
  ) {
    const toServer = delayed(plan, random, (bytes) => this.fromClient(bytes))
    const toClient = delayed(plan, random, (bytes) => this.fromServer(bytes))
    client.on('data', toServer)
    server.on('data', toClient)
    for (const socket of [client, server]) {
      socket.on('error', () => this.end())
      socket.on('close', () => this.end())
    }
  }

  arm(point: CutPoint | ByteCut): void {
    this.armed = point
    this.passed.request = 0
    this.passed.reply = 0
  }

  /** Breaks both sides off, in the middle of whatever goes on. */
  cut(): void {
    if (this.ended) return
    this.onCut(this.armed)
    this.end()
  }

  hold(side: 'both' | 'client'): void {
    this.client.pause()
    if (side === 'both') this.server.pause()
  }

  release(): void {
    this.client.resume()
    this.server.resume()
  }

  end(): void {
    this.ended = true
    this.client.destroy()
    this.server.destroy()
  }

  private fromClient(bytes: Buffer): void {
    if (this.ended) return
    if (this.cutsWithin('request', bytes, this.server)) return
    const cut = () => this.cut()
    const { armed } = this
    if (armed === 'work' || armed === 'before') return this.cut()
    if (armed !== 'torn' && armed !== 'during') this.server.write(bytes)
    else this.server.write(armed === 'torn' ? bytes.subarray(0, bytes.length >> 1) : bytes, cut)
  }

  private fromServer(bytes: Buffer): void {
    if (this.ended) return
    if (this.armed === 'after') return this.cut()
    if (this.cutsWithin('reply', bytes, this.client)) return
    this.client.write(bytes)
  }

  /** Whether these bytes go past the place of the cut; what comes before it is handed on. */
  private cutsWithin(direction: 'request' | 'reply', bytes: Buffer, to: Socket): boolean {
    const before = this.passed[direction]
    this.passed[direction] += bytes.length
    if (this.armed === null || typeof this.armed === 'string') return false
    const left = (this.armed[direction] ?? Number.POSITIVE_INFINITY) - before
    if (left > bytes.length) return false
    if (left === 0) this.cut()
    else to.write(bytes.subarray(0, left), () => this.cut())
    return true
  }
}

/** Hands chunks on in order, each after a delay drawn from the plan's range. */
function delayed(
  plan: FaultPlan,
  random: Random,
  hand: (bytes: Buffer) => void,
): (bytes: Buffer) => void {
  if (plan.latencyMs === null) return hand
  const [from, to] = plan.latencyMs
  const queue: Buffer[] = []
  let due = 0
  return (bytes) => {
    const now = performance.now()
    due = Math.max(due, now + from + random.unit() * (to - from))
    queue.push(bytes)
    // Timers of different lengths may fire in either order; whichever does takes the oldest chunk.
    setTimeout(() => hand(queue.shift()!), due - now)
  }
}
