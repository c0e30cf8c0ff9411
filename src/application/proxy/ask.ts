// What the proxy itself asks the server, between the requests of a client. Main functions:
// askMessages; main classes: AskAnswer, AskFailed.

import type { Status } from '../observe/session.ts'
import { Answer, statusOf } from './answers.ts'
import { cellsOf, readError, type ServerError } from './backend.ts'
import { bindText, close, execute, FLUSH, parse, SYNC } from './frontend.ts'

/** Of statements and portals of the proxy's own. */
const NAME = 'isobar_ask'

/** What we asked could not be answered. */
export class AskFailed extends Error {
  constructor(
    /** Whose connection it was. */
    readonly asker: unknown,
    /** As the server told it. */
    readonly raw: Buffer,
    /** Whether the client has to be told: it was cancelled, or its transaction is lost. */
    readonly isTheirs: boolean,
  ) {
    super('what the proxy asked has failed')
  }
}

/**
 * @param endsReady whether the server is asked to be ready behind it, which ends a transaction that
 * nothing began
 */
export function askMessages(text: string, values: readonly string[], endsReady: boolean): Buffer {
  return Buffer.concat([
    // One may be left of a request that failed.
    close('S', NAME),
    parse(NAME, text, []),
    bindText(NAME, NAME, values),
    execute(NAME),
    close('P', NAME),
    close('S', NAME),
    endsReady ? SYNC : FLUSH,
  ])
}

export class AskAnswer extends Answer {
  override readonly isOurs = true
  readonly rows: (string | null)[][] = []
  failure: { error: ServerError; message: Buffer } | null = null
  private closed = 0

  /** @param done called when it is over, with what the server said then */
  constructor(
    override readonly endsReady: boolean,
    private readonly done: (status: Status | null) => void,
  ) {
    super()
  }

  override take(letter: string, message: Buffer): boolean {
    if (letter === 'D') this.rows.push([...cellsOf(message)])
    if (letter === 'E') this.failure ??= { error: readError(message), message }
    if (letter === '3') this.closed++
    const isOver = this.endsReady ? letter === 'Z' : this.closed === 3
    if (isOver) this.done(this.endsReady ? statusOf(message) : null)
    return isOver
  }

  override fail(error: ServerError, message: Buffer): void {
    this.failure = { error, message }
    this.done(null)
  }

  override drop(): void {
    this.failure ??= { error: GONE, message: Buffer.alloc(0) }
    this.done(null)
  }
}

const GONE: ServerError = { severity: 'FATAL', code: '', message: '' }
