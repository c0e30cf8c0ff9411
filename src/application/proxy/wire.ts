// A client and the server, from the moment that they have agreed to talk. What was asked is
// answered in that order: each request has an answer in the making, which takes the server's
// messages and passes them on. Between the client's requests the proxy asks for what it must know,
// and keeps those answers to itself. Main class: Wire.

import type { Socket } from 'node:net'
import type { Ask } from '../observe/catalog.ts'
import { NOT_TOLD, Session, type Shared, type Statement, type Status } from '../observe/session.ts'
import type { Answer } from './answers.ts'
import { AskAnswer, AskFailed, askMessages } from './ask.ts'
import { decodeUtf8, readError, readSetting } from './backend.ts'
import { letterOf } from './frames.ts'

/** Text of a client, and why what it says cannot be recorded; null if it can. */
export interface ReadText {
  readonly text: string
  readonly reason: string | null
}

/** A client asked that its statement be cancelled. */
const CANCELED = '57014'

export class Wire {
  readonly session: Session
  private readonly answers: Answer[] = []
  private readonly settings = new Map<string, string>()
  /** Whether nothing was sent since the server was last ready. */
  isSynced = true
  /** Whether the server ignores everything up to the next Sync. */
  isSkipping = false
  isLost = false
  /** What the client sends rows for. */
  copying: Answer | null = null

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    number: number,
    shared: Shared,
  ) {
    const ask: Ask = (text, values = []) => this.ask(text, values)
    this.session = new Session(number, shared, ask, false)
  }

  toClient(message: Buffer): void {
    if (this.client.writable && !this.client.write(message)) this.server.pause()
  }

  toServer(message: Buffer): void {
    if (this.server.writable && !this.server.write(message)) this.client.pause()
  }

  /** The next answer of the server's is to what was, or will be, sent now. */
  expect<A extends Answer>(answer: A): A {
    if (this.isLost) answer.lose()
    else this.answers.push(answer)
    return answer
  }

  /** A setting that the server tells of. */
  note(message: Buffer): void {
    this.settings.set(...readSetting(message))
  }

  /** Takes a message of the server's. */
  take(message: Buffer): void {
    const letter = letterOf(message)
    if (letter === 'S') this.note(message)
    const head = this.answers[0]
    const isNotice = letter === 'N' && !head?.isOurs
    if (letter === 'S' || letter === 'A' || isNotice || head === undefined) {
      return this.toClient(message)
    }
    if (letter === 'N') return
    if (letter === 'E' && !head.endsReady) return this.fail(head, message)
    if (letter === 'Z') {
      this.isSynced = true
      this.isSkipping = false
    }
    if (!head.take(letter, message)) return
    this.answers.shift()
    this.settle(head)
  }

  /** After an error the server ignores everything up to the next Sync. */
  private fail(head: Answer, message: Buffer): void {
    head.fail(readError(message), message)
    this.settle(this.answers.shift()!)
    while (this.answers.length > 0 && !this.answers[0]!.endsReady) {
      const dropped = this.answers.shift()!
      dropped.drop()
      this.settle(dropped)
    }
    this.isSkipping = this.answers.length === 0
  }

  private settle(answer: Answer): void {
    if (this.copying === answer) this.copying = null
    answer.end()
  }

  /** The server is gone. */
  lose(): void {
    if (this.isLost) return
    this.isLost = true
    const endsOpen = this.answers.some(({ endsTransaction }) => endsTransaction)
    for (const answer of this.answers.splice(0)) {
      answer.lose()
      this.settle(answer)
    }
    this.session.lost(endsOpen)
  }

  /** Whatever the client's end can say, in an encoding that is understood here. */
  readText(bytes: Buffer): ReadText {
    const latin = bytes.toString('latin1')
    const [client, server] = ['client_encoding', 'server_encoding'].map((name) =>
      this.settings.get(name),
    )
    const isUtf8 = (client === 'UTF8' && server !== 'SQL_ASCII') || isPassedOn(client, server)
    if (!isUtf8) return { text: latin, reason: `client_encoding ${client}` }
    const text = decodeUtf8(bytes)
    if (text === undefined) return { text: latin, reason: 'text that is not UTF-8' }
    return { text, reason: null }
  }

  /**
   * Finds out what must be known of a statement.
   * @returns why it cannot be recorded; null if it can
   * @throws AskFailed if the client must be told
   */
  async prepare(statement: Statement): Promise<string | null> {
    if (this.session.isPrepared(statement)) return null
    try {
      await this.session.prepare(statement)
      return null
    } catch (error) {
      if (error instanceof AskFailed && error.asker === this && error.isTheirs) throw error
      return NOT_TOLD
    }
  }

  /**
   * Under names of our own, so that whatever the client has prepared stays. Among requests of the
   * client that are one transaction it must not end that.
   */
  private ask(text: string, values: readonly string[]): Promise<(string | null)[][]> {
    const endsReady = this.isSynced
    return new Promise((resolve, reject) => {
      const answer = new AskAnswer(endsReady, (status: Status | null) => {
        if (status !== null) this.session.status = status
        const { failure, rows } = answer
        if (failure === null) return resolve(rows)
        const { error, message } = failure
        const breaks = !endsReady || this.session.status === 'E' || error.severity !== 'ERROR'
        reject(new AskFailed(this, message, breaks || error.code === CANCELED))
      })
      this.expect(answer)
      this.toServer(askMessages(text, values, endsReady))
    })
  }
}

/** Nothing is converted, so that the client gets what the database has. */
function isPassedOn(client: string | undefined, server: string | undefined): boolean {
  return client === 'SQL_ASCII' && server === 'UTF8'
}
