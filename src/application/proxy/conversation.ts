// One client of the proxy, from its first bytes to its last: what it asks for before it logs in,
// logging in, which is between it and the server, and then its requests, one after the other. Main
// class: Conversation.

import type { Socket } from 'node:net'
import type { PostgresAddress } from '../../record/postgres/address.ts'
import type { Shared } from '../observe/session.ts'
import { ReadyAnswer, SimpleAnswer } from './answers.ts'
import { AskFailed } from './ask.ts'
import { fatal, withoutChannelBinding } from './backend.ts'
import { Extended } from './extended.ts'
import { FrameError, Framer, frame, letterOf, Reader } from './frames.ts'
import { CANCEL, ENCRYPT_GSS, ENCRYPT_TLS, FLUSH, query, readStartup } from './frontend.ts'
import { connectUpstream } from './upstream.ts'
import { Wire } from './wire.ts'

/** What conversations of one proxy share. */
export interface House {
  readonly address: PostgresAddress
  readonly shared: Shared
  /** Numbers those that have begun to log in. */
  nextNumber(): number
  /** Whether a database is the one that is recorded: that of whoever was let in first. */
  isRecorded(database: string): boolean
  /** Says something to whoever runs the proxy. */
  log(line: string): void
}

/** A client that is so much ahead has to wait. */
const MAX_WAITING = 1 << 20
/** How TLS begins. */
const TLS_HELLO = 0x16
const NO = Buffer.from('N')

const BROKEN = '08P01'
const UNREACHABLE = '08001'
const REFUSED = '0A000'
const SHUT_DOWN = '57P01'

/** Raw: all bytes pass as they are, and nobody looks at them. */
type Stage = 'first' | 'login' | 'talking' | 'raw' | 'over'

export class Conversation {
  private stage: Stage = 'first'
  private readonly heard = new Framer(false)
  private readonly answered = new Framer(true)
  private server: Socket | null = null
  private database = ''
  private wire!: Wire
  private extended!: Extended
  private isPumping = false
  private hasHungUp = false
  private loggedIn: () => void = () => {}
  private readonly login = new Promise<void>((resolve) => {
    this.loggedIn = resolve
  })

  /** @param ended called once, when nothing is left of it */
  constructor(
    private readonly client: Socket,
    private readonly house: House,
    private readonly ended: () => void,
  ) {
    client.setNoDelay(true)
    client.on('data', (chunk: Buffer) => this.fromClient(chunk))
    client.on('drain', () => this.server?.resume())
    client.on('error', () => {}) // its close follows
    client.on('end', () => this.hangUp())
    client.on('close', () => {
      this.server?.resume() // nobody is left to wait for
      this.hangUp()
    })
  }

  private fromClient(chunk: Buffer): void {
    if (this.stage === 'over') return
    if (this.stage === 'raw') return this.wire.toServer(chunk)
    if (this.stage === 'first' && this.heard.length === 0 && chunk[0] === TLS_HELLO) {
      this.house.log(
        'a client began with TLS, which is not spoken here: connect it with sslmode=disable',
      )
      return this.finish()
    }
    this.heard.push(chunk)
    if (this.isPumping && this.heard.length > MAX_WAITING) this.client.pause()
    this.pump().catch((error) => this.fail(error))
  }

  /** Takes up what the client said, one thing after the other. */
  private async pump(): Promise<void> {
    if (this.isPumping) return
    this.isPumping = true
    try {
      while (this.stage !== 'over' && this.stage !== 'raw') {
        const message = this.heard.next()
        if (message === null) break
        const work = this.take(message)
        if (work !== undefined) await work
        this.letOn()
      }
    } finally {
      this.isPumping = false
    }
    if (this.stage === 'raw') this.wire.toServer(this.heard.rest())
    this.letOn()
    if (this.hasHungUp) this.server?.end()
  }

  /** Reads on, unless the client is too far ahead, or the server behind. */
  private letOn(): void {
    const isAhead = this.isPumping && this.heard.length > MAX_WAITING
    if (!isAhead && !this.server?.writableNeedDrain) this.client.resume()
  }

  /** Bytes that are no protocol end the conversation; anything else is a fault of the proxy's. */
  private fail(error: unknown): void {
    const isTheirs = error instanceof FrameError || error instanceof RangeError
    if (!isTheirs) throw error
    this.refuse(BROKEN, `isobar proxy: ${error.message}`)
  }

  private take(message: Buffer): Promise<void> | void {
    if (this.stage === 'first') return this.first(message)
    if (this.stage === 'talking') return this.request(message)
    if (letterOf(message) === 'p' || letterOf(message) === 'X') return this.wire.toServer(message)
    return this.login.then(() =>
      this.stage === 'raw' ? this.wire.toServer(message) : this.request(message),
    )
  }

  private first(message: Buffer): Promise<void> | void {
    const code = message.length < 8 ? 0 : message.readInt32BE(4)
    if (code === ENCRYPT_TLS || code === ENCRYPT_GSS) return void this.client.write(NO)
    return code === CANCEL ? this.cancel(message) : this.connect(message)
  }

  /** The server knows by its secret whose statement is meant. */
  private async cancel(message: Buffer): Promise<void> {
    try {
      const server = await connectUpstream(this.house.address)
      server.on('error', () => {})
      await new Promise((resolve) => {
        server.once('close', resolve)
        server.resume()
        server.end(message)
      })
    } catch {
      // As by the server itself, nothing is answered.
    }
    this.finish()
  }

  private async connect(message: Buffer): Promise<void> {
    const { house, client } = this
    try {
      this.server = await connectUpstream(house.address)
    } catch (error) {
      return this.refuse(UNREACHABLE, `isobar proxy: ${(error as Error).message}`)
    }
    const { server } = this
    if (this.stage === 'over') return void server.destroy()
    if (this.hasHungUp) return this.finish()
    this.wire = new Wire(client, server, house.nextNumber(), house.shared)
    this.extended = new Extended(this.wire)
    this.heard.isLettered = true
    this.stage = 'login'
    server.on('data', (chunk: Buffer) => this.fromServer(chunk))
    server.on('drain', () => this.letOn())
    server.on('error', () => {}) // its close follows
    server.on('end', () => server.end())
    server.on('close', () => this.finish())
    server.write(message)
    const asked = readStartup(message)
    this.database = asked.get('database') ?? asked.get('user') ?? ''
    if (asked.has('replication')) this.passOn('a connection for replication')
  }

  /** Passes on whatever comes, which is not recorded. */
  private passOn(reason: string): void {
    this.wire.session.unwatch(reason)
    this.stage = 'raw'
    if (!this.isPumping) this.wire.toServer(this.heard.rest())
  }

  private fromServer(chunk: Buffer): void {
    const { client } = this
    if (this.stage === 'raw') return this.wire.toClient(chunk)
    this.answered.push(chunk)
    client.cork()
    try {
      while (this.stage === 'login' || this.stage === 'talking') {
        const message = this.answered.next()
        if (message === null) return
        if (this.stage === 'login') this.greet(message)
        else this.wire.take(message)
      }
      this.wire.toClient(this.answered.rest())
    } catch (error) {
      this.fail(error)
    } finally {
      client.uncork()
    }
  }

  /** What the server says until the client is logged in. */
  private greet(message: Buffer): void {
    const { wire } = this
    const letter = letterOf(message)
    if (letter === 'S') wire.note(message)
    if (letter === 'Z') {
      if (this.house.isRecorded(this.database)) this.stage = 'talking'
      else this.passOn('a connection to another database')
      this.loggedIn()
    }
    const passed = letter === 'R' ? withoutChannelBinding(message) : message
    if (passed !== null) return wire.toClient(passed)
    this.refuse(
      REFUSED,
      'isobar proxy: the server asks for SCRAM with channel binding, which cannot pass a proxy',
    )
  }

  private request(message: Buffer): Promise<void> | void {
    const { wire, extended } = this
    const letter = letterOf(message)
    if (wire.copying !== null) return this.copy(letter, message)
    // The server would ignore it; of what the proxy itself refused it knows nothing.
    if (wire.isSkipping && letter !== 'S' && letter !== 'X') return
    switch (letter) {
      case 'Q':
        return this.simple(message)
      case 'P':
        return extended.parse(message)
      case 'B':
        return extended.bind(message)
      case 'D':
        return extended.describe(message)
      case 'E':
        return extended.execute(message, this.heard.nextLetter === 'S')
      case 'C':
        return extended.close(message)
      case 'S':
        return extended.sync(message)
      case 'F':
        return this.call(message)
      default:
        // Flush, the end; CopyData and the like after an error: the server ignores them.
        return wire.toServer(message)
    }
  }

  /** Rows for a COPY, until the client says that there are no more. */
  private copy(letter: string, message: Buffer): Promise<void> | void {
    const { wire } = this
    // The server ignores these while rows come; one after an error would count.
    if (letter === 'S' || letter === 'H') return
    wire.toServer(message)
    if (letter !== 'c' && letter !== 'f') return
    const { copying } = wire
    wire.copying = null
    if (!copying!.endsReady) wire.toServer(FLUSH) // the one before was ignored, too
    return copying!.wait()
  }

  /** One statement as text, or several. */
  private async simple(message: Buffer): Promise<void> {
    const { wire } = this
    const { session } = wire
    const { text, reason: unread } = wire.readText(new Reader(message).text())
    const statement = session.statement(
      { text, values: [], actor: undefined, format: 'text' },
      null,
    )
    let reason = unread
    try {
      reason ??= await wire.prepare(statement)
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      wire.toClient(error.raw)
      if (!wire.isSkipping) wire.toClient(frame('Z', Buffer.from(session.status)))
      return
    }
    session.arrange(statement, reason)
    session.send(statement)
    const { probe } = statement
    const done = (isGood: boolean) => {
      if (isGood) this.extended.forget(statement.shape)
    }
    const answer = wire.expect(new SimpleAnswer(wire, statement, done))
    wire.isSynced = false
    wire.toServer(probe === null ? message : query(probe.text))
    await answer.wait()
  }

  /** A function called by the protocol, without a statement. */
  private async call(message: Buffer): Promise<void> {
    const { wire } = this
    wire.session.countUnrecorded(null, 'a function call of the protocol')
    const answer = wire.expect(new ReadyAnswer(wire, () => {}))
    wire.isSynced = false
    wire.toServer(message)
    await answer.wait()
  }

  /** The client is gone: the server is told as soon as what it had asked for was sent. */
  private hangUp(): void {
    this.hasHungUp = true
    if (this.server === null && !this.isPumping) this.finish()
    else if (!this.isPumping) this.server?.end()
  }

  private refuse(code: string, why: string): void {
    if (this.client.writable) this.client.write(fatal(code, why))
    this.finish()
  }

  /** As a server that is shut down. */
  stop(): void {
    if (this.stage === 'over') return
    this.refuse(SHUT_DOWN, 'terminating connection due to administrator command')
  }

  /** Nothing more comes of it. */
  private finish(): void {
    if (this.stage === 'over') return
    const isBegun = this.stage !== 'first'
    this.stage = 'over'
    if (isBegun) this.wire.lose()
    this.loggedIn()
    this.server?.destroy()
    // A client that does not hang up keeps nobody from ending.
    this.client.end()
    this.client.resume()
    this.client.unref()
    this.ended()
  }
}
